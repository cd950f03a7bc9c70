"""The comparison table: every protocol measured, shape by shape, with the paper's number where one is printed."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ..lib.cells import FAILURE, RIGHT, SECURITY, has, quantity, series, sized_database
from ..lib.frame import dicts, status_text, unmeasured
from ..lib.inputs import Inputs
from ..lib.marks import ASSUMED, footnotes, marks_of, provenance, symbols
from ..lib.output import words
from ..lib.protocols import IDS, place, protocol_name
from ..lib.table import Cell, Column, Row, Table, label, make_cells
from ..lib.units import GIB, KIB, MIB, human_bytes, human_seconds, significant

EXPERIMENT = "comparison/protocols"
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


def make(inputs: Inputs) -> Table:
    """The table of the experiment's records, or of all where it has none."""
    return build(inputs.prefer(EXPERIMENT).joined, inputs.expected_if_given, inputs.predictions)


def paper_numbers(row: dict[str, Any], expected: pd.DataFrame) -> dict[str, tuple[float, str]]:
    """Metric -> (value in base units, reference): a paper's numbers for the protocol and shape of `row`, one thread.

    Numbers that belong to one layout of several (`N/t`) are left to the tables that match layouts.
    """
    same = (expected["num_records"] == row["records"]) & (expected["record_bits"] == row["record_bits"])
    same &= expected["protocol"].map(IDS) == row["protocol"]
    found: dict[str, tuple[float, str]] = {}
    for printed in expected[same].to_dict("records"):
        if printed["metric"] not in PAPER_METRICS or "N/t=" in str(printed["config"]):
            continue
        threads = [part for part in str(printed["config"]).split(";") if part.startswith("threads=")]
        if threads and threads != ["threads=1"]:
            continue
        value = printed[PAPER_METRICS[printed["metric"]][2]]
        table = "text" if printed["table"] == "text" else f"table {printed['table']}"
        if has(value):
            found.setdefault(printed["metric"], (value, f"{printed['paper']} {table}"))
    return found


def _enrich(row: dict[str, Any], expected: pd.DataFrame) -> dict[str, Any]:
    """The CSV's row: base units, and the paper's numbers as columns."""
    printed = paper_numbers(row, expected)
    row = row | {
        "record_id": row["id"],
        "marks": " ".join(marks_of(row)),
        "offline_bytes": row["offline_download_bytes"] + row["offline_upload_bytes"],
        "bandwidth_share": row["answer_read_bytes_per_s"] / row["read_bandwidth"]
        if has(row["read_bandwidth"])
        else None,
        "paper_reference": "; ".join(sorted({reference for _, reference in printed.values()})),
        "printed": printed,
    }
    for metric, (value, _) in printed.items():
        name, _, kind, _ = PAPER_METRICS[metric]
        row[f"paper_{name}_{'s' if kind == 'seconds' else 'bytes'}"] = value
    return row


def _paper(row: dict[str, Any]) -> Cell:
    parts = []
    for metric, (value, reference) in row["printed"].items():
        name, column, _, text = PAPER_METRICS[metric]
        ratio = f" ({significant(row[column] / value, 2)})" if has(row[column]) and value else ""
        parts.append(f"{name} {text(value, 3)}{ratio}, {reference}")
    return Cell("; ".join(parts))


def _quartiles(row: dict[str, Any]) -> Cell:
    if not has(row["answer_s"]):
        return Cell()
    low, high = significant(row["answer_q1_s"] * 1e3), significant(row["answer_q3_s"] * 1e3)
    return Cell(f"{low}–{high}", symbols(key for key in marks_of(row) if key == "spread"), row["answer_q3_s"])


def _share(row: dict[str, Any]) -> Cell:
    share = row["bandwidth_share"]
    return Cell(f"{100 * share:.0f}", sort=share) if has(share) else Cell()


def _series(row: dict[str, Any]) -> Cell:
    return series(row, f", {row['queries']:.0f} queries" if row["queries"] > 1 else "")


COLUMNS = [
    label("database", "Database", cell=sized_database),
    label("series", "Protocol and set", cell=_series),
    SECURITY,
    FAILURE,
    quantity("offline", "Offline comm.", "MiB", "offline_bytes", MIB, 4),
    quantity("upload", "Upload", "KiB", "upload_bytes", KIB, 4),
    quantity("download", "Download", "KiB", "download_bytes", KIB, 4),
    quantity("preprocess", "Preprocess", "s", "preprocess_s"),
    quantity("answer", "Answer", "ms", "answer_s", 1e-3),
    Column("quartiles", "quartiles", "ms", cell=_quartiles),
    quantity("throughput", "Throughput", "GiB/s", "throughput_bytes_per_s", GIB),
    Column("bandwidth", "of bandwidth", "%", cell=_share),
    quantity("memory", "Peak memory", "MiB", "peak_bytes", MIB, 4),
    RIGHT,
    label("paper", "Paper (ours/paper)", cell=_paper),
]


def build(joined: pd.DataFrame, expected: pd.DataFrame, predictions: pd.DataFrame | None = None) -> Table:
    """The table from joined records; rows of `predictions` without a record say that they were not measured."""
    source = dicts(joined)
    if predictions is not None and not predictions.empty:
        source += dicts(unmeasured(joined, predictions))
    source.sort(key=lambda r: (r["records"] * r["record_bits"], r["record_bits"], place(r["protocol"]), r["set"]))
    data = [_enrich(row, expected) for row in source]
    rows = [Row(make_cells(COLUMNS, row), row["id"] if has(row["id"]) else "", status_text(row)) for row in data]
    names = sorted({protocol_name(row["protocol"]) for row in source})
    notes = [
        provenance(source),
        "Sizes are message payloads (binary units); offline communication is everything exchanged before the first "
        "query. Throughput is the database's information over the median answer time; the share of bandwidth is what "
        "the answer phase reads of the stored tables in that time, over the probed single-core read bandwidth (a "
        "database that fits into a cache can exceed it). Failure bound: log2 of the probability that a record comes "
        f"back wrong, for the worst database: {ASSUMED}.",
    ]
    title = "Comparison of " + (", ".join(names) if names else "protocols (no record found)")
    frame = pd.DataFrame([{key: row.get(key) for key in DATA_COLUMNS} for row in data], columns=DATA_COLUMNS)
    return Table(title, COLUMNS, rows, frame, footnotes(source), notes, status_from="offline")
