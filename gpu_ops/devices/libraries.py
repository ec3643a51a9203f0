"""Modules of other libraries by name, with the sentence that says what to install."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from types import ModuleType

from gpu_ops.errors import LibraryMissing

PACKAGES = {
    "scipy": "scipy",
    "cv2": "opencv-python-headless",
    "pywt": "PyWavelets",
    "skimage": "scikit-image",
    "numba": "numba",
    "torch": "torch (Linux and Windows)",
    "cucim": "cucim-cu13, or cucim-cu12 beside cupy-cuda12x (Linux only)",
    "cuda": "cuda-cccl[cu13], or cuda-cccl[cu12] beside cupy-cuda12x",
    "cvcuda": "cvcuda-cu13, or cvcuda-cu12 beside cupy-cuda12x (Linux only)",
    "nvmath": "nvmath-python[cu13], or nvmath-python[cu12] beside cupy-cuda12x",
    "cupy": "cupy-cuda13x[ctk], or kernelscope[cuda13]",
    "cupti": "cupti-python, or kernelscope[trace] (Linux only)",
    "cupyx": "cupy-cuda13x[ctk], or kernelscope[cuda13]",
}


def import_library(name: str) -> ModuleType:
    """Import a module such as "scipy.ndimage". Raises LibraryMissing, which names the package to install."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise LibraryMissing(f"{name} cannot be imported ({error}); install {_package(name)}.") from None


def missing(names: Iterable[str]) -> dict[str, str]:
    """Those of the modules that are not installed, each with the package to install. None is imported, except the
    packages that contain one."""
    return {name: _package(name) for name in dict.fromkeys(names) if not _is_installed(name)}


def _package(name: str) -> str:
    root = name.split(".")[0]
    return PACKAGES.get(root, root)


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:  # of the package that would contain it
        return False
