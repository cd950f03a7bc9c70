"""The InsPIRe paper's contradictions (experiments/expected/inconsistencies.csv) at the tables they concern."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from ..lib.paper import Printed
from ..lib.protocols import IDS
from ..lib.spec import spec

PHASE_SUMS = {
    "8": ("first_matmul", "first_pack", "second_matmul", "second_pack", "third_pack"),
    "9": ("matmul", "packing", "poly_eval"),
}
"""The parts of an answer that Tables 8 and 9 print."""
TOTAL_TOLERANCE = 0.025
"""X25 is about totals that differ from the sum of their parts by more than this share."""

TABLES_OF_TEXT = {"X16": "9", "X19": "4", "X20": "4", "X21": "2", "X22": "2"}
"""Contradictions whose text names a section or a theorem: the tables that the numbers stand in."""
CONFIGURATION = "configuration"
"""Stands for the cell that names a column's configuration."""


def _holds(entry: Mapping[str, Any], column: Printed) -> bool:
    """Whether an entry is about a column: its protocol, database, records and configuration match."""
    own = {"table": column.table, "database": column.database, "bits": column.record_bits}
    same = all(entry[key] == value for key, value in own.items() if key in entry)
    owner = IDS.get(entry.get("protocol", ""), column.protocol)
    return same and owner == column.protocol and entry.get("config", {}).items() <= column.config.items()


def _off(column: Printed) -> bool:
    """Whether a total is off the sum of its parts."""
    parts = [column.values.get(name) for name in PHASE_SUMS[column.table]]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or "server_time" not in column.values:
        return False
    return abs(column.values["server_time"] / sum(known) - 1) > TOTAL_TOLERANCE


CELLS: list[dict[str, Any]] = spec("inspire/errata").words["cells"]
COMPUTED: dict[str, tuple[str, Callable[[Printed], Sequence[str]]]] = {
    "X25": ("9", lambda column: ["server_time"] * _off(column)),
    "X29": ("34", lambda column: [CONFIGURATION] * any("derived" in note for note in column.notes)),
    "X30": ("1", lambda column: ["p"] * (column.values.get("p") in (65535, 8192))),
}
"""Contradictions that follow from a column's numbers or notes: their tables, and the metrics that they concern."""


def concerned(column: Printed) -> Iterator[tuple[str, str]]:
    """The contradictions that concern a column, each with a metric."""
    for entry in CELLS:
        if _holds(entry, column):
            yield from ((entry["id"], metric) for metric in entry["cells"])
    for name, (tables, metrics) in COMPUTED.items():
        if column.table in tables:
            yield from ((name, metric) for metric in metrics(column))


def contradicted(column: Printed, metric: str) -> bool:
    """Whether a contradiction concerns a cell."""
    return any(metric == cell for _, cell in concerned(column))


def tables_of(entry: dict[str, str]) -> set[str]:
    """The tables that a contradiction concerns: those it names, and those its text is about."""
    named: set[str] = set()
    for first, word, last in re.findall(r"Tables? (\d+)(?: (to|and) (\d+))?", entry["where"]):
        named |= {str(n) for n in range(int(first), int(last) + 1)} if word == "to" else {first, last} - {""}
    return named | ({TABLES_OF_TEXT[entry["id"]]} if entry["id"] in TABLES_OF_TEXT else set())


def notes(contradictions: pd.DataFrame, table: str) -> list[str]:
    """The notes that a table of the paper carries."""
    found = []
    for entry in contradictions.to_dict("records"):
        if table not in tables_of(entry):
            continue
        again = f"; recomputed: {entry['recomputed']}" if entry["recomputed"] else ""
        comment = f" ({entry['comment']})" if entry["comment"] else ""
        found.append(f"{entry['id']}, {entry['where']}: the paper prints {entry['printed']}{again}{comment}.")
    return found


def notes_of(contradictions: pd.DataFrame, tables: Iterable[str]) -> list[str]:
    """The notes of several tables, each once."""
    return list(dict.fromkeys(note for table in tables for note in notes(contradictions, table)))
