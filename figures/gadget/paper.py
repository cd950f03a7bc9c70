"""The gadget paper: names of its samplers, its printed numbers by sampler and base, its sub-algorithms and formulas."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from pirlab_estimator.records import InputError

from ..lib.data import data
from ..lib.paper import config
from ..lib.primitive import Primitive
from ..lib.table import Cell, Maker

PAPER = "gadget"
SAMPLERS: dict[str, dict[str, Any]] = data("lib")["samplers"]
FAMILIES: dict[str, str] = {key: each["name"] for key, each in SAMPLERS.items()}
"""Display names by setting."""
RANDOM = tuple(key for key, each in SAMPLERS.items() if each.get("random"))
PRINTED = {key: each["printed"] for key, each in SAMPLERS.items() if "printed" in each}
"""Names in experiments/expected."""
PARTS: dict[str, list[str]] = {key: each["parts"] for key, each in SAMPLERS.items() if "parts" in each}
"""Sub-algorithms."""
PART_NAMES = {"subgaussian": "Subgaussian'"}


def part_name(part: str) -> str:
    """`subgaussian` -> `Subgaussian'`, the others capitalised."""
    return PART_NAMES.get(part, part.capitalize())


def base_text(base: int) -> str:
    """`2^8` for powers of two, else the number."""
    return f"2^{base.bit_length() - 1}" if base & (base - 1) == 0 else str(base)


MAKERS: dict[str, Maker] = {
    "base": lambda entry: Cell(base_text(entry["base"]), sort=float(entry["base"])),
    "family": lambda entry: Cell(FAMILIES[entry["family"]], entry["marks"]),
}
"""Of columns that several tables have."""


@dataclass(frozen=True)
class Printed:
    """The paper's numbers, in seconds."""

    seconds: dict[tuple[str, str, str, str], float]

    @classmethod
    def of(cls, expected: pd.DataFrame) -> "Printed":
        """The printed times among the papers' numbers (`frame.load_expected`)."""
        rows = expected[(expected["paper"] == PAPER) & expected["seconds"].notna()]
        found = {}
        for row in rows.to_dict("records"):
            base = config(row["config"]).get("b", "")
            found[row["table"], row["protocol"], row["metric"], base] = row["seconds"]
        return cls(found)

    def time(self, table: str, family: str, base: int, metric: str = "sampling_time") -> float | None:
        """The printed time of a sampler, or of one of its sub-algorithms (`phase_...`), at a base."""
        return self.seconds.get((table, PRINTED.get(family, ""), metric, base_text(base)))

    def bases(self, table: str) -> list[int]:
        """The bases that a table prints."""
        return sorted({1 << int(base[2:]) for t, _, _, base in self.seconds if t == table and base.startswith("2^")})


def formulas(folder: Path) -> dict[tuple[str, str], str]:
    """Table 1 as printed: the formula, or nothing where the paper says N/A, by sampler and sub-algorithm."""
    path = folder / "gadget-table1.csv"
    if not path.is_file():
        raise InputError(path, None, "no such file of the paper's formulas", "Restore it from the repository")
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    names = {printed: family for family, printed in PRINTED.items()}
    return {
        (names[row["protocol"]], row["metric"].removeprefix("bit_operations_")): row["value"]
        for row in frame.to_dict("records")
    }


def evaluate(formula: str, length: int, ell: float) -> float | None:
    """The number of a formula in k and ell, its O() taken with constant one; None where it has other constants."""
    text = formula.strip()
    if text.startswith("O(") and text.endswith(")"):
        text = text[2:-1]
    known = {"k": float(length), "ell": float(ell)}
    try:
        return float(pd.eval(text.replace("^", "**"), engine="python", local_dict=known, global_dict={}))
    except (NameError, SyntaxError, TypeError, ValueError):
        return None


def find(records: Sequence[Primitive], primitive: str, **settings: object) -> Primitive | None:
    """The record of that primitive with those settings; the last one where several have them."""
    hits = [r for r in records if r.name == primitive and all(r.settings.get(k) == v for k, v in settings.items())]
    return next((r for r in reversed(hits) if r.ok), hits[-1] if hits else None)


def values_of(records: Sequence[Primitive], key: str) -> list[Any]:
    """The different values of a setting, in order."""
    return sorted({r.settings[key] for r in records if key in r.settings})
