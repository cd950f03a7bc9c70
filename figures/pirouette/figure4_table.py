"""The numbers of Figure 4 as a table: one row a series and shape, ours and the paper's apart."""

from typing import Any

import pandas as pd

from ..lib.cells import security, series
from ..lib.frame import status_text
from ..lib.marks import footnotes, provenance
from ..lib.protocols import paper_name
from ..lib.table import Cell, Column, Row, Table
from ..lib.units import count_text, record_text, significant
from .figure4 import METRICS, Figure4
from .figure4 import SPEC as FIGURE
from .figure4 import build as figure

SPEC = FIGURE.wider("source", [Column(metric.key, metric.title, metric.unit) for metric in METRICS])


def make(joined: pd.DataFrame, expected: pd.DataFrame, predictions: pd.DataFrame) -> Table:
    """The numbers as a table."""
    return build(figure(joined, expected, predictions))


def _row(bits: int, count: int, shown: dict[str, Cell], source: str, values: dict[str, float], **options: Any) -> Row:
    cells = {
        "size": Cell(record_text(bits), sort=float(bits)),
        "count": Cell(count_text(count), sort=float(count)),
        **shown,
        "source": Cell(source),
    }
    for key, value in values.items():
        cells[key] = Cell(significant(value, 4 if key != "throughput" else 3), sort=value)
    return Row(cells, **options)


def build(data: Figure4) -> Table:
    """The table; its CSV is the figure's own data, one number a line with the id of its record."""
    entries: list[tuple[tuple[Any, ...], Row]] = []
    place = {name: index for index, (_, name, _) in enumerate(data.series)}
    measured = data.measured()
    for record in data.records:
        points = measured[measured["record_id"] == record["id"]]
        values = dict(zip(points["metric"], points["value"], strict=True))
        row = _row(
            record["record_bits"],
            record["records"],
            {"series": series(record), "security": security(record)},
            "measured",
            values,
            record_id=record["id"],
            status=status_text(record),
        )
        entries.append(((record["record_bits"], record["records"], 0, place[record["series"]]), row))
    paper = data.paper()
    for (name, count, bits), points in paper.groupby(["set", "records", "record_bits"], sort=True):
        values = dict(zip(points["metric"], points["value"], strict=True))
        references = sorted({str(r).split(":")[0] for r in points["reference"]})
        source = "paper, " + " and ".join(references)
        entries.append(((bits, count, 1, name), _row(bits, count, {"series": Cell(paper_name(name))}, source, values)))
    entries.sort(key=lambda entry: (entry[0][:3], str(entry[0][3])))
    rows = [row for _, row in entries]
    return SPEC.table(rows, data.points, footnotes(data.records), provenance=provenance(data.records))
