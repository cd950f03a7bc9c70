"""The InsPIRe paper's Table 5, its HintlessPIR column: LinPIR packs LWE ciphertexts by multiplying their masks with the
encrypted secret. Ours are these steps of HintlessPIR's own answers to a database of as many rows."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ..lib.cells import predicted_cells
from ..lib.frame import quartiles, status_text
from ..lib.marks import PREDICTED, SYMBOLS, footnotes, marks_of, predicted, provenance, symbols
from ..lib.output import words
from ..lib.paper import Measured, Printed, printed
from ..lib.protocols import protocol_name
from ..lib.spec import spec
from ..lib.table import Cell, Row, Table
from . import errata
from .beside import columns_of, metrics_of, our_data, printed_cells

METRICS = metrics_of("5")
SPEC = spec("inspire/table5-linpir").wider("source", columns_of(METRICS))
PROTOCOL: str = SPEC.words["in_slots"]
"""The protocol that packs in slots."""
ONLINE = words("answer_rotations answer_blocks")
OFFLINE = words("rotations blocks")
WORD_BYTES = 4
"""Bytes of an element of an LWE ciphertext, and of the part of an answer that is not packed."""


def _seconds(row: dict[str, Any], names: Sequence[str]) -> float | None:
    """The sum of those phases, measured or else predicted."""
    if row["status"] == "ok":
        return float(sum(quartiles(p["seconds"])[1] for p in row["phases"] if p["name"] in names))
    found = (row.get("prediction") or {}).get("seconds") or {}
    return float(sum(found[name] for name in names)) if set(names) <= set(found) else None


def _values(row: dict[str, Any]) -> dict[str, float]:
    """By the metrics of Table 5: LWE ciphertexts with a mask each, keys, ciphertexts of the answer, seconds."""
    description = row["description"]
    rows, dimension = description["layout"]["rows"], description["instances"][0]["dimension"]
    sent = {message["name"]: message["payload_bytes"] for message in description["messages"]}
    sizes = {"upload_keys": sent["keys"], "packed_size": sent["answer"] - WORD_BYTES * rows}
    values = {"unpacked_size": WORD_BYTES * rows * dimension} | sizes | {"total_size": sum(sizes.values())}
    times = {"offline_time": _seconds(row, OFFLINE), "server_time": _seconds(row, ONLINE)}
    return values | {key: value for key, value in times.items() if value is not None}


def _our_row(ours: Measured) -> tuple[Row, dict[str, Any]]:
    values, marks = _values(ours.row), SYMBOLS[PREDICTED] if predicted(ours.row) else ""
    cells = {"source": Cell(f"here, {ours.name}", symbols(marks_of(ours.row)))} | predicted_cells(ours.row)
    for metric in METRICS:
        cells[metric.key] = metric.cell(values.get(metric.key), "" if metric.base_unit == "B" else marks)
    return Row(cells, ours.row["id"] or "", status_text(ours.row)), our_data(ours.row) | values | {"source": "here"}


def _paper_row(column: Printed) -> tuple[Row, dict[str, Any]]:
    source = Cell(f"paper, {protocol_name(column.protocol)}")
    return Row({"source": source} | printed_cells(column, METRICS)), column.values | {"source": "paper"}


def build(measured: Sequence[Measured], expected: pd.DataFrame, contradictions: pd.DataFrame) -> Table:
    """The paper's column as a line, and below it our sets at databases of as many rows as it packs ciphertexts."""
    lines, ours = [], []
    for column in (column for column in printed(expected, "5") if column.protocol == PROTOCOL):
        rows = [m for m in measured if m.row["protocol"] == PROTOCOL and m.row["description"]]
        own = [m for m in rows if m.row["description"]["layout"]["rows"] == column.records]
        lines += [_paper_row(column), *map(_our_row, own)]
        ours += [m.row for m in own]
    said: dict[str, Any] = {"provenance": provenance(ours), "errata": errata.notes(contradictions, "5")}
    return SPEC.table([row for row, _ in lines], [data for _, data in lines], footnotes(ours), **said)
