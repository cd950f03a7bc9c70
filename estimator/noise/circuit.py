"""Noise of blind rotation and of what circuit bootstrapping is made of: closed forms, arrays throughout.

A rotation multiplies by X^(sum a_i z_i), one or two coefficients of the small key z a step (impl/lattice/src/rotate):
- CMUX, acc <- acc + RGSW(y) x (X^c - 1) acc for one indicator y: noise of an external product, 2 n V_row sum E[x^2];
- joint, acc <- acc + sum_k (X^c_k - 1)(RGSW(y_k) x acc) for indicators of which one is 1 at most: X^c - 1 doubles the
  noise of each. Two bits of a binary key have three indicators (6 products' worth for two bits), a ternary coefficient
  has two (4; as two CMUXes 2).
What dropped digits leave out comes where an indicator is 1; after the product, X^c - 1 doubles it too.
"""

import numpy as np

from .error import Noise, Numbers
from .lattice import GadgetNoise, Secret
from .lattice.products import approximation, digit_noise

#: By ternary, then by joint: products' worth of noise, and of rounding, for each coefficient of a uniform small key.
_PRODUCTS = np.array([[1.0, 3.0], [2.0, 4.0]])
_ROUNDINGS = np.array([[1 / 2, 3 / 4], [2 / 3, 4 / 3]])


def blind_rotation(
    dimension: Numbers,
    n: Numbers,
    gadget: GadgetNoise,
    rows: Noise,
    secret: Secret,
    joint: Numbers,
    ternary: Numbers = False,
) -> Noise:
    """Noise of a coefficient of the accumulator after `dimension` coefficients of a uniform binary or ternary key.

    joint, ternary: truth values; see above.
    """
    form = np.asarray(ternary, dtype=np.intp), np.asarray(joint, dtype=np.intp)
    products, roundings = np.multiply(dimension, _PRODUCTS[form]), np.multiply(dimension, _ROUNDINGS[form])
    exact = digit_noise(n, gadget, rows).scaled(2)
    return exact.scaled(products) + approximation(n, gadget, secret).scaled(roundings)


def compensated_modulus_switch(dimension: Numbers, secret: Secret, ratio_square: Numbers, noise: Noise) -> Noise:
    """LWE to a smaller power of two, half the sum of the mask's roundings taken off the body if no key bit is -1:

    V' = ratio^2 V + (1 + n w)/12: each rounding then meets s_i - 1/2, whose square is w = 1/4 for any key of zeros
    and ones, uniform or of fixed weight; other keys are switched without, w = E[s^2].
    """
    square = np.asarray(secret.square)
    met = np.where(square == secret.mean, 0.25, square)
    return noise.scaled(ratio_square) + Noise((1 + np.multiply(dimension, met)) / 12)
