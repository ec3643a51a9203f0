"""The step of the wheel's build that adds the compiled programs: see `wheel_programs`. A build without NVRTC, such as
an isolated one, makes a wheel without them."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACE = "gpu_ops/kernels/compiled"
NEEDS = "import cuda.bindings.nvrtc as n; n.nvrtcVersion(); import numba, scipy, cv2"


class ProgramsHook(BuildHookInterface):  # type: ignore[misc]
    """Compiles the programs and puts their files into the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """As hatchling calls it; `version` is "editable" for an installation that uses the checkout."""
        if version == "editable":
            return
        if subprocess.run([sys.executable, "-c", NEEDS], capture_output=True).returncode:
            self.app.display_warning("no NVRTC here: the wheel has no compiled programs (build with --no-isolation)")
            return
        sys.path.insert(0, self.root)
        from gpu_ops.processes import environment

        self._folder = tempfile.TemporaryDirectory()
        command = [sys.executable, "-m", "gpu_ops.batch.wheel_programs", self._folder.name]
        subprocess.run(command, check=True, cwd=self._folder.name, env=environment())
        for path in sorted(Path(self._folder.name).iterdir()):
            build_data["force_include"][str(path)] = f"{PLACE}/{path.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Delete the files, which are in the wheel now."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()
