"""The numbers of Figure 4 as a table: one row a series and shape, ours and the paper's apart."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from ..lib.cells import numbers, security, series
from ..lib.frame import status_text
from ..lib.marks import PREDICTED, footnotes, predicted, provenance
from ..lib.protocols import paper_name
from ..lib.spec import spec
from ..lib.table import Cell, Column, Table
from ..lib.units import count_text, record_text
from .figure4 import METRICS, Figure4
from .figure4 import build as figure

SPEC = spec(
    "pirouette/figure4",
    size=lambda row: Cell(record_text(row["record_bits"]), sort=float(row["record_bits"])),
    count=lambda row: Cell(count_text(row["records"]), sort=float(row["records"])),
    series=lambda row: Cell(row["printed"]) if "printed" in row else series(row),
    security=lambda row: Cell() if "printed" in row else security(row),
).wider("source", [Column(m.key, m.title, m.unit, cell=numbers(m.column, m.factor, m.digits)) for m in METRICS])


def make(rows: Iterable[dict[str, Any]], expected: pd.DataFrame) -> Table:
    """The numbers as a table."""
    return build(figure(rows, expected))


def build(data: Figure4) -> Table:
    """The table; its CSV is the figure's own data, one number a line with the id of its record."""
    place = {name: f"0 {index:03}" for index, (_, name, _) in enumerate(data.series)}
    lines: list[dict[str, Any]] = []
    for record in data.records:
        source = PREDICTED if predicted(record) else "measured"
        lines.append(record | {"source": source, "place": place[record["series"]]})
    for (name, count, bits), points in data.paper().groupby(["set", "records", "record_bits"], sort=True):
        references = sorted({str(r).split(":")[0] for r in points["reference"]})
        values = dict(zip(points["metric"], points["value_base"], strict=True))
        line = {"records": count, "record_bits": bits, "printed": paper_name(name), "place": f"1 {name}"}
        line |= {metric.column: values.get(metric.key) for metric in METRICS} | {"status": "ok", "id": ""}
        lines.append(line | {"source": "paper, " + " and ".join(references)})
    lines.sort(key=lambda line: (line["record_bits"], line["records"], line["place"]))
    rows = [SPEC.row(line, line["id"] or "", status_text(line)) for line in lines]
    return SPEC.table(rows, data.points, footnotes(data.records), provenance=provenance(data.records))
