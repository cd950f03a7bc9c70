"""Noise of ring packing: formulas against a schoolbook toy of both algorithms, and the published figures."""

from math import log2

import numpy as np
import pytest
import toy_lattice
from pirlab_estimator.noise import lattice
from pirlab_estimator.noise.digits import gadget
from pirlab_estimator.noise.lattice import GadgetNoise, Noise, Secret

Q = 268435399  # a prime below 2^28
Q56 = 268369921 * 249561089
KEYS = 1500


def make(family, base, n, dropped=0):
    toy = toy_lattice.Toy(KEYS, n, Q)
    length = len(gadget(family, Q, base, dropped).digits)
    return toy, toy_lattice.Digits(family, Q, base, length, dropped), GadgetNoise.of(family, Q, base, dropped)


def lwe_samples(toy, s, count):
    """Masks, bodies and errors of `count` LWE ciphertexts of zero under the coefficients of s."""
    masks, bodies, errors = [], [], []
    for _ in range(count):
        mask, error = toy.uniform(), toy.error()[:, 0]
        masks.append(mask)
        bodies.append((np.sum(mask * s, axis=1) + error) % toy.q)
        errors.append(error)
    return masks, bodies, np.stack(errors, axis=1)


def ring_mask(toy, mask):
    """sum_i a_i X^(-i), whose product with s has the constant coefficient <a, s>."""
    return toy.substitute(mask, 2 * toy.n - 1)


def switched(toy, mask, rows, digits, exponent):
    """A mask under tau(s) brought down by rows turned by X -> X^exponent: mask to subtract, body to subtract."""
    turned = [tuple(toy.substitute(x, exponent) % toy.q for x in row) for row in rows]
    return toy.gadget_product(turned, mask, digits)


def inspiring(toy, gamma, digits, generator, s):
    """InsPIRe's Algorithms 1 (gamma = n) and 2, written as sums over the group; returns the error of the bodies."""
    n, q, two_n = toy.n, toy.q, 2 * toy.n
    masks, bodies, errors = lwe_samples(toy, s, gamma)
    images = [ring_mask(toy, mask) for mask in masks]
    inverse = pow(gamma, -1, q)
    order = gamma // 2 if gamma == n else gamma
    powers = [pow(generator, i, two_n) for i in range(order)]

    def part(exponent):
        total = sum(toy.shift(toy.substitute(image, exponent), j) for j, image in enumerate(images))
        return total % q * inverse % q

    body = np.zeros_like(masks[0])
    body[:, :gamma] = np.stack(bodies, axis=1)
    rows = toy.prime(toy.substitute(s, generator), s, digits)
    chains = [[part(e) for e in powers]]
    if gamma == n:
        chains.append([part(two_n - e) for e in powers])
    for sign, chain in zip((1, -1), chains):
        for i in range(order - 2, -1, -1):
            mask, moved = switched(toy, chain[i + 1], rows, digits, sign * powers[i] % two_n)
            chain[i] = (chain[i] - mask) % q
            body = (body - moved) % q
    mask = chains[0][0]
    if gamma == n:
        conjugate = toy.prime(toy.substitute(s, two_n - 1), s, digits)
        extra, moved = toy.gadget_product(conjugate, chains[1][0], digits)
        mask, body = (mask - extra) % q, (body - moved) % q
    return toy, mask, body, errors


@pytest.mark.parametrize("family", ["balanced", "unsigned"])
@pytest.mark.parametrize(("n", "gamma"), [(16, 16), (16, 8), (32, 8)])
def test_inspiring_adds_one_key_switch_a_conjugate(family, n, gamma):
    toy, digits, predicted = make(family, 256, n)
    s, generator = toy.secret(), 5 if gamma == n else 2 * n // gamma + 1
    _, mask, body, errors = inspiring(toy, gamma, digits, generator, s)
    measured = toy.centred((body - toy.multiply(mask, s)) % toy.q)[:, :gamma] - errors
    noise = lattice.inspiring(n, gamma, predicted, Noise(toy.variance), Secret.ternary())
    # Digits with a mean give one value a key in common: its mean square has a deviation of sqrt(2 / keys).
    tolerance = 1 / 16 if family == "balanced" else 4 * (2 / KEYS) ** 0.5
    assert np.mean(measured**2.0) == pytest.approx(float(noise.variance), rel=tolerance)
    common = np.mean(np.mean(measured, axis=1) ** 2) / np.mean(measured**2.0)
    share = float(lattice.mean_in_common(predicted))
    assert (common > share - 0.2) if family == "unsigned" else share < 0.01
    whole = lattice.inspiring(n, gamma, predicted, Noise(1.0), Secret.ternary(), Noise(10.0))
    without = lattice.inspiring(n, gamma, predicted, Noise(1.0), Secret.ternary())
    assert float(whole.variance) == float(without.variance) + 10


def cdks(toy, digits, s):
    """The tree of n ciphertexts; returns mask and body."""
    n, q = toy.n, toy.q
    inverse = pow(n, -1, q)
    masks, bodies, errors = lwe_samples(toy, s, n)
    nodes = []
    for mask, body in zip(masks, bodies):
        wide = np.zeros_like(mask)
        wide[:, 0] = body
        nodes.append((ring_mask(toy, mask) % q * inverse % q, wide * inverse % q))
    levels = n.bit_length() - 1
    keys = {k: toy.prime(toy.substitute(s, 2**k + 1), s, digits) for k in range(1, levels + 1)}

    def pack(own, level):
        if level == 0:
            return own[0]
        even, odd = pack(own[0::2], level - 1), pack(own[1::2], level - 1)
        odd = tuple(toy.shift(x, n >> level) for x in odd)
        total, rest = toy.add(even, odd), toy.add(even, odd, -1)
        return toy.add(total, toy.automorphism(rest, 2**level + 1, keys[level], digits))

    return *pack(nodes, levels), errors


@pytest.mark.parametrize("family", ["balanced", "unsigned"])
def test_cdks_adds_a_third_of_n_squared_key_switches(family):
    toy, digits, predicted = make(family, 256, 16)
    s = toy.secret()
    mask, body, errors = cdks(toy, digits, s)
    measured = toy.centred((body - toy.multiply(mask, s)) % toy.q) - errors
    noise = lattice.cdks(16, predicted, Noise(toy.variance), Secret.ternary())
    tolerance = 1 / 16 if family == "balanced" else 4 * (2 / KEYS) ** 0.5
    assert np.mean(measured**2.0) == pytest.approx(float(noise.variance), rel=tolerance)


def test_dropped_digits_add_rounding_by_the_old_key():
    toy, digits, predicted = make("balanced", 64, 16, dropped=2)
    s = toy.secret()
    _, mask, body, errors = inspiring(toy, 8, digits, 5, s)
    measured = toy.centred((body - toy.multiply(mask, s)) % toy.q)[:, :8] - errors
    noise = lattice.inspiring(16, 8, predicted, Noise(toy.variance), Secret.ternary())
    exact = lattice.inspiring(16, 8, GadgetNoise.of("balanced", Q, 64), Noise(toy.variance), Secret.ternary())
    assert float(noise.variance) > 2 * float(exact.variance), "the rounding is most of it here"
    assert np.mean(measured**2.0) == pytest.approx(float(noise.variance), rel=1 / 16)


def published(family):
    return GadgetNoise.of(family, Q56, 1 << 19), lattice.fresh(6.4), Secret.fixed_weight(512, 2048)


def test_published_parameters():
    """Facts: 2^32.47 with unsigned digits, a bit less with signed ones; CDKS about 4.7 bits above."""
    unsigned, fresh, secret = published("unsigned")
    signed, _, _ = published("balanced")
    full = log2(lattice.inspiring(2048, 2048, unsigned, fresh, secret).variance) / 2
    assert full == pytest.approx(32.47, abs=0.015)
    less = log2(lattice.inspiring(2048, 2048, signed, fresh, secret).variance) / 2
    assert less == pytest.approx(31.47, abs=0.05)
    # Theorems 2 and 4: ell gamma n z^2 sigma^2 / 4.
    theorem = log2(3 * 2048 * 2048 * float(1 << 19) ** 2 * fresh.variance / 4) / 2
    assert theorem == pytest.approx(32.47, abs=0.005) and abs(theorem - full) < 0.015
    joined = log2(lattice.cdks(2048, unsigned, fresh, secret).variance) / 2
    assert joined - full == pytest.approx(log2(2048 / 3) / 2, abs=0.001)
    assert float(lattice.mean_in_common(unsigned)) == pytest.approx(0.75, abs=0.01)
    assert float(lattice.mean_in_common(signed)) < 0.001


def test_packing_is_array_valued():
    gadgets, fresh, secret = published("unsigned")
    gammas = np.array([16.0, 64.0, 1024.0])
    together = lattice.inspiring(2048.0, gammas, gadgets, fresh, secret).variance
    each = [float(lattice.inspiring(2048.0, g, gadgets, fresh, secret).variance) for g in gammas]
    assert together.tolist() == pytest.approx(each)
