"""What a grid says of each value of each key that it varies: a table small enough to be committed.

Of each value the line is the set that scores least of those with that value that reach both targets. Where none does,
it is the nearest one, and `missed` says what that misses: of those that are secure the one that fails most rarely, or
else the most secure one, or else why the binary refuses the first. Before them stands the set that the search found,
whose other values the grid keeps, with the whole set.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from math import inf, log2
from typing import Any

from ..modulus import parse_modulus
from .bounds import Bounds
from .rings import reaches

NUMBERS = ("upload", "download", "hint_bytes", "seconds", "bits", "log2_failure")
COLUMNS = ("protocol", "records", "record_bits", "key", "value", "missed", "score", *NUMBERS, "varied", "set")
SIGNIFICANT = 6
Row = dict[str, Any]


def lines(rows: Sequence[Row], vary: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    """The lines of one grid at one database. rows: of its record, the found set before the others."""
    found, *others = rows
    yield _line(found, vary) | {"set": found["set"]}
    changes = [(row, json.loads(row["varied"])) for row in others]
    for axis in vary:
        for place, value in enumerate(axis["values"]):
            having = [row for row, change in changes if change[axis["key"]] == value]
            if having:
                yield _line(min(having, key=_distance), vary) | {"key": axis["key"], "value": number(value, place)}


def number(value: Any, place: int) -> float:
    """A number as it stands; of a modulus, or a table with a modulus or base, its bits; else its place, from 1."""
    if isinstance(value, int | float):
        return value
    of = value.get("modulus", value.get("base")) if isinstance(value, dict) else value
    try:
        return round(log2(parse_modulus(of)))
    except ValueError:
        return place + 1


def written(change: Mapping[str, Any], vary: Sequence[Mapping[str, Any]]) -> str:
    """`key=value` of each key: numbers as they stand, of all else # and the place in the grid's list, from 1."""
    words = []
    for axis in vary:
        value = change[axis["key"]]
        said = value if isinstance(value, int | float) else f"#{axis['values'].index(value) + 1}"
        words.append(f"{axis['key']}={said}")
    return " ".join(words)


def read(text: str, vary: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The values by key of `written`."""
    found = {}
    for word, axis in zip(text.split(), vary, strict=True):
        key, _, value = word.partition("=")
        if key != axis["key"]:
            raise ValueError(f"{text!r} has {key!r} where the grid varies {axis['key']!r}")
        found[key] = axis["values"][int(value[1:]) - 1] if value.startswith("#") else json.loads(value)
    return found


def _line(row: Row, vary: Sequence[Mapping[str, Any]]) -> Row:
    change = json.loads(row["varied"])
    about = {key: row[key] for key in ("protocol", "records", "record_bits")}
    about |= {"missed": missed(row), "varied": written(change, vary) if change else ""}
    if row["refused"] is not None:
        return about
    return about | {key: _short(row[key]) for key in ("score", *NUMBERS)}


def missed(row: Row) -> str:
    """Which target a set misses, or why it is refused; nothing where it reaches both."""
    if row["refused"] is not None:
        return f"refused: {row['refused']}"
    bounds = Bounds()
    targets = {"security": reaches(row["bits"], bounds.security), "failure": row["log2_failure"] <= bounds.failure}
    return " and ".join(name for name, reached in targets.items() if not reached)


def _distance(row: Row) -> tuple[float, ...]:
    """What is least of the line that stands for several."""
    if row["refused"] is not None:
        return (3, 0)
    if not (fault := missed(row)):
        return (0, row["score"])
    return (1, row["log2_failure"]) if fault == "failure" else (2, -(row["bits"] or -inf), row["log2_failure"])


def _short(value: Any) -> Any:
    return float(f"{value:.{SIGNIFICANT}g}") if isinstance(value, float) else value
