"""Variants that a user defines at run time: the launches of a shipped one with another kernel file. They are data, so
that every process can register them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gpu_ops.devices.kernel_source import MOST_CHARACTERS, OWN_FOLDER, header_fields
from gpu_ops.errors import ParamError, plain
from gpu_ops.params import Value
from gpu_ops.plan import Device, Plan
from gpu_ops.task import Task
from gpu_ops.types import Counts, Filter, Variant


@dataclass(frozen=True)
class OwnVariant:
    """A variant of the filter with the id `filter`. It does what the shipped variant `like` does, and `text` replaces
    that one's first kernel file: it has the same kernels with the same parameters. `id` consists of lower-case letters,
    digits and underscores."""

    filter: str
    like: str
    id: str
    title: str
    text: str

    @property
    def file(self) -> str:
        """The name of the kernel file, such as "own/mean1d_mine.cu"."""
        return f"{OWN_FOLDER}/{self.filter}_{self.id}.cu"

    def of(self, filter: Filter) -> Variant:
        """The variant. Raises ParamError if the filter has no such variant, the shipped one has no kernel, or the id is
        invalid."""
        shipped = filter.variant(self.like)
        if not shipped.kernels:
            having = ", ".join(v.id for v in filter.variants if v.kernels and not v.kernels[0].startswith(OWN_FOLDER))
            raise ParamError(f"{self.like} of {filter.id} has no kernel to replace; choose one of {having or 'none'}.")
        if not self.id.isidentifier() or self.id != self.id.lower():
            raise ParamError(f"{plain(self.id, 60)!r} is no id; use lower-case letters, digits and underscores.")
        if len(self.text) > MOST_CHARACTERS:
            raise ParamError(
                f"The kernel has {len(self.text):,} characters, and may have {MOST_CHARACTERS:,}; shorten it."
            )
        idea = header_fields(self.text).get("Idea", "") or f"the launches of {shipped.title} with a kernel of your own"

        def plan(device: Device, task: Task) -> Plan:
            return shipped.plan(_Renamed(device, {shipped.kernels[0]: self.file}), task)

        return replace(
            shipped,
            id=self.id,
            title=self.title,
            idea=idea,
            plan=plan,
            kernels=(self.file, *shipped.kernels[1:]),
            counts=Counts(uncounted="the kernel is your own"),
            source="own",
        )


class _Renamed:
    """A device that compiles other kernel files in place of some."""

    def __init__(self, device: Device, files: Mapping[str, str]) -> None:
        self._device, self._files = device, files

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)

    def kernel(self, source: str, name: str, defines: Mapping[str, Value] | None = None) -> Any:
        """As `Device.kernel`."""
        return self._device.kernel(self._files.get(source, source), name, defines)
