"""The paper's numbers next to ours: the metrics of its tables, and the cells of a printed column and of our rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..lib.cells import predicted_cells
from ..lib.marks import SYMBOLS, marks_of
from ..lib.output import words
from ..lib.paper import Measured, Printed
from ..lib.spec import spec
from ..lib.table import Cell, Column
from ..lib.units import SCALES, significant
from . import errata

NOT_PLANNED = "no experiment of this run has this configuration"
SIZES = words("upload_keys upload_query download total_comm")


@dataclass(frozen=True)
class Metric:
    """A column of numbers: the paper's metric, header and unit, and the significant digits of ours.

    bandwidth: whether a second column has the share of memory's speed that this part of the answer reaches.
    """

    key: str
    header: str
    unit: str
    digits: int = 3
    bandwidth: bool = False

    @property
    def base_unit(self) -> str:
        """The unit of its values."""
        bases = {"KiB": "B", "GiB": "B", "MiB": "B", "MiB/s": "B/s", "%": "%"}
        return bases.get(self.unit, "s")

    def cell(self, value: float | None, marks: str = "", as_printed: bool = False) -> Cell:
        """A value in the metric's unit: with all digits that the paper prints, or with our own."""
        if value is None:
            return Cell()
        scaled = value / SCALES.get(self.unit, 1)
        return Cell(f"{scaled:.10g}" if as_printed else significant(scaled, self.digits), marks, value)


def metrics_of(table: str) -> list[Metric]:
    """The metrics of a table."""
    shared = spec("inspire/metrics").words
    listed = spec(f"inspire/table{table}").words["metrics"]
    return [Metric(**(shared[each] if isinstance(each, str) else each)) for each in listed]


def columns_of(metrics: Iterable[Metric]) -> list[Column]:
    """The columns of metrics."""
    found = []
    for metric in metrics:
        found.append(Column(metric.key, metric.header, metric.unit))
        if metric.bandwidth:
            found.append(Column(f"{metric.key}_of_bandwidth", "of bandwidth", "%"))
    return found


def printed_cells(column: Printed, metrics: Sequence[Metric]) -> dict[str, Cell]:
    """The printed numbers of a column, each marked where the paper contradicts itself."""
    cells = {}
    for metric in metrics:
        if metric.key in column.values:
            marks = SYMBOLS["contradicted"] if errata.contradicted(column, metric.key) else ""
            cells[metric.key] = metric.cell(column.values[metric.key], marks, as_printed=True)
    return cells


def our_cells(column: Printed | None, ours: Measured, metrics: Iterable[Metric]) -> dict[str, Cell]:
    """Our numbers beside a printed column, with security and failure bound: marked where a value was not measured, and
    where a size differs from the printed one."""
    cells, values = predicted_cells(ours.row), ours.known
    for metric in metrics:
        marks = ours.mark(metric.key)
        marks += SYMBOLS["unequal"] if column is not None and unequal(column, ours, metric.key) else ""
        cells[metric.key] = metric.cell(values.get(metric.key), marks)
    return cells


def unequal(column: Printed, ours: Measured, metric: str) -> bool:
    """Whether a size, measured or described, differs from the printed one by more than its rounding."""
    size = ours.known.get(metric)
    if metric not in SIZES or metric not in column.values or size is None or not ours.published:
        return False
    return column.unequal(metric, size)


def our_data(row: dict[str, Any]) -> dict[str, Any]:
    """The CSV cells of a row of ours; empty where there is no row."""
    found = {key: row.get(key) for key in ("set", "status", "reason", "security_bits", "failure_log2")}
    return found | {"marks": " ".join(marks_of(row)) if row else "", "record_id": row.get("id")}
