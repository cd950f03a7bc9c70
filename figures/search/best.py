"""The best sets of a sweep and the best published ones, by database and protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..lib.cells import has, plain_database, quantity
from ..lib.marks import ASSUMED
from ..lib.output import words
from ..lib.protocols import place, protocol_name
from ..lib.table import Cell, Column, Row, Table, label, make_cells
from ..lib.units import GIB, KIB
from .data import TARGET_BITS, TARGET_FAILURE, load

DATA_COLUMNS = words(
    "protocol objective name records record_bits bits log2_failure upload download hint_bytes seconds server_bytes set"
)


def _security(row: dict[str, Any]) -> Cell:
    if not has(row["bits"]):
        return Cell("unknown", "?")
    return Cell(f"{row['bits']:.1f}", "†" if row["bits"] < TARGET_BITS else "")


def _failure(row: dict[str, Any]) -> Cell:
    bound = float(row["log2_failure"])
    return Cell(f"{bound:.0f}", "‡" if bound > TARGET_FAILURE else "", bound)


def _set(row: dict[str, Any]) -> Cell:
    name = row["name"]
    return Cell(name if name.partition(" with ")[0] in ("found", "published") else f"published {name}")


COLUMNS = [
    label("database", "Database", cell=plain_database),
    label("objective", "Least"),
    label("protocol", "Protocol", cell=lambda row: Cell(protocol_name(row["protocol"]))),
    label("set", "Set", cell=_set),
    Column("security", "Security", "bit", cell=_security),
    Column("failure", "Failure bound", "log2", cell=_failure),
    quantity("upload", "Query", "KiB", scale=KIB),
    quantity("download", "Answer", "KiB", scale=KIB),
    quantity("hint", "Hint or keys", "KiB", "hint_bytes", KIB),
    quantity("answer", "Answer time", "ms", "seconds", 1e-3),
    quantity("memory", "Server", "GiB", "server_bytes", GIB),
]


def build(path: Path) -> Table:
    """Databases from the smallest, protocols in the order of the house, the found set before the published one."""
    data = load(path, "best")
    data["place"] = data["protocol"].map(place)
    data["published"] = data["name"] != "found"
    data = data.sort_values(["record_bits", "records", "objective", "place", "published"])
    rows = [Row(make_cells(COLUMNS, row)) for row in data.to_dict("records")]
    notes = [
        "All predicted: sizes and memory as described, security by the fast model, the least of a set's keys and "
        "ciphertexts, failure by the noise "
        f"chain for any data ({ASSUMED}), seconds of one core by the unit costs. Found sets reach 128 bits and 2^-40; "
        "† is a published set below 128 bits, ‡ one that fails more often than 2^-40. The published set is the best of "
        "those that take the database, by the same measure: bytes of query, answer and a hundredth of the hint or "
        "keys, or seconds from question to record at 100 Mbit/s and 50 ms with that share."
    ]
    return Table("Best sets by database", COLUMNS, rows, data[DATA_COLUMNS].reset_index(drop=True), [], notes)
