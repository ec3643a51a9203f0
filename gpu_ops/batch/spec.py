"""What a batch does with each of its files: the options, and the default variant and format."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gpu_ops.batch import choosing
from gpu_ops.errors import ParamError, plain
from gpu_ops.io import CHOICES, NOISE
from gpu_ops.io.reading import Reading
from gpu_ops.io.results import PLAIN, Saving
from gpu_ops.io.steps.mapping import writes_exactly
from gpu_ops.output_kinds import OUTPUT_KINDS, ViewKind
from gpu_ops.plan import Checks
from gpu_ops.run_key import hash_of_edits
from gpu_ops.running.runner import default_picks
from gpu_ops.task import Meta
from gpu_ops.types import Filter, Pick

FORMAT_RULE = (
    "png of uint8 and uint16 images, wav of floating sound with a rate, csv of tables and bars, else npy; npy of files "
    "that do not fit in memory"
)
VARIANT_RULE = "the last of the filter's own variants that takes the input, on the first GPU, else on the CPU"


@dataclass(frozen=True)
class BatchSpec:
    """The options of a batch. `inputs` are files, folders and patterns; results are written to `output_dir`. `filter`
    is an id or a family; `values` are parameters and knobs by name, as values or as text, in addition to those of a
    `preset`. Without a `variant` VARIANT_RULE applies, without a `format` FORMAT_RULE. A file that needs more than
    `memory` bytes, or more than a quarter of the free memory, is processed in bands; `device_memory` limits the bytes
    on a device. `report` is its report file, by default REPORT in the folder. With `resume`, files are skipped whose
    result exists unchanged. With `frames` the result of a stack has those of all its frames. With more than one of
    `workers` so many processes share the files; with `gpus`, "all" or numbers such as "0,1", there is one for each of
    these GPUs; with the address of a `scheduler`, its workers do it. `edits` are texts of the `variant`'s kernel
    files in place of the shipped ones; the filter's contract is tested with them before any file. Each case of it may
    take `deadline` seconds, and then each file, frame or band as many; None: 6 and 60."""

    inputs: Sequence[str]
    output_dir: str
    filter: str
    values: Mapping[str, Any] = field(default_factory=dict)
    preset: str | None = None
    variant: str | None = None
    devices: Sequence[str] = ()
    reading: Reading = Reading()
    saving: Saving = PLAIN
    format: str | None = None
    checks: Checks = "full"
    memory: int | None = None
    device_memory: int | None = None
    report: str | None = None
    resume: bool = False
    frames: bool = False
    workers: int = 1
    gpus: str | None = None
    scheduler: str | None = None
    edits: Mapping[str, str] = field(default_factory=dict)
    deadline: float | None = None

    @property
    def is_spread(self) -> bool:
        """Whether workers process the files, instead of this process."""
        return self.workers > 1 or self.gpus is not None or self.scheduler is not None

    def of(self, filter: Filter) -> dict[str, Any]:
        """The values for this filter, with those of the preset. Raises ParamError."""
        return {**(filter.preset(self.preset) if self.preset is not None else {}), **self.values}

    @property
    def settings(self) -> dict[str, Any]:
        """Everything but the files that determines the results, by the names of the command line."""
        reading, saving = self.reading, self.saving
        found = {name: getattr(reading, name) for name in ("kind", "nonfinite", "limit", "dtype")}
        found |= {name: getattr(self, name) for name in ("filter", "preset", "format", "checks")}
        found |= {"step": list(reading.steps), "device": list(self.devices), "map_levels": saving.levels}
        found |= {"name": "run", "variant": [self.variant] if self.variant else [], "map": saving.map}
        found |= {"frames": "all"} if self.frames else {}
        found |= {"edits": hash_of_edits(self.edits)} if self.edits else {}
        return {**{k: v for k, v in found.items() if v not in (None, [])}, **reading.values, **self.values}

    def check(self) -> None:
        """Raises ParamError for values that no filter of the family accepts, before any file is read."""
        if self.edits and (self.variant is None or len(choosing.family(self.filter)) > 1):
            raise ParamError("An edited kernel replaces that of one variant of one filter; name both.")
        if self.workers < 1:
            raise ParamError(f"workers must be at least 1, not {self.workers} (--workers N).")
        if (self.workers > 1) + (self.gpus is not None) + (self.scheduler is not None) > 1:
            raise ParamError("--workers, --gpus and --scheduler each choose the workers; leave two of them out.")
        if self.gpus is not None and self.devices:
            raise ParamError("--gpus chooses the devices, one for each worker; leave --device out.")
        if self.gpus not in (None, "all") and not re.fullmatch(r"\d+(,\d+)*", self.gpus or ""):
            raise ParamError(f"--gpus is all, or numbers such as 0,1; not {plain(self.gpus, 40)}.")
        choosing.for_one(choosing.family(self.filter), self._check)

    def _check(self, filter: Filter) -> None:
        values = self.of(filter)
        choosing.checked(filter, values)
        variants = [filter.variant(self.variant)] if self.variant else filter.variants
        knobs = (k for v in variants for k in v.knobs)
        names = sorted({p.name for p in (*filter.params, *knobs, *CHOICES, *NOISE)})
        for name in values:
            if name not in names:
                raise ParamError(choosing.unknown_name(filter, name, names))

    def pick(
        self, filter: Filter, meta: Meta, full: Callable[[], Meta], devices: Sequence[str]
    ) -> tuple[Pick, list[str]]:
        """The variant to run, by VARIANT_RULE if none is named, and a notice about its name, if any; `full` describes
        the input completely. Raises ParamError."""
        values = self.of(filter)
        named, sentences = choosing.current_variants(filter, [self.variant] if self.variant else [], meta, values)
        picks, _ = choosing.with_knobs(filter, default_picks(filter, devices, named), values, strict=bool(named))
        if not named:
            picks = list(choosing.best_per_device(filter, picks, full(), choosing.checked(filter, values)))
        for device in devices:
            for pick in picks:
                if pick.device == device:
                    return replace(pick, edits=dict(self.edits)), sentences
        names, where = ", ".join(v.id for v in filter.variants), ", ".join(devices)
        raise ParamError(f"No variant of {filter.id} takes this on {where}; name one of {names} and a device.")

    def suffix(self, kind: ViewKind, dtype: str, rate: float | None) -> str:
        """The file extension of a result: that of the format, else by FORMAT_RULE; for an output with a mapping the
        first format that stores one."""
        if self.format:
            return f".{self.format}"
        formats, mapped = OUTPUT_KINDS[kind].formats, self.saving.map != "none"
        if kind == "image":
            return ".png" if mapped or writes_exactly(".png", dtype) else ".npy"
        if kind == "signal":
            return ".wav" if mapped or (rate is not None and writes_exactly(".wav", dtype)) else ".npy"
        return ".csv" if formats[0] == ".csv" else ".npy" if ".npy" in formats else formats[0]

    def settings_of(self, filter: Filter, pick: Pick) -> dict[str, Any]:
        """The variant with its device and all parameters and knobs, as they are stored in a row."""
        params = choosing.with_defaults(filter, choosing.checked(filter, self.of(filter)))
        knobs = {**{k.name: k.default for k in filter.variant(pick.variant).knobs}, **pick.knobs}
        edits = {"edits": hash_of_edits(pick.edits)} if pick.edits else {}
        return {"variant": pick.variant, "device": pick.device, "params": params, "knobs": knobs, **edits}
