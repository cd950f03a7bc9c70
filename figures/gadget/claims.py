"""The gadget paper's claims, recomputed from its own tables and from our measurements, and their verdicts.

Every claim of experiments/expected/headline.csv (G1 to G5) and every remark of inconsistencies.csv (X32 to X36) is
computed by the same function from either source; a verdict is the function's too, never written by hand.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import pandas as pd
from pirlab_estimator.records import InputError

from ..lib.data import data
from ..lib.primitive import Primitive, notes
from ..lib.spec import spec
from ..lib.table import Table
from ..lib.units import significant
from .paper import PARTS, Printed, base_text, find
from .scalar import PRIMITIVE as SCALAR
from .vector import PRIMITIVE as VECTOR

SMALL = 60
"""Bits of the modulus of vectors, and of most scalars."""
SPEC = spec("gadget/claims")
WORLDS: dict[str, dict[str, Any]] = data("gadget")["worlds"]
"""Our worlds, with what they choose of the vectors: the paper's way, and our kernels at each digit width."""
RATIOS: dict[str, list[dict[str, Any]]] = data("gadget")["ratios"]
SHOWN: dict[str, Callable[[float], float]] = {
    "ratio": lambda ratio: ratio,
    "more": lambda ratio: 100 * (ratio - 1),
    "less": lambda ratio: 100 * (1 - ratio),
}


@dataclass(frozen=True)
class Source:
    """The source of times.

    time: of a `scalar`, a `vector`, or a scalar whose digits are taken as the vectors' are (`alike`), by the bits of
    the modulus, the family and the base.
    """

    name: str
    time: Callable[[str, int, str, int], float | None]


@dataclass(frozen=True)
class Claim:
    """An entry of `judged`."""

    ratio: str
    demand: str
    shown: str = "ratio"
    rounded: bool = False
    least: float = -inf
    above: float = -inf
    most: float = inf
    everywhere: bool = False

    def values(self, source: Source) -> list[tuple[str, float | None]]:
        """The ratios with their labels."""
        found = []
        for part in RATIOS[self.ratio]:
            bits, (one, other) = part.get("bits", SMALL), part["families"]
            for base in part["bases"]:
                time = source.time(part["of"], bits, one, base)
                reference = source.time(part.get("over", part["of"]), bits, other, base)
                known = time is not None and reference
                value = SHOWN[self.shown](time / (part.get("times", 1) * reference)) if known else None
                found.append((part.get("label", "{base}").format(base=base_text(base)), value))
        return found

    def holds(self, values: list[float]) -> bool:
        """Whether the values confirm it."""
        low, high = min(values), max(values)
        if self.rounded:
            low, high = round(low), round(high)
        return self.least <= low and self.above < low and high <= self.most

    def text(self, value: float) -> str:
        """A value as the table shows it."""
        return f"{value:.2f}" if self.shown == "ratio" else f"{value:.1f} %"


CLAIMS = {
    name: Claim(**{"shown" if key == "as" else key: value for key, value in entry.items()})
    for name, entry in data("gadget")["judged"].items()
}


def of_paper(expected: pd.DataFrame) -> Source:
    """The printed tables."""
    printed, tables = Printed.of(expected), {60: "2", 102: "4"}

    def time(kind: str, bits: int, family: str, base: int) -> float | None:
        return printed.time("6" if kind == "vector" else tables[bits], family, base)

    return Source("the paper's tables", time)


def of_records(records: Sequence[Primitive], name: str, **vector: object) -> Source:
    """Our measurements; `vector` chooses way, digit width and coins of the vectors."""

    def time(kind: str, bits: int, family: str, base: int) -> float | None:
        wanted: dict[str, object] = {"modulus_bits": bits, "family": family, "base": base}
        if kind != "vector":
            record = find(records, SCALAR, method="division" if kind == "alike" else "shift", **wanted)
            return record.seconds("whole") if record else None
        deterministic = family == "unsigned"
        wanted |= {key: value for key, value in vector.items() if not (deterministic and key == "coins")}
        record = find(records, VECTOR, **wanted)
        return record.seconds("decompose") if record else None

    return Source(name, time)


def part_sums(expected: pd.DataFrame) -> list[tuple[str, float]]:
    """Largest difference, in µs, of a sampler's printed sub-algorithms from its printed whole (Tables 2 and 3)."""
    printed = Printed.of(expected)
    found = []
    for family in ("zy22", "jlp21", "jlp24"):
        differences = []
        for base in printed.bases("3"):
            parts = [printed.time("3", family, base, f"phase_{part}") for part in PARTS[family]]
            whole = printed.time("2", family, base)
            if whole is not None and all(p is not None for p in parts):
                differences.append(abs(sum(p for p in parts if p is not None) - whole))
        if differences:
            found.append((family.upper(), 1e6 * max(differences)))
    return found


def table(records: Sequence[Primitive], expected: pd.DataFrame, folder: Path) -> Table:
    """Every claim with its values from the paper's own tables and from each of our worlds, and the verdicts."""
    printed = _printed_claims(folder)
    worlds = [of_paper(expected), *(of_records(records, name, **vector) for name, vector in WORLDS.items())]
    lines = []
    for name, claim in CLAIMS.items():
        for source in worlds if claim.everywhere else worlds[:2]:
            pairs = claim.values(source)
            known = [(label, value) for label, value in pairs if value is not None]
            if not known:
                continue
            text = ", ".join(f"{label}: {claim.text(value)}" for label, value in known)
            verdict = "supported" if claim.holds([value for _, value in known]) else "not supported"
            if len(known) < len(pairs):
                verdict += f" ({len(known)} of {len(pairs)} values known)"
            lines.append([name, printed[name], claim.demand, source.name, text, verdict])
    sums = part_sums(expected)
    text = ", ".join(f"{name}: {significant(value, 2)} µs" for name, value in sums)
    agree = "supported" if sums and max(value for _, value in sums) <= 1.01e-4 else "not supported"
    demand = "sums of Table 3 equal Table 2 within 1e-4 µs"
    lines.append(["X36", printed["X36"], demand, worlds[0].name, text, agree])
    marks, origin = notes([r for r in records if r.name in (SCALAR, VECTOR)])
    keys = SPEC.keys
    rows = [SPEC.row(dict(zip(keys, line, strict=True))) for line in lines]
    return SPEC.table(rows, pd.DataFrame(lines, columns=keys), marks, origin=origin)


def _printed_claims(folder: Path) -> dict[str, str]:
    """The claims as printed, by id."""
    found = {}
    for name, column in (("headline", "claim"), ("inconsistencies", "printed")):
        path = folder / f"{name}.csv"
        if not path.is_file():
            raise InputError(path, None, "no such file of the papers' claims", "Restore it from the repository")
        for row in pd.read_csv(path, dtype=str, keep_default_na=False).to_dict("records"):
            where = f"{row['where']}: " if "where" in row else ""
            found[row["id"]] = where + row[column]
    return found
