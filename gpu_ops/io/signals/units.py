"""Units in the headings of files: those of time in seconds, and which words are units at all."""

from __future__ import annotations

import re

TIME_NAMES = frozenset(
    ("t", "time", "times", "timestamp", "time stamp", "zeit", "zeitstempel", "uhrzeit", "temps", "heure", "horodatage",
     "tiempo", "tempo", "datetime", "date time", "date/time", "elapsed", "elapsed time", "relative time", "rel time",
     "abs time", "absolute time", "time axis", "x time")
)  # fmt: skip
SECONDS = {
    1.0: "s sec secs second seconds sekunde sekunden seconde secondes",
    1e-3: "ms msec msecs millisecond milliseconds millisekunde millisekunden milliseconde millisecondes",
    1e-6: "us µs μs usec usecs µsec microsecond microseconds mikrosekunde mikrosekunden microseconde microsecondes",
    1e-9: "ns nsec nanosecond nanoseconds nanosekunde nanosekunden nanoseconde nanosecondes",
    1e-12: "ps psec picosecond picoseconds",
    60.0: "min mins minute minutes minuten",
    3600.0: "h hr hrs hour hours std stunde stunden heure heures",
    86400.0: "d day days tag tage jour jours",
}
TIMES = {word: seconds for seconds, words in SECONDS.items() for word in words.split()}
"""Units of time by any of their names, in lower case, in seconds."""
AMBIGUOUS = frozenset(("h", "min", "d", "std", "heure", "tag", "jour", "day"))
"""Units of time that are not, on their own, names of a column of times."""
RATES = {"hz": 1.0, "khz": 1e3, "mhz": 1e6, "ghz": 1e9, "sa/s": 1.0, "s/s": 1.0, "1/s": 1.0, "samples/s": 1.0,
         "sps": 1.0, "ksa/s": 1e3, "ks/s": 1e3, "ksps": 1e3, "msa/s": 1e6, "ms/s": 1e6, "msps": 1e6, "gsa/s": 1e9,
         "gs/s": 1e9}  # fmt: skip
"""Units of rates, in lower case, in hertz."""
BASES_TEXT = """
V A W Hz s g m N Pa bar K F H T J C eV rad deg l L mol lx lm Wb S B Bq Gy Sv \u03a9 \u2126 Ohm ohm VA var Vrms Arms Vpp
Torr Oe G"""
UNPREFIXED = """
% ‰ ° °C °F ℃ dB dBm dBV dBFS dBA ppm ppb rpm bpm psi mmHg inHg cmH2O g's gs lsb lsbs adu counts count cts digits a.u.
au u. arb. sequence inch in ft lbs lbf mph kph kmh kn volt volts millivolt millivolts microvolt ampere amperes amp amps
milliampere watt watts hertz celsius kelvin degree degrees newton pascal radian radians gauss tesla ohms"""
BASES = frozenset(BASES_TEXT.split())
"""Units that may have a prefix, such as the m of mV."""
WORDS = frozenset(UNPREFIXED.casefold().split()) | TIMES.keys()
"""Units without prefixes, in lower case."""
PREFIXED = re.compile(r"(?:da|[yzafpnuµμmcdhkMGTPEZY])?(.+)")
FACTORS = re.compile(r"[/·*⋅\s]+")
POWER = re.compile(r"(?:\^?-?\d|\*\*-?\d|[⁻²³¹⁴√])+$")
BRACKETS = re.compile(r"\s*(?:\[\s*([^\[\]]*?)\s*\]|\(\s*([^()]*?)\s*\)|<\s*([^<>]*?)\s*>|\{\s*([^{}]*?)\s*\})\s*")
LONGEST = 24


def is_unit(text: str) -> bool:
    """Whether a text is a unit, such as "mV", "m/s²" or "counts"."""
    if not 0 < len(text) <= LONGEST:
        return False
    return text.casefold() in WORDS or all(map(_is_factor, FACTORS.split(text.replace("Hz^(1/2)", "Hz").strip("√"))))


def _is_factor(text: str) -> bool:
    """Whether a text is a unit, with or without a prefix and a power, or a 1 as in 1/min."""
    bare = POWER.sub("", text).strip("()√")
    match = PREFIXED.fullmatch(bare)
    named = bare in BASES or bare.casefold() in WORDS or (match is not None and match[1] in BASES)
    return named or (text == "1" and not bare)


def in_brackets(cell: str) -> str | None:
    """The text of a cell that is completely in brackets or quotes, such as "(ms)" or "'s'"; None for another."""
    match = BRACKETS.fullmatch(cell)
    if match is not None:
        return next(group for group in match.groups() if group is not None)
    return cell[1:-1].strip() if len(cell) > 2 and cell[0] == cell[-1] and cell[0] in "'\"" else None


def cut_unit(name: str) -> tuple[str, str]:
    """A heading without its unit, and the unit, "" without one: "U (mV)", "U [mV]", "U/mV", "U in mV"."""
    for match in BRACKETS.finditer(name):
        unit = next(group for group in match.groups() if group is not None).strip("'\"")
        if is_unit(unit):
            return f"{name[: match.start()]} {name[match.end() :]}".strip(), unit
    parts = re.split(r"\s*/\s*|\s+in\s+", name, maxsplit=1)
    if len(parts) == 2 and parts[0] and is_unit(parts[1].strip("'\"")):
        return parts[0].strip(), parts[1].strip("'\"")
    parts = re.split(r"\s+(?=['\"][^'\"]+['\"]$)", name, maxsplit=1)
    if len(parts) == 2 and is_unit(parts[1][1:-1]):
        return parts[0], parts[1][1:-1]
    return name, ""


def time_unit(name: str, unit: str = "") -> float | None:
    """The length in seconds of a time column's unit, from its name, such as "time", "t (ms)" or "seconds", and from its
    `unit` if that is given separately; None for a column without times."""
    word = " ".join(name.strip().strip("'\"").casefold().split())
    if word in TIMES and word not in AMBIGUOUS:
        return TIMES[word]
    if word.replace("_", " ") in TIME_NAMES:
        return TIMES.get(unit.casefold()) if unit else 1.0
    if word.startswith("in "):
        return TIMES.get(word[3:].strip())
    stem, own = _cut_time(word)
    return TIMES.get(own) if stem.replace("_", " ").strip(" ,;:") in TIME_NAMES else None


def _cut_time(word: str) -> tuple[str, str]:
    """A heading in lower case without its possible unit of time, and that unit."""
    match = BRACKETS.search(word)
    if match is not None:
        inside = next(group for group in match.groups() if group is not None)
        return f"{word[: match.start()]} {word[match.end() :]}".strip(), inside.strip("'\"")
    match = re.fullmatch(r"(.+?)(?:\s*/\s*|\s+in\s+|[\s,_]+)['\"]?([^\W\d_]+)['\"]?", word)
    return (match[1], match[2]) if match is not None else (word, "")
