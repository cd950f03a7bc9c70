"""Tables 2 to 5 of the gadget paper: time of one scalar, whole and by sub-algorithm, with the printed numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from ..lib.primitive import SPREAD, Primitive, notes
from ..lib.spec import spec
from ..lib.table import Cell, Column, Row, Table
from ..lib.units import significant
from .paper import FAMILIES, PARTS, Printed, base_text, find, part_name, values_of

PRIMITIVE = "decompose-scalar"
MICRO = 1e6
SPEC = spec("gadget/scalar")
WHOLE, BY_PART = {"2": 60, "4": 102}, {"3": 60, "5": 102}
"""Tables of whole samplers and of sub-algorithms, and the bits of their modulus."""
Data = list[dict[str, Any]]


def _beside(record: Primitive | None, family: str, part: str, printed: float | None, data: Data) -> list[Cell]:
    """Our time in µs, marked where it varies, and the printed one; both become a line of the data."""
    time = record.time(part) if record else None
    if record and (time or printed is not None):
        line: dict[str, Any] = {key: record.settings.get(key) for key in ("modulus_bits", "base", "length")}
        line |= {"family": family, "part": part, "paper_s": printed, "record_id": record.id}
        if time:
            line |= {"here_s": time.median, "here_q1_s": time.low, "here_q3_s": time.high}
        data.append(line)
    here = Cell(significant(MICRO * time.median), record.marks([part]), time.median) if record and time else Cell()
    return [here, Cell("" if printed is None else significant(MICRO * printed, 4), sort=printed)]


def of_modulus(records: Sequence[Primitive], modulus_bits: int) -> list[Primitive]:
    """The scalar records of that modulus, digits by shifts and masks."""
    own = [r for r in records if r.name == PRIMITIVE and r.settings.get("method", "shift") == "shift"]
    return [r for r in own if r.settings.get("modulus_bits") == modulus_bits]


def whole(records: Sequence[Primitive], expected: pd.DataFrame, which: str) -> Table:
    """Table 2 or 4: bases down, samplers across."""
    printed, own = Printed.of(expected), of_modulus(records, WHOLE[which])
    bases = printed.bases(which)
    known = {f for f in FAMILIES if any(printed.time(which, f, base) is not None for base in bases)}
    families = [f for f in (*PARTS, "unsigned") if f in known or find(own, PRIMITIVE, family=f)]
    columns = [Column("base", "b"), Column("length", "k")]
    for family in families:
        columns += [Column(f"{family}_here", FAMILIES[family], "here")]
        columns += [Column(f"{family}_paper", FAMILIES[family], "paper")] * (family in known)
        if family == "zy22" and any(r.time("dither") for r in own):
            columns.append(Column("dither_here", "ZY22 as dither", "here"))
    rows: list[Row] = []
    data: Data = []
    for base in sorted({*bases, *values_of(own, "base")}):
        found = {family: find(own, PRIMITIVE, family=family, base=base) for family in families}
        length = next((r.settings["length"] for r in found.values() if r and "length" in r.settings), "")
        cells = {"base": Cell(base_text(base), sort=float(base)), "length": Cell(str(length))}
        for family, record in found.items():
            times = _beside(record, family, "whole", printed.time(which, family, base), data)
            cells[f"{family}_here"], cells[f"{family}_paper"] = times
            if family == "zy22":
                cells["dither_here"], _ = _beside(record, family, "dither", None, data)
        rows.append(Row(cells, _ids(found.values())))
    return _table(columns, rows, data, own, table=which, what="one scalar", bits=WHOLE[which])


def parts(records: Sequence[Primitive], expected: pd.DataFrame, which: str) -> Table:
    """Table 3 or 5: sub-algorithms down, bases across."""
    printed, own = Printed.of(expected), of_modulus(records, BY_PART[which])
    bases = printed.bases(which) or values_of(own, "base")
    columns = [Column("family", "Sampler", text=True), Column("part", "Sub-algorithm", text=True)]
    for base in bases:
        columns += [Column(f"{base}_here", f"b = {base_text(base)}", "here")]
        columns += [Column(f"{base}_paper", f"b = {base_text(base)}", "paper")] * (base in printed.bases(which))
    rows: list[Row] = []
    data: Data = []
    for family, names in PARTS.items():
        known = any(printed.time(which, family, base, f"phase_{names[0]}") is not None for base in bases[:1])
        for part in names if known or find(own, PRIMITIVE, family=family) else ():
            cells = {"family": Cell(FAMILIES[family]), "part": Cell(part_name(part))}
            found = {base: find(own, PRIMITIVE, family=family, base=base) for base in bases}
            for base, record in found.items():
                times = _beside(record, family, part, printed.time(which, family, base, f"phase_{part}"), data)
                cells[f"{base}_here"], cells[f"{base}_paper"] = times
            rows.append(Row(cells, _ids(found.values())))
    return _table(columns, rows, data, own, table=which, what="each sub-algorithm", bits=BY_PART[which])


def _ids(records: Iterable[Primitive | None]) -> str:
    """The ids of the records that exist."""
    return " ".join(record.id for record in records if record)


def _table(columns: list[Column], rows: list[Row], data: Data, own: list[Primitive], **said: Any) -> Table:
    varying = any(SPREAD.symbol in cell.marks for row in rows for cell in row.cells.values())
    marks, origin = notes(own, varying)
    lost = [f"{r.document['group']} {r.document['row']}: {r.status()}." for r in own if not r.ok]
    return replace(SPEC, columns=columns).table(rows, data, marks, origin=origin, lost=lost, **said)
