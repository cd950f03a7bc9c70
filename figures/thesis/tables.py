"""The thesis' tables of times: every printed column as a line, and below it the rows that stand for it.

A row of a toy set has the thesis' ring, which is not secure; one of a secure set answers the same database. And the
table that the thesis lacks: BFV and GBFV over one ring.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import log2
from statistics import median
from typing import Any

import pandas as pd

from ..lib.cells import database, predicted_cells, series
from ..lib.frame import status_text
from ..lib.marks import footnotes, marks_of, of_value, provenance
from ..lib.paper import config, declared, printed_rows
from ..lib.protocols import PAPERS, place
from ..lib.spec import Spec, spec
from ..lib.table import Cell, Row, Table
from ..lib.units import shape_text

PAPER = "pirana-gbfv"
OWN: dict[str, str] = PAPERS[PAPER]["printed"]
"""Our protocols by the thesis' names."""
BY_SLOTS = ("5.4", "5.6")
"""Tables whose columns differ in the plaintext modulus."""
METRICS = {
    "slots": "slots",
    "db_processing_time": "encode",
    "query_generation": "query",
    "selection_vector": "selection",
    "inner_product": "product",
    "server_time": "answer",
    "decryption": "extract",
}
"""Columns of the thesis' metrics."""
MINUTE = 60.0
PACKING = spec("thesis/packing")
SHARED: dict[str, Any] = spec("thesis/shared").words
"""Sentences of the notes of several tables."""
STEPS = {
    "selection": ("answer_expansion", "answer_selection"),
    "product": ("answer_rotations", "answer_product", "answer_giant_steps", "answer_sum"),
}
"""The phases that are a part of an answer."""
Line = dict[str, Any]


def column_id(row: dict[str, Any]) -> str:
    """How the rows of experiments/ name a column: its table, and its database or scheme and plaintext modulus."""
    table = str(row["table"])
    if table not in BY_SLOTS:
        return f"{table}/{row['database']}"
    scheme = f"{row['protocol'].split('-')[0]}/" if table == "5.6" else ""
    return f"{table}/{scheme}{config(row['config'])['plaintext_bits']}"


def printed(expected: pd.DataFrame, table: str) -> list[Line]:
    """The columns of a table in its order: protocol, id, shape and values in seconds."""
    found: dict[tuple[str, str], Line] = {}
    for row in printed_rows(expected, PAPER, table):
        if row["protocol"] not in OWN or row["metric"] not in METRICS:
            continue
        shape = {key: int(row[name]) for key, name in (("records", "num_records"), ("record_bits", "record_bits"))}
        line = found.setdefault(
            (row["protocol"], column_id(row)), {"name": row["protocol"], "id": column_id(row)} | shape
        )
        line[METRICS[row["metric"]]] = row["value"] * (MINUTE if row["unit"] == "m" else 1)
    return list(found.values())


def _seconds(row: dict[str, Any], *names: str) -> float | None:
    """The sum of the medians of some phases."""
    samples = [phase["seconds"] for phase in row["phases"] or [] if phase["name"] in names and phase["seconds"]]
    return sum(float(median(each)) for each in samples) if samples else None


def _ours(row: dict[str, Any], line: Line) -> Line:
    """The values of one of our rows, and how many times faster than printed its answer is."""
    layout = (row["description"] or {}).get("layout", {})
    values: Line = {"slots": layout.get("plaintext_slots")}
    for name in ("encode", "query", "answer", "extract"):
        values[name] = _seconds(row, name)
    values |= {name: _seconds(row, *phases) for name, phases in STEPS.items()}
    both = values["answer"] and line.get("answer")
    return values | {
        "faster": line["answer"] / values["answer"] if both else None,
        "status": row["status"],
        "marks": " ".join(marks_of(row)),
        "record_id": row["id"],
    }


def _marked(words: Spec, row: dict[str, Any], values: Line) -> dict[str, Cell]:
    """The cells of one of our rows, with the marks that it deserves."""
    cells = words.cells(values, of_value(row, size=False))
    return cells | predicted_cells(row) | {"database": database(row), "series": series(row)}


def _lines(words: Spec, rows: Iterable[dict[str, Any]], columns: list[Line]) -> Iterator[tuple[Row, Line]]:
    ours: defaultdict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    ids = declared()
    for row in sorted(rows, key=lambda row: (place(row["protocol"]), row["set"])):
        for id in ids.get((row["set"], row["records"], row["record_bits"]), ()):
            ours[row["protocol"], id].append(row)
    for line in columns:
        shape = {"database": shape_text(line["records"], line["record_bits"]), "column": line["id"]}
        head = {"series": Cell(f"{line['name']}, printed"), "database": database(line)}
        yield Row(words.cells(line) | head), shape | line | {"source": "paper"}
        for row in ours[OWN[line["name"]], line["id"]]:
            values = _ours(row, line)
            cells = _marked(words, row, values)
            yield Row(cells, row["id"] or "", status_text(row)), shape | values | {"source": row["set"]}


def table(rows: Iterable[dict[str, Any]], expected: pd.DataFrame, number: str) -> Table:
    """The table of that number."""
    words, columns = spec(f"thesis/table{number}"), printed(expected, number)
    held, ids = declared(), {line["id"] for line in columns}
    shown = [row for row in rows if ids & held.get((row["set"], row["records"], row["record_bits"]), frozenset())]
    lines = list(_lines(words, shown, columns))
    data = [line for _, line in lines]
    return words.table([row for row, _ in lines], data, footnotes(shown), provenance=provenance(shown), **SHARED)


def _packed(row: dict[str, Any]) -> Line:
    """How one of our rows packs plaintexts, its noise before answers are switched, and its seconds."""
    values = _ours(row, {})
    bits = (row["description"] or {}).get("layout", {}).get("entry_bits")
    noise = next((each for each in row["noise"] or [] if each["stage"] == "sum"), None)
    return values | {
        "slot_bits": bits,
        "plaintext_bits": values["slots"] * bits if values["slots"] and bits else None,
        "noise": log2(noise["stddev"] / noise["threshold"]) if noise else None,
    }


def packing(rows: Iterable[dict[str, Any]]) -> Table:
    """How plaintexts are packed: a block a database and protocol, from many slots to few."""
    found = [(row, _packed(row)) for row in rows]
    found.sort(
        key=lambda each: (
            each[0]["records"] * each[0]["record_bits"],
            place(each[0]["protocol"]),
            -(each[1]["slots"] or 0),
        )
    )
    lines = [Row(_marked(PACKING, row, values), row["id"] or "", status_text(row)) for row, values in found]
    data = [
        {"database": shape_text(row["records"], row["record_bits"]), "protocol": row["protocol"], "set": row["set"]}
        | values
        for row, values in found
    ]
    shown = [row for row, _ in found]
    return PACKING.table(lines, data, footnotes(shown), provenance=provenance(shown))
