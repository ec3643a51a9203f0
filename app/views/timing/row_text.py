"""The texts of a row in the ladder and in the table."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.base.numbers import NONE, count, number, percent, relative_error, seconds, times
from app.base.terms import counter_name, stage_name
from app.base.theme import Colours, Role
from app.models.results.entry import Entry, FairBar
from app.models.results.quality import quality_lines
from app.models.results.results import Results
from app.models.results.row_differences import settings_text
from app.models.results.rungs import counted_ids, rung_lines
from gpu_ops.counters import FIGURES
from gpu_ops.device_names import device_host, device_kind, device_place, is_simulated, on_host
from gpu_ops.report.bounds import bound_note, bound_text
from gpu_ops.report.changes import Change, change
from gpu_ops.report.rows import Row
from gpu_ops.run_key import EDITS
from gpu_ops.stages import STAGES
from gpu_ops.types import REFERENCE, Timing

translate = QCoreApplication.translate
MOST_PRINTED = 8


def clock_name(clock: str, mode: str = "") -> str:
    """The name of the clock of a time."""
    names = {
        "cuda-event": translate("Rows", "event clock"),
        "wall": translate("Rows", "wall clock"),
        "simulated": translate("Rows", "simulated"),
    }
    name = names.get(clock, clock)
    return f"{name}, {mode}" if mode and mode != clock else name


def device_name(device: str) -> str:
    """The name of a device: CPU, GPU 0, simulated GPU, GPU 0 on gpu-host."""
    if (host := device_host(device)) != "":
        return translate("Rows", "{device} on {host}").format(device=device_name(on_host("", device)), host=host)
    if device == "cpu":
        return translate("Rows", "CPU")
    kind, place = device_kind(device), device_place(device)
    if is_simulated(device):
        name = translate("Rows", "simulated GPU")
        return translate("Rows", "{name}, {architecture}").format(name=name, architecture=place) if place else name
    return translate("Rows", "GPU {place}").format(place=place) if kind == "cuda" else device


def figure_text(id: str, value: float) -> str:
    """A counter or metric with its value: "1.58 sectors per load request"."""
    figure = FIGURES.get(id)
    return f"{number(value, 3) if figure is not None and figure.over else count(value)} {counter_name(id)}"


def state_text(entry: Entry) -> str:
    """The state of a row; empty for an up-to-date one."""
    words = {
        "waiting": translate("Rows", "not measured"),
        "running": translate("Rows", "running…"),
        "stale": translate("Rows", "stale"),
    }
    return words.get(entry.state, "")


def recorded_text(entry: Entry) -> str:
    """The chip of a row that was recorded on another machine, or before its kernels changed."""
    if not entry.recorded:
        return ""
    texts = [translate("Rows", "recorded"), entry.machine, translate("Rows", "older kernel") if entry.older else ""]
    return " · ".join(text for text in texts if text)


def verdict(entry: Entry) -> str:
    """The verdict: right, wrong, unverified, or why there is no result; empty for a row of an earlier setting."""
    if entry.row is None or not entry.current:
        return ""
    if entry.failure:
        kinds = {
            "unsupported": translate("Rows", "unsupported"),
            "kernel": translate("Rows", "kernel failed"),
            "memory": translate("Rows", "out of memory"),
        }
        return kinds.get(entry.row.failure_kind, translate("Rows", "failed"))
    if entry.row.variant == REFERENCE:
        return translate("Rows", "the definition")
    unknown = translate("Rows", "not checked yet") if entry.row.edits else translate("Rows", "unverified")
    return {True: translate("Rows", "right"), False: translate("Rows", "WRONG"), None: unknown}[entry.ok]


def verdict_role(entry: Entry, colours: Colours) -> Role:
    """Symbol and colour of the verdict."""
    if entry.row is not None and entry.failure:
        return colours.warn if entry.row.failure_kind == "unsupported" else colours.error
    if entry.row is not None and entry.row.variant == REFERENCE:
        return colours.info
    return {True: colours.ok, False: colours.error, None: colours.warn}[entry.ok]


def failure_text(entry: Entry) -> str:
    """The sentence shown instead of a bar."""
    if not entry.current:
        return ""
    if entry.failure:
        return entry.failure
    if entry.simulated:
        return _uncounted(entry)
    if entry.ok is False:
        return _fault(entry) or translate("Rows", "Wrong result: not timed.")
    if entry.row and entry.row.edits and entry.ok is None:
        return translate(
            "Rows", "Its time counts once its contract is checked: press Check contract in the X-ray panel."
        )
    if entry.row and entry.seconds("kernel") is None and entry.state != "running":
        return translate("Rows", "Computed, not timed.")
    return ""


def _uncounted(entry: Entry) -> str:
    """Why a simulated row has no bar."""
    if entry.findings and entry.ok is False:
        return str(entry.findings[0]["text"])
    if entry.ok is not False:
        return ""
    return _fault(entry) or translate("Rows", "Wrong result: counts not compared.")


def _fault(entry: Entry) -> str:
    """What is wrong with a result whose values are right, as a sentence."""
    return translate("Rows", "Wrong: {fault}").format(fault=entry.fault.rstrip(".") + ".") if entry.fault else ""


def speedup_heading(results: Results) -> str:
    """The heading of speed-ups, which names the baseline."""
    slot = results.baseline
    if slot is None:
        return translate("Rows", "speed-up")
    name = results.entry(slot).name if slot in results else slot.variant
    return translate("Rows", "× {variant}, {device}").format(variant=name, device=device_name(slot.device))


def details(entry: Entry, results: Results) -> str:
    """All details of a row, one per line; every time names its clock."""
    where = [entry.name, device_name(entry.device), recorded_text(entry), state_text(entry)]
    lines = [" · ".join(w for w in where if w)]
    row = entry.timed
    names = {name: stage_name(name, entry.device, row is not None and row.end_to_end) for name in STAGES}
    lines += [_stage_line(text, s) for name, text in names.items() if (s := entry.stage(name))]
    if row is not None and row.gbps is not None:
        lines += [_rate_line(row, row.gbps), *filter(None, (_peak_line(row), bound_text(row), bound_note(row)))]
    lines += rung_lines(results.entries(), entry)
    counted = (figure_text(id, value) for id in counted_ids([entry]) if (value := entry.counted(id)) is not None)
    lines += [translate("Rows", "counted, simulated: {work}").format(work=work) for work in counted]
    speedup = results.speedup(entry.slot)
    if speedup is not None:
        lines.append(f"{times(speedup)} {speedup_heading(results).removeprefix('× ')}")
    if (found := change_of(entry, results)) is not None:
        lines.append(translate("Rows", "since pinned: {change}").format(change=change_text(found)))
    lines += [*_verdict_lines(entry), *(str(f["text"]) for f in entry.findings)]
    if entry.row is not None and entry.current:
        lines += [line for output, quality in entry.row.quality.items() for line in quality_lines(output, quality)]
    if row is None:
        return "\n".join(lines)
    if knobs := knobs_text(row):
        lines.append(translate("Rows", "knobs: {knobs}").format(knobs=knobs))
    return "\n".join([*lines, *row.notes, *([row.flag] if row.flag else []), *_printed(entry)])


def knobs_text(row: Row | None) -> str:
    """Every knob with its value: "block 128, outputs 2"; an edited kernel is marked."""
    return settings_text({**row.knobs, **({EDITS: row.edits} if row.edits else {})}) if row else ""


def _printed(entry: Entry) -> list[str]:
    """The first lines that the kernel printed."""
    lines = [translate("Rows", "printed: {line}").format(line=line) for line in entry.printed[:MOST_PRINTED]]
    rest = len(entry.printed) - len(lines)
    return [*lines, *([translate("Rows", "and {count} more printed lines").format(count=count(rest))] if rest else [])]


def change_of(entry: Entry, results: Results) -> Change | None:
    """How a row's kernel time changed since it was pinned."""
    before = results.pinned(entry)
    return change(before, entry.timed) if before is not None and entry.timed is not None else None


def change_text(found: Change) -> str:
    """A change with its verdict, "−12 % faster"; only "unsure" if one of the times is unreliable."""
    verdicts = {
        "faster": translate("Rows", "faster"),
        "slower": translate("Rows", "slower"),
        "same": translate("Rows", "same"),
        "unsure": translate("Rows", "unsure"),
    }
    return verdicts["unsure"] if found.verdict == "unsure" else f"{found.percent} {verdicts[found.verdict]}"


def speedup_text(entry: Entry, results: Results) -> str:
    """The speed-up, or "unsure" if this row's time is unreliable."""
    return translate("Rows", "unsure") if entry.doubt("kernel") else times(results.speedup(entry.slot))


def _stage_line(name: str, stage: Timing) -> str:
    line = _stage_figures(name, stage)
    return f"{line} – {stage.doubt}" if stage.doubt else line


def _stage_figures(name: str, stage: Timing) -> str:
    return translate("Rows", "{stage} {median} ({q1} … {q3}, n = {n}), {clock}").format(
        stage=name,
        median=seconds(stage.median),
        q1=seconds(stage.q1),
        q3=seconds(stage.q3),
        n=number(stage.n, 9),
        clock=clock_name(stage.clock, stage.mode),
    )


def _rate_line(row: Row, gbps: float) -> str:
    return translate("Rows", "{rate} GB/s, {share} of the {kind} roof of {roof} GB/s").format(
        rate=number(gbps),
        share=percent(row.share),
        kind=row.roof.kind if row.roof else NONE,
        roof=number(row.roof.bytes_s / 1e9) if row.roof else NONE,
    )


def _peak_line(row: Row) -> str:
    if row.share_peak is None:
        return ""
    return translate("Rows", "{share} of the data sheet's peak").format(share=percent(row.share_peak))


def _verdict_lines(entry: Entry) -> list[str]:
    if entry.row is None or not entry.current:
        return []
    if entry.failure:
        return [f"{verdict(entry)}: {entry.failure}"]
    return [
        translate("Rows", "{verdict}: error {error}, allowed {tolerance}").format(
            verdict=verdict(entry),
            error=relative_error(entry.row.error_max),
            tolerance=relative_error(entry.row.tolerance),
        )
    ]


def part_text(entry: Entry) -> str:
    """The part of the input whose work was counted, because it cannot be compared with that of the whole; "" for
    that."""
    size = " × ".join(map(number, reversed(entry.part)))  # noqa: RUF001 - the sign of times
    return translate("Rows", "of {size}").format(size=size) if size else ""


def entry_texts(entry: Entry, results: Results) -> dict[str, str]:
    """The cells of a row."""
    row, found = entry.timed, change_of(entry, results)
    timed = entry.seconds("kernel") is not None
    rate, share = (row.gbps, row.share) if timed and row else (None, None)
    return {
        "kernel": seconds(entry.seconds("kernel")) if timed else "",
        "rate": f"{number(rate)} GB/s" if rate is not None else "",
        "share": percent(share) if share is not None else "",
        "speedup": speedup_text(entry, results) if timed else "",
        "change": change_text(found) if found else "",
        "change verdict": found.verdict if found else "",
        "error": relative_error(entry.row.error_max) if entry.row and verdict(entry) and not entry.failure else "",
        "verdict": verdict(entry),
    }


def fair_texts(bar: FairBar) -> dict[str, str]:
    if bar.seconds is None or bar.entry is None:
        return {"kernel": NONE, "who": translate("Rows", "not measured")}
    who = [bar.variant, clock_name(bar.clock), recorded_text(bar.entry), state_text(bar.entry)]
    return {"kernel": seconds(bar.seconds), "who": " · ".join(w for w in who if w)}


def sub_text(entry: Entry) -> str:
    """The texts below a name: the device, the state, the machine, the knobs."""
    return " · ".join(
        p for p in (device_name(entry.device), state_text(entry), recorded_text(entry), knobs_text(entry.row)) if p
    )


def fair_text(bar: FairBar) -> str:
    """A bar of the fair comparison as text, with its clock."""
    if bar.seconds is None or bar.entry is None:
        return translate("Rows", "{title}: not measured").format(title=bar.title)
    parts = [translate("Rows", "{title}: {time}").format(title=bar.title, time=seconds(bar.seconds)), bar.variant]
    parts += [clock_name(bar.clock), recorded_text(bar.entry), state_text(bar.entry)]
    return " · ".join(p for p in parts if p)


def cache_note(entry: Entry) -> str:
    """What the cache means for a row's time, and of which machine that is said."""
    note = bound_note(entry.timed) if entry.timed and entry.seconds("kernel") is not None else ""
    return f"◉ {entry.machine}: {note}" if note and entry.recorded else note
