"""The InsPIRe paper's Table 5: packing 2^12 LWE ciphertexts, its four columns and ours, and their noise."""

import math
from collections.abc import Sequence
from statistics import median
from typing import Any

import pandas as pd

from ..lib.cells import predicted_cells
from ..lib.marks import SYMBOLS
from ..lib.output import words
from ..lib.paper import PAPER, Printed, printed
from ..lib.primitive import Primitive, notes
from ..lib.protocols import protocol_name
from ..lib.spec import spec
from ..lib.table import Cell, Row, Table
from . import errata
from .beside import NOT_PLANNED, columns_of, metrics_of, our_data, printed_cells

PRIMITIVE = "packing"
STAGE = "packed"
METHODS: dict[str, str] = spec("inspire/methods").words
METRICS = metrics_of("5")
SPEC = spec("inspire/table5").wider("failure", columns_of(METRICS))
LOG2S = words("log2_d log2_q log2_p")
NEAR = 2.5
"""Bits by which moduli of one column may differ: the paper's 28 is 30 bits in its authors' code (X15)."""
ELSEWHERE = "in the table inspire-table5-linpir of inspire/small"
"""Where HintlessPIR's packing stands: it is not a primitive here, but a step of its answers."""


def _log2s(column: Printed) -> tuple[float, float, float]:
    return float(column.config["log2d"]), float(column.config["log2q"]), float(column.config["log2p"])


def _ring(record: Primitive) -> tuple[float, float, float]:
    s = record.settings
    return math.log2(s["n"]), sum(math.log2(p) for p in s["primes"]), math.log2(s["plain_modulus"])


def _fits(column: Printed, record: Primitive) -> bool:
    """Whether a record packs as many ciphertexts in the ring of a column, by its method or a variant of it."""
    name = METHODS.get(record.settings["method"], "").split(",")[0]
    (d, q, _), (own_d, own_q, _) = _log2s(column), _ring(record)
    same = d == own_d and abs(q - own_q) < NEAR
    return name == column.protocol and same and int(record.settings["ciphertexts"]) == column.records


def noise_max(record: Primitive) -> float | None:
    """log2 of the median over keys and outputs of the largest error of an output."""
    largest = record.values(f"{STAGE}.output_max")
    return math.log2(median(largest)) if largest else None


def _values(record: Primitive) -> dict[str, float]:
    """Sizes as described, times as measured, a batch's online time by client."""
    names = {"unpacked_size": "input_bytes", "upload_keys": "key_bytes", "packed_size": "output_bytes"}
    found = {key: record.count(name) for key, name in names.items()}
    values = {key: float(value) for key, value in found.items() if value is not None}
    if {"upload_keys", "packed_size"} <= set(values):
        values["total_size"] = values["upload_keys"] + values["packed_size"]
    offline, online = record.seconds("offline"), record.seconds("online")
    if offline is not None:
        values["offline_time"] = offline
    if online is not None:
        values["server_time"] = online / int(record.settings.get("clients", 1))
    return values


def _paper_row(column: Printed, noise: float | None) -> Row:
    d, q, p = _log2s(column)
    cells = {"method": Cell(protocol_name(column.protocol)), "ring": Cell(f"{d:g}, {q:g}, {p:g}")}
    cells |= {"source": Cell("paper, Table 5")} | printed_cells(column, METRICS)
    if noise is not None:
        cells["noise"] = Cell(f"{noise:g}", sort=noise)
    return Row(cells)


def _variant(record: Primitive) -> str:
    """What distinguishes a record from others of its column."""
    s = record.settings
    parts = [METHODS.get(s["method"], s["method"]), f"{s['family']} digits"]
    if s["gamma"] != s["n"]:
        parts.append(f"gamma = {s['gamma']}")
    if s.get("dropped"):
        parts.append(f"{s['dropped']} dropped")
    if s.get("clients", 1) > 1:
        parts.append(f"{s['clients']} clients together")
    return ", ".join(parts)


def _our_row(column: Printed | None, record: Primitive) -> Row:
    d, q, p = _ring(record)
    values = _values(record)
    cells = {
        "method": Cell(column.protocol if column else METHODS[record.settings["method"]].split(",")[0]),
        "ring": Cell(f"{d:g}, {q:.1f}, {p:.3g}"),
        "source": Cell(f"here, {_variant(record)}", record.marks(["online"])),
        **predicted_cells(record.row()),
    }
    for metric in METRICS:
        key, differs = metric.key, False
        # Times differ between machines; dropped digits are our own, and make shorter keys.
        size = metric.base_unit == "B" and not record.settings.get("dropped")
        if column and size and key in column.values and key in values:
            differs = column.unequal(key, values[key])
        cells[key] = metric.cell(values.get(key), SYMBOLS["unequal"] if differs else "")
    largest, predicted = noise_max(record), record.predicted_noise(STAGE)
    if largest is not None:
        cells["noise"] = Cell(f"{largest:.1f}", sort=largest)
    if predicted:
        cells["predicted"] = Cell(f"{math.log2(predicted['stddev']):.1f}", sort=predicted["stddev"])
    return Row(cells, record.id, record.status())


def _data(record: Primitive) -> dict[str, Any]:
    measured, predicted, row = record.noise(STAGE), record.predicted_noise(STAGE), record.row()
    line = _values(record) | our_data(row) | dict(zip(LOG2S, _ring(record)))
    line |= {key: record.settings.get(key) for key in words("method family gamma dropped")} | {"source": "here"}
    line |= {"clients": record.settings.get("clients", 1)}
    line |= {"table_bytes": record.count("table_bytes"), "noise_max_log2": noise_max(record), "record_id": record.id}
    if measured and measured["variance"]:
        line["noise_stddev_log2"] = math.log2(measured["variance"]) / 2
    if predicted:
        line["noise_predicted_log2"] = math.log2(predicted["stddev"])
    return line | {"reason": record.document.get("reason")}


def table(records: Sequence[Primitive], expected: pd.DataFrame, contradictions: pd.DataFrame) -> Table:
    """Table 5: the paper's columns as lines, each with ours of the same ring below it; then the rest of ours."""
    own = [record for record in records if record.name == PRIMITIVE]
    # Bit lengths of the largest error (section 7.4), d = 2048.
    printed_noise = expected[(expected["paper"] == PAPER) & (expected["metric"] == "noise_bitlength_pack")]
    noise, rows, data, left = dict(zip(printed_noise["protocol"], printed_noise["value"])), [], [], list(own)
    for column in printed(expected, "5"):
        rows.append(_paper_row(column, noise.get(column.protocol) if column.config["log2d"] == "11" else None))
        line: dict[str, Any] = {"method": column.protocol, "source": "paper"} | dict(zip(LOG2S, _log2s(column)))
        data.append(line | column.values)
        hits = [record for record in own if _fits(column, record)]
        for record in hits:
            rows.append(_our_row(column, record))
            data.append(_data(record))
            left.remove(record)
        if not hits:
            cells = {key: rows[-1].cells[key] for key in ("method", "ring")}
            reason = ELSEWHERE if column.protocol == "HintlessPIR" else NOT_PLANNED
            rows.append(Row(cells | {"source": Cell("here")}, "", reason))
    for record in left:
        rows.append(_our_row(None, record))
        data.append(_data(record))
    marked, origin = notes(own, varying=any("ᵛ" in record.marks(["online"]) for record in own))
    said: dict[str, Any] = {"origin": origin, "errata": errata.notes(contradictions, "5")}
    return SPEC.table(rows, data, marked, **said)
