"""The InsPIRe paper's Tables 2, 3, 4, 8 and 9: each printed column a line, and below it what was measured here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from . import inspire_bandwidth, inspire_notes, series
from .comparison import status_text
from .inspire_paper import (
    PAPER_ONLY,
    Measured,
    Printed,
    matches,
    printed,
    unmatched,
)
from .marks import ASSUMED, CELL_MARKS, MARKS, Mark, footnotes, marks_of, provenance, symbols
from .names import protocol_name, words
from .table import Cell, Column, Row, Table
from .units import KIB, MIB, record_text, shape_text, significant

NOT_PLANNED = "no experiment of this run has this configuration"


@dataclass(frozen=True)
class Metric:
    """A column of numbers: the paper's metric, header, unit and its size in base units.

    of_bandwidth: whether a second column tells the share of memory's speed that this part of the answer reaches.
    """

    key: str
    header: str
    unit: str
    factor: float
    digits: int = 4
    of_bandwidth: bool = False


BYTES = (
    Metric("upload_keys", "Keys", "KiB", KIB),
    Metric("upload_query", "Query", "KiB", KIB),
    Metric("download", "Download", "KiB", KIB),
    Metric("total_comm", "Total", "KiB", KIB),
)
OFFLINE = Metric("offline_time", "Offline", "s", 1.0, 3)
TIME = Metric("server_time", "Server time", "ms", 1e-3, 3)
THROUGHPUT = Metric("throughput", "Throughput", "MiB/s", MIB, 3)
METRICS = {
    "2": (*BYTES, OFFLINE, TIME, THROUGHPUT),
    "3": (*BYTES, OFFLINE, TIME, THROUGHPUT),
    "4": (*BYTES, OFFLINE, TIME, THROUGHPUT),
    "8": (
        *BYTES,
        Metric("first_matmul", "1st product", "ms", 1e-3, 3, True),
        Metric("first_pack", "1st packing", "ms", 1e-3, 3, True),
        Metric("second_matmul", "2nd product", "ms", 1e-3, 2),
        Metric("second_pack", "2nd packing", "ms", 1e-3, 2),
        Metric("third_pack", "3rd packing", "ms", 1e-3, 2),
        TIME,
    ),
    "9": (
        *BYTES,
        OFFLINE,
        Metric("matmul", "Product", "ms", 1e-3, 3, True),
        Metric("packing", "Packing", "ms", 1e-3, 3, True),
        Metric("poly_eval", "Evaluation", "ms", 1e-3, 2),
        TIME,
    ),
}
"""The paper's rows, table by table: sizes, which are known of every row of ours, before times."""
TITLES = {
    "2": "1-bit entries",
    "3": "64-byte entries",
    "4": "32-KB entries",
    "8": "configurations of InsPIRe^(2)",
    "9": "configurations of InsPIRe by interpolation degree",
}
SIZES = words("upload_keys upload_query download total_comm")
DATA_COLUMNS = words(
    "table database protocol layout record_bits metric paper here described ratio unit size_equal read_bytes "
    "bandwidth_share set "
    "measured_record_bits status reason marks security_bits failure_log2 record_id"
)


def _number(value: float | None, metric: Metric, marks: str = "", as_printed: bool = False) -> Cell:
    if value is None:
        return Cell()
    scaled = value / metric.factor
    return Cell(f"{scaled:.10g}" if as_printed else significant(scaled, metric.digits), marks, value)


def unequal(column: Printed, ours: Measured, metric: str) -> bool:
    """Whether a size, measured or described, differs from the printed one by more than its rounding."""
    size = ours.size(metric)
    if metric not in SIZES or metric not in column.values or size is None or not ours.published:
        return False
    return column.unequal(metric, size)


def _place(column: Printed) -> dict[str, Cell]:
    size = f"{column.database[:-2]} GB" + (f", {record_text(column.record_bits)}" if column.table in ("8", "9") else "")
    marks = SYMBOL["contradicted"] if inspire_notes.contradicted(column, inspire_notes.CONFIGURATION) else ""
    return {
        "database": Cell(size, sort=float(column.database_bits)),
        "protocol": Cell(protocol_name(column.protocol)),
        "layout": Cell(column.layout.text(), marks),
    }


SYMBOL = {mark.key: mark.symbol for mark in CELL_MARKS}


def _paper_row(column: Printed, metrics: Sequence[Metric]) -> Row:
    cells = _place(column) | {"source": Cell(f"paper, Table {column.table}")}
    for metric in metrics:
        value = column.values.get(metric.key)
        marks = SYMBOL["contradicted"] if inspire_notes.contradicted(column, metric.key) else ""
        marks += SYMBOL["paper_only"] if column.protocol in PAPER_ONLY and value is not None else ""
        cells[metric.key] = _number(value, metric, marks, as_printed=True)
    return Row(cells)


def predicted_cells(row: dict[str, Any]) -> dict[str, Cell]:
    """Security and failure bound of a joined row, each with its mark where it misses its target."""
    return {"security": series.security(row), "failure": series.failure(row)}


def _our_row(column: Printed | None, ours: Measured, place: dict[str, Cell], metrics: Sequence[Metric]) -> Row:
    marks = symbols(marks_of(ours.row))
    other = column is not None and int(ours.row["record_bits"]) != column.record_bits
    marks += SYMBOL["entry"] if other else ""
    size = f", {record_text(int(ours.row['record_bits']))} records" if other else ""
    cells = place | {"source": Cell(f"here, {ours.name}{size}", marks)} | predicted_cells(ours.row)
    if column is not None and column.layout.first:
        cells["layout"] = Cell(ours.layout.text())
    for metric in metrics:
        value, marks = ours.values.get(metric.key), ""
        if value is None and metric.key in SIZES:
            value, marks = ours.size(metric.key), SYMBOL["described"]
        if column is not None and unequal(column, ours, metric.key):
            marks += SYMBOL["unequal"]
        cells[metric.key] = _number(value, metric, marks)
        if metric.of_bandwidth:
            cells[_beside(metric)] = inspire_bandwidth.cell(ours, metric.key)
    if column is not None and ours.values.get("server_time") and column.values.get("server_time"):
        ratio = ours.values["server_time"] / column.values["server_time"]
        cells["ratio"] = Cell(significant(ratio, 2), sort=ratio)
    return Row(cells, ours.row["id"] or "", why(ours.row))


def why(row: dict[str, Any]) -> str | None:
    """Why a row has no numbers; None if it has."""
    return row["reason"] if row["status"] == "not measured" else status_text(row)


def _data(column: Printed | None, ours: Measured | None, metrics: Sequence[Metric], table: str) -> list[dict[str, Any]]:
    """One line a metric, base units."""
    row = ours.row if ours else {}
    shared = {
        "table": table,
        "database": column.database if column else shape_text(int(row["records"]), int(row["record_bits"])),
        "protocol": column.protocol if column else row["protocol"],
        "layout": shown.layout.text() if (shown := column or ours) else "",
        "record_bits": column.record_bits if column else row["record_bits"],
        "set": row.get("set"),
        "measured_record_bits": row.get("record_bits"),
        "status": row.get("status", "not planned"),
        "reason": row.get("reason"),
        "marks": " ".join(marks_of(row)) if ours else "",
        "security_bits": row.get("security_bits"),
        "failure_log2": row.get("failure_log2"),
        "record_id": row.get("id"),
    }
    found = []
    for metric in metrics:
        paper = column.values.get(metric.key) if column else None
        here = ours.values.get(metric.key) if ours else None
        unit = "B/s" if metric.key == "throughput" else "B" if metric.key in SIZES else "s"
        equal = None
        foretold = ours.described.get(metric.key) if ours else None
        if column and ours and ours.published and metric.key in SIZES:
            known = paper is not None and ours.size(metric.key) is not None
            equal = not unequal(column, ours, metric.key) if known else None
        ratio = here / paper if here is not None and paper else None
        line = {"metric": metric.key, "paper": paper, "here": here, "described": foretold, "ratio": ratio}
        if ours:
            line |= {"read_bytes": inspire_bandwidth.read_bytes(ours, metric.key)}
            line |= {"bandwidth_share": inspire_bandwidth.share(ours, metric.key)}
        found.append(shared | line | {"unit": unit, "size_equal": equal})
    return found


def size_note(data: pd.DataFrame) -> str:
    """How many of the measured sizes equal the printed ones."""
    compared = data[data["size_equal"].notna()]
    if compared.empty:
        return "No size could be compared with the paper's: no published set of ours has a layout of this table."
    parts = []
    for name, own in (
        ("measured", compared[compared["here"].notna()]),
        ("described", compared[compared["here"].isna()]),
    ):
        if not own.empty:
            parts.append(f"{int(own['size_equal'].astype(bool).sum())} of {len(own)} {name}")
    return f"Sizes of published sets that equal the printed ones after rounding to a KB: {', '.join(parts)}."


def cell_footnotes(rows: Sequence[Row]) -> list[tuple[Mark, str]]:
    """Footnotes of the marks that stand at cells."""
    used = {symbol for row in rows for cell in row.cells.values() for symbol in cell.marks}
    return [(mark, mark.meaning) for mark in CELL_MARKS if mark.symbol in used]


def mark_footnotes(rows: Sequence[Row]) -> list[tuple[Mark, str]]:
    """The same of the marks that records have, where a table shows several records in a line."""
    used = {symbol for row in rows for cell in row.cells.values() for symbol in cell.marks}
    return [(mark, mark.meaning) for mark in MARKS if mark.symbol in used]


def build(found: Sequence[Measured], expected: pd.DataFrame, contradictions: pd.DataFrame, table: str) -> Table:
    """Table 2, 3, 4, 8 or 9 from our rows (`inspire_paper.rows`), the papers' numbers and its contradictions."""
    metrics, columns = METRICS[table], printed(expected, table)
    rows, data, shown = [], [], []
    for column in columns:
        rows.append(_paper_row(column, metrics))
        if column.protocol in PAPER_ONLY:
            data += _data(column, None, metrics, table)
            continue
        hits = matches(column, found)
        place = {key: Cell(cell.text, "", cell.sort) for key, cell in _place(column).items()}
        for ours in hits:
            rows.append(_our_row(column, ours, place, metrics))
            data += _data(column, ours, metrics, table)
            shown.append(ours.row)
        if not hits:
            rows.append(Row(place | {"source": Cell("here")}, "", NOT_PLANNED))
            data += _data(column, None, metrics, table)
    for ours in unmatched(columns, found) if table in ("8", "9") else []:
        place = {
            "database": Cell(shape_text(int(ours.row["records"]), int(ours.row["record_bits"]))),
            "protocol": Cell(protocol_name(ours.row["protocol"])),
            "layout": Cell(ours.layout.text()),
        }
        rows.append(_our_row(None, ours, place, metrics))
        data += _data(None, ours, metrics, table)
        shown.append(ours.row)
    frame = pd.DataFrame(data, columns=DATA_COLUMNS)
    title = f"InsPIRe, Table {table}: {TITLES[table]}, the paper's numbers and ours"
    notes = [provenance(shown), _explanation(table), size_note(frame), *inspire_notes.notes(contradictions, table)]
    marked = footnotes(shown) + cell_footnotes(rows)
    return Table(title, _columns(metrics), rows, frame, marked, notes, f"inspire-table{table}", _first_time(metrics))


def _first_time(metrics: Sequence[Metric]) -> str:
    """The column from which a line says why it has no numbers."""
    return next(metric.key for metric in metrics if metric.key not in SIZES)


def _columns(metrics: Sequence[Metric]) -> list[Column]:
    return [
        Column("database", "Database", text=True),
        Column("protocol", "Protocol", text=True),
        Column("layout", "Layout", text=True),
        Column("source", "Source", text=True),
        Column("security", "Security", "bit"),
        Column("failure", "Failure bound", "log2"),
        *(column for metric in metrics for column in _metric_columns(metric)),
        Column("ratio", "Time", "here/paper"),
    ]


def _beside(metric: Metric) -> str:
    """The column beside a metric's own."""
    return f"{metric.key}_of_bandwidth"


def _metric_columns(metric: Metric) -> list[Column]:
    beside = [Column(_beside(metric), "of bandwidth", "%")] if metric.of_bandwidth else []
    return [Column(metric.key, metric.header, metric.unit), *beside]


def _explanation(table: str) -> str:
    text = (
        "Lines 'paper' are its printed numbers, from its machine (Xeon at 2.6 GHz, one thread); lines 'here' measure "
        "the same layout of a database of the same size, medians of one thread. KB and MB of the paper are binary. "
        "Sizes are payloads of one query's messages (a public seed of 16 bytes, fetched once, is not counted); offline "
        "time is the server's whole preprocessing, encoding included (the paper counts encoding for InsPIRe only). "
        "Throughput is the database's information over the median answer time. "
    )
    if table != "8":
        text += (
            f"Failure bounds are for the worst record and any database ({ASSUMED}): of InsPIRe with unsigned digits "
            "that is one at the point z = 1, where the offsets of all t packed outputs add up (docs/inspire-paper.md). "
        )
    if table in ("2", "3", "4"):
        text += (
            "The paper's columns are the Pareto front of all its runs whose records are a multiple of the table's, so "
            "that some have larger records than the title says; SimpleYPIR, KSPIR and HintlessPIR were run once a "
            "database."
        )
    else:
        text += f"Lines without a paper's line above are measured here only. {inspire_bandwidth.NOTE}"
    return text
