"""The numbers of Figure 4 as a table: one row a series and shape, ours and the paper's apart."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from ..lib.cells import number, security, series
from ..lib.frame import status_text
from ..lib.marks import PREDICTED, footnotes, of_value, predicted, provenance
from ..lib.protocols import paper_name
from ..lib.table import Cell, Column, Row, Table
from ..lib.units import count_text, record_text
from .figure4 import METRICS, Figure4
from .figure4 import SPEC as FIGURE
from .figure4 import build as figure

SPEC = FIGURE.wider("source", [Column(metric.key, metric.title, metric.unit) for metric in METRICS])


def make(rows: Iterable[dict[str, Any]], expected: pd.DataFrame) -> Table:
    """The numbers as a table."""
    return build(figure(rows, expected))


def _row(bits: int, count: int, shown: dict[str, Cell], source: str, values: dict[str, Cell], **options: Any) -> Row:
    size, many = Cell(record_text(bits), sort=float(bits)), Cell(count_text(count), sort=float(count))
    return Row({"size": size, "count": many, **shown, "source": Cell(source)} | values, **options)


def _values(points: pd.DataFrame, row: dict[str, Any]) -> dict[str, Cell]:
    """Cells of points by metric, marked where their row was not measured."""
    found = {}
    for key, value in zip(points["metric"], points["value"], strict=True):
        size = key != "throughput"
        found[key] = number(value, digits=4 if size else 3, marks=of_value(row, size))
    return found


def build(data: Figure4) -> Table:
    """The table; its CSV is the figure's own data, one number a line with the id of its record."""
    entries: list[tuple[tuple[Any, ...], Row]] = []
    place = {name: index for index, (_, name, _) in enumerate(data.series)}
    ours = dict(list(data.ours().groupby(["set", "records", "record_bits"])))
    for record in data.records:
        key = record["series"], record["records"], record["record_bits"]
        shown = {"series": series(record), "security": security(record)}
        values = _values(ours[key], record) if key in ours else {}
        options = {"record_id": record["id"] or "", "status": status_text(record)}
        source = PREDICTED if predicted(record) else "measured"
        row = _row(record["record_bits"], record["records"], shown, source, values, **options)
        entries.append(((record["record_bits"], record["records"], 0, place[record["series"]]), row))
    for (name, count, bits), points in data.paper().groupby(["set", "records", "record_bits"], sort=True):
        references = sorted({str(r).split(":")[0] for r in points["reference"]})
        source = "paper, " + " and ".join(references)
        shown = {"series": Cell(paper_name(name))}
        entries.append(((bits, count, 1, name), _row(bits, count, shown, source, _values(points, {}))))
    entries.sort(key=lambda entry: (entry[0][:3], str(entry[0][3])))
    rows = [row for _, row in entries]
    return SPEC.table(rows, data.points, footnotes(data.records), provenance=provenance(data.records))
