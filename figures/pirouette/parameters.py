"""The Pirouette paper's Tables 3 to 5: the paper's parameters, and those of our described sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp2, log2
from typing import Any

import pandas as pd
from pirlab_estimator.security.audit import printed_security

from ..lib.cells import SECURITY, failure, series
from ..lib.inputs import Inputs
from ..lib.marks import ASSUMED
from ..lib.paper import printed_rows
from ..lib.table import Cell, Column, Maker, Row, Table, footnotes_of, label, make_cells
from ..lib.units import shape_text
from .sets import PAPER, rows

Document = dict[str, Any]
Read = Callable[[Document], float | None]


@dataclass(frozen=True)
class Parameter:
    """A parameter: the paper's symbol, its header, and where a description has it.

    place: `layout.key`, `<name>_gadget.key` or `<instance>.key`. then: what the paper prints of that number.
    """

    key: str
    header: str
    place: str
    then: Callable[[float], float] = float

    def read(self, description: Document) -> float | None:
        """The number of a description, if it has one."""
        owner, key = self.place.split(".")
        layout = description["layout"]
        found = layout if owner == "layout" else layout.get(owner) or instance(description, owner)
        return None if found is None else float(self.then(float(found[key])))


def instance(description: Document, name: str) -> Document | None:
    """The instance of that name."""
    return next((each for each in description["instances"] if each["name"] == name), None)


def _square(value: float) -> float:
    return value**2


def _log2_of_twice(value: float) -> float:
    return log2(2 * value)


PARAMETERS = {
    "3": (
        Parameter("n_in", "n in", "query.dimension"),
        Parameter("n_out", "n out", "layout.lwe_dimension"),
        Parameter("N", "N", "layout.ring_degree"),
        Parameter("log2_q_in", "log2 q in", "query.log2_modulus"),
        Parameter("log2_q_out", "log2 q out", "layout.ring_degree", _log2_of_twice),
        Parameter("log2_Q", "log2 Q", "ring.log2_modulus"),
        Parameter("log2_Q_ksk", "log2 Q ksk", "key_switching.log2_modulus"),
        Parameter("B", "B", "rotation_gadget.base_log2", exp2),
        Parameter("B_ksk", "B ksk", "switching_gadget.base_log2", exp2),
        Parameter("sigma_squared", "σ² ring", "ring.error_stddev", _square),
        Parameter("sigma_squared_ksk", "σ² ksk", "key_switching.error_stddev", _square),
    ),
    "4": (
        Parameter("n", "n", "layout.lwe_dimension"),
        Parameter("N", "N", "layout.ring_degree"),
        Parameter("log2_q", "log2 q", "layout.ring_degree", _log2_of_twice),
        Parameter("log2_Q", "log2 Q", "ring.log2_modulus"),
        Parameter("B", "B", "rotation_gadget.base_log2", exp2),
        Parameter("B_automorphism", "B aut", "automorphism_gadget.base_log2", exp2),
        Parameter("B_squaring", "B sq", "squaring_gadget.base_log2", exp2),
        Parameter("B_rgsw", "B RGSW", "rgsw_gadget.base_log2", exp2),
        Parameter("ell_rgsw", "ℓ RGSW", "rgsw_gadget.digits"),
        Parameter("sigma_squared", "σ²", "ring.error_stddev", _square),
    ),
    "5": (
        Parameter("N_1", "N1", "response.dimension"),
        Parameter("log2_Q_1", "log2 Q1", "response.log2_modulus"),
        Parameter("v_1", "v1", "layout.first_bits"),
        Parameter("v_2", "v2", "layout.fold_bits"),
        Parameter("v_3", "v3", "layout.rotation_bits"),
        Parameter("p", "p", "layout.plain_modulus"),
        Parameter("sigma_squared_response", "σ² response", "response.error_stddev", _square),
    ),
}
TITLES = {
    "3": "parameters of digit and bit decomposition",
    "4": "parameters of LWE to RGSW",
    "5": "parameters of database and response",
}


def make(inputs: Inputs, number: str) -> Table:
    """The table of that number."""
    instances = printed_security(inputs.folder / "security-sets.csv", "Pirouette", number)
    return parameters(rows(inputs.predictions, inputs.described), inputs.expected, number, instances)


def _numbers(key: str) -> Maker:
    return lambda row: _number(row.get(key))


def _number(value: float | None) -> Cell:
    if value is None:
        return Cell("–")
    log = log2(value) if value > 0 else 0.0
    text = f"2^{log:.0f}" if value >= 1024 and log == int(log) else f"{value:.6g}"
    return Cell(text, sort=float(value))


def parameters(
    found: Sequence[Mapping[str, Any]], expected: pd.DataFrame, table: str, instances: Sequence[Mapping[str, Any]]
) -> Table:
    """Table 3, 4 or 5. instances: what the printed table exposes, with figures (`printed_security`)."""
    listed = PARAMETERS[table]
    columns = [
        label("series", "Set", cell=lambda row: Cell(row["name"]) if "name" in row else series(row)),
        label("database", "Database", cell=lambda row: Cell(row["database"], sort=row.get("records"))),
        *(Column(each.key, each.header, cell=_numbers(each.key)) for each in listed),
        SECURITY,
        Column("failure", "Failure bound", "log2", cell=lambda row: Cell() if "name" in row else failure(row)),
    ]
    least = min((row["bits"] for row in instances if row["kind"] == "printed"), default=None)
    of_paper = {"source": "paper", "name": f"paper, Table {table}", "security_bits": least, "security": instances}
    data = [of_paper | {"database": place} | values for place, values in _paper_values(expected, table).items()]
    for row in found:
        own = {each.key: each.read(row["description"]) for each in listed}
        place = shape_text(int(row["records"]), int(row["record_bits"]))
        data.append(dict(row) | own | {"source": row["set"], "database": place, "records": float(row["records"])})
    lines = [Row(make_cells(columns, row)) for row in data]
    names = [each.key for each in listed]
    frame = pd.DataFrame(data, columns=["source", "database", *names, "security_bits", "failure_log2"])
    notes = [
        "Lines 'paper' are the printed parameters; what they miss, and why, is in docs/errata.md. Security is the "
        "least over all keys and ciphertexts that the server sees; the failure bound is of a whole query, for any "
        f"database ({ASSUMED}). A dash: the paper does not print it, or the protocol has no such key.",
        f"Instances of the printed table, in bits: {_listed(instances, 'printed')}; read into it, where it leaves open "
        f"what a key has: {_listed(instances, 'reading') or 'none'}.",
    ]
    title = f"Pirouette, Table {table}: {TITLES[table]}, the paper's and ours"
    return Table(title, columns, lines, frame, footnotes_of(lines), notes)


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
