"""Noise of gadget products: RLWE' times a polynomial, RGSW times RLWE, CMUX and chains of it.

Row t of RLWE'(m) encrypts m b^(dropped+t), with independent white errors of variance V_row. The product with u is
sum_t x_t row_t, so its error is sum_t x_t e_t - m eps, with eps = u - recomposed(u):
  V = n V_row sum_t E[x_t^2] + ||m||^2 E[eps^2].
Exact, since the e_t are independent of everything and centred: only E[x_t^2] about zero enters, each of the n terms
of a coefficient of a product counts, and correlations between digits do not. For digits with a mean the coefficients
of one product share part of their error, so a measurement must average over keys; E[e^2] is the same for all.
"""

import numpy as np

from ..error import NOTHING, Noise, Numbers
from .inputs import GadgetNoise, Secret, negacyclic_signs


def digit_noise(terms: Numbers, gadget: GadgetNoise, rows: Noise) -> Noise:
    """terms V_row sum_t E[x_t^2]: `terms` decomposed numbers times rows of independent errors."""
    return Noise(np.multiply(terms, np.multiply(rows.variance, gadget.square)), rows.kind)


def rounding_by_secret(n: Numbers, square: Numbers, mean: Numbers, secret: Secret, exponent: int = 1) -> Numbers:
    """E[(eps s)^2] of a coefficient of a negacyclic product: n E[eps^2] E[s^2], and what two means add.

    exponent: the automorphism X -> X^exponent applied to s before.
    """
    both = np.square(np.multiply(mean, secret.mean))
    common: Numbers = 0.0
    if np.any(both):
        signs = np.frompyfunc(lambda size: negacyclic_signs(int(size), exponent), 1, 1)
        common = both * (np.asarray(signs(n), dtype=float) - n)
    return np.multiply(n, np.multiply(square, secret.square)) + common


def approximation(n: Numbers, gadget: GadgetNoise, secret: Secret) -> Noise:
    """E[(eps_b - eps_a s)^2]: what dropping digits of both components changes in the phase.

    (b^(2 dropped) / 12)(1 + n E[s^2]) for rounded digits; the exact discrete moments are used.
    """
    cross = 2 * np.square(gadget.error_mean) * np.asarray(secret.mean)
    by_secret = rounding_by_secret(n, gadget.error_square, gadget.error_mean, secret)
    return Noise(np.asarray(gadget.error_square) + by_secret - cross)


def gadget_product(n: Numbers, gadget: GadgetNoise, rows: Noise, message_norm_square: Numbers = 0.0) -> Noise:
    """RLWE'(m) times u. message_norm_square: ||m||^2, for a random centred m its expectation n E[m^2].

    (Bound for a fixed m of several terms with dropped digits: ||m||_1^2.)
    """
    exact = digit_noise(n, gadget, rows)
    return exact + Noise(np.multiply(message_norm_square, gadget.error_square))


def external_product(
    n: Numbers,
    gadget: GadgetNoise,
    rows: Noise,
    secret: Secret,
    message_norm_square: Numbers = 1.0,
    noise: Noise = NOTHING,
) -> Noise:
    """RGSW(m) times RLWE: 2 n V_row sum E[x^2], of both components, + ||m||^2 (V_in + the approximation of both)."""
    digits = digit_noise(n, gadget, rows).scaled(2)
    return digits + (approximation(n, gadget, secret) + noise).scaled(message_norm_square)


def cmux(
    n: Numbers,
    gadget: GadgetNoise,
    rows: Noise,
    secret: Secret,
    bit: Numbers,
    noise: Noise = NOTHING,
) -> Noise:
    """c_0 + RGSW(bit) (c_1 - c_0): the noise of the selected input, plus an external product.

    bit: 0 or 1, or the share of ones: the approximation comes with bit 1 only. Inputs have the same variance.
    """
    return noise + external_product(n, gadget, rows, secret, bit)


def cmux_chain(
    length: Numbers,
    n: Numbers,
    gadget: GadgetNoise,
    rows: Noise,
    secret: Secret,
    *,
    same_input: bool,
    same_selector: bool,
    noise: Noise = NOTHING,
) -> Noise:
    """`length` selections one after another.

    same_input False: acc <- CMUX(C; acc, X^r acc), r and the bit uniform (blind rotation). Inputs of different steps
    are independent and uniform. A fresh selector each step gives length independent terms. With one selector for all
    the row errors repeat: means of digits add coherently, but only where the bit is 0 (else X^r turns them).
    same_input True: acc <- acc + C (u, u), bit 1, u constant and uniform. With fresh selectors the digit terms add up;
    with one selector what equal inputs repeat grows by length^2: everything for deterministic digits, nothing for
    digits that are centred for every input. The approximation always grows by length^2.
    """
    length = np.asarray(length, dtype=float)
    pairs = length * (length - 1)
    per_digit = 2 * np.multiply(n, rows.variance)
    digits = digit_noise(n, gadget, rows).scaled(2 * length)
    dropped = approximation(n, gadget, secret)
    if same_input:
        coherent = per_digit * gadget.repeated if same_selector else 0.0
        dropped = dropped.scaled(length * length)
    else:
        coherent = per_digit * np.asarray(gadget.mean) / 2 if same_selector else 0.0
        dropped = dropped.scaled(length / 2)
    return noise + digits + Noise(pairs * coherent, digits.kind) + dropped
