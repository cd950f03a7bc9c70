"""The comparison table: every protocol measured, shape by shape, with the paper's number where one is printed."""

from __future__ import annotations

from typing import Any

import pandas as pd

from . import series
from .loader import dicts
from .marks import ASSUMED, footnotes, marks_of, provenance, symbols
from .names import PROTOCOLS, protocol_name, words
from .table import Cell, Column, Row, Table
from .units import GIB, KIB, MIB, human_bytes, human_seconds, shape_text, significant

EXPERIMENT = "comparison/protocols"
NOT_MEASURED = "not measured in this profile (predicted only)"
COLUMNS = [
    Column("database", "Database", text=True),
    *series.COLUMNS,
    Column("failure", "Failure bound", "log2"),
    Column("offline", "Offline comm.", "MiB"),
    Column("upload", "Upload", "KiB"),
    Column("download", "Download", "KiB"),
    Column("preprocess", "Preprocess", "s"),
    Column("answer", "Answer", "ms"),
    Column("quartiles", "quartiles", "ms"),
    Column("throughput", "Throughput", "GiB/s"),
    Column("bandwidth", "of bandwidth", "%"),
    Column("memory", "Peak memory", "MiB"),
    Column("right", "Right", "of compared"),
    Column("paper", "Paper (ours/paper)", text=True),
]
PAPER_METRICS = {
    "server_time": ("answer", "answer_s", "seconds", human_seconds),
    "query_size": ("query", "upload_bytes", "bytes", human_bytes),
    "response_size": ("response", "download_bytes", "bytes", human_bytes),
    "offline_comm": ("offline", "offline_bytes", "bytes", human_bytes),
}
DATA_COLUMNS = words(
    "record_id status reason marks protocol set records record_bits queries threads security_bits failure_log2 "
    "failure_random_log2 offline_bytes upload_bytes download_bytes preprocess_s answer_s answer_q1_s answer_q3_s "
    "throughput_bytes_per_s read_bandwidth answer_read_bytes_per_s bandwidth_share peak_bytes described_peak_bytes "
    "compared right stale kernel cpu commit started paper_answer_s paper_query_bytes paper_response_bytes "
    "paper_offline_bytes paper_reference"
)
PAPER_NAMES = {name: key for key, name in PROTOCOLS.items()}


def _has(value: Any) -> bool:
    return value is not None and not pd.isna(value)


def paper_numbers(row: dict[str, Any], expected: pd.DataFrame) -> dict[str, tuple[float, str]]:
    """Metric -> (value in base units, reference): a paper's numbers for the protocol and shape of `row`, one thread.

    Numbers that belong to one layout of several (`N/t`) are left to the tables that match layouts.
    """
    same = (expected["num_records"] == row["records"]) & (expected["record_bits"] == row["record_bits"])
    same &= expected["protocol"].map(PAPER_NAMES) == row["protocol"]
    found: dict[str, tuple[float, str]] = {}
    for printed in expected[same].to_dict("records"):
        if printed["metric"] not in PAPER_METRICS or "N/t=" in str(printed["config"]):
            continue
        threads = [part for part in str(printed["config"]).split(";") if part.startswith("threads=")]
        if threads and threads != ["threads=1"]:
            continue
        value = printed[PAPER_METRICS[printed["metric"]][2]]
        table = "text" if printed["table"] == "text" else f"table {printed['table']}"
        if _has(value):
            found.setdefault(printed["metric"], (value, f"{printed['paper']} {table}"))
    return found


def _paper_cell(row: dict[str, Any], printed: dict[str, tuple[float, str]]) -> str:
    parts = []
    for metric, (value, reference) in printed.items():
        name, column, _, text = PAPER_METRICS[metric]
        ours = row[column]
        ratio = f" ({significant(ours / value, 2)})" if _has(ours) and value else ""
        parts.append(f"{name} {text(value, 3)}{ratio}, {reference}")
    return "; ".join(parts)


def _enrich(row: dict[str, Any], printed: dict[str, tuple[float, str]]) -> dict[str, Any]:
    """The CSV's row: base units, and the paper's numbers as columns."""
    offline = row["offline_download_bytes"] + row["offline_upload_bytes"]
    share = row["answer_read_bytes_per_s"] / row["read_bandwidth"] if _has(row["read_bandwidth"]) else None
    row = row | {
        "record_id": row["id"],
        "marks": " ".join(marks_of(row)),
        "offline_bytes": offline,
        "bandwidth_share": share,
        "paper_reference": "; ".join(sorted({reference for _, reference in printed.values()})),
    }
    for metric, (value, _) in printed.items():
        name, _, kind, _ = PAPER_METRICS[metric]
        row[f"paper_{name}_{'s' if kind == 'seconds' else 'bytes'}"] = value
    return row


def _cells(row: dict[str, Any], printed: dict[str, tuple[float, str]]) -> dict[str, Cell]:
    def number(value: Any, factor: float = 1.0, digits: int = 3) -> Cell:
        return Cell(significant(value / factor, digits), sort=float(value)) if _has(value) else Cell()

    keys = marks_of(row)
    quartiles = Cell()
    if _has(row["answer_s"]):
        low, high = significant(row["answer_q1_s"] * 1e3), significant(row["answer_q3_s"] * 1e3)
        quartiles = Cell(f"{low}–{high}", symbols([k for k in keys if k == "spread"]), row["answer_q3_s"])
    share = row["bandwidth_share"]
    right = Cell(f"{row['right']:.0f}/{row['compared']:.0f}") if _has(row["compared"]) else Cell()
    batch = f", {row['queries']:.0f} queries" if row["queries"] > 1 else ""
    return {
        "database": Cell(
            shape_text(row["records"], row["record_bits"]), sort=float(row["records"] * row["record_bits"])
        ),
        **series.cells(row, batch),
        "failure": series.failure(row),
        "offline": number(row["offline_bytes"], MIB, 4),
        "upload": number(row["upload_bytes"], KIB, 4),
        "download": number(row["download_bytes"], KIB, 4),
        "preprocess": number(row["preprocess_s"]),
        "answer": number(row["answer_s"], 1e-3),
        "quartiles": quartiles,
        "throughput": number(row["throughput_bytes_per_s"], GIB),
        "bandwidth": Cell(f"{100 * share:.0f}", sort=share) if _has(share) else Cell(),
        "memory": number(row["peak_bytes"], MIB, 4),
        "right": right,
        "paper": Cell(_paper_cell(row, printed)),
    }


def status_text(row: dict[str, Any]) -> str | None:
    """What stands where the numbers would be; None for a record with numbers."""
    if row["status"] == "ok":
        return None
    name = {"wrong": "WRONG ANSWER", "failed": "failed"}.get(row["status"], row["status"].replace("_", ", "))
    return f"{name}: {row['reason']}" if row["reason"] else name


def unmeasured(joined: pd.DataFrame, predictions: pd.DataFrame) -> pd.DataFrame:
    """Rows that were predicted but have no record, shaped like joined records."""
    have = set(zip(joined["set"], joined["records"], joined["record_bits"], strict=True))
    rows = [r for r in predictions.to_dict("records") if (r["set"], r["records"], r["record_bits"]) not in have]
    frame = pd.DataFrame(rows, columns=predictions.columns).reindex(columns=joined.columns)
    frame["status"], frame["reason"] = "not measured", NOT_MEASURED
    frame["queries"] = frame["threads"] = 1
    frame["seeded"] = frame["streamed"] = frame["dirty"] = False
    frame["stale"] = pd.Series([None] * len(frame), index=frame.index, dtype=object)
    return frame


def build(joined: pd.DataFrame, expected: pd.DataFrame, predictions: pd.DataFrame | None = None) -> Table:
    """The table from joined records; rows of `predictions` without a record say that they were not measured."""
    source = dicts(joined)
    if predictions is not None and not predictions.empty:
        source += dicts(unmeasured(joined, predictions))
    order = {protocol: place for place, protocol in enumerate(PROTOCOLS)}
    source.sort(
        key=lambda r: (r["records"] * r["record_bits"], r["record_bits"], order.get(r["protocol"], 99), r["set"])
    )
    rows, data = [], []
    for row in source:
        printed = paper_numbers(row, expected)
        row = _enrich(row, printed)
        status = NOT_MEASURED if row["status"] == "not measured" else status_text(row)
        record_id = row["id"] if _has(row["id"]) else ""
        rows.append(Row(_cells(row, printed), record_id, status))
        data.append({key: row.get(key) for key in DATA_COLUMNS})
    names = sorted({protocol_name(row["protocol"]) for row in source})
    notes = [
        provenance([r for r in source if r["status"] == "ok"]),
        "Sizes are message payloads (binary units); offline communication is everything exchanged before the first "
        "query. Throughput is the database's information over the median answer time; the share of bandwidth is what "
        "the answer phase reads of the stored tables in that time, over the probed single-core read bandwidth (a "
        "database that fits into a cache can exceed it). Failure bound: log2 of the probability that a record comes "
        f"back wrong, for the worst database: {ASSUMED}.",
    ]
    title = "Comparison of " + (", ".join(names) if names else "protocols (no record found)")
    marked = footnotes(source)
    return Table(title, COLUMNS, rows, pd.DataFrame(data, columns=DATA_COLUMNS), marked, notes, status_from="offline")
