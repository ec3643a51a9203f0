"""Names of machines and of their devices, from the provenance of a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_ops.device_names import device_kind


def machine_name(provenance: Mapping[str, Any]) -> str:
    """The name of a machine: its GPUs, else its processor; "" where neither is known."""
    return ", ".join(_gpus(provenance)) or _cpu(provenance)


def machine_parts(provenance: Mapping[str, Any]) -> str:
    """The GPUs and the processor of a machine."""
    gpus, cpu = _gpus(provenance), _cpu(provenance)
    return ", ".join([*gpus, *([] if any(cpu in gpu for gpu in gpus) else [cpu])])  # a simulated GPU names it


def device_model(provenance: Mapping[str, Any], device: str) -> str:
    """The model of a device; "" where it is not known."""
    return str(provenance.get("devices", {}).get(device, {}).get("model") or "")


def same_machine(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """Whether two provenances are of machines whose results may share a report."""
    models = [{n: d.get("model") for n, d in p.get("devices", {}).items()} for p in (a, b)]
    shared = set(models[0]) & set(models[1])
    known = [(p["cpu"], p.get("threads")) for p in (a, b) if p.get("cpu")]  # unknown before the first row from afar
    alike = a.get("remote") == b.get("remote") and len(set(known)) < 2
    return alike and all(models[0][n] == models[1][n] for n in shared)


def _gpus(provenance: Mapping[str, Any]) -> list[str]:
    """The models of all devices but the processor, each once."""
    names = [name for name in provenance.get("devices", {}) if device_kind(name) != "cpu"]
    return list(dict.fromkeys(model for name in names if (model := device_model(provenance, name))))


def _cpu(provenance: Mapping[str, Any]) -> str:
    return str(provenance.get("cpu") or "")
