"""Errors from an LWE ciphertext of an index bit to the answer, for Pirouette's settings: arrays that broadcast.

One blind-rotation key serves all rotations. A selection bit becomes an RGSW ciphertext (rotation, trace, squaring key),
these become the leaves of a selector tree, the leaves meet the database, RGSW ciphertexts fold and rotate the columns.
A chain (pirouette.py) states these errors of descriptions, a search (estimator/search) of candidates.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import circuit, lattice
from .error import Integers, Noise, Numbers, ratio
from .lattice import GadgetNoise, ProductNoise, RgswNoise, Secret, SelectorNoise
from .tails import Array, Mixture


@dataclass(frozen=True)
class Setting:
    """The parameters of the errors. Every number is one or an array; together they broadcast.

    n, modulus, fresh, secret: the ring of keys, its Q, its fresh error and key. rotated: a coefficient of the
    accumulator of a blind rotation. first_modulus: of the first dimension, Q or a factor of it. rows: polynomials of a
    column, at most 2^first_bits. rgsw_rows: digits of the RGSW gadget, the highest by its share of a full one's energy.
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
    rgsw_rows: Numbers = 1.0
    rgsw_spacing: Numbers = 0.0
    """Coefficients between the rows' places in the accumulator; 0 leaves out what means of digits add (`product`)."""
    rgsw_digits: Numbers = 1.0
    encrypted: Numbers = 0.0
    """1 where clients encrypt the database: cells are fresh ciphertexts, folded only."""

    @cached_property
    def rows_made(self) -> RgswNoise:
        """Rows of RGSW(bit): RLWE(bit g_k) by the trace, RLWE(-s bit g_k) by the squaring key."""
        return lattice.converted_rows(self.n, self._switch, self.squaring, self.fresh, self.secret, self.rotated)

    @cached_property
    def _switch(self) -> Noise:
        """The noise that one automorphism adds."""
        return lattice.rlwe_key_switch(self.n, self.automorphism, self.fresh, self.secret)

    @cached_property
    def product(self) -> ProductNoise:
        """The noise that one external product with a selection bit adds."""
        product = lattice.converted_product(self.n, self.rgsw, self.rows_made, self.secret)
        return lattice.ProductNoise(product.digits + self.common_means, product.dropped)

    @cached_property
    def common_means(self) -> Noise:
        """The noise from means of digits, both of a product and of the traces that made its rows."""
        if not np.any(self.rgsw_spacing):
            return lattice.NOTHING
        switching = (self.rgsw, self.automorphism, self.fresh, self.secret)
        return lattice.common_means(self.n, *switching, self.rgsw_spacing, self.rgsw_digits)

    @property
    def common_share(self) -> Array:
        """The share of a product's noise that all products with one selector have in common, by digits' means."""
        met = np.asarray(self.common_means.variance)
        white = np.asarray(self.product.digits.variance) - met
        return (met + white * np.asarray(self.rgsw.mean) / np.asarray(self.rgsw.square)) / (white + met)

    @cached_property
    def product_bound(self) -> ProductNoise:
        """The same where every bit is one, so that dropped digits always count."""
        return ProductNoise(self.product.digits, self.product.dropped.scaled(2))

    @cached_property
    def selector(self) -> SelectorNoise:
        """Leaves of the selector tree."""
        return lattice.selector_tree(self.first_bits, self.product, self._root)

    @cached_property
    def _root(self) -> Noise:
        """The noise that the tree's root adds."""
        return lattice.root_product(self.rgsw, self.rows_made)

    @cached_property
    def first_product(self) -> Noise:
        """A column over random data."""
        p = np.asarray(self.plain_modulus, dtype=float)
        random = lattice.first_dimension(self.n, self.selector, (p * p - 1) / 12)
        filled = np.asarray(self.rows, dtype=float) / np.exp2(self.first_bits)
        met = np.multiply(self.rows, lattice.uniform_square(p, balanced=True))
        return self._cell(self._leaves(random.scaled(filled), np.where(self._bits == 1, (p * p - 1) / 6, met)))

    @cached_property
    def first_product_bound(self) -> Noise:
        """The same for any data: digits of opposite ends where errors are opposite, at the far end elsewhere."""
        p = np.asarray(self.plain_modulus, dtype=float)
        root = self._root.scaled(np.where(self._bits > 0, (p - 1) ** 2, 0.0))
        errors = self.product_bound.added().scaled(np.sum(self._nodes, axis=-1)) + root
        met = np.multiply(self.rows, np.floor(p / 2) ** 2)
        column = self._leaves(errors.scaled(self.n), np.where(self._bits == 1, (p - 1) ** 2, met))
        return Noise(self._cell(column).variance, "bound")

    @cached_property
    def _bits(self) -> Array:
        return np.asarray(self.first_bits, dtype=float)

    @cached_property
    def _nodes(self) -> Array:
        """By level of the selector tree, the root's apart: squares of what its products' errors meet, at most.

        A node's error stands in two leaves 2^r apart, with opposite signs, whose lower r bits are the index's. Where
        the upper one is not stored, the lower one's digit is met alone. Most are stored for an index of lower bits 0.
        The root's children are opposite but for one coefficient, and so are their digits: the errors of both products
        are one, which meets the digits of all their leaves. Further down what that coefficient's digits are multiplied
        with makes every node another one.
        """
        p = np.asarray(self.plain_modulus, dtype=float)[..., None]
        rows, bits = np.asarray(self.rows, dtype=float)[..., None], self._bits[..., None]
        r = np.arange(max(1.0, np.max(bits) - 1))
        pairs = np.maximum(np.ceil((rows - np.exp2(r)) / np.exp2(r + 1)), 0.0)
        lower = np.ceil(rows / np.exp2(r + 1))
        most, alone = p - 1, np.floor(p / 2)
        apart = pairs * most**2 + (lower - pairs) * alone**2
        met = np.where(r == bits - 2, (pairs * most + (lower - pairs) * alone) ** 2, apart)
        return np.where(r < bits - 1, met, 0.0)

    def _cell(self, column: Noise) -> Noise:
        return Noise(np.where(np.asarray(self.encrypted) > 0, self.fresh.variance, column.variance), column.kind)

    def _leaves(self, column: Noise, met: Numbers) -> Noise:
        """With the rounding of the stored leaves, and the squares of digits that these errors meet, summed.

        Each leaf's is its own, but those of the two leaves of one bit, which are opposite.
        """
        return column + self.leaf_rounding.scaled(np.multiply(self.n, met))

    @cached_property
    def leaf_rounding(self) -> Noise:
        """A leaf's switch to the first dimension's modulus, in units of Q; nothing where that is Q."""
        shrink = ratio(self.modulus, self.first_modulus)
        rounded = (1 + np.multiply(self.n, self.secret.square)) / 12
        return Noise(np.where(shrink == 1, 0.0, rounded * shrink**2))

    @property
    def answer(self) -> Noise:
        """Over random data: a column, folded and brought to the front of its polynomial by CMUXes."""
        return lattice.folding(np.add(self.fold_bits, self.rotation_bits), self.product, self.first_product)

    @property
    def answer_bound(self) -> Noise:
        """The same for any data."""
        levels = np.add(self.fold_bits, self.rotation_bits)
        return lattice.folding(levels, self.product_bound, self.first_product_bound)

    def mixture(self, final: Noise, ratio_square: Numbers, key_squares: Numbers) -> Mixture:
        """How `final`, the bound after the answer in units that make squares ratio_square times smaller, is mixed.

        Given the rows of the selectors, the error is a sum over uniform digits of ciphertexts. Its variance is the
        rows' energy, by bit of the index and by row. A row's is that of one coefficient of the rotation; of each of
        log2 n key switches of the trace, the r-th from the end on n / 2^r coefficients with 2^r times the energy; of
        the squaring. What data do with those of several coefficients counts as if it left two, real and imaginary part
        at one root of unity: no spectrum of data is worse.
        """
        n = np.asarray(self.n, dtype=float)[..., None]
        rows = 1 + n * np.asarray(self.secret.square)[..., None]
        rotated = rows * np.asarray(self.rotated.variance)[..., None] / n
        r = np.arange(np.log2(np.max(n)))
        traced = np.where(np.exp2(r) < n, rows * np.asarray(self._switch.variance)[..., None] * np.exp2(r), 0.0)
        squared = np.asarray(lattice.digit_noise(self.n, self.squaring, self.fresh).variance)[..., None]
        row, of_row = _classes((rotated, 1.0), (traced / 2, 2.0), (squared / 2, 2.0))
        row = row / np.sum(row * of_row, axis=-1, keepdims=True)
        tree = np.where(np.asarray(self.encrypted)[..., None] > 0, 0.0, n * self._nodes)
        bits, of_bits = _classes((tree, 1.0), (np.ones(1), np.add(self.fold_bits, self.rotation_bits)[..., None]))
        unit = np.asarray(self.product.digits.variance) * ratio_square / np.asarray(final.variance)
        alike = np.asarray(self.rgsw_rows, dtype=float)
        shares = (unit / alike)[..., None, None] * bits[..., :, None] * row[..., None, :]
        counts = alike[..., None, None] * of_bits[..., :, None] * of_row[..., None, :]
        shares, counts = np.broadcast_arrays(shares, counts)
        flat = (*shares.shape[:-2], -1)
        return Mixture(shares.reshape(flat), counts.reshape(flat), key_squares)


def _classes(*parts: tuple[Array, Numbers]) -> tuple[Array, Array]:
    """Arrays (..., classes) side by side, and how many squares each class has."""
    shape = np.broadcast_shapes(*(np.shape(x)[:-1] for pair in parts for x in pair if np.ndim(x)))
    values = [np.broadcast_to(part, (*shape, part.shape[-1])) for part, _ in parts]
    counts = [np.broadcast_to(count, value.shape) for value, (_, count) in zip(values, parts)]
    return np.concatenate(values, axis=-1), np.concatenate(counts, axis=-1)


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
        shrink = ratio(2 * np.asarray(self.n, dtype=object), self.modulus)
        return circuit.compensated_modulus_switch(self.lwe_dimension, self.lwe_secret, shrink**2, switched)

    def digit_inputs(self, query: Noise, rotated: Noise, digits: int, digit_bits: int) -> "list[DigitInput]":
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
        shrunk = noise.scaled(ratio(self.body_modulus, setting.modulus) ** 2)
        return shrunk + Noise(1 / 12) + switched.scaled(ratio(self.body_modulus, self.mask_modulus) ** 2)

    def bound(self, setting: Setting, key_squares: Numbers) -> tuple[Noise, Mixture]:
        """For any data: the decrypted answer's error, and how its variance is mixed."""
        final = self.switched(setting, setting.answer_bound)
        return final, setting.mixture(final, ratio(self.body_modulus, setting.modulus) ** 2, key_squares)


def rows_alike(gadget: GadgetNoise, base_log2: NDArray[np.int64]) -> Array:
    """Digits of a balanced gadget, the highest, which may be short, counted by its share of a full one's energy."""
    return np.asarray(12 * np.asarray(gadget.square) / (np.exp2(2.0 * base_log2) + 2))
