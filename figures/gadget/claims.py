"""The gadget paper's claims, recomputed from its own tables and from our measurements, and what is said of each.

Every claim of experiments/expected/headline.csv (G1 to G5) and every remark of inconsistencies.csv (X32 to X36) is
computed by the same function from either source; a verdict is the function's too, never written by hand.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from pirlab_estimator.records import InputError

from ..lib.primitive import Primitive, notes
from ..lib.spec import spec
from ..lib.table import Table
from ..lib.units import significant
from .paper import PARTS, Printed, base_text, find
from .scalar import PRIMITIVE as SCALAR
from .vector import PRIMITIVE as VECTOR

N = 2048
DIVISION = "here, the paper's way: one coefficient at a time"
SMALL, SMALL_BASES = 60, (2, 4, 8, 16, 64, 256)
VECTOR_BASES = (2, 4, 16, 256)
LARGE, LARGE_BASES = 102, (64, 256)
SPEC = spec("gadget/claims")


@dataclass(frozen=True)
class Source:
    """Where times come from: scalars by (log2 q, family, base), vectors by (family, base)."""

    name: str
    scalar: Callable[[int, str, int], float | None]
    vector: Callable[[str, int], float | None]
    alike: Callable[[int, str, int], float | None]
    """Scalars whose digits are taken as the vectors' are: by a division each."""


@dataclass(frozen=True)
class Claim:
    """What is computed for a claim, and when its values uphold it."""

    values: Callable[[Source], list[tuple[str, float | None]]]
    unit: str
    holds: Callable[[list[float]], bool]
    demand: str
    worlds: str = "division"
    """Which of our worlds it is recomputed in: `all`, or `division`, the paper's own way, which scalars are anyway."""


def _ratio(a: float | None, b: float | None) -> float | None:
    return a / b if a is not None and b else None


def _more(ratio: float | None) -> float | None:
    """Overhead in per cent."""
    return None if ratio is None else 100 * (ratio - 1)


def _less(ratio: float | None) -> float | None:
    """Time saved in per cent."""
    return None if ratio is None else 100 * (1 - ratio)


def overheads(s: Source) -> list[tuple[str, float | None]]:
    """JLP24 over deterministic digits, vectors."""
    return [(base_text(b), _more(_ratio(s.vector("jlp24", b), s.vector("unsigned", b)))) for b in VECTOR_BASES]


def against_jlp21(s: Source) -> list[tuple[str, float | None]]:
    """Time saved against JLP21 at the largest k."""
    return [("2^1", _less(_ratio(s.scalar(SMALL, "jlp24", 2), s.scalar(SMALL, "jlp21", 2))))]


def against_zy22(s: Source) -> list[tuple[str, float | None]]:
    """Time saved against ZY22, scalars."""
    pairs = [(b, _ratio(s.scalar(SMALL, "jlp24", b), s.scalar(SMALL, "zy22", b))) for b in SMALL_BASES]
    return [(base_text(b), _less(ratio)) for b, ratio in pairs]


def speedups(s: Source) -> list[tuple[str, float | None]]:
    """ZY22 over JLP24, scalars and vectors."""
    scalars = [(base_text(b), _ratio(s.scalar(SMALL, "zy22", b), s.scalar(SMALL, "jlp24", b))) for b in SMALL_BASES]
    vectors = [(f"vector {base_text(b)}", _ratio(s.vector("zy22", b), s.vector("jlp24", b))) for b in VECTOR_BASES]
    return scalars + vectors


def large_modulus(s: Source) -> list[tuple[str, float | None]]:
    """JLP24 over JLP21 at 102 bits and small k."""
    return [(base_text(b), _ratio(s.scalar(LARGE, "jlp24", b), s.scalar(LARGE, "jlp21", b))) for b in LARGE_BASES]


def vector_per_scalar(s: Source) -> list[tuple[str, float | None]]:
    """Time of a vector over that of as many scalars taken the same way."""
    names = {"jlp21": "JLP21", "jlp24": "JLP24", "zy22": "ZY22"}
    return [
        (f"{name} {base_text(b)}", _ratio(s.vector(family, b), _times(N, s.alike(SMALL, family, b))))
        for family, name in names.items()
        for b in (2, 256)
    ]


def _times(factor: float, value: float | None) -> float | None:
    return None if value is None else factor * value


CLAIMS = {
    "G1": Claim(overheads, "%", lambda v: round(max(v)) <= 14, "at most 14 % at every base", "all"),
    "G2": Claim(against_jlp21, "%", lambda v: round(v[0]) >= 35, "at least 35 %"),
    "G3": Claim(against_zy22, "%", lambda v: round(min(v)) >= 77, "at least 77 % at every base"),
    "G4": Claim(speedups, "x", lambda v: min(v) >= 4.95, "at least 5 x everywhere", "all"),
    "G5": Claim(large_modulus, "x", lambda v: min(v) > 1, "above 1 at both bases"),
    "X32": Claim(overheads, "%", lambda v: round(min(v)) >= 2 and round(max(v)) <= 14, "all in 2 to 14 %"),
    "X33": Claim(speedups, "x", lambda v: min(v) >= 4.95 and max(v) <= 14.5, "all in 5 to 14 x"),
    "X34": Claim(against_zy22, "%", lambda v: round(min(v)) >= 77 and round(max(v)) <= 82, "all in 77 to 82 %"),
    "X35": Claim(
        vector_per_scalar, "x", lambda v: min(v) >= 0.95 and max(v) <= 1.05, "a vector costs 2048 scalars within 5 %"
    ),
}


def of_paper(expected: pd.DataFrame) -> Source:
    """The printed tables."""
    printed = Printed.of(expected)
    tables = {SMALL: "2", LARGE: "4"}

    def scalar(bits: int, family: str, base: int) -> float | None:
        return printed.time(tables[bits], family, base)

    return Source("the paper's tables", scalar, lambda family, base: printed.time("6", family, base), scalar)


def of_records(records: Sequence[Primitive], name: str, **vector: object) -> Source:
    """Our measurements; `vector` chooses way, digit width and coins of the vectors."""

    def scalar(bits: int, family: str, base: int, method: str = "shift") -> float | None:
        record = find(records, SCALAR, modulus_bits=bits, family=family, base=base, method=method)
        return record.seconds("whole") if record else None

    def whole(family: str, base: int) -> float | None:
        wanted = dict(vector)
        if family == "unsigned":
            wanted.pop("coins", None)
        record = find(records, VECTOR, modulus_bits=SMALL, family=family, base=base, **wanted)
        return record.seconds("decompose") if record else None

    return Source(name, scalar, whole, lambda bits, family, base: scalar(bits, family, base, "division"))


def sources(records: Sequence[Primitive]) -> list[Source]:
    """Our worlds: the paper's way, and our kernels at each digit width."""
    found = [
        of_records(records, DIVISION, method="division", coins="offline"),
        of_records(records, f"{DIVISION}, fresh coins", method="division", coins="fresh"),
        of_records(
            records,
            "here, vectorised, 64-bit digits, offline coins",
            method="vectorised",
            digit_bits=64,
            coins="offline",
        ),
    ]
    for bits in (64, 16, 8):
        name = f"here, vectorised, {bits}-bit digits, fresh coins"
        found.append(of_records(records, name, method="vectorised", digit_bits=bits, coins="fresh"))
    return found


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
    worlds = [of_paper(expected), *sources(records)]
    data = []
    for name, claim in CLAIMS.items():
        for source in worlds if claim.worlds == "all" else worlds[:2]:
            pairs = claim.values(source)
            known = [(label, value) for label, value in pairs if value is not None]
            if not known:
                continue
            text = ", ".join(f"{label}: {_value(value, claim.unit)}" for label, value in known)
            verdict = "supported" if claim.holds([value for _, value in known]) else "not supported"
            if len(known) < len(pairs):
                verdict += f" ({len(known)} of {len(pairs)} values known)"
            data.append([name, printed[name], claim.demand, source.name, text, verdict])
    sums = part_sums(expected)
    text = ", ".join(f"{name}: {significant(value, 2)} µs" for name, value in sums)
    agree = "supported" if sums and max(value for _, value in sums) <= 1.01e-4 else "not supported"
    demand = "sums of Table 3 equal Table 2 within 1e-4 µs"
    data.append(["X36", printed["X36"], demand, worlds[0].name, text, agree])
    used = [r for r in records if r.name in (SCALAR, VECTOR)]
    marks, origin = notes(used)
    keys = SPEC.keys
    rows = [SPEC.row(dict(zip(keys, line, strict=True))) for line in data]
    return SPEC.table(rows, pd.DataFrame(data, columns=keys), marks, origin=origin)


def _value(value: float, unit: str) -> str:
    return f"{value:.1f} %" if unit == "%" else f"{value:.2f}"


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
