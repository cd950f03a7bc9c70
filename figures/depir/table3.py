"""The DEPIR paper's Table 3: every printed column as a line, and below it ours of the same database.

Counts are those of our descriptions. The paper's bytes count four a residue, ours are sent packed: both stand there. It
shares a query's time over n records where the plaintexts have fewer slots.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd
from pirlab_estimator.sets import AS_PUBLISHED

from ..lib.cells import database, predicted_cells
from ..lib.frame import status_text
from ..lib.marks import footnotes, marks_of, of_value, provenance, symbols
from ..lib.paper import in_base_units, printed_rows, query_sizes
from ..lib.protocols import IDS, series_name
from ..lib.spec import spec
from ..lib.table import Cell, Row, Table
from ..lib.units import has, shape_text
from .table4 import PAPER

SPEC = spec("depir/table3")
WORD = 4
"""Bytes of a residue in the paper."""
SEED = 8
"""Bytes of a seed in the paper."""
TIMES = ("preprocess", "answer", "amortised")
COUNTS = ("variables", "degree", "ring_degree", "memory_reads", "disk_reads", "disk_bytes", "level1_primes")
PRINTED = {
    "variables": "variables",
    "poly_degree": "degree",
    "ring_degree": "ring_degree",
    "ciphertext_modulus": "log2_q",
    "num_level1_primes": "level1_primes",
    "query_size": "query_words",
    "response_size": "answer_words",
    "ram_storage": "memory_bytes",
    "disk_storage": "disk_bytes",
    "ram_reads": "memory_reads",
    "disk_reads": "disk_reads",
    "preprocessing_time": "preprocess",
    "server_time": "answer",
    "amortized_server_time": "amortised_printed",
}
"""Columns of the paper's metrics."""
DISK_TB = 1000 * 2**30
"""The paper's TB on disk: thousands of GiB."""


def slots(ring_degree: int, plain_modulus: int) -> int:
    """Factors of X^n + 1 modulo t: n over the order of t modulo 2 n."""
    order, power = 1, plain_modulus % (2 * ring_degree)
    while power != 1:
        order, power = order + 1, power * plain_modulus % (2 * ring_degree)
    return ring_degree // order


def _printed(expected: pd.DataFrame) -> dict[tuple[int, int], dict[str, Any]]:
    """The paper's columns by database, in bytes and seconds."""
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for row in printed_rows(expected, PAPER, "3"):
        line = found.setdefault((int(row["num_records"]), int(row["record_bits"])), {})
        line["t" if row["metric"] == "plaintext_modulus" else PRINTED.get(row["metric"], "N")] = in_base_units(row)
        if row["metric"] == "disk_storage":
            line["disk_bytes"] = row["value"] * DISK_TB
    for line in found.values():
        line["slots"] = slots(int(line["ring_degree"]), int(line.pop("t")))
        line["amortised"] = line["answer"] / line["slots"]
    return found


def _rates(expected: pd.DataFrame) -> tuple[float, float]:
    """The reads a second, from memory and from disk, with which the paper extrapolates."""
    text = {row["metric"]: row["value"] for row in printed_rows(expected, PAPER, "text")}
    return text["ram_read_rate"], text["disk_read_rate"]


def _ours(row: dict[str, Any], rates: tuple[float, float]) -> dict[str, Any]:
    """The values of one of our rows, as far as its description knows them."""
    layout = (row["description"] or {}).get("layout")
    if layout is None:
        return {}
    values = {key: layout[key] for key in COUNTS} | {"slots": layout["plaintext_slots"]}
    n, parts = layout["ring_degree"], (layout["degree"] + 1) * layout["entries_per_record"]
    values |= {"log2_q": layout["modulus_log2"], "memory_bytes": layout["stored_bytes"]}
    values["query_words"] = layout["variables"] * (WORD * layout["query_primes"] * n + SEED)
    values["answer_words"] = parts * WORD * layout["answer_primes"] * n
    sizes = query_sizes(row["transcript"] or row["description"]["messages"])
    values |= {"query_bytes": sizes.get("upload_query"), "answer_bytes": sizes.get("download")}
    memory, disk = rates
    values["by_rates"] = layout["memory_reads"] / memory + layout["disk_reads"] / disk
    values |= {"preprocess": row["preprocess_s"], "answer": row["answer_s"]}
    values["amortised"] = values["answer"] / layout["plaintext_slots"] if has(values["answer"]) else None
    return values


def _lines(rows: list[dict[str, Any]], expected: pd.DataFrame) -> Iterator[tuple[Row, dict[str, Any]]]:
    printed, rates = _printed(expected), _rates(expected)
    own: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: (row["source_kind"] not in AS_PUBLISHED, row["set"])):
        own.setdefault((row["records"], row["record_bits"]), []).append(row)
    for shape in [*printed, *sorted(set(own) - set(printed))]:
        place = {"records": shape[0], "record_bits": shape[1]}
        if line := printed.get(shape):
            head = {"database": database(place), "series": Cell("paper")}
            yield Row(SPEC.cells(line) | head), {"source": "paper", "database": shape_text(*shape)} | line
        for row in own.get(shape, []):
            values, name = _ours(row, rates), series_name(row["protocol"], row["set"])
            head = {"database": database(row), "series": Cell(f"here, {name}", symbols(marks_of(row)))}
            head |= predicted_cells(row)
            cells = SPEC.cells(values, other=dict.fromkeys(TIMES, of_value(row, size=False)))
            data = {"source": name, "database": shape_text(*shape), "status": row["status"]} | values
            data |= {"marks": " ".join(marks_of(row)), "record_id": row["id"]}
            yield Row(cells | head, row["id"] or "", status_text(row)), data


def table(rows: Iterable[dict[str, Any]], expected: pd.DataFrame) -> Table:
    """The table; databases that the paper does not have come last."""
    every = [row for row in rows if row["protocol"] == IDS.get(SPEC.words["protocol"])]
    lines = list(_lines(every, expected))
    return SPEC.table(
        [row for row, _ in lines], [data for _, data in lines], footnotes(every), provenance=provenance(every)
    )
