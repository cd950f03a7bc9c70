"""Predicted against measured: bytes, memory, noise and seconds, every twin side by side.

What a twin is and when the two agree is the estimator's to say (`pirlab_estimator.compare`); here it becomes a table.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from pirlab_estimator.compare import UNSURE, compare

from ..lib.cells import SECURITY, SERIES, counted, quantity, series, sized_database
from ..lib.frame import dicts
from ..lib.marks import footnotes, marks_of, provenance
from ..lib.output import words
from ..lib.protocols import series_name
from ..lib.table import Cell, Column, Maker, Row, Table, label, make_cells
from ..lib.units import human_bytes, human_seconds, significant

KINDS = ("bytes", "memory", "noise", "seconds")
#: Online phases and their steps; all others are of preprocessing or of an update.
ONLINE = ("query", "answer", "extract")
#: The summary counts others from these measured seconds on, and those within this factor of the prediction.
LEAST_SECONDS, FACTOR = 0.01, 1.5
PREFIXES = {"payload": "bytes", "table": "memory", "peak": "memory", "noise": "noise", "seconds": "seconds"}
OF_TWINS = words("predicted measured unit ratio verdict tolerance note")
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
            row = {key: record[key] for key in ("set", "security_bits", "records", "record_bits", "queries")}
            row |= {key: getattr(twin, key) for key in OF_TWINS}
            row |= {"kind": PREFIXES[twin.quantity.split()[0]], "record_id": record["id"]}
            row |= {"quantity": twin.quantity.removeprefix("payload ").removeprefix("seconds ")}
            row |= {"series": series_name(record["protocol"], record["set"]), "marks": " ".join(marks_of(record))}
            rows.append(row | {"data": _data(record["database_source"])})
    frame = pd.DataFrame(rows, columns=COLUMNS)
    for column in ("predicted", "measured", "ratio"):
        frame[column] = pd.to_numeric(frame[column])
    return frame


def _data(source: str | None) -> str:
    """What the records are, in a word."""
    kind, _, rest = (source or "").partition(":")
    return {"seeded": "random", "constant": {"00": "zeros", "ff": "ones"}.get(rest, rest)}.get(kind, kind)


def _value(key: str) -> Maker:
    """Makes cells of a twin in the unit of its kind."""

    def cell(row: dict[str, Any]) -> Cell:
        kind, value = row["kind"], row[key]
        text = human_seconds(value) if kind == "seconds" else significant(value, 4) if kind == "noise" else None
        return Cell(human_bytes(value) if text is None else text, sort=value)

    return cell


OF_RECORD = [label("series", SERIES.header, cell=series), SECURITY]
"""Columns whose cells are those of the record."""
OF_TWIN = [
    label("kind", "Kind"),
    label("quantity", "Quantity", cell=lambda row: Cell(row["quantity"].replace("_", " "))),
    Column("predicted", "Predicted", cell=_value("predicted")),
    Column("measured", "Measured", cell=_value("measured")),
    quantity("ratio", "Measured / predicted"),
    label("verdict", "Verdict"),
    label("tolerance", "Tolerance"),
    label("note", "Note"),
]
PLACE = [
    label("database", "Database", cell=sized_database),
    label("data", "Data"),
    Column("queries", "Queries", cell=counted("queries")),
]


def table(frame: pd.DataFrame, joined: pd.DataFrame) -> Table:
    """The accuracy table: a row a series, shape and quantity."""
    records = {record["id"]: record for record in dicts(joined)}
    drawn = [record for name, record in records.items() if (frame["record_id"] == name).any()]
    rows = []
    for row in frame.to_dict("records"):
        cells = make_cells([*PLACE, *OF_TWIN], row) | make_cells(OF_RECORD, records[row["record_id"]])
        rows.append(Row(cells, row["record_id"]))
    notes = [summary(frame), provenance(list(records.values())), RULES]
    columns = [*PLACE, *OF_RECORD, *OF_TWIN]
    return Table("Predicted against measured", columns, rows, frame, footnotes(drawn), notes)


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
    """One sentence a kind: the number of twins, of those outside tolerance, and the range of the ratio."""
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
    """How far off the seconds of preprocessing and of updates are, which no tolerance judges."""
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
