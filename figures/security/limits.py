"""The audit's second table: the largest log2 q that keeps the target, by ring degree, secret and stddev."""

from typing import Any

import pandas as pd

from ..lib.inputs import Inputs
from ..lib.marks import MEANINGS, SYMBOLS
from ..lib.spec import spec
from ..lib.table import Cell, Column, Row, Table
from ..lib.units import power_of_two
from .document import Audit, load_audit, load_references, secret_text

REFERENCES = {"guidelines": "guidelines 2024", "standard-2018": "standard 2018"}
SPEC = spec("security/limits")


def make(inputs: Inputs) -> Table:
    """The table of the audit."""
    return build(load_audit(inputs.arguments.audit), load_references(inputs.arguments.expected))


def build(audit: Audit, references: pd.DataFrame) -> Table:
    """A row a secret and stddev, a column a degree; below each, what others print for the same."""
    degrees = audit.degrees()
    shown = SPEC.wider("origin", [Column(str(n), f"n = 2^{power_of_two(n)}", "log2 q") for n in degrees])
    rows, data = [], []
    groups: dict[tuple[str, float], dict[int, dict[str, Any]]] = {}
    for cell in audit.limits:
        groups.setdefault((secret_text(cell["secret"]), cell["stddev"]), {})[cell["dimension"]] = cell
    for (secret, stddev), cells in groups.items():
        rows.append(_row(secret, stddev, "fast model", {str(n): _cell(cell) for n, cell in cells.items()}))
        data += [_data("fast model", secret, stddev, n, cell) for n, cell in cells.items()]
        printed = references[references["secret"].str.lower() == secret.lower()]
        printed = printed[(printed["stddev"] - stddev).abs() < 0.02]
        for source, lines in printed.groupby("source", sort=False):
            numbers = {int(n): int(q) for n, q in zip(lines["dimension"], lines["log2_modulus"], strict=True)}
            origin = REFERENCES.get(str(source), str(source))
            sigma = float(lines["stddev"].iloc[0])
            rows.append(_row(secret, sigma, origin, {str(n): Cell(str(q), sort=q) for n, q in numbers.items()}))
            data += [_data(origin, secret, sigma, n, {"log2_modulus": q}) for n, q in numbers.items()]
    reasons = sorted({str(cell["reason"]).split(", density")[0] for cell in audit.limits if cell["reason"]})
    meanings = {"outside": f"{MEANINGS['outside']}: {'; '.join(reasons)}"}
    return shown.table(rows, data, meanings=meanings, target=audit.target, model=audit.model, shape=audit.shape)


def _row(secret: str, stddev: float, origin: str, cells: dict[str, Cell]) -> Row:
    first = {"secret": Cell(secret), "stddev": Cell(f"{stddev:g}", sort=stddev), "origin": Cell(origin)}
    return Row(first | cells)


def _cell(cell: dict[str, Any]) -> Cell:
    if cell["log2_modulus"] is None:
        return Cell("–", SYMBOLS["outside"])
    return Cell(str(cell["log2_modulus"]), sort=float(cell["log2_modulus"]))


def _data(origin: str, secret: str, stddev: float, dimension: int, cell: dict[str, Any]) -> dict[str, Any]:
    found = {key: cell.get(key) for key in ("log2_modulus", "bits", "attack", "reason")}
    return {"origin": origin, "secret": secret, "stddev": stddev, "dimension": dimension} | found
