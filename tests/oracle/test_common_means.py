"""Means of digits that meet means of digits: a product with rows that a trace made, under many keys."""

import numpy as np
import pytest
from pirlab_estimator.noise import lattice
from pirlab_estimator.noise.error import Noise
from pirlab_estimator.noise.lattice import GadgetNoise, Secret

N, ROWS, SPACING, LENGTH, KEYS = 64, 6, 8, 6, 8000
FRESH = Noise(1.0)


def digits_of(rng, base, shape):
    """Balanced digits far from the ends of a modulus."""
    return rng.integers(-(base // 2), (base + 1) // 2, shape)


def gadget_of(base, length):
    digits = np.arange(-(base // 2), (base + 1) // 2)
    square, mean = length * np.mean(digits**2.0), length * np.mean(digits) ** 2
    return GadgetNoise(square, square, mean, 0.0, 0.0)


def product(a, b):
    """Modulo X^N + 1; of several polynomials a key, the sum."""
    each = np.fft.rfft(a, 2 * N) * np.fft.rfft(b, 2 * N)
    wide = np.fft.irfft(each.reshape(KEYS, -1, N + 1).sum(axis=1), 2 * N)
    return wide[..., :N] - wide[..., N:]


def turned(polynomial, places):
    """X^places times it."""
    wide = np.roll(np.concatenate((polynomial, -polynomial), axis=-1), places, axis=-1)
    return wide[..., :N]


def automorphism(polynomial, exponent):
    places = np.arange(N) * exponent % (2 * N)
    image = np.empty_like(polynomial)
    image[..., places % N] = np.where(places < N, 1, -1) * polynomial
    return image


def rows_of(rng, base):
    """Errors of the rows that a tree of automorphisms makes of an exact accumulator, under KEYS keys."""
    nodes = {0: np.zeros((KEYS, N))}
    places = {t * SPACING for t in range(ROWS)}
    for level in range(N.bit_length() - 1):
        keys = rng.normal(size=(KEYS, LENGTH, N))
        grown = {}
        for residue, node in nodes.items():
            switched = product(digits_of(rng, base, keys.shape), keys)
            image = automorphism(node, (N >> level) + 1) + switched
            step = 1 << level
            for child, error in ((residue, node + image), (residue + step, turned(node - image, 2 * N - step))):
                if child in {place % (2 * step) for place in places}:
                    grown[child] = error
        nodes = grown
    return [nodes[t * SPACING] for t in range(ROWS)]


@pytest.mark.parametrize("base", [3, 4])
def test_means_of_a_product_meet_those_of_the_trace_that_made_its_rows(base):
    rng = np.random.default_rng(1)
    secret = rng.integers(-1, 2, (KEYS, N))
    error = np.zeros((KEYS, N))
    for row in rows_of(rng, base):
        body, mask = (digits_of(rng, base, (KEYS, N)) for _ in range(2))
        error += product(body, row) - product(product(mask, secret), row)
    made, used = gadget_of(base, LENGTH), gadget_of(base, ROWS)
    switch = lattice.rlwe_key_switch(N, made, FRESH, Secret.ternary())
    body = lattice.trace(N.bit_length() - 1, switch, Noise(0.0)).everywhere
    rows = lattice.RgswNoise(body.scaled(N * 2 / 3), body)
    white = lattice.converted_product(N, used, rows, Secret.ternary()).digits.variance
    met = lattice.common_means(N, used, made, FRESH, Secret.ternary(), SPACING, ROWS).variance
    assert (met > white / 8) == (base == 4)
    measured = np.mean(error**2, axis=1)
    assert np.mean(measured) == pytest.approx(white + met, abs=4 * np.std(measured) / np.sqrt(KEYS), rel=0)
    # The white part alone is not the mean.
    off = np.mean(measured) - white
    assert (off > 4 * np.std(measured) / np.sqrt(KEYS)) == (base == 4)
