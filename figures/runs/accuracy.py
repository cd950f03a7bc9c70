"""Predicted against measured: bytes, memory, noise and seconds, every twin side by side.

The estimator defines twins and their agreement (`pirlab_estimator.compare`); here they become a table.
"""

from typing import Any

import pandas as pd
from pirlab_estimator.compare import UNSURE, compare

from ..lib.frame import dicts
from ..lib.marks import footnotes, marks_of, provenance
from ..lib.output import words
from ..lib.protocols import series_name
from ..lib.spec import spec
from ..lib.table import Cell, Maker, Table
from ..lib.units import human_bytes, human_seconds, significant

KINDS = ("bytes", "memory", "noise", "seconds")
#: Online phases and their steps; all others are of preprocessing or of an update.
ONLINE = ("query", "answer", "extract")
#: The summary counts others from these measured seconds on, and those within this factor of the prediction.
LEAST_SECONDS, FACTOR = 0.01, 1.5
PREFIXES = {"payload": "bytes", "table": "memory", "peak": "memory", "noise": "noise", "seconds": "seconds"}
OF_TWINS = words("predicted measured unit ratio verdict tolerance note")


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
    frame = pd.DataFrame(rows, columns=SPEC.keys)
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


SPEC = spec("runs/accuracy", predicted=_value("predicted"), measured=_value("measured"))


def table(frame: pd.DataFrame, joined: pd.DataFrame) -> Table:
    """The accuracy table: a row a series, shape and quantity."""
    records = {record["id"]: record for record in dicts(joined)}
    drawn = [record for name, record in records.items() if (frame["record_id"] == name).any()]
    rows = [SPEC.row(records[row["record_id"]] | row, row["record_id"]) for row in frame.to_dict("records")]
    said: dict[str, Any] = {"summary": summary(frame), "provenance": provenance(list(records.values()))}
    return SPEC.table(rows, frame, footnotes(drawn), **said)


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
