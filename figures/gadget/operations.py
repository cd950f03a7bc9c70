"""Table 1 of the gadget paper: the formulas for bit operations, and counts taken while the samplers ran."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from pathlib import Path
from typing import Any

import pandas as pd

from ..lib.cells import quantity
from ..lib.output import words
from ..lib.primitive import Primitive, notes
from ..lib.table import Cell, Column, Row, Table, label, make_cells
from .paper import FAMILIES, PARTS, base_text, evaluate, find, formulas, part_name, values_of

PRIMITIVE = "decompose-operations"
KINDS = ("additions", "multiplications", "divisions", "bit_operations", "real_operations")
DATA_COLUMNS = words("modulus_bits base length family part formula formula_value")
DATA_COLUMNS += [*KINDS, "ratio", "verdict", "record_id"]
BOUNDS = (0.6, 1.1)
"""Counted over formula, whatever k: impl/gadget/src/tests/stages.rs asserts it for more moduli and bases."""
READING = (
    "Formula: Table 1 as printed, O() taken with constant one; empty where it names other constants. Counted: bit "
    "operations of the sub-algorithm on one scalar, instrumented, averaged over uniform scalars: an addition of n bits "
    "counts n, a multiplication or division of n by m bits nm, at the operands' own widths. Operations in floating "
    "point, whose costs the paper calls P, T and p, are counted apart. What an implementation counts and the formula "
    f"bounds differ by a constant that must not grow with k: the verdict is whether the ratio is in {BOUNDS[0]} to "
    f"{BOUNDS[1]} for all bases, that is for all k, of the sub-algorithm."
)


def _pretty(formula: str) -> str:
    """`k*(ell^2 + 3*ell)` -> `k·(ℓ² + 3·ℓ)`."""
    for plain, sign in (("*", "·"), ("ell", "ℓ"), ("^2", "²"), ("_1", "₁"), ("_2", "₂")):
        formula = formula.replace(plain, sign)
    return formula


COLUMNS = [
    label("family", "Sampler", cell=lambda entry: Cell(FAMILIES[entry["family"]], entry["marks"])),
    label("part", "Sub-algorithm", cell=lambda entry: Cell(part_name(entry["part"]))),
    label("formula", "Printed", cell=lambda entry: Cell(_pretty(entry["formula"]))),
    Column("modulus_bits", "log2 q", cell="modulus_bits"),
    Column("base", "b", cell=lambda entry: Cell(base_text(entry["base"]), sort=float(entry["base"]))),
    Column("length", "k", cell="length"),
    quantity("formula_value", "Formula"),
    quantity("bit_operations", "Counted"),
    quantity("ratio", "Counted / formula"),
    label("verdict", "Verdict"),
    quantity("additions", "Additions"),
    quantity("multiplications", "Products"),
    quantity("divisions", "Divisions"),
    quantity("real_operations", "Floating-point operations"),
]


def table(records: Sequence[Primitive], expected: Path) -> Table:
    """Table 1: a row a sampler, sub-algorithm and base."""
    printed = formulas(expected)
    own = [r for r in records if r.name == PRIMITIVE]
    rows, data = [], []
    for family, part in ((f, p) for f, names in PARTS.items() for p in names):
        formula, found = printed.get((family, part), ""), []
        for bits in values_of(own, "modulus_bits"):
            for base in values_of(own, "base"):
                record = find(own, PRIMITIVE, family=family, base=base, modulus_bits=bits)
                if record is None:
                    continue
                found.append((_entry(record, family, part, formula), record))
        verdict = _verdict([entry["ratio"] for entry, _ in found])
        for entry, record in found:
            entry["verdict"] = verdict
            data.append(entry)
            rows.append(Row(make_cells(COLUMNS, entry | {"marks": record.marks()}), record.id, record.status()))
    marks, origin = notes(own)
    frame = pd.DataFrame(data, columns=DATA_COLUMNS)
    title = "Gadget paper, Table 1: bit operations of the sub-algorithms, formula and count"
    return Table(title, COLUMNS, rows, frame, marks, [READING, origin], "formula_value")


def _entry(record: Primitive, family: str, part: str, formula: str) -> dict[str, Any]:
    settings = record.settings
    counts = {kind: record.count(f"{part}.{kind}") for kind in KINDS}
    value = evaluate(formula, settings["length"], log2(settings["base"])) if formula else None
    counted = counts["bit_operations"]
    return {
        **{key: settings[key] for key in ("modulus_bits", "base", "length")},
        "family": family,
        "part": part,
        "formula": formula or "N/A",
        "formula_value": value,
        **counts,
        "ratio": counted / value if counted is not None and value else None,
        "record_id": record.id,
    }


def _verdict(ratios: Sequence[float | None]) -> str:
    """Whether all known ratios of a sub-algorithm are within the bounds; nothing if none is known."""
    known = [ratio for ratio in ratios if ratio is not None]
    if not known:
        return ""
    least, most = BOUNDS
    return "bounded" if min(known) >= least and max(known) <= most else "outside the bounds"
