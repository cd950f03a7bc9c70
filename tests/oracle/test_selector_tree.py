"""The selector tree's errors, leaf by leaf, of real ciphertexts under many keys: what any data can make of them."""

from dataclasses import replace
from itertools import product as patterns

import numpy as np
import pytest
from pirlab_estimator.noise import lattice
from pirlab_estimator.noise.circuit_selection import Setting
from pirlab_estimator.noise.error import Noise
from pirlab_estimator.noise.lattice import GadgetNoise, Secret

N, BASE, LENGTH, KEYS, P = 16, 16, 6, 6000, 16
Q = (1 << 23) - 15
"""BASE^LENGTH is above 2 Q, so that symmetric digits are exact."""


def multiply(a, b):
    """Modulo X^N + 1 and not modulo Q, exact: the factors are digits or ternary on one side."""
    wide = np.zeros((*np.broadcast_shapes(a.shape[:-1], b.shape[:-1]), 2 * N), dtype=np.int64)
    for i in range(N):
        wide[..., i : i + N] += a[..., i : i + 1] * b
    return wide[..., :N] - wide[..., N:]


def digits(u):
    """Symmetric digits, lowest first: those of min(u, Q - u), negated where that is Q - u."""
    centred = (u + Q // 2) % Q - Q // 2
    sign, rest = np.sign(centred), np.abs(centred)
    found = []
    for _ in range(LENGTH):
        digit = (rest + BASE // 2) % BASE - BASE // 2
        found.append(sign * digit)
        rest = (rest - digit) // BASE
    assert not rest.any()
    return found


def rows_of(rng, secret, message):
    """RLWE encryptions of message BASE^t, errors of standard deviation 3."""
    found = []
    for t in range(LENGTH):
        a = rng.integers(0, Q, (KEYS, N))
        error = np.rint(3 * rng.normal(size=(KEYS, N))).astype(np.int64)
        found.append((a, (multiply(secret, a) + error + message * BASE**t) % Q))
    return found


def leaves_of(rng, bits):
    """Errors of the leaves for an index of ones: shape (2^bits, KEYS, N)."""
    secret = rng.integers(-1, 2, (KEYS, N))
    one = np.zeros((KEYS, N), dtype=np.int64)
    one[:, 0] = 1
    weight = Q // P
    nodes = [(np.zeros_like(one), one * weight)]
    for _ in range(bits):
        by_mask, by_body = rows_of(rng, secret, -secret), rows_of(rng, secret, one)
        grown = []
        for a, b in nodes:
            terms = [*zip(digits(a), by_mask), *zip(digits(b), by_body)]
            right = [sum(multiply(x, row[i]) for x, row in terms) % Q for i in (0, 1)]
            grown += [((a - right[0]) % Q, (b - right[1]) % Q), tuple(right)]
        nodes = grown
    errors = []
    for place, (a, b) in enumerate(nodes):
        message = one * weight if place == len(nodes) - 1 else 0
        errors.append((b - multiply(secret, a) - message + Q // 2) % Q - Q // 2)
    return np.array(errors, dtype=float)


def setting_of(bits):
    gadget = GadgetNoise.of("symmetric", Q, BASE)
    one, secret = Noise(1.0), Secret.ternary()
    sizes = {"plain_modulus": float(P), "first_bits": float(bits), "rows": 2.0**bits}
    others = {"fold_bits": 0.0, "rotation_bits": 0.0, "first_modulus": Q, "rotated": one}
    return Setting(N, Q, one, secret, automorphism=gadget, squaring=gadget, rgsw=gadget, **sizes, **others)


@pytest.mark.parametrize("bits", [2, 3])
def test_no_data_make_more_of_the_errors_than_the_bound(bits):
    """Under the root both halves err oppositely, so that data which follow them meet one error twice as large."""
    errors = leaves_of(np.random.default_rng(3), bits).reshape(1 << bits, -1)
    covariance = errors @ errors.T / errors.shape[1]
    ends = np.array(list(patterns((-P // 2, P // 2 - 1), repeat=1 << bits)), dtype=float)
    worst = np.einsum("di,ij,dj->d", ends, covariance, ends).max()
    setting = setting_of(bits)
    # Errors of rows are rounded to integers.
    one_product = lattice.digit_noise(2 * N, setting.rgsw, Noise(9 + 1 / 12)).variance
    assert worst == pytest.approx(one_product * setting._nodes.sum(), rel=0.04)
    assert setting._nodes.sum() == (1 << bits) * (P - 1) ** 2


def test_the_roundings_of_the_two_leaves_of_one_bit_are_opposite():
    """left = root - right, and the root has no mask: its leaves' masks are opposite, and so is what rounding adds."""
    rng = np.random.default_rng(4)
    right, secret = rng.integers(0, Q, (KEYS, N)), rng.integers(-1, 2, (KEYS, N))
    small = 1 << 12

    def rounding(mask):
        return multiply(secret, np.rint(mask * small / Q).astype(np.int64)) - multiply(secret, mask) * (small / Q)

    met = (P // 2 - 1) * rounding(right) - P // 2 * rounding((-right) % Q)
    setting = replace(setting_of(1), modulus=Q, first_modulus=small)
    by_mask = setting.leaf_rounding.variance * (N * 2 / 3) / (1 + N * 2 / 3) * (small / Q) ** 2
    whole = replace(setting, first_modulus=Q)
    both = setting.first_product_bound.variance - whole.first_product_bound.variance
    assert np.mean(met**2) == pytest.approx(by_mask * (P - 1) ** 2, rel=0.04)
    assert both == pytest.approx(setting.leaf_rounding.variance * N * (P - 1) ** 2)
