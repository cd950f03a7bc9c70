"""Table 6 of the gadget paper: vectors, overhead over deterministic digits in two worlds, store bandwidth."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import pandas as pd

from ..lib.primitive import Primitive, notes
from ..lib.spec import spec
from ..lib.table import Cell, Maker, Table
from .paper import FAMILIES, MAKERS, RANDOM, Printed, base_text

PRIMITIVE = "decompose"
OVERHEADS = {64: 0.10, 16: 0.20, 8: 0.90}
"""The project's targets: at most this overhead over vectorised unsigned digits with fresh coins, by digit width."""
STORE_SHARE = 0.60
"""The project's target of unsigned 64-bit digits: at least this share of the store bandwidth."""


@dataclass(frozen=True)
class Vector:
    """A row of the table: a record, and the deterministic ones that it is compared with."""

    record: Primitive
    vectorised: Primitive | None
    division: Primitive | None
    store: float | None
    """Seconds of plain stores of the same bytes: median over all rows of the same base and width."""

    def over(self, other: Primitive | None) -> float | None:
        """Overhead of the record's median over another's."""
        own = self.record.seconds("decompose")
        base = other.seconds("decompose") if other else None
        return own / base - 1 if own is not None and base else None

    def store_share(self) -> float | None:
        """Plain stores over the time."""
        own = self.record.seconds("decompose")
        return self.store / own if own and self.store and self.record.seconds("store") else None

    def target(self) -> bool | None:
        """Whether the row meets the project's target; None where it has none."""
        s = self.record.settings
        if s.get("method", "vectorised") != "vectorised":
            return None
        if s["family"] == "unsigned" and s["digit_bits"] == 64:
            share = self.store_share()
            return None if share is None else share >= STORE_SHARE
        if s["family"] not in RANDOM or s.get("coins") != "fresh" or s["digit_bits"] not in OVERHEADS:
            return None
        over = self.over(self.vectorised)
        return None if over is None else over <= OVERHEADS[s["digit_bits"]]


def targets(vectors: Sequence[Vector]) -> list[str]:
    """A line a target: where it holds and where it misses."""
    judged = [(v, held) for v in vectors if (held := v.target()) is not None]
    asked = [("unsigned", 64, f"unsigned 64-bit digits reach {100 * STORE_SHARE:.0f} % of the store bandwidth")]
    for bits, most in OVERHEADS.items():
        asked.append(
            ("", bits, f"{bits}-bit digits with fresh coins cost at most {100 * most:.0f} % over vectorised unsigned")
        )
    lines = []
    for family, bits, text in asked:
        own = [
            (v, held)
            for v, held in judged
            if v.record.settings["digit_bits"] == bits and (v.record.settings["family"] == "unsigned") == bool(family)
        ]
        if own:
            lines.append(f"Target, {text}: holds for {_where(own, True)}; misses for {_where(own, False)}.")
    return lines


def _where(judged: Sequence[tuple[Vector, bool]], wanted: bool) -> str:
    """`JLP24 at 2^1 (3 %), 2^4 (9 %)` of the rows that meet their target, or that do not."""
    found: dict[str, list[str]] = {}
    for vector, held in judged:
        if held == wanted:
            settings = vector.record.settings
            alone = settings["family"] == "unsigned"
            value = vector.store_share() if alone else vector.over(vector.vectorised)
            found.setdefault(settings["family"], []).append(f"{base_text(settings['base'])} ({_share(value)} %)")
    return "; ".join(f"{FAMILIES[family]} at b = {', '.join(bases)}" for family, bases in found.items()) or "none"


def build(records: Sequence[Primitive]) -> list[Vector]:
    """All vector records by base, method, width, family and coins."""
    own = [r for r in records if r.name == PRIMITIVE]
    if any("coefficients" in r.settings for r in own):
        own = [r for r in own if r.settings.get("coefficients") == 2048]

    def reference(record: Primitive, **wanted: object) -> Primitive | None:
        keys = {"base": record.settings["base"], "modulus_bits": record.settings["modulus_bits"], "family": "unsigned"}
        hits = [r for r in own if all(r.settings.get(k) == v for k, v in (keys | wanted).items())]
        return next((r for r in hits if r.ok), None)

    def store(record: Primitive) -> float | None:
        keys = ("base", "digit_bits")
        alike = [r for r in own if all(r.settings[key] == record.settings[key] for key in keys)]
        stores = [seconds for r in alike if (seconds := r.seconds("store")) is not None]
        return median(stores) if stores else None

    found = [
        Vector(
            record,
            reference(record, method="vectorised", digit_bits=record.settings["digit_bits"]),
            reference(record, method="division"),
            store(record),
        )
        for record in own
    ]
    return sorted(found, key=_order)


def _order(vector: Vector) -> tuple[Any, ...]:
    s = vector.record.settings
    method = 0 if s.get("method", "vectorised") == "vectorised" else 1
    return s["base"], method, -s["digit_bits"], list(FAMILIES).index(s["family"]), str(s.get("coins"))


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}" if abs(value) < 1 else f"{100 * value:.0f}"


def _percent(key: str) -> Maker:
    return lambda entry: Cell(_share(entry[key]), sort=entry[key])


SPEC = spec(
    "gadget/table6",
    **MAKERS,
    method=lambda entry: Cell("vectorised" if entry["method"] == "vectorised" else "division per digit"),
    coins=lambda entry: Cell("" if entry["coins"] == "none" else str(entry["coins"])),
    **{key: _percent(key) for key in ("over_vectorised", "over_division", "store_share", "paper_overhead")},
)


def table(records: Sequence[Primitive], expected: pd.DataFrame) -> Table:
    """Table 6: a row a base, way, digit width, sampler and coins."""
    printed, vectors = Printed.of(expected), build(records)
    data = [_entry(vector, printed) | {"marks": vector.record.marks(["decompose"])} for vector in vectors]
    rows = [SPEC.row(entry, v.record.id, v.record.status()) for entry, v in zip(data, vectors)]
    times = [vector.record.time("decompose") for vector in vectors]
    marks, origin = notes([v.record for v in vectors], any(time and time.varying for time in times))
    return SPEC.table(rows, data, marks, targets=targets(vectors), origin=origin)


def _entry(vector: Vector, printed: Printed) -> dict[str, Any]:
    record, settings = vector.record, vector.record.settings
    family, base = settings["family"], settings["base"]
    time = record.time("decompose")
    here = settings.get("method", "vectorised")
    paper = printed.time("6", family, base) if settings["digit_bits"] == 64 else None
    deterministic = printed.time("6", "unsigned", base)
    overhead = paper / deterministic - 1 if paper and deterministic and family in RANDOM else None
    reference = vector.record in (vector.vectorised, vector.division)
    line = {"base": base, "length": settings.get("length"), "method": here, "digit_bits": settings["digit_bits"]}
    line |= {"family": family, "coins": settings.get("coins", "none"), "record_id": record.id}
    line |= {"seconds": time.median, "q1": time.low, "q3": time.high} if time else {}
    line |= {"store_share": vector.store_share(), "store_seconds": vector.store}
    line |= {"precompute_seconds": record.seconds("precompute"), "paper_seconds": paper, "paper_overhead": overhead}
    return line | {
        "over_vectorised": None if record == vector.vectorised else vector.over(vector.vectorised),
        "over_division": None if reference and here == "division" else vector.over(vector.division),
        "target": {True: "holds", False: "misses", None: ""}[vector.target()],
    }
