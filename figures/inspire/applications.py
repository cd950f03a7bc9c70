"""The InsPIRe paper's applications: Table 6 (queries in IPFS) and Table 7 (enrolment of Chrome devices)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from ..lib.frame import status_text
from ..lib.marks import footnotes, marks_of, provenance, symbols
from ..lib.paper import Measured, Printed, printed, stands_for
from ..lib.protocols import protocol_name
from ..lib.spec import spec
from ..lib.table import Cell, Row, Table
from ..lib.units import shape_text
from . import errata
from .beside import NOT_PLANNED, columns_of, metrics_of, our_cells, our_data, printed_cells

SPEC = spec("inspire/application")
CURRENT = "IPFS-current"


def _place(column: Printed) -> str:
    if column.table == "6":
        return str(spec("inspire/table6").words["steps"][column.config["step"]])
    return f"{column.records // 10**6} M"


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
    metrics, columns = metrics_of(table), printed(expected, table)
    rows: list[Row] = []
    data: list[dict[str, Any]] = []
    shown: list[dict[str, Any]] = []
    for place in dict.fromkeys(_place(column) for column in columns):
        here = [column for column in columns if _place(column) == place]
        current = next((column.values for column in here if column.protocol == CURRENT), None)
        for column in here:
            cells = {"place": Cell(place), "source": Cell(_source(column))}
            rows.append(Row(cells | printed_cells(column, metrics)))
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
    chosen = spec(f"inspire/table{table}")
    own = replace(SPEC.wider("failure", columns_of(metrics)), status_from=chosen.status_from)
    said = chosen.words | {"provenance": provenance(shown), "errata": errata.notes(contradictions, table)}
    return own.table(rows, data, footnotes(shown), table=table, **said)


def _values(ours: Measured) -> dict[str, float]:
    """Measured, or of a row that was not measured the sizes that are known."""
    values = {name: ours.values[name] for name in ("server_time", "offline_time") if name in ours.values}
    total = ours.size("total_comm")
    return values | ({} if total is None else {"total_comm": total}) | {"db_size": ours.database_bits / 8}


def _our_row(place: str, ours: Measured, values: dict[str, float], column: Printed) -> Row:
    """A row of ours with its layout, since the paper prints none here; bytes that differ from the printed ones are
    marked."""
    name = f"{protocol_name(ours.row['protocol'])} {ours.name}"
    size = "" if column.record_bits else f", {shape_text(int(ours.row['records']), int(ours.row['record_bits']))}"
    layout = f", {ours.layout.text()}" if ours.layout.first else ""
    cells = {"place": Cell(place), "source": Cell(f"here, {name}{size}{layout}", symbols(marks_of(ours.row)))}
    cells |= our_cells(column, ours, metrics_of(column.table), values)
    return Row(cells, ours.row["id"] or "", status_text(ours.row))


def _data(table: str, place: str, source: str, values: dict[str, float], row: dict[str, Any]) -> list[dict[str, Any]]:
    shared = our_data(row) | {key: row.get(key) for key in ("records", "record_bits")}
    shared |= {"table": table, "place": place, "source": source}
    units = {"total_comm": "B", "db_size": "B", "server_time": "s", "offline_time": "s"}
    # The paper's numbers are values, and so is what was measured here.
    kind = "value" if not row or row["status"] == "ok" else "described"
    return [shared | {"metric": m, kind: value, "unit": units.get(m, "%")} for m, value in values.items()]
