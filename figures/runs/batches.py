"""Batches and updates: the cost of a query in a batch, and of changing records compared with preprocessing.

Queries answered together read the database and the packing tables once. An update encodes the changed records, corrects
the hint, and rebuilds the packing tables that they touch. A line is a row of the experiment; its single queries are
those of rows with one query at the same database, here or in the experiments shown with it: of the same set or, where a
set answers batches only, those of the fastest of the protocol's sets that reach both targets.
"""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from ..lib.frame import dicts, quartiles, status_text
from ..lib.marks import failing, footnotes, insecure, marks_of, provenance
from ..lib.spec import spec
from ..lib.table import Cell, Table
from ..lib.units import significant

UPDATE = "update_server"
SPEC = spec(
    "runs/batches",
    tables=lambda row: Cell(f"{row['tables_rebuilt']} of {row['tables']}" if row.get("tables") else ""),
    parts=lambda row: Cell(", ".join(f"{name} {significant(s, 3)}" for name, s in row["parts"].items())),
)


def _enrich(row: dict[str, Any], single: dict[str, Any] | None) -> dict[str, Any]:
    """A record with the CSV's columns in base units; bytes are a query's. single: what a batch is held against."""
    row = row | {"record_id": row["id"], "marks": " ".join(marks_of(row)), "parts": {}, "update_parts": ""}
    row["updates"] = (row.get("document") or {}).get("updates") or 0
    if row["status"] != "ok":
        return row
    layout = (row.get("description") or {}).get("layout") or {}
    alone, queries = (single or row)["answer_s"], row["queries"]
    medians = {p["name"]: quartiles(p["seconds"])[1] for p in row["phases"] if p["seconds"]}
    update, whole = medians.get(UPDATE), (UPDATE, "update_client")
    parts = {n.removeprefix("update_"): s for n, s in medians.items() if n.startswith("update_") and n not in whole}
    row |= {key: row[key] / queries for key in ("upload_bytes", "download_bytes")}
    row |= {"query_s": row["answer_s"] / queries, "single_answer_s": alone if single or queries == 1 else None}
    row |= {"gain": queries * alone / row["answer_s"] if single else None}
    row |= {key: layout.get(key) for key in ("tables", "tables_rebuilt")}
    row |= {"update_s": update, "parts": {name.replace("_", " "): s for name, s in parts.items()}}
    row["update_parts"] = "; ".join(f"{name} {seconds:.6g}" for name, seconds in row["parts"].items())
    row["update_share"] = update / row["preprocess_s"] if update is not None and row["preprocess_s"] else None
    return row


def _single(batch: dict[str, Any], rows: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    """The row of one query that a batch is held against."""

    def same(row: dict[str, Any], *keys: str) -> bool:
        return all(row[key] == batch[key] for key in ("protocol", "records", "record_bits", "threads", *keys))

    at_hand = [row for row in rows if row["status"] == "ok" and row["queries"] == 1 and same(row)]
    if (batch.get("description") or {}).get("layout", {}).get("batch_queries"):
        chosen = [row for row in at_hand if not (insecure(row) or failing(row))]
    else:
        chosen = [row for row in at_hand if same(row, "set", "sha256")]
    return min(chosen, key=lambda row: float(row["answer_s"]), default=None)


def build(joined: pd.DataFrame) -> Table:
    """The table from joined records: batches, and the single queries that they are held against."""
    found = dicts(joined)
    singles = {row["id"]: _single(row, found) for row in found if row["queries"] > 1}
    shown = {row["id"]: row for row in found if row["queries"] > 1}
    shown |= {row["id"]: row for row in singles.values() if row is not None}
    source = sorted(
        shown.values(),
        key=lambda row: (row["records"] * row["record_bits"], row["record_bits"], row["set"], -row["queries"]),
    )
    data = [_enrich(row, singles.get(row["id"])) for row in source]
    rows = [SPEC.row(row, row["id"], status_text(row)) for row in data]
    return SPEC.table(rows, data, footnotes(source), provenance=provenance(source))
