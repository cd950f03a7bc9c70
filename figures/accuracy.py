"""Predicted against measured: bytes, memory, noise and seconds, every twin side by side.

What a twin is and when the two agree is the estimator's to say (`pirlab_estimator.compare`); here it becomes a table.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from pirlab_estimator.compare import UNSURE, compare

from . import series
from .loader import dicts
from .marks import footnotes, marks_of, provenance
from .names import series_name, words
from .table import Cell, Column, Row, Table
from .units import human_bytes, human_seconds, shape_text, significant

KINDS = ("bytes", "memory", "noise", "seconds")
#: Online phases and their steps; all others are of preprocessing or of an update.
ONLINE = ("query", "answer", "extract")
#: What the summary counts of the others: from so many measured seconds on, and within what factor of the prediction.
LEAST_SECONDS, FACTOR = 0.01, 1.5
PREFIXES = {"payload": "bytes", "table": "memory", "peak": "memory", "noise": "noise", "seconds": "seconds"}
COLUMNS = words(
    "kind quantity series set security_bits marks records record_bits data queries predicted measured unit ratio "
    "verdict tolerance note record_id"
)


def build(joined: pd.DataFrame) -> pd.DataFrame:
    """One row a (record, quantity) with both twins in base units, of records that have a prediction and are right."""
    rows: list[dict[str, Any]] = []
    for record in dicts(joined):
        if record["status"] != "ok" or record["prediction"] is None:
            continue
        for twin in compare(record["prediction"], record["document"]):
            kind = PREFIXES[twin.quantity.split()[0]]
            rows.append(
                {
                    "kind": kind,
                    "quantity": twin.quantity.removeprefix("payload ").removeprefix("seconds "),
                    "series": series_name(record["protocol"], record["set"]),
                    "set": record["set"],
                    "security_bits": record["security_bits"],
                    "marks": " ".join(marks_of(record)),
                    "records": record["records"],
                    "record_bits": record["record_bits"],
                    "data": _data(record["database_source"]),
                    "queries": record["queries"],
                    "predicted": twin.predicted,
                    "measured": twin.measured,
                    "unit": twin.unit,
                    "ratio": twin.ratio,
                    "verdict": twin.verdict,
                    "tolerance": twin.tolerance,
                    "note": twin.note,
                    "record_id": record["id"],
                }
            )
    frame = pd.DataFrame(rows, columns=COLUMNS)
    for column in ("predicted", "measured", "ratio"):
        frame[column] = pd.to_numeric(frame[column])
    return frame


def _data(source: str | None) -> str:
    """What the records are, in a word."""
    kind, _, rest = (source or "").partition(":")
    return {"seeded": "random", "constant": {"00": "zeros", "ff": "ones"}.get(rest, rest)}.get(kind, kind)


def _value(kind: str, value: float) -> str:
    if kind == "seconds":
        return human_seconds(value)
    if kind == "noise":
        return significant(value, 4)
    return human_bytes(value)


def table(frame: pd.DataFrame, joined: pd.DataFrame) -> Table:
    """The accuracy table: a row a series, shape and quantity."""
    columns = [
        Column("database", "Database", text=True),
        Column("data", "Data", text=True),
        Column("queries", "Queries"),
        *series.COLUMNS,
        Column("kind", "Kind", text=True),
        Column("quantity", "Quantity", text=True),
        Column("predicted", "Predicted"),
        Column("measured", "Measured"),
        Column("ratio", "Measured / predicted"),
        Column("verdict", "Verdict", text=True),
        Column("tolerance", "Tolerance", text=True),
        Column("note", "Note", text=True),
    ]
    records = {record["id"]: record for record in dicts(joined)}
    shown = [record for name, record in records.items() if (frame["record_id"] == name).any()]
    rows = []
    for row in frame.to_dict("records"):
        kind = row["kind"]
        cells = {
            "database": Cell(
                shape_text(row["records"], row["record_bits"]), sort=float(row["records"] * row["record_bits"])
            ),
            "data": Cell(row["data"]),
            "queries": Cell(str(row["queries"]), sort=float(row["queries"])),
            **series.cells(records[row["record_id"]]),
            "kind": Cell(kind),
            "quantity": Cell(row["quantity"].replace("_", " ")),
            "predicted": Cell(_value(kind, row["predicted"]), sort=row["predicted"]),
            "measured": Cell(_value(kind, row["measured"]), sort=row["measured"]),
            "ratio": Cell(significant(row["ratio"], 3), sort=row["ratio"]),
            "verdict": Cell(row["verdict"]),
            "tolerance": Cell(row["tolerance"]),
            "note": Cell(row["note"]),
        }
        rows.append(Row(cells, row["record_id"]))
    notes = [summary(frame), provenance(dicts(joined)), RULES]
    return Table("Predicted against measured", columns, rows, frame, footnotes(shown), notes)


RULES = (
    "Demanded: payload bytes and tables in memory equal; peak memory within 10 %; "
    "noise: variance within 1/16 of the formula for a random "
    "database on at least 2^14 independent samples over at least 20 keys, with fewer (the note says so where the run "
    "took fewer) within 1/16 and the sampling error (chi-square at four standard deviations); never above the bound "
    "but for that error. `agrees` is only said where that error is at most 1/16 itself, or so far below a bound that "
    "it does not matter, else `too few to tell`. Shown is the standard deviation. Answer seconds within 25 %, where "
    "the unit costs were "
    "measured on the machine that ran, at the same read bandwidth (the note says where not); other seconds are for "
    "information. Those of preprocessing are predicted for memory that the machine has at hand; where a virtual "
    "machine has to find it first they are up to a few times longer."
)


def summary(frame: pd.DataFrame) -> str:
    """One sentence a kind: how many twins, how many agree, the range of the ratio."""
    parts = []
    for kind in KINDS:
        rows = frame[frame["kind"] == kind]
        if rows.empty:
            continue
        low, high = significant(rows["ratio"].min(), 3), significant(rows["ratio"].max(), 3)
        differ = int((rows["verdict"] == "DIFFERS").sum())
        judged = f" of {int((rows['verdict'] != 'shown').sum())} judged" if kind == "seconds" else ""
        unsure = int((rows["verdict"] == UNSURE).sum())
        parts.append(
            f"{kind}: {len(rows)} twins, measured/predicted {low} to {high}, {differ}{judged} outside tolerance"
            + (f", {unsure} {UNSURE}" if unsure else "")
        )
    parts += _before_and_after(frame)
    return ("; ".join(parts) if parts else "No record has a predicted twin") + "."


def _before_and_after(frame: pd.DataFrame) -> list[str]:
    """How far off the seconds of preprocessing and of updates are, for which nothing is demanded."""
    rows = frame[(frame["kind"] == "seconds") & (frame["measured"] >= LEAST_SECONDS)]
    rows = rows[~rows["quantity"].str.startswith(ONLINE)]
    if rows.empty:
        return []
    update = rows["quantity"].str.startswith("update")
    parts = []
    for name, chosen in (("preprocessing", rows[~update]), ("updates", rows[update])):
        near = int(chosen["ratio"].between(1 / FACTOR, FACTOR).sum())
        if len(chosen):
            median = significant(chosen["ratio"].median(), 3)
            parts.append(
                f"seconds of {name} of 10 ms or more: {near} of {len(chosen)} within a factor of {FACTOR} of the "
                f"prediction, median {median}"
            )
    return parts
