"""The best sets of a sweep and the best published ones, by database and protocol."""

from pathlib import Path

from ..lib.protocols import place, protocol_name
from ..lib.spec import spec
from ..lib.table import Cell, Table
from .data import load

WHOSE = ("found", "published")
"""Names of sets that say whose they are."""
SPEC = spec(
    "search/best",
    protocol=lambda row: Cell(protocol_name(row["protocol"])),
    set=lambda row: Cell(row["name"] if row["name"].partition(" with ")[0] in WHOSE else f"published {row['name']}"),
)


def build(path: Path) -> Table:
    """Databases from the smallest, protocols in the order of the house, the found set before the published one."""
    data = load(path, "best")
    data["place"] = data["protocol"].map(place)
    data["published"] = data["name"] != "found"
    data = data.sort_values(["record_bits", "records", "objective", "place", "published"])
    known = data.rename(columns={"bits": "security_bits", "log2_failure": "failure_log2"})
    rows = [SPEC.row(row) for row in known.to_dict("records")]
    return SPEC.table(rows, data[SPEC.keys].reset_index(drop=True))
