"""Noise of functional bootstrapping: closed forms against the tables they come from."""

import numpy as np
import pytest
from pirlab_estimator.noise import circuit, functional
from pirlab_estimator.noise.lattice import NOTHING, GadgetNoise, Noise, Secret

N, Q = 2048, 268369921 * 249561089


def polynomial_steps(values):
    """(1 - X) T / 2 by the definition, T constant on windows."""
    test = np.repeat(values, 64 // len(values))
    turned = np.concatenate([-test[-1:], test[:-1]])
    return (test - turned) / 2


@pytest.mark.parametrize("values", [[1], [-1], [0, 2], [2, 2], [0, 2, 4, -6], [1, -1, 3, 3, -5, 1, 1, 7]])
def test_steps_of_tables(values):
    values = np.array(values)
    steps = polynomial_steps(values)
    assert functional.table_square(values) == pytest.approx(np.sum(steps**2))
    # 1 + X + ... times the steps is the table: running sums, less what lies behind.
    running = np.cumsum(steps)
    product = running - (running[-1] - running)
    assert product == pytest.approx(np.repeat(values, 64 // len(values)))


@pytest.mark.parametrize("bits", [1, 2, 3, 5])
def test_bits_are_tables(bits):
    windows = np.arange(1 << (bits - 1))
    tables = [2 * (windows >> k & 1) for k in range(bits - 1)] + [-np.ones_like(windows)]
    squares = functional.table_square(np.array(tables))
    assert functional.bit_square(bits, np.arange(bits)) == pytest.approx(squares)
    noise = functional.table(np.array(tables), Noise(10.0))
    assert noise.variance == pytest.approx(10 * squares)


def test_a_floor_keeps_its_noise_and_adds_that_of_its_rotations():
    gadget = GadgetNoise.of("balanced", Q, 256)
    rotated = circuit.blind_rotation(np.array([500, 780]), N, gadget, Noise(400.0), Secret.ternary(), True)
    ratio = 2.0**56 / Q
    of = lambda bits, noise: functional.floor(N, Secret.ternary(), rotated, ratio, bits, noise).variance  # noqa: E731
    added = 2 * (ratio**2 * rotated.variance + (1 + N * 2 / 3) / 12)
    assert of(5, NOTHING) == pytest.approx(added)
    assert of(5, Noise(1e9)) == pytest.approx(added + 1e9)
    assert of(1, NOTHING) == pytest.approx(added / 2)
