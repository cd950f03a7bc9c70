"""Which parameter set a row shows, how secure it is and how often it fails: the same cells in every table of sets."""

from __future__ import annotations

from typing import Any

import pandas as pd

from .marks import failing, insecure, marks_of, symbols, unconfirmed
from .names import series_name
from .table import Cell, Column

COLUMNS = [Column("series", "Protocol and set", text=True), Column("security", "Security", "bit")]


def cells(row: dict[str, Any], suffix: str = "") -> dict[str, Cell]:
    """Name with all marks of the row; the least bits over all keys and ciphertexts, marked alone if they miss."""
    name = series_name(row["protocol"], row["set"]) + suffix
    return {"series": Cell(name, symbols(marks_of(row))), "security": security(row)}


def security(row: dict[str, Any]) -> Cell:
    """The least bits, or that they are unknown."""
    bits = row.get("security_bits")
    if bits is None or pd.isna(bits):
        return Cell("unknown", symbols(["unknown"]))
    keys = [key for key, holds in (("insecure", insecure(row)), ("unconfirmed", unconfirmed(row))) if holds]
    return Cell(f"{bits:.1f}", symbols(keys), float(bits))


def failure(row: dict[str, Any]) -> Cell:
    """log2 of the failure bound, marked where it is above the target."""
    bound = row.get("failure_log2")
    if bound is None or pd.isna(bound):
        return Cell("not predicted")
    return Cell(f"{bound:.0f}", symbols(["failing"] if failing(row) else []), float(bound))
