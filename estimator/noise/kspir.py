"""Errors of KSPIR (Luo, Liu, Wang, CCS 2024): a column in slots, a part of it, and the parts packed.

The query is turned to every baby step, by keys with a special prime: by up to K places, and where there are more steps,
by every multiple of K, from which these are turned on. A turn adds V_b = N sigma^2 sum E[x^2] / P^2 + (1 + N E[s^2])
/ 12, by its key and by the division by P. Every turn is multiplied with a plaintext z of each giant step.
- Random data: z is uniform modulo t, so that the variances of all C products add up whatever the turns have in
  common.
- Any data: |z| <= floor(t/2), and products of one error may add up in phase. All C products have the query's own error
  in common, the G K products from a base the error that its turn added, and the G products of a turn what its key and
  rounding added, of which all others are independent.

Later steps add what depends on keys and masks alone: G - 1 key switches, an external product with an encrypted
monomial, and log2 r levels of the packing, in which the noise of a key switch doubles with every level above it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import lattice
from .error import Noise
from .ring_setting import Answers, Floats, Keys, Rings, bound_by_key, numbers
from .stage import Chance, Decision, Stage, stages


@dataclass(frozen=True)
class _Turns:
    """Baby steps: how many, from how many bases, and how many of a base."""

    steps: Floats
    bases: Floats
    each: Floats

    @staticmethod
    def of(layouts: Sequence[dict]) -> "_Turns":
        steps, keys = numbers(layouts, "baby_steps"), numbers(layouts, "baby_keys")
        each = np.where(keys < steps - 1, keys, steps)
        return _Turns(steps, steps / each, each)

    def random(self, fresh: Floats, turn: Floats) -> Floats:
        """The sum of the variances of all turns: all bases but the query are turned, and all but one of their steps."""
        turns = self.each * (self.bases - 1) + self.bases * (self.each - 1)
        return np.asarray(self.steps * fresh + turns * turn)

    def any_data(self, giants: Floats, fresh: Floats, turn: Floats) -> Floats:
        """The same, times G, where products of one error add up in phase."""
        turns = self.each**2 * (self.bases - 1) + self.bases * (self.each - 1)
        return np.asarray(giants**2 * (self.steps**2 * fresh + turns * turn))


class _Chain:
    """Variances in units of q, over arrays of descriptions."""

    def __init__(self, descriptions: Sequence[dict]) -> None:
        self.layouts = [d["layout"] for d in descriptions]
        self.rings = Rings.of(descriptions)
        self.turns = _Turns.of(self.layouts)
        self.giants, self.classes = numbers(self.layouts, "giant_steps"), numbers(self.layouts, "classes")
        self.special = numbers(self.layouts, "special_modulus")
        self.slot_modulus = np.array([o["slot_moduli"][0] for o in self.layouts], dtype=float)
        self.keys = {
            name: Keys.of(self.layouts, name, self.rings.modulus) for name in ("baby", "giant", "selector", "packing")
        }

    def turn(self, under: Rings) -> Floats:
        """What a turn of the query adds."""
        rows = under.fresh.scaled(1 / self.special**2)
        switch = lattice.rlwe_key_switch(under.n, self.keys["baby"].gadget, rows, under.secret)
        return np.asarray(np.asarray(switch.variance) + under.rounding)

    def product(self, under: Rings, any_data: bool = False) -> Floats:
        """The sum of all products of a block."""
        fresh, turn, t = under.encoded, self.turn(under), self.slot_modulus
        if any_data:
            return np.asarray(under.n * np.floor(t / 2) ** 2 * self.turns.any_data(self.giants, fresh, turn))
        return np.asarray(under.n * (t**2 - 1) / 12 * self.giants * self.turns.random(fresh, turn))

    def packed(self, under: Rings, any_data: bool = False) -> Noise:
        """After giant steps, the external product and the packing."""
        giant, packing = (
            lattice.rlwe_key_switch(under.n, self.keys[name].gadget, under.fresh, under.secret)
            for name in ("giant", "packing")
        )
        column = Noise(self.product(under, any_data)) + giant.scaled(self.giants - 1)
        gadget = self.keys["selector"].gadget
        selected = lattice.external_product(under.n, gadget, under.fresh, under.secret, noise=column)
        levels = (self.classes**2 - 1) / 3
        return selected + packing.scaled(levels)

    def answer(self, under: Rings, any_data: bool = False) -> Noise:
        """In units of the distance of messages, after the switch if there is one."""
        return Answers.of(self.layouts, under).messages(under, self.packed(under, any_data), self.slot_modulus)


def chain(descriptions: Sequence[dict]) -> list[Stage | Chance]:
    """`answer`, which decides entries."""
    errors = _Chain(descriptions)
    rings, layouts = errors.rings, errors.layouts
    bound, key = bound_by_key(lambda under: errors.answer(under, any_data=True), rings)
    return [
        stages("kspir")(
            "answer",
            errors.answer(rings),
            bound,
            digits=[
                "; ".join(f"{name}: {errors.keys[name].words[i]}" for name in errors.keys) for i in range(len(layouts))
            ],
            decision=Decision(
                threshold=0.5,
                union={"coefficients": rings.n, "ciphertexts of a record": numbers(layouts, "parts")},
                key=key,
            ),
            terms=rings.n * errors.turns.steps,
        ),
    ]
