"""Batches and updates: the cost of a query in a batch, and of changing records compared with preprocessing.

Queries answered together read the database and the packing tables once. An update encodes the changed records, corrects
the hint, and rebuilds the packing tables that they touch. A line is a row of the experiment; its single queries are
those of rows of the same set and shape with one query, here or in the experiments shown with it.
"""

from typing import Any

import pandas as pd

from ..lib.frame import dicts, quartiles, status_text
from ..lib.marks import footnotes, marks_of, provenance
from ..lib.spec import spec
from ..lib.table import Cell, Table
from ..lib.units import significant

UPDATE = "update_server"


SPEC = spec(
    "inspire/batch",
    tables=lambda row: Cell(f"{row['tables_rebuilt']} of {row['tables']}" if row.get("tables") else ""),
    parts=lambda row: Cell(", ".join(f"{name} {significant(s, 3)}" for name, s in row["parts"].items())),
)


def _enrich(row: dict[str, Any], single: dict[tuple[Any, ...], float]) -> dict[str, Any]:
    """A record with the CSV's columns in base units; bytes are a query's."""
    row = row | {"record_id": row["id"], "marks": " ".join(marks_of(row)), "parts": {}, "update_parts": ""}
    row["updates"] = (row.get("document") or {}).get("updates") or 0
    if row["status"] != "ok":
        return row
    layout = (row.get("description") or {}).get("layout") or {}
    alone, queries = single.get(_whose(row)), row["queries"]
    medians = {p["name"]: quartiles(p["seconds"])[1] for p in row["phases"] if p["seconds"]}
    update, whole = medians.get(UPDATE), (UPDATE, "update_client")
    parts = {n.removeprefix("update_"): s for n, s in medians.items() if n.startswith("update_") and n not in whole}
    row |= {key: row[key] / queries for key in ("upload_bytes", "download_bytes")}
    row |= {"query_s": row["answer_s"] / queries, "single_answer_s": alone}
    row |= {"gain": queries * alone / row["answer_s"] if alone and queries > 1 else None}
    row |= {key: layout.get(key) for key in ("tables", "tables_rebuilt")}
    row |= {"update_s": update, "parts": {name.replace("_", " "): s for name, s in parts.items()}}
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
    rows = [SPEC.row(row, row["id"], status_text(row)) for row in data]
    return SPEC.table(rows, data, footnotes(source), provenance=provenance(source))
