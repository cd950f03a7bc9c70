"""Errors from an LWE ciphertext of an index bit to the answer, for Pirouette's settings: arrays that broadcast.

One blind-rotation key serves all rotations. A selection bit becomes an RGSW ciphertext (rotation, trace, squaring key),
these become the leaves of a selector tree, the leaves meet the database, RGSW ciphertexts fold and rotate the columns.
A chain (pirouette.py) states these errors of descriptions, a search (estimator/search) of candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from . import circuit, lattice
from .error import Integers, Noise, Numbers
from .lattice import GadgetNoise, ProductNoise, RgswNoise, Secret, SelectorNoise


@dataclass(frozen=True)
class Setting:
    """What the errors depend on. Every number is one or an array; together they broadcast.

    n, modulus, fresh, secret: the ring of keys, its Q, its fresh error and key. rotated: a coefficient of the
    accumulator of a blind rotation. first_modulus: of the first dimension, Q or a factor of it. rows: polynomials of a
    column, at most 2^first_bits.
    """

    n: Numbers
    modulus: Integers
    fresh: Noise
    secret: Secret
    rotated: Noise
    automorphism: GadgetNoise
    squaring: GadgetNoise
    rgsw: GadgetNoise
    plain_modulus: Numbers
    first_modulus: Integers
    first_bits: Numbers
    fold_bits: Numbers
    rotation_bits: Numbers
    rows: Numbers
    encrypted: Numbers = 0.0
    """1 where clients encrypt the database: cells are fresh ciphertexts, folded only."""

    @cached_property
    def rows_made(self) -> RgswNoise:
        """Rows of RGSW(bit): RLWE(bit g_k) by the trace, RLWE(-s bit g_k) by the squaring key."""
        switch = lattice.rlwe_key_switch(self.n, self.automorphism, self.fresh, self.secret)
        return lattice.converted_rows(self.n, switch, self.squaring, self.fresh, self.secret, self.rotated)

    @cached_property
    def product(self) -> ProductNoise:
        """What one external product with a selection bit adds."""
        return lattice.converted_product(self.n, self.rgsw, self.rows_made, self.secret)

    @cached_property
    def product_bound(self) -> ProductNoise:
        """The same where every bit is one, so that dropped digits always count."""
        return ProductNoise(self.product.digits, self.product.dropped.scaled(2))

    @cached_property
    def selector(self) -> SelectorNoise:
        """Leaves of the selector tree."""
        return self._tree(self.product)

    def _tree(self, product: ProductNoise) -> SelectorNoise:
        return lattice.selector_tree(self.first_bits, product, lattice.root_product(self.rgsw, self.rows_made))

    @cached_property
    def first_product(self) -> Noise:
        """A column over random data; where leaves are rounded to a smaller modulus, each error is its leaf's own."""
        p = np.asarray(self.plain_modulus, dtype=float)
        random, _ = lattice.first_dimension(self.n, self.selector, (p * p - 1) / 12, p - 1)
        return self._cell(self._column(random, lattice.uniform_square(p, balanced=True)))

    @cached_property
    def first_product_bound(self) -> Noise:
        """The same for any data: digits of opposite ends under each node, at the far end under every leaf."""
        p = np.asarray(self.plain_modulus, dtype=float)
        _, worst = lattice.first_dimension(self.n, self._tree(self.product_bound), (p * p - 1) / 12, p - 1)
        return Noise(self._cell(self._column(worst, np.floor(p / 2) ** 2)).variance, "bound")

    def _cell(self, column: Noise) -> Noise:
        return Noise(np.where(np.asarray(self.encrypted) > 0, self.fresh.variance, column.variance), column.kind)

    def _column(self, full: Noise, square: Numbers) -> Noise:
        filled = np.asarray(self.rows, dtype=float) / np.exp2(self.first_bits)
        rounded = self.leaf_rounding.scaled(np.multiply(self.rows, np.multiply(self.n, square)))
        return full.scaled(filled) + rounded

    @cached_property
    def leaf_rounding(self) -> Noise:
        """A leaf's switch to the first dimension's modulus, in units of Q; nothing where that is Q."""
        ratio = _ratio(self.modulus, self.first_modulus)
        rounded = (1 + np.multiply(self.n, self.secret.square)) / 12
        return Noise(np.where(ratio == 1, 0.0, rounded * ratio**2))

    @property
    def answer(self) -> Noise:
        """Over random data: a column, folded and brought to the front of its polynomial by CMUXes."""
        return lattice.folding(np.add(self.fold_bits, self.rotation_bits), self.product, self.first_product)

    @property
    def answer_bound(self) -> Noise:
        """The same for any data."""
        levels = np.add(self.fold_bits, self.rotation_bits)
        return lattice.folding(levels, self.product_bound, self.first_product_bound)


@dataclass(frozen=True)
class Reduction:
    """LWE ciphertexts under the ring's key, switched to the small key and to modulus 2N before a rotation.

    modulus, fresh: of the key-switching key. gadget: of its digits.
    """

    n: Numbers
    secret: Secret
    modulus: Integers
    fresh: Noise
    gadget: GadgetNoise
    lwe_dimension: Numbers
    lwe_secret: Secret

    @cached_property
    def added(self) -> Noise:
        """What the three steps add, in units of 2N: rounding to the modulus, key switch, compensated rounding to 2N."""
        rounded = Noise((1 + np.multiply(self.n, self.secret.square)) / 12)
        switched = lattice.lwe_key_switch(self.n, self.gadget, self.fresh, self.secret, rounded)
        ratio = _ratio(2 * np.asarray(self.n, dtype=object), self.modulus)
        return circuit.compensated_modulus_switch(self.lwe_dimension, self.lwe_secret, ratio**2, switched)

    def digit_inputs(self, query: Noise, rotated: Noise, digits: int, digit_bits: int) -> list[DigitInput]:
        """Variances of the rotations' inputs for each digit, the lowest first, in units of 2N.

        query, rotated: relative to the query's modulus. Modulo digit k's, the digit's scale is alpha = 2N / 2^bits;
        relative to the query's modulus it is 2^(bits (k - digits)). The tables of a floor give the digit itself: the
        query's error stays, the switches' noise does not, and both rotations' noise comes in. The next digit sees that
        2^bits smaller.
        """
        width = 2.0**digit_bits
        alpha = 2 * np.asarray(self.n, dtype=float) / width
        added, rotation = np.asarray(self.added.variance), np.asarray(rotated.variance)
        noise = np.asarray(query.variance)
        inputs = []
        for k in range(digits):
            unit = (alpha * width ** (digits - k)) ** 2
            inputs.append(DigitInput(noise * unit + added, (noise + rotation) * unit + added))
            noise = noise + 2 * rotation
        return inputs


class DigitInput(NamedTuple):
    """What the rotation of a digit (and of its highest bit) sees, and what that of the rest in its floor sees."""

    digit: Numbers
    rest: Numbers


@dataclass(frozen=True)
class Response:
    """Modulus switch, ring switch and split rounding of the answer.

    mask_modulus, body_modulus: of its parts; the ring switch runs modulo the former. fresh, gadget: of its key.
    """

    mask_modulus: Integers
    body_modulus: Integers
    fresh: Noise
    gadget: GadgetNoise

    def switched(self, setting: Setting, noise: Noise) -> Noise:
        """The decrypted answer's error, in units of the body's modulus.

        (q_b/Q)^2 V + 1/12 + (q_b/q_a)^2 n (E[s^2]/12 + V_key sum E[x^2]).
        """
        rounded = Noise(np.multiply(setting.n, setting.secret.square) / 12)
        switched = lattice.ring_switch(setting.n, self.gadget, self.fresh, setting.secret, rounded)
        shrunk = noise.scaled(_ratio(self.body_modulus, setting.modulus) ** 2)
        return shrunk + Noise(1 / 12) + switched.scaled(_ratio(self.body_modulus, self.mask_modulus) ** 2)


def _ratio(numerator: Integers, denominator: Integers) -> Numbers:
    """The quotient of integers of any size."""
    divide = np.frompyfunc(lambda x, y: int(x) / int(y), 2, 1)
    quotient = divide(np.asarray(numerator, dtype=object), np.asarray(denominator, dtype=object))
    return np.asarray(quotient, dtype=float)[()]
