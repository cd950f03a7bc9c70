"""Noise of what is made from bits in LWE ciphertexts: RGSW rows, products with them, selectors, folding.

Rows. The accumulator of a blind rotation has noise V_acc on every coefficient; its coefficients are taken apart by
traces over all log2 n levels, which leave V_acc/n + (n - 1) V_ks in the mean and V_acc + (n^2 - 1)/3 V_ks on the
constant coefficient (`trace`). Taken apart by one tree, the rows share key switches, but at different coefficients of
white errors: different shifts of one white error are uncorrelated, so nothing changes. A later product multiplies the
whole polynomial with white digits: it sees the energy, n times the mean, wherever it sits. Pirouette's n^2 V_ks on
every coefficient (Theorem A.12) is n times too much there.

Selectors. A node p of the tree becomes right = RGSW(b) p and left = p - right. The product's error e stands in both
children, with opposite signs; what was in p before goes to the child that the bit selects, and cancels in the other. So
the leaf that is selected has the errors of all v levels, and a leaf that leaves its path has those made since:
every error stands in exactly two leaves. Over all leaves that is less than 2 V_product a leaf, not v V_product. In the
first dimension, sum_x d_x leaf_x, each error is multiplied with a difference d_x - d_y of two database digits.
The root's children differ from opposite ciphertexts in one coefficient alone, and symmetric digits of opposite numbers
are opposite: the errors of the two products on the second level are opposite. Over independent digits the mean square
is that of two errors; data that follow the bits meet one error with d_x - d_y - d_x' + d_y' (circuit_selection.py).
Further down, that coefficient's digits have been multiplied with uniform rows, and no two nodes' digits are alike.
The root is a constant without noise: its product has the digits of one coefficient of one component.

Means. Digits of an even base have the mean -1/2, so that a polynomial of digits is a white one and a multiple of
u = 1 + X + .. + X^(n-1), whose energy is at the lowest roots of unity: |u(zeta)|^2 = 4 / |1 - zeta|^2, up to
(2 n / pi)^2. A product's mean square is n E[x^2] V where the errors are white. Those of rows are not: key switches of
the trace had digits with a mean, too, and every row has the same errors of the same keys there. Where u meets u the
energy is (n^2 + 2)/3 of what it is where it meets white errors (`common_means`).
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..error import NOTHING, Noise, Numbers
from .inputs import GadgetNoise, Secret
from .products import approximation, digit_noise
from .trace import rlwe_to_rgsw_row, trace


class RgswNoise(NamedTuple):
    """Mean variance over the coefficients of the rows for the mask of a ciphertext, and of those for its body."""

    mask: Noise
    body: Noise


class ProductNoise(NamedTuple):
    """The noise that a product with RGSW(bit) adds: the digits' part, and that of dropped digits if the bit is 1."""

    digits: Noise
    dropped: Noise

    def added(self, ones: Numbers = 0.5) -> Noise:
        """ones: the bit, or the share of ones."""
        return self.digits + self.dropped.scaled(ones)

    @property
    def dropped_share(self) -> Numbers:
        """The share of dropped digits, where half of the bits are one."""
        return np.asarray(self.dropped.variance) / 2 / np.asarray(self.added().variance)


class SelectorNoise(NamedTuple):
    """Noise of the selected leaf; the mean over all leaves; the sum over all products of the errors they made."""

    selected: Noise
    mean: Noise
    errors: Noise


def converted_rows(
    n: Numbers, switch: Noise, squaring: GadgetNoise, rows: Noise, secret: Secret, accumulator: Noise
) -> RgswNoise:
    """RGSW rows made from an accumulator: the trace's mean, and that times n E[s^2] plus a squaring.

    switch: what one automorphism adds. rows: of the squaring key. accumulator: of the rotated table.
    """
    levels = np.log2(np.asarray(n, dtype=float))
    body = trace(levels, switch, accumulator).everywhere
    return RgswNoise(rlwe_to_rgsw_row(n, squaring, rows, secret, body, components=1), body)


def converted_product(n: Numbers, gadget: GadgetNoise, rgsw: RgswNoise, secret: Secret) -> ProductNoise:
    """A product with RGSW(bit) of such rows: n E[x^2] (V_mask + V_body), and E[(eps_b - eps_a s)^2] for a bit 1."""
    digits = digit_noise(n, gadget, rgsw.mask) + digit_noise(n, gadget, rgsw.body)
    return ProductNoise(digits, approximation(n, gadget, secret))


def common_means(
    n: Numbers,
    gadget: GadgetNoise,
    switching: GadgetNoise,
    keys: Noise,
    secret: Secret,
    spacing: Numbers,
    rows: Numbers,
) -> Noise:
    """What `converted_product` lacks: means of the product's digits meet those of the key switches that made its rows.

    switching, keys: digits and rows of the automorphism keys. spacing, rows: where in the accumulator the rows stood.
    A mean over keys: one key has this times |s(zeta)|^2 and |e(zeta)|^2 of a key's errors at one root of unity, a
    product of two exponential variables.
    """
    means = np.multiply(gadget.mean, switching.mean) / np.maximum(rows, 1)
    # Most digits have no mean, and then the resonance is not computed.
    met = np.frompyfunc(lambda mean, *sizes: _resonance(*(int(x) for x in sizes)) if mean else 0.0, 4, 1)
    resonance = np.asarray(met(means, n, spacing, rows), dtype=float)
    energy = np.square(np.asarray(n, dtype=float)) * (1 + np.multiply(n, secret.square))
    return keys.scaled(energy * resonance * means)


#: Embeddings, from the lowest on, at which u times u is counted: beyond is less than a hundredth.
_LOWEST = 8


@lru_cache(maxsize=4096)
def _resonance(n: int, spacing: int, rows: int) -> float:
    """n^-3 times the sum over zeta of |u(zeta)|^2 E|sum_t e_t(zeta)|^2, e_t row t's part of the mean -u f_i of level i.

    f_i white, one for each level of the tree (docs/bootstrapping.md). From level i on the error goes with its row: c
    becomes c + tau(c) or X^(-2^j) (c - tau(c)), by bit j of the row's place; (tau c)(zeta) = c(zeta^tau).
    """
    levels, two_n = n.bit_length() - 1, 2 * n
    places = spacing * np.arange(rows)[:, None]
    total = 0.0
    for lowest in range(1, min(2 * _LOWEST, n), 2):
        exponents, weights = np.array([lowest]), np.ones((rows, 1), dtype=complex)
        at = 0.0
        for i in reversed(range(levels)):
            odd = places >> i & 1
            turned = weights * np.where(odd, np.exp(-1j * np.pi * (exponents << i) / n), 1.0)
            # The error of this level's own switch comes with the image.
            sign = 1 - 2 * odd
            own = np.abs(np.sum(turned * sign, axis=0)) ** 2
            at += float(np.sum(own * _means_square(exponents, n)))
            exponents = np.concatenate((exponents, exponents * ((n >> i) + 1) % two_n))
            weights = np.concatenate((turned, turned * sign), axis=1)
        # The conjugate embedding contributes the same.
        total += 2 * float(_means_square(np.array([lowest]), n)[0]) * at
    # The part that the rows' own energy already contains is subtracted.
    return total / float(n) ** 3 - rows * (n - 1)


def _means_square(exponents: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """|u(zeta^e)|^2, zeta = exp(i pi / n), e odd."""
    return 1 / np.sin(np.pi * exponents / (2 * n)) ** 2


def root_product(gadget: GadgetNoise, rgsw: RgswNoise) -> Noise:
    """At the root of a selector tree: the digits of one constant of the body. Families that leave 0 alone only."""
    return digit_noise(1, gadget, rgsw.body)


def selector_tree(bits: Numbers, product: ProductNoise, root: Noise = NOTHING) -> SelectorNoise:
    """Expansion of RGSW bits, half of them ones.

    selected: root + (bits - 1) V_product. errors: root + (2^bits - 2) V_product; each stands in two of 2^bits leaves.
    Without bits the root itself is the leaf, and has no error.
    """
    bits = np.asarray(bits, dtype=float)
    each = product.added()
    leaves = np.exp2(bits)
    some = np.where(bits > 0, 1.0, 0.0)
    errors = root.scaled(some) + each.scaled(np.maximum(leaves - 2, 0))
    return SelectorNoise(root.scaled(some) + each.scaled(np.maximum(bits - 1, 0)), errors.scaled(2 / leaves), errors)


def first_dimension(n: Numbers, selector: SelectorNoise, data_variance: Numbers) -> Noise:
    """sum_x d_x leaf_x with polynomials d_x of n independent database digits.

    Errors meet differences of two digits: 2 Var(d) in the mean, whatever the digits' mean is. Where Theorem A.20 has
    2^v v E[d^2] this is 2^v 2 Var(d).
    """
    return selector.errors.scaled(n).scaled(2 * np.asarray(data_variance, dtype=float))


def folding(levels: Numbers, product: ProductNoise, noise: Noise) -> Noise:
    """`levels` CMUXes, each of two ciphertexts with independent noise: V + levels V_product, also for rotations."""
    return noise + product.added().scaled(levels)
