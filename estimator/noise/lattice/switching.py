"""Noise of key switching, modulus switching and ring switching.

A key switch from s' to s is b - RLWE'(s') (x) a: the old phase, minus the error of a gadget product of the message s'.
"""

from math import gcd

import numpy as np

from ..error import NOTHING, Integers, Noise, Numbers, ratio
from .inputs import GadgetNoise, Secret
from .products import digit_noise, rounding_by_secret


def lwe_key_switch(
    dimension: Numbers, gadget: GadgetNoise, rows: Noise, secret: Secret, noise: Noise = NOTHING
) -> Noise:
    """From `dimension` coefficients, one decomposition each: V_in + dimension (V_row sum E[x^2] + E[eps^2] E[s^2]).

    A sum, not a negacyclic product: two means add dimension (dimension - 1) (E[eps] E[s])^2.
    """
    dimension = np.asarray(dimension, dtype=float)
    dropped = dimension * np.multiply(gadget.error_square, secret.square)
    dropped = dropped + dimension * (dimension - 1) * np.square(np.multiply(gadget.error_mean, secret.mean))
    return noise + digit_noise(dimension, gadget, rows) + Noise(dropped)


def rlwe_key_switch(
    n: Numbers, gadget: GadgetNoise, rows: Noise, secret: Secret, noise: Noise = NOTHING, exponent: int = 1
) -> Noise:
    """V_in + n (V_row sum E[x^2] + E[eps^2] E[s^2]). secret: the old one; exponent: see `automorphism`."""
    dropped = rounding_by_secret(n, gadget.error_square, gadget.error_mean, secret, exponent)
    return noise + digit_noise(n, gadget, rows) + Noise(dropped)


def automorphism(
    n: Numbers, gadget: GadgetNoise, rows: Noise, secret: Secret, exponent: int, noise: Noise = NOTHING
) -> Noise:
    """X -> X^exponent and the key switch back: it permutes the input noise, and s before the switch."""
    return rlwe_key_switch(n, gadget, rows, secret, noise, exponent)


def ring_switch(n: Numbers, gadget: GadgetNoise, rows: Noise, secret: Secret, noise: Noise = NOTHING) -> Noise:
    """Key switch to s'(X^f) in the ring of n, then every f-th coefficient: as much noise as the key switch.

    The dimension in the formula is the large n, though the result lives in n / f.
    """
    return rlwe_key_switch(n, gadget, rows, secret, noise)


def rounding(modulus: Integers, to_modulus: Integers) -> tuple[Numbers, Numbers]:
    """(E[d^2], E[d]) of d = round(q'/q x) - q'/q x, x uniform modulo q, ties rounded up.

    d takes the multiples of 1/r in (-1/2, 1/2], r = q / gcd(q, q'): (1 - 1/r^2)/12 for odd r, else (1 + 2/r^2)/12 and
    a mean of 1/(2r); 0 where q divides q'. 1/12 for all practical purposes.
    """

    def moments(q: int, to: int) -> tuple[float, float]:
        r = int(q) // gcd(int(q), int(to))
        return ((1 - r**-2) / 12, 0.0) if r % 2 else ((1 + 2 * r**-2) / 12, 0.5 / r)

    square, mean = np.frompyfunc(moments, 2, 2)(np.asarray(modulus, dtype=object), np.asarray(to_modulus, dtype=object))
    return np.asarray(square, dtype=float)[()], np.asarray(mean, dtype=float)[()]


def modulus_switch(
    n: Numbers, modulus: Integers, to_modulus: Integers, secret: Secret, noise: Noise = NOTHING
) -> Noise:
    """Both components to q': (q'/q)^2 V_in + (1 + n E[s^2]) / 12, in units of q'.

    Pirouette Theorem A.14 says the same with ||s||^2 for n E[s^2]; Theorem A.17 prints (Q/q')^2 for (q'/Q)^2.
    """
    return split_modulus_switch(n, modulus, to_modulus, to_modulus, secret, noise)


def split_modulus_switch(
    n: Numbers,
    modulus: Integers,
    to_modulus_a: Integers,
    to_modulus_b: Integers,
    secret: Secret,
    noise: Noise = NOTHING,
) -> Noise:
    """b to q_b, a to q_a, decoded as b' - (q_b/q_a) a' s, in units of q_b:

    (q_b/q)^2 V_in + 1/12 + (q_b/q_a)^2 n E[s^2] / 12. Spiral and Respire; SimpleYPIR's analysis has the subgaussian
    1/4 in place of 1/12, a bound three times the variance.
    """
    shrink = np.asarray(ratio(to_modulus_b, modulus)) ** 2
    square_b, mean_b = rounding(modulus, to_modulus_b)
    square_a, mean_a = rounding(modulus, to_modulus_a)
    relative = np.asarray(ratio(to_modulus_b, to_modulus_a))
    cross = 2 * mean_a * mean_b * np.asarray(secret.mean) * relative
    by_secret = rounding_by_secret(n, square_a, mean_a, secret) * relative**2
    return noise.scaled(shrink) + Noise(square_b + by_secret - cross)
