"""Cells that many tables have: numbers, databases, and a set's name with its security and failure bound."""

from collections.abc import Callable
from typing import Any

from pirlab_estimator.noise.tails import LEAST

from .frame import MEASURED
from .marks import failing, insecure, marks_of, of_value, symbols, unconfirmed
from .protocols import series_name
from .table import Cell, Maker
from .units import has, shape_text, significant


def number(value: Any, scale: float = 1.0, digits: int = 3, missing: str = "", marks: str = "") -> Cell:
    """A value over its unit's size with that many significant digits."""
    return Cell(significant(value / scale, digits), marks, float(value)) if has(value) else Cell(missing)


def numbers(key: str, scale: float = 1.0, digits: int = 3, missing: str = "") -> Maker:
    """Makes such cells of a row's values at a key."""
    return lambda row: number(row.get(key), scale, digits, missing, _predicted(row, key))


def shown(key: str, text: Callable[[Any], str], missing: str = "") -> Maker:
    """Makes cells of a row's values at a key that a function writes as text, and that sort by the value."""
    return lambda row: (
        Cell(text(row[key]), _predicted(row, key), float(row[key])) if has(row.get(key)) else Cell(missing)
    )


def _predicted(row: Any, key: str) -> str:
    """The mark of a value that stands in for a measurement that no record has."""
    return of_value(row, key.endswith("_bytes")) if key in MEASURED else ""


def spaced(key: str) -> Maker:
    """Makes cells of names, with spaces for underscores."""
    return lambda row: Cell(str(row.get(key) or "").replace("_", " "))


def database(row: Any) -> Cell:
    """The shape of a row's database; sorts by its bits."""
    records, bits = int(row["records"]), int(row["record_bits"])
    return Cell(shape_text(records, bits), sort=float(records * bits))


def series(row: Any, suffix: str = "") -> Cell:
    """The name of a row's protocol and set, with all marks of the row."""
    return Cell(series_name(row["protocol"], row["set"]) + suffix, symbols(marks_of(row)))


def security(row: Any) -> Cell:
    """The least bits over all keys and ciphertexts, marked where they miss the target, or that they are unknown."""
    bits = row.get("security_bits")
    if not has(bits):
        return Cell("unknown", symbols(["unknown"]))
    keys = [key for key, holds in (("insecure", insecure(row)), ("unconfirmed", unconfirmed(row))) if holds]
    return Cell(f"{bits:.1f}", symbols(keys), float(bits))


def failure(row: Any) -> Cell:
    """log2 of the failure bound, marked where it is above the target."""
    bound = row.get("failure_log2")
    if not has(bound):
        return Cell("not predicted")
    text = f"{bound:.0f}" if bound >= LEAST else f"below {LEAST:.0f}"
    return Cell(text, symbols(["failing"] if failing(row) else []), float(bound))


def predicted_cells(row: Any) -> dict[str, Cell]:
    """Security and failure bound of a joined row, each with its mark where it misses its target."""
    return {"security": security(row), "failure": failure(row)}


def verdict(row: Any) -> Cell:
    """A verdict with its note."""
    return Cell(f"{row['verdict']} ({row['note']})" if row["note"] else row["verdict"])


def right(row: Any) -> Cell:
    """How many of the compared records are right."""
    return Cell(f"{row['right']:.0f}/{row['compared']:.0f}") if has(row.get("compared")) else Cell()


def quartiles(row: Any) -> Cell:
    """The quartiles of a row's answer times, marked where they vary."""
    if not has(row["answer_q1_s"]):
        return Cell()
    low, high = significant(row["answer_q1_s"] * 1e3), significant(row["answer_q3_s"] * 1e3)
    return Cell(f"{low}–{high}", symbols(key for key in marks_of(row) if key == "spread"), row["answer_q3_s"])


MAKERS = {each.__name__: each for each in (series, security, failure, database, right, quartiles)}
"""Of columns that many tables have, by key."""
