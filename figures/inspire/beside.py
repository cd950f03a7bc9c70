"""The paper's numbers next to ours: the metrics of its tables, and the cells of a printed column and of our rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..lib.cells import failure, security
from ..lib.marks import SYMBOLS, marks_of
from ..lib.output import words
from ..lib.paper import PAPER_ONLY, Measured, Printed
from ..lib.table import Cell, Column
from ..lib.units import GIB, KIB, MIB, significant
from . import errata

NOT_PLANNED = "no experiment of this run has this configuration"
SIZES = words("upload_keys upload_query download total_comm")


@dataclass(frozen=True)
class Metric:
    """A column of numbers: the paper's metric, header, unit and its size in base units.

    of_bandwidth: whether a second column has the share of memory's speed that this part of the answer reaches.
    """

    key: str
    header: str
    unit: str
    factor: float
    digits: int = 4
    of_bandwidth: bool = False

    @property
    def base_unit(self) -> str:
        """The unit of its values."""
        bases = {"KiB": "B", "GiB": "B", "MiB": "B", "MiB/s": "B/s", "%": "%"}
        return bases.get(self.unit, "s")

    def cell(self, value: float | None, marks: str = "", as_printed: bool = False) -> Cell:
        """A value in the metric's unit: with all digits that the paper prints, or with our own."""
        if value is None:
            return Cell()
        scaled = value / self.factor
        return Cell(f"{scaled:.10g}" if as_printed else significant(scaled, self.digits), marks, value)


BYTES = (
    Metric("upload_keys", "Keys", "KiB", KIB),
    Metric("upload_query", "Query", "KiB", KIB),
    Metric("download", "Download", "KiB", KIB),
    Metric("total_comm", "Total", "KiB", KIB),
)
OFFLINE = Metric("offline_time", "Offline", "s", 1.0, 3)
TIME = Metric("server_time", "Server time", "ms", 1e-3, 3)
FRONT = (*BYTES, OFFLINE, TIME, Metric("throughput", "Throughput", "MiB/s", MIB, 3))
METRICS: dict[str, tuple[Metric, ...]] = {
    "2": FRONT,
    "3": FRONT,
    "4": FRONT,
    "5": (
        Metric("unpacked_size", "Unpacked", "MiB", MIB, 3),
        Metric("upload_keys", "Keys", "KiB", KIB, 3),
        Metric("packed_size", "Packed", "KiB", KIB, 3),
        Metric("total_size", "Total", "KiB", KIB, 3),
        OFFLINE,
        Metric("server_time", "Online", "ms", 1e-3, 3),
    ),
    "6": (
        Metric("total_comm", "Communication", "KiB", KIB),
        Metric("total_comm_improvement", "less", "%", 1.0, 2),
        Metric("server_time", "Computation", "ms", 1e-3),
        Metric("server_time_improvement", "less", "%", 1.0, 2),
    ),
    "7": (
        Metric("db_size", "Database", "GiB", GIB),
        Metric("total_comm", "Communication", "KiB", KIB),
        Metric("offline_time", "Offline", "s", 1.0),
        Metric("server_time", "Response", "ms", 1e-3),
    ),
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


BOUNDS = [Column("security", "Security", "bit"), Column("failure", "Failure bound", "log2")]
"""What is predicted of a row."""


def columns_of(metrics: Iterable[Metric]) -> list[Column]:
    """The columns of metrics."""
    found = []
    for metric in metrics:
        found.append(Column(metric.key, metric.header, metric.unit))
        if metric.of_bandwidth:
            found.append(Column(f"{metric.key}_of_bandwidth", "of bandwidth", "%"))
    return found


def printed_cells(column: Printed, metrics: Sequence[Metric]) -> dict[str, Cell]:
    """The printed numbers of a column, each marked where the paper contradicts itself or stands alone."""
    cells = {}
    for metric in metrics:
        if metric.key in column.values:
            marks = SYMBOLS["contradicted"] if errata.contradicted(column, metric.key) else ""
            marks += SYMBOLS["paper_only"] if column.protocol in PAPER_ONLY else ""
            cells[metric.key] = metric.cell(column.values[metric.key], marks, as_printed=True)
    return cells


def predicted_cells(row: dict[str, Any]) -> dict[str, Cell]:
    """Security and failure bound of a joined row, each with its mark where it misses its target."""
    return {"security": security(row), "failure": failure(row)}


def unequal(column: Printed, ours: Measured, metric: str) -> bool:
    """Whether a size, measured or described, differs from the printed one by more than its rounding."""
    size = ours.size(metric)
    if metric not in SIZES or metric not in column.values or size is None or not ours.published:
        return False
    return column.unequal(metric, size)


def our_data(row: dict[str, Any]) -> dict[str, Any]:
    """The CSV cells of a row of ours; empty where there is no row."""
    found = {key: row.get(key) for key in ("set", "status", "reason", "security_bits", "failure_log2")}
    return found | {"marks": " ".join(marks_of(row)) if row else "", "record_id": row.get("id")}
