"""The InsPIRe paper's Tables 2 to 4 and 6 to 9: each printed column a line, and below it ours."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from ..lib.cells import database
from ..lib.frame import status_text
from ..lib.marks import ASSUMED, SYMBOLS, footnotes, marks_of, provenance, symbols
from ..lib.paper import EXACT_TABLES, PHASES, Measured, Printed, matches, printed, stands_for, unmatched
from ..lib.protocols import protocol_name
from ..lib.spec import spec
from ..lib.table import Cell, Row, Table
from ..lib.units import record_text, shape_text, significant
from . import errata
from .beside import (
    NOT_PLANNED,
    SIZES,
    Metric,
    columns_of,
    metrics_of,
    our_cells,
    our_data,
    printed_cells,
    unequal,
)

SPEC = spec("inspire/table")
APPLICATION = spec("inspire/application")
APPLICATIONS = ("6", "7")
"""Tables of applications: queries in IPFS, and enrolment of Chrome devices."""
CURRENT = "IPFS-current"
COUNTS = ("bytes_read", "table_bytes")
"""Operations of a description that read memory: stored database or digits, and packing tables."""
DRIFT = 0.10
"""A share is marked where two probes differ by more than this part of the larger one."""


def read_bytes(ours: Measured, metric: str) -> int | None:
    """Bytes that the part of an answer which `metric` times must read; None where the description counts none."""
    steps = ours.row["description"].get("operations", {}).get("answer", {})
    step = steps.get(PHASES.get(metric, "").removeprefix("answer_"))
    counts = [step[name] for name in COUNTS if name in step] if isinstance(step, dict) else []
    return int(sum(counts)) or None


def bandwidth_share(ours: Measured, metric: str) -> float | None:
    """Its share of the probed bandwidth; None where bytes, time or probe are missing."""
    read, seconds, bandwidth = read_bytes(ours, metric), ours.values.get(metric), ours.row.get("read_bandwidth")
    if not read or not seconds or bandwidth is None or pd.isna(bandwidth):
        return None
    return float(read / seconds / bandwidth)


def drifted(ours: Measured) -> bool:
    """Whether the bandwidth changed during the record: by the quartiles of its probes, of two by both."""
    found = sorted(((ours.row.get("document") or {}).get("machine") or {}).get("read_bandwidth") or [])
    ends = len(found) // 4
    return bool(found) and found[-1 - ends] - found[ends] > DRIFT * found[-1 - ends]


def _title(column: Printed) -> str:
    """The database of a column of Table 6 or 7."""
    if "step" in column.config:
        return str(spec("inspire/table6").words["steps"][column.config["step"]])
    return f"{column.records // 10**6} M"


def _place(column: Printed) -> dict[str, Cell]:
    """The first cells of a column's lines."""
    if column.table in APPLICATIONS:
        return {"place": Cell(_title(column))}
    bits = f", {record_text(column.record_bits)}" if column.table in EXACT_TABLES else ""
    size = f"{column.database[:-2]} GB{bits}"
    marks = SYMBOLS["contradicted"] if errata.contradicted(column, errata.CONFIGURATION) else ""
    return {
        "database": Cell(size, sort=float(column.database_bits)),
        "protocol": Cell(protocol_name(column.protocol)),
        "layout": Cell(column.layout.text(), marks),
    }


def _paper_source(column: Printed) -> Cell:
    if column.table not in APPLICATIONS:
        return Cell(f"paper, Table {column.table}")
    return Cell("paper, current solution" if column.protocol == CURRENT else "paper, InsPIRe")


def _our_source(column: Printed | None, ours: Measured) -> Cell:
    """The set's name, with those facts of its database or layout that the line does not show elsewhere."""
    marks, bits = symbols(marks_of(ours.row)), int(ours.row["record_bits"])
    if column is not None and column.table in APPLICATIONS:
        size = "" if column.record_bits else f", {shape_text(int(ours.row['records']), bits)}"
        layout = f", {ours.layout.text()}" if ours.layout.first else ""
        return Cell(f"here, {protocol_name(ours.row['protocol'])} {ours.name}{size}{layout}", marks)
    if column is None or bits == column.record_bits:
        return Cell(f"here, {ours.name}", marks)
    return Cell(f"here, {ours.name}, {record_text(bits)} records", marks + SYMBOLS["entry"])


def _our_row(column: Printed | None, ours: Measured, place: dict[str, Cell], metrics: Sequence[Metric]) -> Row:
    cells = place | {"source": _our_source(column, ours)} | our_cells(column, ours, metrics)
    if column is not None and column.layout.first:
        cells["layout"] = Cell(ours.layout.text())
    for metric in metrics:
        if metric.bandwidth and (share := bandwidth_share(ours, metric.key)) is not None:
            drift = symbols(["probe"] * drifted(ours))
            cells[f"{metric.key}_of_bandwidth"] = Cell(f"{100 * share:.0f}", drift, share)
    if column is not None and ours.known.get("server_time") and column.values.get("server_time"):
        ratio = ours.known["server_time"] / column.values["server_time"]
        cells["ratio"] = Cell(significant(ratio, 2), ours.mark("server_time"), ratio)
    return Row(cells, ours.row["id"] or "", status_text(ours.row))


def _saving(ours: Measured, current: Mapping[str, float]) -> Measured:
    """A row with the per cent that it saves against the current solution's lower bounds, and its database's size."""
    parts: dict[str, Any] = {kind: dict(getattr(ours, kind)) for kind in ("values", "described", "predicted")}
    for values in parts.values():
        for metric in ("total_comm", "server_time"):
            if current.get(metric) and metric in values:
                values[f"{metric}_improvement"] = 100 * (1 - values[metric] / current[metric])
    parts["values"]["db_size"] = ours.database_bits / 8
    return replace(ours, **parts)


def _blocks(columns: Sequence[Printed], found: Sequence[Measured]) -> Iterator[tuple[list[Printed], list[Measured]]]:
    """Printed columns, and the rows of ours below the last of them: those of a column, or of an application's database
    all that stand for it, of any protocol."""
    for column in (column for column in columns if column.table not in APPLICATIONS):
        yield [column], matches(column, found)
    applications = [column for column in columns if column.table in APPLICATIONS]
    for title in dict.fromkeys(map(_title, applications)):
        here = [column for column in applications if _title(column) == title]
        current = next((column.values for column in here if column.protocol == CURRENT), {})
        hits = sorted(
            (ours for ours in found if stands_for(ours, here[-1])), key=lambda m: (m.row["protocol"], m.row["set"])
        )
        yield here, [_saving(ours, current) for ours in hits]


def _smaller(columns: Sequence[Printed], found: Sequence[Measured]) -> list[Measured]:
    """What was measured of records as long as those of all columns, in a database smaller than theirs."""
    if len(sizes := {column.record_bits for column in columns}) > 1:
        return []
    least = min(column.database_bits for column in columns)
    rest = [ours for ours in unmatched(columns, found) if ours.ok and ours.database_bits < least]
    return [ours for ours in rest if {int(ours.row["record_bits"])} == sizes]


def _data(column: Printed | None, ours: Measured | None, metrics: Sequence[Metric], table: str) -> list[dict[str, Any]]:
    """One line a metric, base units."""
    row = ours.row if ours else {}
    shared = {"status": "not planned"} | (our_data(row) if ours else {"marks": ""})
    shared |= {
        "table": table,
        "database": _database(column, row),
        "protocol": column.protocol if column else row["protocol"],
        "layout": shown.layout.text() if (shown := column or ours) else "",
        "record_bits": column.record_bits if column else row["record_bits"],
        "measured_record_bits": row.get("record_bits"),
    }
    found = []
    for metric in metrics:
        key, unit = metric.key, "B" if metric.key in SIZES else metric.base_unit
        paper = column.values.get(key) if column else None
        line: dict[str, Any] = {"metric": key, "paper": paper, "unit": unit, "size_equal": None}
        if ours:
            here, predicted = ours.values.get(key), ours.predicted.get(key)
            line |= {"here": here, "described": ours.described.get(key), "predicted": predicted}
            own = predicted if here is None else here
            line |= {"ratio": own / paper if own is not None and paper else None}
            line |= {"read_bytes": read_bytes(ours, key), "bandwidth_share": bandwidth_share(ours, key)}
            if column and ours.published and key in SIZES and paper is not None and key in ours.known:
                line["size_equal"] = not unequal(column, ours, key)
        found.append(shared | line)
    return found


def _database(column: Printed | None, row: Mapping[str, Any]) -> str:
    if column is None:
        return shape_text(int(row["records"]), int(row["record_bits"]))
    return _title(column) if column.table in APPLICATIONS else column.database


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


def build(found: Sequence[Measured], expected: pd.DataFrame, contradictions: pd.DataFrame, table: str) -> Table:
    """Table 2, 3, 4 or 6 to 9 from our rows (`paper.rows`), the papers' numbers and its contradictions."""
    metrics, columns, chosen = metrics_of(table), printed(expected, table), spec(f"inspire/table{table}")
    rows, data, shown = [], [], []
    for here, hits in _blocks(columns, found):
        for column in here:
            rows.append(Row(_place(column) | {"source": _paper_source(column)} | printed_cells(column, metrics)))
            data += [] if hits and column is here[-1] else _data(column, None, metrics, table)
        column = here[-1]
        place = {key: Cell(cell.text, "", cell.sort) for key, cell in _place(column).items()}
        for ours in hits:
            rows.append(_our_row(column, ours, place, metrics))
            data += _data(column, ours, metrics, table)
            shown.append(ours.row)
        if not hits:
            rows.append(Row(place | {"source": Cell("here")}, "", NOT_PLANNED))
    for ours in unmatched(columns, found) if table in EXACT_TABLES else _smaller(columns, found):
        name = Cell(protocol_name(ours.row["protocol"]))
        place = {"database": database(ours.row), "protocol": name, "layout": Cell(ours.layout.text())}
        place |= {"place": Cell(shape_text(int(ours.row["records"]), int(ours.row["record_bits"])))}
        rows.append(_our_row(None, ours, place, metrics))
        data += _data(None, ours, metrics, table)
        shown.append(ours.row)
    frame = pd.DataFrame(data, columns=SPEC.keys)
    first_time = next(metric.key for metric in metrics if metric.key not in SIZES)
    own = (APPLICATION if table in APPLICATIONS else SPEC).wider("failure", columns_of(metrics))
    own = replace(own, status_from=chosen.status_from or first_time)
    said = chosen.words | {"errata": errata.notes(contradictions, table), "sizes": size_note(frame)}
    said |= {"bounds": SPEC.words["bounds"].format(assumed=ASSUMED) if table != "8" else ""}
    said |= {"which": SPEC.words["exact" if table in EXACT_TABLES else "front"], "provenance": provenance(shown)}
    return own.table(rows, frame, footnotes(shown), table=table, **said)
