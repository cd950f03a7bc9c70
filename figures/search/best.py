"""The best sets of a sweep and the best published ones, by database and protocol."""

from pathlib import Path
from typing import Any

from ..lib.cells import has, plain_database
from ..lib.protocols import place, protocol_name
from ..lib.spec import spec
from ..lib.table import Cell, Table
from .data import TARGET_BITS, TARGET_FAILURE, load


def _security(row: dict[str, Any]) -> Cell:
    if not has(row["bits"]):
        return Cell("unknown", "?")
    return Cell(f"{row['bits']:.1f}", "†" if row["bits"] < TARGET_BITS else "")


def _failure(row: dict[str, Any]) -> Cell:
    bound = float(row["log2_failure"])
    return Cell(f"{bound:.0f}", "‡" if bound > TARGET_FAILURE else "", bound)


def _set(row: dict[str, Any]) -> Cell:
    return Cell(row["name"] if row["name"] in ("found", "published") else f"published {row['name']}")


SPEC = spec(
    "search/best",
    database=plain_database,
    protocol=lambda row: Cell(protocol_name(row["protocol"])),
    set=_set,
    security=_security,
    failure=_failure,
)


def build(path: Path) -> Table:
    """Databases from the smallest, protocols in the order of the house, the found set before the published one."""
    data = load(path, "best")
    data["place"] = data["protocol"].map(place)
    data["published"] = data["name"] != "found"
    data = data.sort_values(["record_bits", "records", "objective", "place", "published"])
    return SPEC.table([SPEC.row(row) for row in data.to_dict("records")], data[SPEC.keys].reset_index(drop=True))
