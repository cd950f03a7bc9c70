"""The DEPIR paper's Table 4: every printed line, and ours of the same database below it where the scheme is built here.

Its seconds of FrodoPIR and Piano are those of a whole query, client included: ours stand in their parts beside them.
"""

from collections.abc import Iterable, Iterator
from statistics import median
from typing import Any

import pandas as pd

from ..lib.cells import database, predicted_cells
from ..lib.frame import ONLINE, status_text
from ..lib.marks import footnotes, marks_of, of_value, provenance, symbols
from ..lib.paper import in_base_units, printed_rows
from ..lib.protocols import IDS, paper_name, place, series_name
from ..lib.spec import spec
from ..lib.table import Cell, Row, Table
from ..lib.units import shape_text

PAPER = "depir"
AHEAD = "precompute"
"""The phase in which a client makes a query before it knows the index."""
READING = "read_database"
"""The phase in which a client reads the database, once a window of queries."""
SLOTS = 1 << 10
"""Queries that fill the slots of a plaintext: they share what their request costs."""
SPEC = spec("depir/table4")
Printed = dict[str, Any]


def _printed(expected: pd.DataFrame) -> list[Printed]:
    """The paper's lines in its order, with their values by metric in bytes, seconds and queries."""
    found: dict[tuple[Any, ...], Printed] = {}
    for row in printed_rows(expected, PAPER, "4"):
        key = (row["protocol"], int(row["num_records"]), int(row["record_bits"]))
        line = found.setdefault(key, dict(zip(("protocol", "records", "record_bits"), key)))
        line[row["metric"]] = in_base_units(row)
    return list(found.values())


def amortised_bytes(row: dict[str, Any], queries: float | None) -> float | None:
    """Bytes of a query, with its share of what was fetched before. A message says how many queries share it; one that
    does not is shared by `queries`, as the paper shares a hint. Keys are left out, as in the paper's lines."""
    sent = [m for m in row["transcript"] or [] if m["phase"] != "update" and not _is_key(m)]
    shares = [(m["payload_bytes"], m["queries_served"] or queries) for m in sent]
    return sum(size / served for size, served in shares if served) if sent else None


def _is_key(message: dict[str, Any]) -> bool:
    """Whether the message is uploaded once and serves any number of queries."""
    kept = message["phase"] == "offline" and message["direction"] == "upload"
    return kept and message["queries_served"] is None


def _seconds(row: dict[str, Any], name: str) -> float | None:
    """The median of a phase over the queries of a request, or over those that its reading serves."""
    samples = [phase["seconds"] for phase in row["phases"] or [] if phase["name"] == name and phase["seconds"]]
    if not samples:
        return None
    window = (row["description"] or {}).get("layout", {}).get("window")
    served = int(window if name == READING and window else row["queries"])
    return float(median(samples[0])) / served


def _ours(row: dict[str, Any], printed: Printed | None) -> dict[str, Any]:
    """The values of one of our rows; its database alone is not compared with a printed one of another size."""
    parts = {name: _seconds(row, name) for name in (AHEAD, READING, *ONLINE)}
    queries = (printed or {}).get("amortized_over_queries")
    shared = row["queries"] if row["queries"] >= SLOTS else queries
    comm = amortised_bytes(row, queries)
    quoted = (printed or {}).get("amortized_comm")
    whole = [seconds for seconds in parts.values() if seconds is not None]
    return parts | {
        "source": series_name(row["protocol"], row["set"]),
        "queries": (row["description"] or {}).get("layout", {}).get("window") or shared,
        "keys": sum(m["payload_bytes"] for m in row["transcript"] or [] if _is_key(m)) or None,
        "comm": comm,
        "comm_ratio": comm / quoted if comm and quoted else None,
        "total": sum(whole) if whole else None,
        "quoted": None,
        "status": row["status"],
        "marks": " ".join(marks_of(row)),
        "record_id": row["id"],
    }


def _lines(rows: list[dict[str, Any]], expected: pd.DataFrame) -> Iterator[tuple[Row, dict[str, Any]]]:
    printed = _printed(expected)
    ours: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: (place(row["protocol"]), row["set"])):
        ours.setdefault((row["protocol"], row["records"], row["record_bits"]), []).append(row)
    lines = [(IDS.get(line["protocol"], line["protocol"]), line["records"], line["record_bits"]) for line in printed]
    places: dict[tuple[Any, ...], Printed | None] = {**dict.fromkeys(ours), **dict(zip(lines, printed))}
    for key in [*lines, *sorted(key for key in ours if key not in lines)]:
        line = places[key]
        shape = {"database": shape_text(key[1], key[2]), "protocol": key[0]}
        if line is not None:
            values = {"source": "paper", "queries": line.get("amortized_over_queries")}
            values |= {"comm": line.get("amortized_comm"), "quoted": line.get("amortized_server_time")}
            head = {"series": Cell(paper_name(line["protocol"])), "source": Cell("paper"), "database": database(line)}
            yield Row(SPEC.cells(values) | head), shape | values
        for row in ours.get(key, []):
            values = _ours(row, line)
            sizes = dict.fromkeys(("keys", "comm", "comm_ratio"), of_value(row, size=True))
            cells = SPEC.cells(values, of_value(row, size=False), {"queries": ""} | sizes)
            cells |= {"series": Cell(""), "database": database(row)} | predicted_cells(row)
            cells["source"] = Cell(f"here, {values['source']}", symbols(marks_of(row)))
            yield Row(cells, row["id"] or "", status_text(row)), shape | values


def table(rows: Iterable[dict[str, Any]], expected: pd.DataFrame) -> Table:
    """The table; lines of databases that the paper does not have come last."""
    every = list(rows)
    lines = list(_lines(every, expected))
    return SPEC.table(
        [row for row, _ in lines], [data for _, data in lines], footnotes(every), provenance=provenance(every)
    )
