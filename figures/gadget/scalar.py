"""Tables 2 to 5 of the gadget paper: time of one scalar, whole and by sub-algorithm, with the printed numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..lib.output import words
from ..lib.primitive import Primitive, notes
from ..lib.table import Cell, Column, Row, Table, texts
from ..lib.units import significant
from .paper import FAMILIES, PARTS, Printed, base_text, find, part_name, values_of

PRIMITIVE = "decompose-scalar"
MICRO = 1e6
READING = (
    "Times of one scalar, in µs; here: on the machine named below, paper: as printed (Apple M1, 3.2 GHz, PALISADE). "
    "Coins are drawn beforehand on both sides. JLP24 is the paper's own sampler ('Ours')."
)
COLUMNS = words("modulus_bits base length family part here_s here_q1_s here_q3_s paper_s record_id")


@dataclass(frozen=True)
class Printing:
    """Which table this is."""

    number: str
    modulus_bits: int
    families: tuple[str, ...]


WHOLE = {
    "2": Printing("2", 60, ("gmp19", "zy22", "jlp21", "jlp24", "unsigned")),
    "4": Printing("4", 102, ("gmp19", "zy22", "jlp21", "jlp24", "unsigned")),
}
BY_PART = {
    "3": Printing("3", 60, ("gmp19", "zy22", "jlp21", "jlp24")),
    "5": Printing("5", 102, ("gmp19", "zy22", "jlp21", "jlp24")),
}


def _entry(record: Primitive | None, family: str, part: str, printed: float | None) -> dict[str, Any] | None:
    time = record.time(part) if record else None
    if record is None or (time is None and printed is None):
        return None
    settings = record.settings
    return {
        "modulus_bits": settings["modulus_bits"],
        "base": settings["base"],
        "length": settings.get("length"),
        "family": family,
        "part": part,
        "here_s": time.median if time else None,
        "here_q1_s": time.low if time else None,
        "here_q3_s": time.high if time else None,
        "paper_s": printed,
        "record_id": record.id,
    }


def _micro(record: Primitive | None, part: str) -> tuple[Cell, bool]:
    """A measured time in µs, marked where it varies."""
    time = record.time(part) if record else None
    if record is None or time is None:
        return Cell(""), False
    return Cell(significant(MICRO * time.median), record.marks([part]), time.median), time.varying


def _paper(seconds: float | None) -> Cell:
    return Cell("" if seconds is None else significant(MICRO * seconds, 4), sort=seconds)


def of_modulus(records: Sequence[Primitive], modulus_bits: int) -> list[Primitive]:
    """The scalar records of that modulus, digits by shifts and masks."""
    own = [r for r in records if r.name == PRIMITIVE and r.settings.get("method", "shift") == "shift"]
    return [r for r in own if r.settings.get("modulus_bits") == modulus_bits]


def whole(records: Sequence[Primitive], expected: pd.DataFrame, which: str) -> Table:
    """Table 2 or 4: bases down, samplers across."""
    printing, printed = WHOLE[which], Printed.of(expected)
    own = of_modulus(records, printing.modulus_bits)
    families = [f for f in printing.families if find(own, PRIMITIVE, family=f) or _printed(printed, printing, f)]
    columns = [Column("base", "b"), Column("length", "k")]
    for family in families:
        columns.append(Column(f"{family}_here", FAMILIES[family], "here"))
        if _printed(printed, printing, family):
            columns.append(Column(f"{family}_paper", FAMILIES[family], "paper"))
        if family == "zy22" and any(r.time("dither") for r in own):
            columns.append(Column("dither_here", "ZY22 as dither", "here"))
    rows, data, varying = [], [], False
    for base in sorted({*printed.bases(printing.number), *values_of(own, "base")}):
        found = {family: find(own, PRIMITIVE, family=family, base=base) for family in families}
        length = next((r.settings["length"] for r in found.values() if r and "length" in r.settings), None)
        cells = {"base": Cell(base_text(base), sort=float(base)), "length": Cell("" if length is None else str(length))}
        for family, record in found.items():
            seconds = printed.time(printing.number, family, base)
            cells[f"{family}_here"], vary = _micro(record, "whole")
            cells[f"{family}_paper"] = _paper(seconds)
            varying = varying or vary
            data.append(_entry(record, family, "whole", seconds))
            if family == "zy22":
                cells["dither_here"], vary = _micro(record, "dither")
                varying = varying or vary
                data.append(_entry(record, family, "dither", None))
        rows.append(Row(cells, next((r.id for r in found.values() if r), "")))
    title = f"Gadget paper, Table {printing.number}: time of one scalar (µs), log2 q = {printing.modulus_bits}"
    return _table(title, columns, rows, data, own, varying)


def _printed(printed: Printed, printing: Printing, family: str) -> bool:
    return any(printed.time(printing.number, family, base) is not None for base in printed.bases(printing.number))


def parts(records: Sequence[Primitive], expected: pd.DataFrame, which: str) -> Table:
    """Table 3 or 5: sub-algorithms down, bases across."""
    printing, printed = BY_PART[which], Printed.of(expected)
    own = of_modulus(records, printing.modulus_bits)
    bases = printed.bases(printing.number) or values_of(own, "base")
    columns = texts(family="Sampler", part="Sub-algorithm")
    for base in bases:
        columns.append(Column(f"{base}_here", f"b = {base_text(base)}", "here"))
        if base in printed.bases(printing.number):
            columns.append(Column(f"{base}_paper", f"b = {base_text(base)}", "paper"))
    rows, data, varying = [], [], False
    for family in printing.families:
        if find(own, PRIMITIVE, family=family) is None and not _parts_printed(printed, printing, family):
            continue
        for part in PARTS[family]:
            cells = {"family": Cell(FAMILIES[family]), "part": Cell(part_name(part))}
            ids = ""
            for base in bases:
                record = find(own, PRIMITIVE, family=family, base=base)
                seconds = printed.time(printing.number, family, base, f"phase_{part}")
                cells[f"{base}_here"], vary = _micro(record, part)
                cells[f"{base}_paper"] = _paper(seconds)
                varying, ids = varying or vary, ids or (record.id if record else "")
                data.append(_entry(record, family, part, seconds))
            rows.append(Row(cells, ids))
    title = f"Gadget paper, Table {printing.number}: time of each sub-algorithm (µs), log2 q = {printing.modulus_bits}"
    return _table(title, columns, rows, data, own, varying)


def _parts_printed(printed: Printed, printing: Printing, family: str) -> bool:
    base = printed.bases(printing.number)[:1]
    return bool(base) and printed.time(printing.number, family, base[0], f"phase_{PARTS[family][0]}") is not None


def _table(
    title: str,
    columns: list[Column],
    rows: list[Row],
    data: list[dict[str, Any] | None],
    own: list[Primitive],
    varying: bool,
) -> Table:
    marks, origin = notes(own, varying)
    frame = pd.DataFrame([entry for entry in data if entry], columns=COLUMNS)
    lost = [f"{r.document['group']} {r.document['row']}: {r.status()}." for r in own if not r.ok]
    return Table(title, columns, rows, frame, marks, [READING, origin, *lost])
