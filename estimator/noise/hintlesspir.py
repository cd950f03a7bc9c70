"""Errors of HintlessPIR (Li, Micciancio, Raykova, Schultz, CRYPTO 2024): SimplePIR with the hint's product in slots.

The client's LWE secret s is encrypted in slots modulo t1 and t2. The server turns it S - 1 times by one place, each
time with a key switch that adds N sigma^2 sum E[x^2], so that turn j has j of them, and multiplies every turn with G
of the M = G S plaintexts of a block of the hint; G is 1 where there are no giant steps. The G sums are added up, all
but one of them turned with a key of digits y.
- Random data: z is uniform modulo t, so that the variances of the M products add up whatever the turns have in
  common: G N E[z^2] sum_j V_j, in units of Q; times (t/Q)^2 in plaintexts. Turns of sums add their key switches.
- Any data: |z| <= floor(t/2), and plaintexts may repeat one another turned, as they do where all rows of the database
  are equal: a sum of M errors has at most M times the variances' sum. So may the masks of sums, whose digits are at
  most half of their base: (G - 1)^2 times three times the variance of a key switch.
The masks of turns, whose digits keys are multiplied with, are drawn after the database; those of sums follow from both.

<H[r], s> is known modulo t1 t2 and taken as centred; H has words of 32 bits, so a large secret could exceed that
(`sum`).
"""

from collections.abc import Sequence
from math import e, inf, log2

import numpy as np

from ..secret import coordinate
from . import simplepir
from .error import Noise
from .ring_setting import Answers, Floats, Rings, bound_by_key, numbers
from .stage import NEVER, Chance, Decision, Stage, stages, words

#: Bits of a word of the hint, which counts as centred.
WORD_BITS = 32


def digit_squares(description: dict, instance: int, name: str = "automorphism") -> float:
    """The sum of E[x^2] over the digits of uniform residues modulo an instance's primes: the last is what is left."""
    gadget, total = description["layout"][f"{name}_gadget"], 0.0
    for prime in (int(p) for p in description["instances"][instance]["modulus"].split("*")):
        count = -(-prime.bit_length() // gadget["base_log2"])
        base = 2.0 ** gadget["base_log2"]
        total += (count - 1) * (base**2 + 2) / 12 + (prime / base ** (count - 1)) ** 2 / 12
    return total


def hint(descriptions: Sequence[dict]) -> Stage:
    """The product of the hint with the encrypted secret, in plaintexts; a class for each modulus of slots."""
    layouts = [d["layout"] for d in descriptions]
    rings = Rings.of(descriptions, 1)
    turns, giants = numbers(layouts, "rotations"), np.array([o.get("giant_steps", 1) for o in layouts], dtype=float)

    def switch(squares: list[float]) -> Floats:
        return np.asarray(rings.n * np.asarray(rings.fresh.variance) * np.array(squares))

    # The sum over a block's products of the variance of the encrypted secret; what a turn of a sum adds.
    turn = switch([digit_squares(d, 1) for d in descriptions])
    sums = giants * (turns * rings.encoded + turns * (turns - 1) / 2 * turn)
    giant = switch([digit_squares(d, 1, "giant") if "giant_gadget" in d["layout"] else 0.0 for d in descriptions])
    blocks = np.array([-(-o["entries_per_record"] // o["block_rows"]) for o in layouts], dtype=float)
    answers = Answers.of(layouts, rings)
    moduli = np.array([o["slot_moduli"] for o in layouts], dtype=float)

    random = [
        answers.messages(rings, Noise(rings.n * (t**2 - 1) / 12 * sums + (giants - 1) * giant), t) for t in moduli.T
    ]
    largest = np.max(moduli, axis=1)
    coherent = rings.n * np.floor(largest / 2) ** 2 * giants * turns * sums + 3 * (giants - 1) ** 2 * giant
    bound, key = bound_by_key(lambda under: answers.messages(under, Noise(coherent), largest), rings)
    counts = np.broadcast_to((rings.n * blocks)[:, None], moduli.shape)
    return stages("hintlesspir")(
        "hint",
        Noise(np.stack([np.asarray(each.variance) for each in random], axis=1)),
        bound,
        digits=[
            f"balanced base-2^{o['automorphism_gadget']['base_log2']} digits of residues of public masks"
            + (f", base-2^{o['giant_gadget']['base_log2']} of those of sums" if "giant_gadget" in o else "")
            for o in layouts
        ],
        decision=Decision(
            threshold=0.5,
            union={"blocks of a record": blocks, "coefficients": rings.n, "moduli of slots": moduli.shape[1]},
            counts=counts,
            key=key,
        ),
        terms=rings.n * np.where(turns > 1, numbers([o["automorphism_gadget"] for o in layouts], "digits"), 1),
    )


def log2_overflow(description: dict) -> float:
    """At most, log2 of the chance that the product of a row of any hint with the secret leaves [-t1 t2/2, t1 t2/2)."""
    instance, (t1, t2) = description["instances"][0], description["layout"]["slot_moduli"]
    secret, n = instance["secret"], instance["dimension"]
    mean, ranged = coordinate(secret, n).mean, float(max(-secret.get("low", 0), secret.get("high", 0)))
    largest = {"gaussian": inf, "uniform_range": ranged}.get(secret["kind"], 1.0)
    word = 2.0 ** (WORD_BITS - 1)
    if n * word * largest < t1 * t2 / 2:
        return NEVER
    left = max(0.0, t1 * t2 / 2 - n * word * abs(mean))
    square = secret["stddev"] ** 2 if secret["kind"] == "gaussian" else largest**2
    return min(
        0.0, 1 - left**2 / (2 * n * word**2 * square) * log2(e) + log2(description["layout"]["entries_per_record"])
    )


def chain(descriptions: Sequence[dict]) -> list[Stage | Chance]:
    """`hint`, which decides the plaintexts of the hint's product; `sum`, its size; `answer`, which decides entries."""
    overflow = [log2_overflow(d) for d in descriptions]
    return [
        hint(descriptions),
        Chance("sum", **words("hintlesspir")["sum"], log2_failure=overflow, over="records"),
        simplepir.first_layer("hintlesspir", "answer", descriptions, simplepir.rows_fill),
    ]
