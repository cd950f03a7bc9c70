"""The Pirouette paper's Tables 3 to 5: the paper's parameters, and those of our described sets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp2, log2
from typing import Any

import pandas as pd
from pirlab_estimator.security.audit import printed_security

from ..lib import cells
from ..lib.inputs import Inputs
from ..lib.paper import printed_rows
from ..lib.spec import spec
from ..lib.table import Cell, Column, Table
from ..lib.units import shape_text
from .sets import PAPER, rows

Document = dict[str, Any]
Read = Callable[[Document], float | None]


@dataclass(frozen=True)
class Parameter:
    """A parameter: the paper's symbol, its header, where a description has it, and what the paper prints of it."""

    key: str
    header: str
    place: str
    then: str = "number"

    def read(self, description: Document) -> float | None:
        """The number of a description, if it has one."""
        owner, key = self.place.split(".")
        layout = description["layout"]
        found = layout if owner == "layout" else layout.get(owner) or instance(description, owner)
        return None if found is None else PRINTED[self.then](float(found[key]))


PRINTED: dict[str, Callable[[float], float]] = {
    "number": float,
    "power": exp2,
    "square": lambda value: value**2,
    "log2 of twice": lambda value: log2(2 * value),
}
"""What the paper prints of a number."""


def instance(description: Document, name: str) -> Document | None:
    """The instance of that name."""
    return next((each for each in description["instances"] if each["name"] == name), None)


def make(inputs: Inputs, number: str) -> Table:
    """The table of that number."""
    instances = printed_security(inputs.folder / "security-sets.csv", "Pirouette", number)
    return parameters(rows(inputs.predictions, inputs.described), inputs.expected, number, instances)


def _number(value: float) -> str:
    log = log2(value) if value > 0 else 0.0
    return f"2^{log:.0f}" if value >= 1024 and log == int(log) else f"{value:.6g}"


SPEC = spec(
    "pirouette/parameters",
    series=lambda row: Cell(row["name"]) if "name" in row else cells.series(row),
    database=lambda row: Cell(row["database"], sort=row.get("records")),
    failure=lambda row: Cell() if "name" in row else cells.failure(row),
)


def parameters(
    found: Sequence[Mapping[str, Any]], expected: pd.DataFrame, table: str, instances: Sequence[Mapping[str, Any]]
) -> Table:
    """Table 3, 4 or 5. instances: what the printed table exposes, with figures (`printed_security`)."""
    words = spec(f"pirouette/table{table}").words
    listed = [Parameter(*each) for each in words["parameters"]]
    columns = [Column(each.key, each.header, cell=cells.shown(each.key, _number, "–")) for each in listed]
    shown = SPEC.wider("database", columns)
    least = min((row["bits"] for row in instances if row["kind"] == "printed"), default=None)
    of_paper = {"source": "paper", "name": f"paper, Table {table}", "security_bits": least, "security": instances}
    data = [of_paper | {"database": place} | values for place, values in _paper_values(expected, table).items()]
    for row in found:
        own = {each.key: each.read(row["description"]) for each in listed}
        place = shape_text(int(row["records"]), int(row["record_bits"]))
        data.append(dict(row) | own | {"source": row["set"], "database": place, "records": float(row["records"])})
    lines = [shown.row(row) for row in data]
    names = [each.key for each in listed]
    frame = pd.DataFrame(data, columns=["source", "database", *names, "security_bits", "failure_log2"])
    said: dict[str, Any] = {"printed": _listed(instances, "printed"), "read": _listed(instances, "reading") or "none"}
    return shown.table(lines, frame, table=table, about=words["about"], **said)


def _listed(instances: Sequence[Mapping[str, Any]], kind: str) -> str:
    return ", ".join(f"{row['instance']} {row['bits']:.1f}" for row in instances if row["kind"] == kind)


def _paper_values(expected: pd.DataFrame, table: str) -> dict[str, dict[str, float]]:
    """The printed numbers by database, or of all databases under one name where the paper prints no others."""
    every: dict[str, float] = {}
    of: dict[str, dict[str, float]] = {}
    for row in printed_rows(expected, PAPER, table):
        key, value = row["metric"], float(row["value"])
        if key == "Q_1":
            key, value = "log2_Q_1", log2(value)
        (of.setdefault(row["database"], {}) if row["database"] else every)[key] = value
    return {database: every | own for database, own in of.items()} if of else {"all": every}
