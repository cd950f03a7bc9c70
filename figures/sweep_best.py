"""The best sets of a sweep beside the best published ones, by database and protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from .marks import ASSUMED
from .names import PROTOCOLS, protocol_name, words
from .sweep_data import load
from .table import Cell, Column, Row, Table
from .units import GIB, KIB, shape_text, significant

COLUMNS = [
    Column("database", "Database", text=True),
    Column("objective", "Least", text=True),
    Column("protocol", "Protocol", text=True),
    Column("set", "Set", text=True),
    Column("security", "Security", "bit"),
    Column("failure", "Failure bound", "log2"),
    Column("upload", "Query", "KiB"),
    Column("download", "Answer", "KiB"),
    Column("hint", "Hint or keys", "KiB"),
    Column("answer", "Answer time", "ms"),
    Column("memory", "Server", "GiB"),
]
DATA_COLUMNS = words(
    "protocol objective name records record_bits bits log2_failure upload download hint_bytes seconds server_bytes set"
)
TARGET_BITS, TARGET_FAILURE = 128.0, -40.0


def _cells(row: dict[str, Any]) -> dict[str, Cell]:
    def number(value: float, factor: float) -> Cell:
        return Cell(significant(value / factor), sort=float(value))

    insecure = pd.isna(row["bits"]) or row["bits"] < TARGET_BITS
    bits = Cell("unknown", "?") if pd.isna(row["bits"]) else Cell(f"{row['bits']:.1f}", "†" if insecure else "")
    failing = row["log2_failure"] > TARGET_FAILURE
    return {
        "database": Cell(shape_text(row["records"], row["record_bits"])),
        "objective": Cell(row["objective"]),
        "protocol": Cell(protocol_name(row["protocol"])),
        "set": Cell(row["name"] if row["name"] in ("found", "published") else f"published {row['name']}"),
        "security": bits,
        "failure": Cell(f"{row['log2_failure']:.0f}", "‡" if failing else "", float(row["log2_failure"])),
        "upload": number(row["upload"], KIB),
        "download": number(row["download"], KIB),
        "hint": number(row["hint_bytes"], KIB),
        "answer": number(row["seconds"], 1e-3),
        "memory": number(row["server_bytes"], GIB),
    }


def build(path: Path) -> Table:
    """Databases from the smallest, protocols in the order of the house, the found set before the published one."""
    data = load(path, "best")
    order = {protocol: place for place, protocol in enumerate(PROTOCOLS)}
    data["place"] = data["protocol"].map(lambda p: order.get(p, len(order)))
    data["published"] = data["name"] != "found"
    data = data.sort_values(["record_bits", "records", "objective", "place", "published"])
    rows = [Row(_cells(row)) for row in data.to_dict("records")]
    notes = [
        "All predicted: sizes and memory as described, security by the fast model, the least of a set's keys and "
        "ciphertexts, failure by the noise "
        f"chain for any data ({ASSUMED}), seconds of one core by the unit costs. Found sets reach 128 bits and 2^-40; "
        "† is a published set below 128 bits, ‡ one that fails more often than 2^-40. The published set is the best of "
        "those that take the database, by the same measure: bytes of query, answer and a hundredth of the hint or "
        "keys, or seconds from question to record at 100 Mbit/s and 50 ms with that share.",
    ]
    return Table("Best sets by database", COLUMNS, rows, data[DATA_COLUMNS].reset_index(drop=True), [], notes)
