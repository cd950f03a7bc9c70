"""The InsPIRe paper's contradictions (experiments/expected/inconsistencies.csv) at the tables they concern."""

import re
from collections.abc import Callable, Iterable, Sequence

import pandas as pd

from ..lib.paper import Printed
from ..lib.protocols import IDS

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


def _is(column: Printed, protocol: str, database: str, first: int | None = None, bits: int | None = None) -> bool:
    """Whether a column is of a protocol, by its printed name, and has that database, first dimension and records."""
    same = (column.protocol, column.database) == (IDS[protocol], database)
    return same and first in (None, column.layout.first) and bits in (None, column.record_bits)


def _off(column: Printed) -> bool:
    """Whether a total is off the sum of its parts."""
    parts = [column.values.get(name) for name in PHASE_SUMS[column.table]]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or "server_time" not in column.values:
        return False
    return abs(column.values["server_time"] / sum(known) - 1) > TOTAL_TOLERANCE


def _derived(column: Printed) -> bool:
    return any("derived" in note for note in column.notes)


Places = Callable[[Printed], Sequence[str]]
CELLS: dict[str, dict[str, Places]] = {
    "X12": {"9": lambda c: [CONFIGURATION] * _is(c, "InsPIRe", "32GB", 2**20, 1)},
    "X13": {"8": lambda c: ["total_comm"] * (c.database == "1GB" and c.layout.first == _smallest(c))},
    "X15": {"5": lambda c: ["upload_keys", "packed_size"] * (c.config.get("log2q") == "28")},
    "X17": {"6": lambda c: ["total_comm_improvement"] * (c.config.get("step") == "content_discovery")},
    "X18": {
        "6": lambda c: ["total_comm_improvement", "server_time_improvement"] * (c.config.get("step") == "peer_routing")
    },
    "X20": {"4": lambda c: ["throughput"] * _is(c, "InsPIRe", "32GB", 2**15)},
    "X22": {"2": lambda c: ["throughput"] * _is(c, "InsPIRe_0", "32GB")},
    "X24": {"8": lambda c: ["server_time", "first_matmul"] * _is(c, "InsPIRe^(2)", "32GB", 2**15, 256)},
    "X25": {"9": lambda c: ["server_time"] * _off(c)},
    "X27": {"4": lambda c: ["offline_time", "server_time"] * _is(c, "InsPIRe", "1GB", 2**10)},
    "X28": {
        table: lambda c: ["offline_time"] * (_is(c, "KSPIR", "32GB") or _is(c, "InsPIRe", "1GB", 2**15, c.record_bits))
        for table in ("2", "3")
    }
    | {"4": lambda c: ["offline_time"] * _is(c, "KSPIR", "32GB")},
    "X29": {table: lambda c: [CONFIGURATION] * _derived(c) for table in ("3", "4")},
    "X30": {"1": lambda c: ["p"] * (c.values.get("p") in (65535, 8192))},
}
"""By contradiction and table: the metrics of a column that it concerns."""


def _smallest(column: Printed) -> int:
    """N/t of the smallest total at 1 GB, by gamma_0 (section 7.1)."""
    return 8192 if column.layout.gammas and column.layout.gammas[0] == 16 else 4096


def contradicted(column: Printed, metric: str) -> bool:
    """Whether a contradiction concerns a cell."""
    concerned = [places[column.table](column) for places in CELLS.values() if column.table in places]
    return any(metric in cells for cells in concerned)


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
