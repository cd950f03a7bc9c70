"""How far every decision of a Pirouette answer is from failing: predicted for any database, and measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, log2, sqrt
from typing import Any

import pandas as pd

from .inspire_tables import cell_footnotes, mark_footnotes
from .marks import ASSUMED, marks_of, provenance, symbols
from .names import series_name, words
from .pirouette_phases import shown
from .table import Cell, Column, Row, Table
from .units import shape_text, significant

KINDS = {
    "floor_msb": "floor",
    "floor_rest": "floor",
    "digit": "digit",
    "bit": "bit",
    "rgsw_input": "RGSW input",
    "response": "final rounding",
}
"""Kinds of decisions by the stage at which they are taken. A bit is read at a quarter of Q: nothing comes near it."""
LEAST = 8.2
"""Standard deviations that every decision has to keep."""
COLUMNS = words(
    "kind stage set records record_bits threshold decisions predicted_stddev predicted_margin log2_failure samples "
    "keys measured_stddev measured_margin largest_share verdict"
)


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


def lines(joined: pd.DataFrame) -> list[dict[str, Any]]:
    """One line a set, database and stage that decides, over all records of it."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in shown(joined):
        groups.setdefault((row["set"], row["sha256"], row["records"], row["record_bits"]), []).append(row)
    found = []
    for rows in groups.values():
        foretold = {stage["stage"]: stage for stage in rows[-1].get("noise_stages") or []}
        for stage, kind in KINDS.items():
            measured = [entry for row in rows for entry in row["noise"] if entry["stage"] == stage]
            if not measured:
                continue
            own, predicted = pooled(measured), foretold.get(stage, {})
            margin = own["threshold"] / own["stddev"] if own["stddev"] else inf
            deviation = predicted.get("stddev_bound") or predicted.get("stddev")
            promised = own["threshold"] / deviation if deviation else None
            least = min(value for value in (margin, promised) if value is not None)
            found.append(
                {key: rows[0][key] for key in ("set", "records", "record_bits")}
                | {"kind": kind, "stage": stage, "threshold": own["threshold"], "decisions": predicted.get("decisions")}
                | {"predicted_stddev": deviation, "predicted_margin": promised}
                | {"log2_failure": predicted.get("log2_failure_bound"), "samples": own["samples"], "keys": own["keys"]}
                | {"measured_stddev": own["stddev"], "measured_margin": margin}
                | {"largest_share": own["largest"] / own["threshold"], "rows": rows}
                | {"verdict": f"{LEAST:g} kept" if least >= LEAST else f"below {LEAST:g}"}
            )
    order = list(dict.fromkeys(KINDS.values()))
    return sorted(found, key=lambda line: (order.index(line["kind"]), line["records"], line["set"]))


def table(joined: pd.DataFrame) -> Table:
    """The margins by kind of decision, with the smallest of each kind as a note."""
    columns = [
        Column("kind", "Decision", text=True),
        Column("stage", "Stage", text=True),
        Column("series", "Set", text=True),
        Column("database", "Database", text=True),
        Column("decisions", "Decisions", "a query"),
        Column("promised", "Margin, any data", "predicted, std. dev."),
        Column("failure", "Failure bound", "log2"),
        Column("margin", "Margin", "measured, std. dev."),
        Column("largest", "Largest error", "of the limit"),
        Column("samples", "Samples"),
        Column("verdict", "Verdict", text=True),
    ]
    found = lines(joined)
    rows = [Row(_cells(line), line["rows"][0]["id"]) for line in found]
    every = {row["id"]: row for line in found for row in line["rows"]}
    notes = [
        provenance(list(every.values())),
        "A margin is the limit of the error over its standard deviation: predicted from the formulas for the worst "
        "database, measured from the errors of all answers of the set at that database, those on several threads and "
        "of a hundred queries included. Few samples tell a standard deviation roughly: 36 to 12 %. A largest "
        "error of 1 would be a failure.",
        _smallest(found),
        _sums(found),
    ]
    frame = pd.DataFrame(found, columns=COLUMNS)
    title = "Pirouette: margins of every kind of decision"
    footnotes = mark_footnotes(rows) + cell_footnotes(rows)
    return Table(title, columns, rows, frame, footnotes, [note for note in notes if note], "pirouette-margins")


def _cells(line: Mapping[str, Any]) -> dict[str, Cell]:
    row = line["rows"][0]
    few = f", {line['samples']:.0f} samples" if line["samples"] < 2**10 else ""
    return {
        "kind": Cell(line["kind"]),
        "stage": Cell(line["stage"].replace("_", " ")),
        "series": Cell(series_name(row["protocol"], row["set"]), symbols(marks_of(row))),
        "database": Cell(shape_text(line["records"], line["record_bits"]), sort=float(line["records"])),
        "decisions": Cell("–" if line["decisions"] is None else f"{line['decisions']:.0f}"),
        "promised": _margin(line["predicted_margin"]),
        "failure": Cell(
            "–" if line["log2_failure"] is None else f"{line['log2_failure']:.1f}", sort=line["log2_failure"]
        ),
        "margin": _margin(line["measured_margin"]),
        "largest": Cell(significant(line["largest_share"], 2), sort=line["largest_share"]),
        "samples": Cell(f"{line['samples']:.0f}", sort=float(line["samples"])),
        "verdict": Cell(line["verdict"] + (few if line["verdict"].startswith("below") else "")),
    }


def _margin(value: float | None) -> Cell:
    if value is None:
        return Cell("–")
    return Cell(f"2^{log2(value):.0f}" if value >= 1000 else significant(value, 3), sort=value)


def _smallest(found: Sequence[Mapping[str, Any]]) -> str:
    """The smallest margin of each kind, predicted and measured, over the sets that reach both targets."""
    sound = [line for line in found if not {"insecure", "failing"} & set(marks_of(line["rows"][0]))]
    parts = []
    for kind in dict.fromkeys(KINDS.values()):
        own = [line for line in sound if line["kind"] == kind]
        promised = [line["predicted_margin"] for line in own if line["predicted_margin"] is not None]
        if own:
            measured = _margin(min(line["measured_margin"] for line in own)).text
            parts.append(f"{kind} {_margin(min(promised, default=None)).text} predicted, {measured} measured")
    return f"Smallest margins of sets without † or ‡, in standard deviations: {'; '.join(parts)}." if parts else ""


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
