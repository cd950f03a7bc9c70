"""The InsPIRe paper's applications: Table 6 (queries in IPFS) and Table 7 (enrolment of Chrome devices)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from . import inspire_notes
from .inspire_paper import Measured, Printed, printed, stands_for
from .inspire_tables import NOT_PLANNED, SYMBOL, cell_footnotes, predicted_cells, unequal, why
from .marks import footnotes, marks_of, provenance, symbols
from .names import protocol_name, words
from .table import Cell, Column, Row, Table
from .units import GIB, KIB, shape_text, significant

TITLES = {"6": "queries in IPFS", "7": "enrolment of Chrome devices"}
STEPS = {
    "peer_routing": "Peer routing (256 x 1.5 KB)",
    "content_discovery": "Content discovery (200 000 records)",
    "content_retrieval": "Content retrieval (2^14 x 256 KB)",
}
COLUMNS = {
    "6": [
        Column("place", "Step", text=True),
        Column("source", "Source", text=True),
        Column("security", "Security", "bit"),
        Column("failure", "Failure bound", "log2"),
        Column("total_comm", "Communication", "KiB"),
        Column("total_comm_improvement", "less", "%"),
        Column("server_time", "Computation", "ms"),
        Column("server_time_improvement", "less", "%"),
    ],
    "7": [
        Column("place", "Devices", text=True),
        Column("source", "Source", text=True),
        Column("security", "Security", "bit"),
        Column("failure", "Failure bound", "log2"),
        Column("db_size", "Database", "GiB"),
        Column("total_comm", "Communication", "KiB"),
        Column("offline_time", "Offline", "s"),
        Column("server_time", "Response", "ms"),
    ],
}
MEASURED_FROM = {"6": "server_time", "7": "offline_time"}
"""The first column of what only a measurement tells; sizes are known without."""
FACTORS = {"total_comm": KIB, "server_time": 1e-3, "offline_time": 1.0, "db_size": GIB}
NOTES = {
    "6": "The paper's 'current' solutions are lower bounds (it prints >), and what we save is against them. It does "
    "not say how large the records of content discovery are, and its 128 KB follow from none of its parameters: keys "
    "and RGSW bodies of InsPIRe alone are 168 KB.",
    "7": "Records of 64 bytes. The paper's database sizes are GiB. Its bytes are those of N/t = 16384 with 1, 1 and 2 "
    "answer ciphertexts: rows rounded up to a power of two, as chrome-n16384-t64 has them; others have as many as the "
    "records need.",
}
DATA_COLUMNS = words(
    "table place source metric value described unit set status reason marks record_id records record_bits"
)
CURRENT = "IPFS-current"


def _place(column: Printed) -> str:
    if column.table == "6":
        return STEPS[column.config["step"]]
    return f"{column.records // 10**6} M"


def _numbers(values: dict[str, float], column: Printed | None) -> dict[str, Cell]:
    cells = {}
    for metric, value in values.items():
        mark = SYMBOL["contradicted"] if column and inspire_notes.contradicted(column, metric) else ""
        if metric in FACTORS:
            scaled = value / FACTORS[metric]
            cells[metric] = Cell(f"{scaled:.10g}" if column else significant(scaled, 4), mark, value)
        elif metric.endswith("_improvement"):
            cells[metric] = Cell(f"{value:.10g}" if column else significant(value, 2), mark, value)
    return cells


def _improvements(values: dict[str, float], current: dict[str, float] | None) -> dict[str, float]:
    """Per cent saved against the current solution's lower bounds."""
    saved = {}
    for metric in ("total_comm", "server_time"):
        if current and current.get(metric) and metric in values:
            saved[f"{metric}_improvement"] = 100 * (1 - values[metric] / current[metric])
    return saved


def _source(column: Printed) -> str:
    return "paper, current solution" if column.protocol == CURRENT else "paper, InsPIRe"


def build(found: Sequence[Measured], expected: pd.DataFrame, contradictions: pd.DataFrame, table: str) -> Table:
    """Table 6 or 7: what the paper prints, and below each database what was measured of it here, by any protocol."""
    columns = printed(expected, table)
    rows, data, shown = [], [], []
    for place in dict.fromkeys(_place(column) for column in columns):
        here = [column for column in columns if _place(column) == place]
        current = next((column.values for column in here if column.protocol == CURRENT), None)
        for column in here:
            cells = {"place": Cell(place), "source": Cell(_source(column))}
            rows.append(Row(cells | _numbers(column.values, column)))
            data += _data(table, place, _source(column), column.values, {})
        column = here[-1]
        hits = [ours for ours in found if stands_for(ours, column)]
        for ours in sorted(hits, key=lambda m: (m.row["protocol"], m.row["set"])):
            values = _values(ours)
            values |= _improvements(values, current)
            rows.append(_our_row(place, ours, values, column))
            data += _data(table, place, "here", values, ours.row)
            shown.append(ours.row)
        if not hits:
            rows.append(Row({"place": Cell(place), "source": Cell("here")}, "", NOT_PLANNED))
    notes = [provenance(shown), NOTES[table], *inspire_notes.notes(contradictions, table)]
    marked = footnotes(shown) + cell_footnotes(rows)
    frame = pd.DataFrame(data, columns=DATA_COLUMNS)
    title = f"InsPIRe, Table {table}: {TITLES[table]}, the paper's numbers and ours"
    return Table(title, COLUMNS[table], rows, frame, marked, notes, f"inspire-table{table}", MEASURED_FROM[table])


def _values(ours: Measured) -> dict[str, float]:
    """Measured, or of a row that was not measured the sizes that are known."""
    values = {name: ours.values[name] for name in ("server_time", "offline_time") if name in ours.values}
    total = ours.size("total_comm")
    return values | ({} if total is None else {"total_comm": total}) | {"db_size": ours.database_bits / 8}


def _our_row(place: str, ours: Measured, values: dict[str, float], column: Printed) -> Row:
    """Our layout is told, since the paper prints none here, and bytes that differ from the printed ones are marked."""
    name = f"{protocol_name(ours.row['protocol'])} {ours.name}"
    size = "" if column.record_bits else f", {shape_text(int(ours.row['records']), int(ours.row['record_bits']))}"
    layout = f", {ours.layout.text()}" if ours.layout.first else ""
    cells = {"place": Cell(place), "source": Cell(f"here, {name}{size}{layout}", symbols(marks_of(ours.row)))}
    cells |= predicted_cells(ours.row) | _numbers(values, None)
    if "total_comm" in cells:
        marks = "" if "total_comm" in ours.values else SYMBOL["described"]
        marks += SYMBOL["unequal"] if unequal(column, ours, "total_comm") else ""
        cells["total_comm"] = replace(cells["total_comm"], marks=marks)
    return Row(cells, ours.row["id"] or "", why(ours.row))


def _data(table: str, place: str, source: str, values: dict[str, float], row: dict[str, Any]) -> list[dict[str, Any]]:
    shared: dict[str, Any] = {
        "table": table,
        "place": place,
        "source": source,
        "marks": " ".join(marks_of(row)) if row else "",
    }
    shared |= {key: row.get(key) for key in ("set", "status", "reason", "records", "record_bits")}
    shared["record_id"] = row.get("id")
    units = {"total_comm": "B", "db_size": "B", "server_time": "s", "offline_time": "s"}
    # The paper's numbers are values, and so is what was measured here.
    kind = "value" if not row or row["status"] == "ok" else "described"
    return [shared | {"metric": m, kind: value, "unit": units.get(m, "%")} for m, value in values.items()]
