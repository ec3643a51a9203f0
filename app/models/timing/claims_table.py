"""The judged claims of the sources as a table for files: rows, and their shared facts. No widgets."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from gpu_ops import comment_lines
from gpu_ops.report.about import SEVERAL, about_machine

Claims = Sequence[Mapping[str, Any]]
"""Judgements as `kernelscope claims --json -` lists them."""
SCHEMA = "kernelscope-claims/1"
COLUMNS = (
    *("id", "source", "source_title", "claim", "published", "prediction", "basis", "found", "holds", "where"),
    *("machine", "figures_s"),
)
WORDS = {True: "holds", False: "does not hold", None: "undecided"}


def facts_of_claims(claims: Claims) -> dict[str, Any]:
    """The facts about the table: the machine of the judging runs, the versions, and the present time."""
    machines = list(dict.fromkeys(claim["machine"] for claim in claims if claim.get("machine")))
    machine = {"machine": machines[0] if len(machines) == 1 else SEVERAL} if machines else {}
    return {"table": "the claims of the sources, and what was found", **machine, **about_machine({})}


def claims_csv(claims: Claims) -> str:
    """The facts after "#", a heading and a row for each claim; published times by variant, in seconds, as JSON."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for claim in claims:
        figures = json.dumps(claim["figures_s"], ensure_ascii=False) if claim.get("figures_s") else ""
        cells = {**claim, "holds": WORDS[claim["holds"]], "figures_s": figures}
        writer.writerow([cells.get(name, "") for name in COLUMNS])
    return comment_lines(facts_of_claims(claims)) + text.getvalue()


def claims_json(claims: Claims) -> str:
    """The same as JSON: "about" has the facts, "claims" the judgements, where null is undecided."""
    content = {"schema": SCHEMA, "about": facts_of_claims(claims), "claims": [dict(claim) for claim in claims]}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
