"""Error and failure probability of DoublePIR (same paper as SimplePIR).

The second layer retrieves from the digits of the first: of the hint D' A1 and of the answer a1 = D' q1, each
number written in `digits` balanced base-p digits. A digit comes out right iff |<digits, e2>| < Delta / 2, an error
over `groups` terms. Each entry of a record takes (n + 1) numbers of the first layer, so a record takes
entries_per_record * (n + 1) * digits such decisions, and then entries_per_record of the first layer.
- Random data (already a random A1 suffices): E[digit^2] exactly, position by position; the highest digit is small.
- Any data: |digit| <= floor(p / 2); subgaussian.
"""

from collections.abc import Sequence

import numpy as np

from ..modulus import parse_modulus
from . import simplepir
from .error import Noise
from .moments import Moments, balanced_moments
from .stage import CONSTANTS, Decision, Stage, by_class, stages


def digit_moments(description: dict) -> tuple[Moments, ...]:
    """Moments of the balanced base-p digits of a number of the first layer, lowest first."""
    layout, instance = description["layout"], description["instances"][1]
    modulus = parse_modulus(instance["modulus"])
    log2_modulus = modulus.bit_length() - 1
    if modulus != 1 << log2_modulus:
        raise ValueError(f"DoublePIR needs a modulus that is a power of two, not {instance['modulus']}")
    moments = balanced_moments(log2_modulus, layout["plain_modulus"])
    if len(moments) != layout["digits"]:
        raise ValueError(f"layout.digits is {layout['digits']}, but a number of {log2_modulus} bits has {len(moments)}")
    return moments


def second_layer(descriptions: Sequence[dict]) -> Stage:
    """The product of the first layer's digits with the second query."""
    layouts = [d["layout"] for d in descriptions]
    moments = [digit_moments(d) for d in descriptions]
    variance = [o["groups"] * d["instances"][1]["error_stddev"] ** 2 for o, d in zip(layouts, descriptions)]
    numbers = [d["instances"][1]["dimension"] + 1 for d in descriptions]
    each_digit = [o["entries_per_record"] * count for o, count in zip(layouts, numbers)]
    return stages("doublepir")(
        "second_layer",
        digits=[f"balanced base-{o['plain_modulus']} digits of uniform numbers" for o in layouts],
        noise=Noise(by_class([[v * m.square for m in each] for v, each in zip(variance, moments)])),
        bound=Noise(np.array([v * (o["plain_modulus"] // 2) ** 2 for v, o in zip(variance, layouts)]), "bound"),
        decision=Decision(
            threshold=[o["scale"] / 2 for o in layouts],
            union={
                "entries of a record": [o["entries_per_record"] for o in layouts],
                "numbers of an entry (n + 1)": numbers,
                "digits of a number": [len(each) for each in moments],
            },
            counts=by_class([[count] * len(each) for count, each in zip(each_digit, moments)]),
        ),
        common_share=np.divide(
            [sum(m.mean**2 for m in each) for each in moments], [sum(m.square for m in each) for each in moments]
        ),
        terms=[o["groups"] for o in layouts],
        # A random A1 makes digits of any data's first layer random.
        constant=dict.fromkeys(CONSTANTS, 1.0),
    )


def chain(descriptions: Sequence[dict]) -> list[Stage]:
    """`second_layer`, then `first_layer`: each decides, so that none hands its error on."""
    first = simplepir.first_layer("doublepir", "first_layer", descriptions, simplepir.records_fill)
    return [second_layer(descriptions), first]
