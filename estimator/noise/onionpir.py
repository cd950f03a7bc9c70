"""Errors of OnionPIR (ePrint 2021/1081), of every ciphertext between a query and its answer.

A key switch of the expansion adds V_ks = N sigma^2 sum E[x^2] / P^2, and (1 + N E[s^2]) / 12 for the division by P.
What the expansion leaves is the mean over all coefficients, as for Spiral. Selectors are unit vectors or bits: a
product with a selector of 0 or 1 adds N sum E[x^2] (V_mask + V_body), one of 1 also what dropped digits change.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from . import lattice
from .bfv import Switches
from .error import Noise
from .lattice import RgswNoise
from .lattice.conversion import converted_product
from .respire import CONSTANT_TERMS, first_dimension, until_first
from .ring_setting import Answers, Floats, Keys, Rings, bound_by_key, numbers
from .stage import Decision, Stage, stages


class _Chain(Switches):
    """Variances in units of q, over arrays of descriptions."""

    def __init__(self, descriptions: Sequence[dict]) -> None:
        super().__init__(descriptions)
        self.selector, self.conversion = (
            Keys.of(self.layouts, name, self.rings.modulus) for name in ("selector", "conversion")
        )
        self.unit = np.array([o["further"] == "one-hot" for o in self.layouts])
        self.products, self.dimensions = numbers(self.layouts, "products"), numbers(self.layouts, "dimensions") - 1

    def leaf(self, under: Rings) -> Noise:
        """A ciphertext of the expansion: of the first dimension, or a row of a selector."""
        depth = numbers(self.layouts, "expansion_depth")
        return lattice.expansion(depth, Noise(self.switch(under)), under.fresh).everywhere

    def mask(self, under: Rings) -> Noise:
        """A selector's row of -s times its message: a product with RGSW(-s), whose dropped digits meet s and s^2."""
        exact = replace(self.conversion.gadget, error_square=0.0, error_mean=0.0)
        row = lattice.rlwe_to_rgsw_row(under.n, exact, under.fresh, under.secret, self.leaf(under))
        return row + Noise(np.asarray(self.conversion.gadget.error_square) * (under.key + 2 * under.key**2))

    def first(self, under: Rings) -> tuple[Noise, Noise]:
        """A column of the first dimension, and its bound."""
        leaves = self.leaf(under).scaled(numbers(self.layouts, "plain_digits"))
        return first_dimension(self.layouts, under, leaves, numbers(self.layouts, "plain_modulus"))

    def folded(self, under: Rings, first: Noise, any_column: bool = False) -> Noise:
        """After the further dimensions."""
        product = converted_product(
            under.n, self.selector.gadget, RgswNoise(self.mask(under), self.leaf(under)), under.secret
        )
        ones = np.where(self.unit | any_column, 1.0, 0.5)
        return first + product.digits.scaled(self.products) + product.dropped.scaled(ones * self.dimensions)

    def answer(self, under: Rings, folded: Noise) -> Noise:
        """In units of the distance of messages, after the switch if there is one."""
        return Answers.of(self.layouts, under).messages(under, folded, numbers(self.layouts, "message_modulus"))


def chain(descriptions: Sequence[dict]) -> list[Stage]:
    """From `leaf`, `selector_body` and `selector_mask` to `folding`, modulo q; then `answer`, which decides."""
    errors = _Chain(descriptions)
    rings, layouts, stage = errors.rings, errors.layouts, stages("onionpir")
    first, first_bound = errors.first(rings)

    def bound(under: Rings) -> Noise:
        return errors.answer(under, errors.folded(under, errors.first(under)[1], any_column=True))

    answer_bound, key = bound_by_key(bound, rings)
    rows, leaf = numbers(layouts, "rows") * numbers(layouts, "plain_digits"), errors.leaf(rings)
    early = leaf, leaf, errors.mask(rings), first, first_bound
    folded, folded_bound = errors.folded(rings, first), errors.folded(rings, first_bound, any_column=True)
    # Columns that are missing take no products with unit vectors.
    partial = errors.unit & (numbers(layouts, "columns") < np.exp2(numbers(layouts, "column_bits")))
    body = np.array([o.get("body_modulus", 2.0**128) for o in layouts], dtype=float)
    terms: Floats = CONSTANT_TERMS * rows
    return [
        *until_first(stage, early, [errors.words, errors.words, errors.conversion.words], errors.dimensions > 0, rows),
        stage("folding", folded, folded_bound, digits=errors.selector.words, terms=terms, bound_where=partial),
        stage(
            "answer",
            errors.answer(rings, folded),
            answer_bound,
            terms=terms,
            bound_where=partial,
            decision=Decision(
                0.5,
                {
                    "ciphertexts of a record": numbers(layouts, "slots") / numbers(layouts, "plain_digits"),
                    "coefficients": rings.n,
                },
                key=key,
                # Bodies may be rounded to a few times t.
                rounded=numbers(layouts, "message_modulus") / (2 * body),
            ),
        ),
    ]
