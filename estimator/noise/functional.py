"""Noise of functional bootstrapping: tables of one rotation, the homomorphic floor, the bits of a digit.

All results are under the ring's key. `rotated` is the noise of a rotation's accumulator (circuit.blind_rotation); what
a rotation's input carries decides but does not stay. impl/lattice/src/functional has the operations.
"""

import numpy as np

from . import lattice
from .error import Noise, Numbers
from .lattice import Secret


def table_square(values: Numbers) -> Numbers:
    """Sum of squared steps of the tables in the last axis, from minus the last value on, halved.

    A table of values h_i is J (1 - X) T / 2 with J = 1 + X + ... + X^(N-1), so that a rotation of J serves all tables.
    """
    values = np.asarray(values, dtype=float)
    before = np.concatenate([-values[..., -1:], values[..., :-1]], axis=-1)
    return np.sum(np.square((values - before) / 2), axis=-1)


def table(values: Numbers, rotated: Noise) -> Noise:
    """A table's value by a multi-value rotation: ||steps||^2 V_rotation."""
    return lattice.norm_product(table_square(values), rotated)


def bit_square(bits: Numbers, bit: Numbers) -> Numbers:
    """The factor of V_rotation for one bit of a digit of `bits` bits, 0 the lowest: 2^(bits - 1 - bit).

    The bit is constant on runs of 2^bit of the 2^(bits - 1) windows below N; each run's step is 1 or -1, and the
    highest bit has none but the one of the sign.
    """
    return np.exp2(np.subtract(np.subtract(bits, 1), bit))


def floor(n: Numbers, secret: Secret, rotated: Noise, ratio: Numbers, bits: Numbers, noise: Noise) -> Noise:
    """A ciphertext after one digit of `bits` bits is taken off, in units of its own modulus q = ratio Q.

    V_in + rotations (ratio^2 V_rotation + (1 + n E[s^2])/12), one rotation for the highest bit and one for the rest.
    Their tables give the digit itself, so that the noise before stays and that of the switch to the small key does not.
    """
    rotations = np.where(np.asarray(bits) > 1, 2.0, 1.0)
    rounding = Noise((1 + np.multiply(n, secret.square)) / 12)
    return noise + (rotated.scaled(np.square(ratio)) + rounding).scaled(rotations)
