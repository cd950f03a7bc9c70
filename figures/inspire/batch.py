"""Batches and updates: what a query costs in a batch, and what changing records costs compared with preprocessing.

Queries answered together read the database and the packing tables once. An update encodes the changed records, corrects
the hint, and rebuilds the packing tables that they touch. A line is a row of the experiment; its single queries are
those of rows of the same set and shape with one query, here or in the experiments shown with it.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from ..lib.cells import FAILURE, RIGHT, SECURITY, SERIES, counted, plain_database, quantity, shown
from ..lib.frame import dicts, quartiles, status_text
from ..lib.marks import footnotes, marks_of, provenance
from ..lib.output import words
from ..lib.table import Cell, Column, Row, Table, label, make_cells
from ..lib.units import GIB, KIB, significant

UPDATE = "update_server"
DATA_COLUMNS = words(
    "record_id status reason marks protocol set records record_bits security_bits failure_log2 queries upload_bytes "
    "download_bytes answer_s query_s single_answer_s gain peak_bytes updates tables tables_rebuilt update_s "
    "update_parts preprocess_s update_share compared right"
)


def _tables(row: dict[str, Any]) -> Cell:
    return Cell(f"{row['tables_rebuilt']} of {row['tables']}" if row.get("tables") else "")


def _parts_text(row: dict[str, Any]) -> Cell:
    return Cell(", ".join(f"{name} {significant(seconds, 3)}" for name, seconds in (row["parts"] or {}).items()))


COLUMNS = [
    label("database", "Database", cell=plain_database),
    SERIES,
    SECURITY,
    FAILURE,
    Column("queries", "Queries together", cell=counted("queries")),
    quantity("upload", "Upload a query", "KiB", "upload_bytes", KIB, 4),
    quantity("download", "Download a query", "KiB", "download_bytes", KIB, 4),
    quantity("answer", "Answer", "ms", "answer_s", 1e-3),
    quantity("each", "a query", "ms", "query_s", 1e-3),
    Column("gain", "over one alone", cell=shown("gain", "{:.2f}x".format)),
    quantity("memory", "Peak memory", "GiB", "peak_bytes", GIB),
    Column("changed", "Records changed", cell=counted("updates")),
    Column("tables", "Packing tables rebuilt", cell=_tables),
    quantity("update", "Update", "s", "update_s"),
    label("parts", "of which", cell=_parts_text),
    Column("share", "of preprocessing", "%", cell=shown("update_share", lambda share: significant(100 * share, 2))),
    RIGHT,
]


def _median(row: dict[str, Any], phase: str) -> float | None:
    return next((quartiles(p["seconds"])[1] for p in row["phases"] if p["name"] == phase and p["seconds"]), None)


def _parts(row: dict[str, Any]) -> dict[str, float]:
    """Medians of the steps of an update at the server."""
    steps = [p for p in row["phases"] if p["name"].startswith("update_") and p["seconds"]]
    return {
        p["name"].removeprefix("update_").replace("_", " "): quartiles(p["seconds"])[1]
        for p in steps
        if p["name"] not in (UPDATE, "update_client")
    }


def _enrich(row: dict[str, Any], single: dict[tuple[Any, ...], float]) -> dict[str, Any]:
    """A record with the CSV's columns in base units; bytes are a query's."""
    row = row | {"record_id": row["id"], "marks": " ".join(marks_of(row)), "parts": {}, "update_parts": ""}
    row["updates"] = (row.get("document") or {}).get("updates") or 0
    if row["status"] != "ok":
        return row
    layout = (row.get("description") or {}).get("layout") or {}
    update, alone, queries = _median(row, UPDATE), single.get(_whose(row)), row["queries"]
    row |= {key: row[key] / queries for key in ("upload_bytes", "download_bytes")}
    row |= {"query_s": row["answer_s"] / queries, "single_answer_s": alone}
    row |= {"gain": queries * alone / row["answer_s"] if alone and queries > 1 else None}
    row |= {key: layout.get(key) for key in ("tables", "tables_rebuilt")}
    row |= {"update_s": update, "parts": _parts(row)}
    row["update_parts"] = "; ".join(f"{name} {seconds:.6g}" for name, seconds in row["parts"].items())
    row["update_share"] = update / row["preprocess_s"] if update is not None and row["preprocess_s"] else None
    return row


def _whose(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[key] for key in ("set", "sha256", "records", "record_bits", "threads"))


def build(joined: pd.DataFrame) -> Table:
    """The table from joined records: batches, below each the single query of its set and shape."""
    found = dicts(joined)
    single = {_whose(row): row["answer_s"] for row in found if row["status"] == "ok" and row["queries"] == 1}
    wanted = {_whose(row) for row in found if row["queries"] > 1}
    source = [row for row in found if _whose(row) in wanted and (row["queries"] > 1 or row["status"] == "ok")]
    source.sort(key=lambda row: (row["records"] * row["record_bits"], row["record_bits"], row["set"], -row["queries"]))
    data = [_enrich(row, single) for row in source]
    rows = [Row(make_cells(COLUMNS, row), row["id"], status_text(row)) for row in data]
    notes = [
        "Over one alone: the time of as many single answers over that of the batch; both read the database once. An "
        "update is timed at the server, its share is that of preprocessing all records (encoding, hint and packing "
        "tables). A table is rebuilt where a changed record lies in one of its columns.",
        provenance(source),
    ]
    frame = pd.DataFrame([{key: row.get(key) for key in DATA_COLUMNS} for row in data], columns=DATA_COLUMNS)
    title = "Batches of queries and updates of records, InsPIRe's family"
    return Table(title, COLUMNS, rows, frame, footnotes(source), notes, status_from="upload")
