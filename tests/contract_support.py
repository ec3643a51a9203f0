"""What each variant supports, written down, so that narrowing it cannot hide a failure."""

from __future__ import annotations

# Every variant of every filter, and what its `supports` refuses of the contract's cases: words that its reason has.
REFUSALS: dict[tuple[str, str], tuple[str, ...]] = {
    ("mean1d", "serial"): (),
    ("mean1d", "parallel"): (),
    ("mean1d", "scipy"): (),
    ("mean1d", "opencv"): ("wrap", "rounds uint16"),
    ("mean1d", "naive"): (),
    ("mean1d", "constant"): (),
    ("mean1d", "shared"): ("shared memory",),
    ("mean1d", "cupyx"): (),
    ("mean2d", "serial"): (),
    ("mean2d", "parallel"): (),
    ("mean2d", "scipy"): (),
    ("mean2d", "opencv"): ("wrap", "rounds uint16"),
    ("mean2d", "naive"): (),
    ("mean2d", "constant"): (),
    ("mean2d", "shared"): ("shared memory",),
    ("mean2d", "cupyx"): (),
}
