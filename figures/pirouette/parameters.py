"""The Pirouette paper's Tables 3 to 5: the paper's parameters, and those of our described sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log2
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
Parameter = tuple[str, str, Read]
"""A parameter: the paper's symbol, header, and what a description has for it (None: nothing)."""


def instance(description: Document, name: str) -> Document | None:
    """The instance of that name."""
    return next((i for i in description["instances"] if i["name"] == name), None)


def _of(name: str, key: str) -> Read:
    """A number of the instance of that name."""

    def read(description: Document) -> float | None:
        found = instance(description, name)
        return None if found is None else float(found[key])

    return read


def _base(gadget: str) -> Read:
    """The base of a gadget."""
    digits = _gadget(gadget, "base_log2")
    return lambda description: None if (log2_base := digits(description)) is None else 2**log2_base


def _gadget(gadget: str, key: str) -> Read:
    """A number of a gadget."""

    def read(description: Document) -> float | None:
        found = description["layout"].get(f"{gadget}_gadget")
        return None if found is None else float(found[key])

    return read


def _layout(key: str) -> Read:
    return lambda description: float(description["layout"][key])


def _switched(description: Document) -> float | None:
    """log2 of 2N, the modulus of what every rotation reads."""
    return log2(2 * description["layout"]["degree"])


def _variance(name: str) -> Read:
    stddev = _of(name, "error_stddev")
    return lambda description: None if (sigma := stddev(description)) is None else sigma**2


PARAMETERS: dict[str, tuple[Parameter, ...]] = {
    "3": (
        ("n_in", "n in", _of("query", "dimension")),
        ("n_out", "n out", _layout("lwe_dimension")),
        ("N", "N", _layout("degree")),
        ("log2_q_in", "log2 q in", _of("query", "log2_modulus")),
        ("log2_q_out", "log2 q out", _switched),
        ("log2_Q", "log2 Q", _of("ring", "log2_modulus")),
        ("log2_Q_ksk", "log2 Q ksk", _of("key_switching", "log2_modulus")),
        ("B", "B", _base("rotation")),
        ("B_ksk", "B ksk", _base("switching")),
        ("sigma_squared", "σ² ring", _variance("ring")),
        ("sigma_squared_ksk", "σ² ksk", _variance("key_switching")),
    ),
    "4": (
        ("n", "n", _layout("lwe_dimension")),
        ("N", "N", _layout("degree")),
        ("log2_q", "log2 q", _switched),
        ("log2_Q", "log2 Q", _of("ring", "log2_modulus")),
        ("B", "B", _base("rotation")),
        ("B_automorphism", "B aut", _base("automorphism")),
        ("B_squaring", "B sq", _base("squaring")),
        ("B_rgsw", "B RGSW", _base("rgsw")),
        ("ell_rgsw", "ℓ RGSW", _gadget("rgsw", "digits")),
        ("sigma_squared", "σ²", _variance("ring")),
    ),
    "5": (
        ("N_1", "N1", _of("response", "dimension")),
        ("log2_Q_1", "log2 Q1", _of("response", "log2_modulus")),
        ("v_1", "v1", _layout("first_bits")),
        ("v_2", "v2", _layout("fold_bits")),
        ("v_3", "v3", _layout("rotation_bits")),
        ("p", "p", _layout("plain_modulus")),
        ("sigma_squared_response", "σ² response", _variance("response")),
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
        *(Column(key, header, cell=_numbers(key)) for key, header, _ in listed),
        SECURITY,
        Column("failure", "Failure bound", "log2", cell=lambda row: Cell() if "name" in row else failure(row)),
    ]
    least = min((row["bits"] for row in instances if row["kind"] == "printed"), default=None)
    of_paper = {"source": "paper", "name": f"paper, Table {table}", "security_bits": least, "security": instances}
    data = [of_paper | {"database": place} | values for place, values in _paper_values(expected, table).items()]
    for row in found:
        own = {key: read(row["description"]) for key, _, read in listed}
        place = shape_text(int(row["records"]), int(row["record_bits"]))
        data.append(dict(row) | own | {"source": row["set"], "database": place, "records": float(row["records"])})
    lines = [Row(make_cells(columns, row)) for row in data]
    names = [key for key, _, _ in listed]
    frame = pd.DataFrame(data, columns=["source", "database", *names, "security_bits", "failure_log2"])
    notes = [
        "Lines 'paper' are the printed parameters; what they miss, and why, is in docs/errata.md. Security is the "
        "least over all keys and ciphertexts that the server sees, the failure bound that of a whole query for any "
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
