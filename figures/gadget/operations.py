"""Table 1 of the gadget paper: the formulas for bit operations, and counts taken while the samplers ran."""

from collections.abc import Sequence
from math import log2
from pathlib import Path
from typing import Any

from ..lib.primitive import Primitive, notes
from ..lib.spec import spec
from ..lib.table import Cell, Row, Table
from .paper import MAKERS, PARTS, evaluate, find, formulas, part_name, values_of

PRIMITIVE = "decompose-operations"
KINDS = ("additions", "multiplications", "divisions", "bit_operations", "real_operations")
BOUNDS = (0.6, 1.1)
"""Counted over formula, whatever k: impl/gadget/src/tests/stages.rs asserts it for more moduli and bases."""


def _pretty(formula: str) -> str:
    """`k*(ell^2 + 3*ell)` -> `k·(ℓ² + 3·ℓ)`."""
    for plain, sign in (("*", "·"), ("ell", "ℓ"), ("^2", "²"), ("_1", "₁"), ("_2", "₂")):
        formula = formula.replace(plain, sign)
    return formula


SPEC = spec(
    "gadget/table1",
    part=lambda entry: Cell(part_name(entry["part"])),
    formula=lambda entry: Cell(_pretty(entry["formula"])),
    **MAKERS,
)


def table(records: Sequence[Primitive], expected: Path) -> Table:
    """Table 1: a row a sampler, sub-algorithm and base."""
    printed = formulas(expected)
    own = [r for r in records if r.name == PRIMITIVE]
    rows: list[Row] = []
    data: list[dict[str, Any]] = []
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
            rows.append(SPEC.row(entry | {"marks": record.marks()}, record.id, record.status()))
    marks, origin = notes(own)
    return SPEC.table(rows, data, marks, origin=origin, least=BOUNDS[0], most=BOUNDS[1])


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
