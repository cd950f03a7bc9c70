"""How far every decision of an answer is from failing, of Pirouette, Pirouette^H and T-Respire: predicted for any
database, and measured."""

from collections.abc import Mapping, Sequence
from math import inf, log2, sqrt
from typing import Any

import pandas as pd

from ..lib import cells
from ..lib.marks import ASSUMED, marks_of, provenance
from ..lib.protocols import PAPERS, place, protocol_name, series_name
from ..lib.spec import spec
from ..lib.table import Cell, Table
from ..lib.units import shape_text, significant
from .sets import PAPER
from .steps import shown

PROTOCOLS: list[str] = PAPERS[PAPER]["decisions"]
KINDS: dict[str, str] = spec("pirouette/decisions").words
LEAST = 8.2
"""Standard deviations that every decision has to keep."""


def pooled(stages: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Several records' samples of a stage as one: mean square about zero, largest error, all samples."""
    samples = sum(stage["samples"] for stage in stages)
    square = sum(stage["samples"] * stage["stddev"] ** 2 for stage in stages) / samples
    largest = max(abs(stage["max"]) for stage in stages)
    return {
        "samples": samples,
        "keys": sum(stage["keys"] for stage in stages),
        "stddev": sqrt(square),
        "largest": largest,
        "threshold": stages[0]["threshold"],
    }


def lines(every: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line a set, database and stage that decides, over all records of it."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in shown(every, PROTOCOLS):
        groups.setdefault((row["set"], row["sha256"], row["records"], row["record_bits"]), []).append(row)
    found = []
    for rows in groups.values():
        stages = {stage["stage"]: stage for stage in rows[-1].get("noise_stages") or []}
        for stage, kind in KINDS.items():
            measured = [entry for row in rows for entry in row["noise"] if entry["stage"] == stage]
            if not measured:
                continue
            own, predicted = pooled(measured), stages.get(stage, {})
            margin = own["threshold"] / own["stddev"] if own["stddev"] else inf
            deviation = predicted.get("stddev_bound") or predicted.get("stddev")
            promised = own["threshold"] / deviation if deviation else None
            least = min(value for value in (margin, promised) if value is not None)
            found.append(
                {key: rows[0][key] for key in ("protocol", "set", "records", "record_bits")}
                | {"kind": kind, "stage": stage, "threshold": own["threshold"], "decisions": predicted.get("decisions")}
                | {"predicted_stddev": deviation, "predicted_margin": promised}
                | {"log2_failure": predicted.get("log2_failure_bound"), "samples": own["samples"], "keys": own["keys"]}
                | {"measured_stddev": own["stddev"], "measured_margin": margin}
                | {"largest_share": own["largest"] / own["threshold"], "rows": rows}
                | {"verdict": f"{LEAST:g} kept" if least >= LEAST else f"below {LEAST:g}"}
            )
    order = list(dict.fromkeys(KINDS.values()))
    return sorted(found, key=lambda line: (order.index(line["kind"]), line["records"], line["set"]))


def _margin(value: float) -> str:
    return f"2^{log2(value):.0f}" if value >= 1000 else significant(value, 3)


def _verdict(line: Mapping[str, Any]) -> Cell:
    few = f", {line['samples']:.0f} samples" if line["samples"] < 2**10 and line["verdict"].startswith("below") else ""
    return Cell(line["verdict"] + few)


SPEC = spec(
    "pirouette/margins",
    series=lambda line: cells.series(line["rows"][0]),
    promised=cells.shown("predicted_margin", _margin, "–"),
    margin=cells.shown("measured_margin", _margin, "–"),
    verdict=_verdict,
)


def table(every: Sequence[dict[str, Any]]) -> Table:
    """The margins by kind of decision, with the smallest of each kind as a note."""
    found = lines(every)
    rows = [SPEC.row(line, " ".join(row["id"] for row in line["rows"])) for line in found]
    shown_of = {row["id"]: row for line in found for row in line["rows"]}
    said: dict[str, Any] = {"smallest": _smallest(found), "sums": _sums(found)}
    return SPEC.table(rows, found, provenance=provenance(list(shown_of.values())), **said)


def _smallest(found: Sequence[Mapping[str, Any]]) -> str:
    """The smallest margin of a protocol's decisions of each kind, predicted and measured, over the sets that reach both
    targets."""
    sound = [line for line in found if not {"insecure", "failing"} & set(marks_of(line["rows"][0]))]
    parts = []
    for protocol in sorted({line["protocol"] for line in sound}, key=place):
        kinds = []
        for kind in dict.fromkeys(KINDS.values()):
            own = [line for line in sound if (line["protocol"], line["kind"]) == (protocol, kind)]
            promised = [line["predicted_margin"] for line in own if line["predicted_margin"] is not None]
            if own:
                least = _margin(min(promised)) if promised else "–"
                measured = _margin(min(line["measured_margin"] for line in own))
                kinds.append(f"{kind} {least} predicted, {measured} measured")
        parts.append(f"{protocol_name(protocol)}: {'; '.join(kinds)}.")
    return f"Smallest margins of sets without † or ‡, in standard deviations. {' '.join(parts)}" if parts else ""


def _sums(found: Sequence[Mapping[str, Any]]) -> str:
    """The failure bound of a whole query: the sum over all its decisions."""
    sums = {}
    for line in found:
        row = line["rows"][0]
        if row["failure_log2"] is not None and not pd.isna(row["failure_log2"]):
            name = f"{series_name(row['protocol'], row['set'])} at {shape_text(row['records'], row['record_bits'])}"
            sums[name] = row["failure_log2"]
    listed = "; ".join(f"{name} 2^{value:.1f}" for name, value in sums.items())
    return f"A query fails, summed over all its decisions, for any database ({ASSUMED}): {listed}." if sums else ""
