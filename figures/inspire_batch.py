"""Batches and updates: what a query costs in company, and what changing records costs beside preprocessing.

Queries answered together read the database and the packing tables once. An update of some records encodes them, mends
the hint, and makes the packing tables anew that they touch. A line is a row of the experiment; its single queries are
those of rows of the same set and shape with one query, here or in the experiments shown beside it.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from . import series
from .comparison import status_text
from .loader import dicts, quartiles
from .marks import footnotes, marks_of, provenance
from .names import words
from .table import Cell, Column, Row, Table
from .units import GIB, KIB, shape_text, significant

UPDATE = "update_server"
COLUMNS = [
    Column("database", "Database", text=True),
    *series.COLUMNS,
    Column("failure", "Failure bound", "log2"),
    Column("queries", "Queries together"),
    Column("upload", "Upload a query", "KiB"),
    Column("download", "Download a query", "KiB"),
    Column("answer", "Answer", "ms"),
    Column("each", "a query", "ms"),
    Column("gain", "over one alone"),
    Column("memory", "Peak memory", "GiB"),
    Column("changed", "Records changed"),
    Column("tables", "Packing tables rebuilt"),
    Column("update", "Update", "s"),
    Column("parts", "of which", text=True),
    Column("share", "of preprocessing", "%"),
    Column("right", "Right", "of compared"),
]
DATA_COLUMNS = words(
    "record_id status reason marks protocol set records record_bits security_bits failure_log2 queries upload_bytes "
    "download_bytes answer_s query_s single_answer_s gain peak_bytes updates tables tables_rebuilt update_s "
    "update_parts preprocess_s update_share compared right"
)


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


def _told(row: dict[str, Any], single: dict[tuple[Any, ...], float]) -> dict[str, Any]:
    """The CSV's line: base units; bytes are a query's."""
    told: dict[str, Any] = {key: row.get(key) for key in DATA_COLUMNS}
    told |= {"record_id": row["id"], "marks": " ".join(marks_of(row))}
    told["updates"] = (row.get("document") or {}).get("updates") or 0
    if row["status"] != "ok":
        return told
    layout = (row.get("description") or {}).get("layout") or {}
    update, alone, queries = _median(row, UPDATE), single.get(_whose(row)), row["queries"]
    told |= {key: row[key] / queries for key in ("upload_bytes", "download_bytes")}
    told |= {"query_s": row["answer_s"] / queries, "single_answer_s": alone}
    told |= {"gain": queries * alone / row["answer_s"] if alone and queries > 1 else None}
    told |= {key: layout.get(key) for key in ("tables", "tables_rebuilt")}
    told["update_s"], told["update_parts"] = update, _parts(row)
    told["update_share"] = update / row["preprocess_s"] if update is not None and row["preprocess_s"] else None
    return told


def _whose(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[key] for key in ("set", "sha256", "records", "record_bits", "threads"))


def _cells(row: dict[str, Any], told: dict[str, Any]) -> dict[str, Cell]:
    def number(value: Any, factor: float = 1.0, digits: int = 3) -> Cell:
        return Cell() if pd.isna(value) else Cell(significant(value / factor, digits), sort=float(value))

    cells = {
        "database": Cell(shape_text(row["records"], row["record_bits"])),
        **series.cells(row),
        "failure": series.failure(row),
        "queries": Cell(str(row["queries"]), sort=float(row["queries"])),
        "changed": Cell(str(told["updates"]), sort=float(told["updates"])),
    }
    if row["status"] != "ok":
        return cells
    cells |= {
        "upload": number(told["upload_bytes"], KIB, 4),
        "download": number(told["download_bytes"], KIB, 4),
        "answer": number(row["answer_s"], 1e-3),
        "each": number(told["query_s"], 1e-3),
        "gain": Cell() if told["gain"] is None else Cell(f"{told['gain']:.2f}x", sort=told["gain"]),
        "memory": number(row["peak_bytes"], GIB),
        "update": number(told["update_s"]),
        "parts": Cell(", ".join(f"{name} {significant(s, 3)}" for name, s in told["update_parts"].items())),
        "right": Cell(f"{row['right']:.0f}/{row['compared']:.0f}"),
    }
    if told["tables"]:
        cells["tables"] = Cell(f"{told['tables_rebuilt']} of {told['tables']}")
    if told["update_share"] is not None:
        cells["share"] = Cell(significant(100 * told["update_share"], 2), sort=told["update_share"])
    return cells


def build(joined: pd.DataFrame) -> Table:
    """The table from joined records: batches, below each the single query of its set and shape."""
    found = dicts(joined)
    single = {_whose(row): row["answer_s"] for row in found if row["status"] == "ok" and row["queries"] == 1}
    wanted = {_whose(row) for row in found if row["queries"] > 1}
    source = [row for row in found if _whose(row) in wanted and (row["queries"] > 1 or row["status"] == "ok")]
    source.sort(key=lambda row: (row["records"] * row["record_bits"], row["record_bits"], row["set"], -row["queries"]))
    rows, data = [], []
    for row in source:
        told = _told(row, single)
        rows.append(Row(_cells(row, told), row["id"], status_text(row)))
        data.append(told | {"update_parts": "; ".join(f"{k} {v:.6g}" for k, v in (told["update_parts"] or {}).items())})
    notes = [
        "Over one alone: the time of as many single answers over that of the batch; both read the database once. An "
        "update is timed at the server, its share is that of preprocessing all records (encoding, hint and packing "
        "tables). A table is rebuilt where a changed record lies in one of its columns.",
        provenance([row for row in source if row["status"] == "ok"]),
    ]
    frame = pd.DataFrame(data, columns=DATA_COLUMNS)
    title = "Batches of queries and updates of records, InsPIRe's family"
    return Table(title, COLUMNS, rows, frame, footnotes(source), notes, status_from="upload")
