"""Error and failure probability of DoublePIR (same paper as SimplePIR).

The second layer retrieves from the digits of the first: of the hint D' A1 and of the answer a1 = D' q1, each
number written in `digits` balanced base-p digits. A digit comes out right iff |<digits, e2>| < Delta / 2, an error
over `groups` terms. Each entry of a record takes (n + 1) numbers of the first layer, so a record takes
entries_per_record * (n + 1) * digits such decisions, and then entries_per_record of the first layer.
- Random data (already a random A1 suffices): E[digit^2] exactly, position by position; the highest digit is small.
- Any data: |digit| <= floor(p / 2); subgaussian.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..modulus import parse_modulus
from . import simplepir
from .moments import balanced_moments
from .stage import StageInputs, evaluate_stage

SECOND_THEOREM = (
    "DoublePIR, second layer: |<digits, e2>| < Delta/2; variance groups stddev^2 E[digit^2] (random data), at most "
    "groups stddev^2 floor(p/2)^2 (any data); union over entries, n + 1 numbers and their digits"
)
FIRST_THEOREM = simplepir.THEOREM.replace("SimplePIR, correctness theorem", "DoublePIR, first layer")


def second_layer(description: dict) -> StageInputs:
    """The product of the first layer's digits with the second query."""
    layout, instance = description["layout"], description["instances"][1]
    modulus = parse_modulus(instance["modulus"])
    log2_modulus = modulus.bit_length() - 1
    if modulus != 1 << log2_modulus:
        raise ValueError(f"DoublePIR needs a modulus that is a power of two, not {instance['modulus']}")
    base = layout["plain_modulus"]
    moments = balanced_moments(log2_modulus, base)
    if len(moments) != layout["digits"]:
        raise ValueError(f"layout.digits is {layout['digits']}, but a number of {log2_modulus} bits has {len(moments)}")
    variance = layout["groups"] * instance["error_stddev"] ** 2
    decisions = layout["entries_per_record"] * (instance["dimension"] + 1)
    return StageInputs(
        random_variances=[(variance * m.square, decisions) for m in moments],
        bound_variance=variance * (base // 2) ** 2,
        threshold=layout["scale"] / 2,
        common_share=sum(m.mean**2 for m in moments) / sum(m.square for m in moments),
    )


def stages(descriptions: Sequence[dict]) -> list[list[dict]]:
    """The noise stages of each description: `second_layer`, then `first_layer`."""
    second = evaluate_stage("second_layer", SECOND_THEOREM, [second_layer(d) for d in descriptions])
    first_inputs = [simplepir.first_layer(d, simplepir.records_fill(d["layout"])) for d in descriptions]
    first = evaluate_stage("first_layer", FIRST_THEOREM, first_inputs)
    return [list(pair) for pair in zip(second, first)]
