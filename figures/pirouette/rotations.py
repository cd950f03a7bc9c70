"""How many blind rotations an answer of Pirouette has, counted, and by the paper's formulas."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..lib.cells import series
from ..lib.inputs import Inputs
from ..lib.spec import spec
from ..lib.table import Table
from .sets import rows
from .steps import Document, transforms


def make(inputs: Inputs) -> Table:
    """The table of all described sets."""
    return rotation_table(rows(inputs.predictions, inputs.described))


def rotation_transforms(layout: Document) -> int:
    """Transforms of one blind rotation: 2 l forward and 2 inverse ones a step and prime."""
    key_steps = layout["lwe_dimension"] // layout["bits_per_step"]
    return int(key_steps * (2 * layout["rotation_gadget"]["digits"] + 2) * _primes(layout))


def conversion_transforms(layout: Document) -> int:
    """Transforms of one conversion of LWE to RGSW without its rotation: automorphisms and squaring key."""
    rows = layout["rgsw_gadget"]["digits"]
    places = [row * layout["rgsw_window"] for row in range(rows)]
    levels = int(layout["ring_degree"]).bit_length() - 1
    automorphisms = sum(len({place % (1 << level) for place in places}) for level in range(levels))
    digits = {name: layout[f"{name}_gadget"]["digits"] for name in ("automorphism", "squaring")}
    forward = automorphisms * digits["automorphism"] + rows * (digits["squaring"] + 2)
    return int((forward + 2 * automorphisms) * _primes(layout))


def _primes(layout: Document) -> int:
    return len(re.findall(r"\d+", str(layout["ring_modulus"])))


def rotations(description: Document) -> dict[str, int]:
    """Blind rotations of an answer by step, counted from its transforms."""
    layout, one = description["layout"], rotation_transforms(description["layout"])
    count = {step: sum(transforms(description, step).values()) for step in ("digits", "bits", "rgsw")}
    whole = {"rgsw": one + conversion_transforms(layout)}
    return {step: number // whole.get(step, one) for step, number in count.items()}


SPEC = spec("pirouette/rotations", series=series)


def rotation_table(found: Sequence[Mapping[str, Any]]) -> Table:
    """Rotations of described sets (`sets.rows`)."""
    data = []
    for row in found:
        layout, counts = row["description"]["layout"], rotations(row["description"])
        k, digits = int(layout["index_bits"]), int(layout["digits"])
        own = counts["digits"] + counts["bits"]
        line = {"k": k, "digits": digits, "floors": counts["digits"], "bits": counts["bits"], "decomposition": own}
        formulas = {"one_bit": 2 * k, "paper": 3 * -(-k // 5), "formula": 3 * digits - 2}
        line |= {key: value if digits else 0 for key, value in formulas.items()}
        data.append(dict(row) | line | {"rgsw": counts["rgsw"], "all": own + counts["rgsw"]})
    lines = [SPEC.row(row) for row in data]
    return SPEC.table(lines, data)
