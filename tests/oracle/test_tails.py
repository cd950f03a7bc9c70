"""Tails of mixtures: against the fixed variance, against samples, and where one formula is known."""

from functools import partial

import numpy as np
import pytest
from pirlab_estimator.noise import tails
from pirlab_estimator.noise.tails import (
    LONG_KEYS,
    Mixture,
    log2_gaussian_tail,
    log2_mixture_union,
    log2_subgaussian_tail,
)

MARGINS = np.array([2.0, 4.0, 6.0, 8.2, 9.5])
NO_KEY = 1e12


def log2_mixture_tail(threshold, stddev, mixture):
    """log2 Pr[|X| >= threshold] of one decision."""
    deviations = tails._deviations(threshold, stddev)
    return tails._for_any_key(partial(tails._log2_tail_of_usual_keys, deviations, mixture)).failure


def test_many_squares_are_a_fixed_variance():
    mixed = log2_mixture_tail(MARGINS, 1.0, Mixture.even(1e9, NO_KEY))
    np.testing.assert_allclose(mixed, log2_subgaussian_tail(MARGINS, 1.0), rtol=1e-3)
    assert np.all(mixed >= log2_subgaussian_tail(MARGINS, 1.0))


def test_equal_squares_have_the_best_of_chernoff_s_bounds():
    """2 exp(-h t) (1 - h^2 / k)^(-k/2), h = (sqrt(1 + 4 t^2 / k) - 1) k / (2 t)."""
    for k in (20.0, 72.0, 200.0):
        h = (np.sqrt(1 + 4 * MARGINS**2 / k) - 1) * k / (2 * MARGINS)
        best = 1 + (-h * MARGINS - k / 2 * np.log1p(-(h**2) / k)) / np.log(2)
        found = log2_mixture_tail(MARGINS, 1.0, Mixture.even(k, NO_KEY))
        np.testing.assert_allclose(found, np.minimum(0, best), atol=0.02)
        assert np.all(found >= np.minimum(0, best) - 1e-9)


def test_a_random_variance_is_worse_and_the_more_so_the_fewer_squares():
    bounds = [float(log2_mixture_tail(8.6, 1.0, Mixture.even(k, NO_KEY))) for k in (1e6, 1e3, 200.0, 80.0)]
    assert bounds == sorted(bounds)
    assert bounds[-1] > bounds[0] + 10
    even, halves = Mixture.even(100.0, NO_KEY), Mixture(np.array([1 / 50, 1 / 1e6]), np.array([25.0, 5e5]), NO_KEY)
    assert log2_mixture_tail(8.6, 1.0, halves) > log2_subgaussian_tail(8.6, 1.0)
    # Shares up to 1/50 are worse than all of 1/100, if only half of the variance has them: less so than all of 1/50.
    assert log2_mixture_tail(8.6, 1.0, even) < log2_mixture_tail(8.6, 1.0, Mixture.even(50.0, NO_KEY))
    assert log2_mixture_tail(8.6, 1.0, halves) < log2_mixture_tail(8.6, 1.0, Mixture.even(50.0, NO_KEY))


@pytest.mark.parametrize("key_squares", [NO_KEY, 40.0])
def test_samples_stay_below_the_bound_and_above_the_tail_of_a_fixed_variance(key_squares):
    rng = np.random.default_rng(5)
    shares, counts, samples = np.array([0.125, 0.05]), np.array([4.0, 6.0]), 2_000_000
    squares = sum(s * rng.chisquare(int(c), samples) for s, c in zip(shares, counts))
    key = 1.0 if key_squares == NO_KEY else rng.chisquare(int(key_squares), samples) / key_squares
    x = rng.normal(size=samples) * np.sqrt(key * (0.2 + squares))
    mixture = Mixture(shares, counts, key_squares)
    for threshold in (3.0, 4.0, 4.5):
        observed = np.log2(np.mean(np.abs(x) >= threshold))
        assert observed < log2_mixture_tail(threshold, 1.0, mixture)
    assert observed > log2_gaussian_tail(threshold, 1.0) + 2


def test_bounds_broadcast_and_are_probabilities():
    mixture = Mixture(np.array([[0.01], [0.02]]), np.array([[100.0], [50.0]]), np.array([8192.0, 4096.0]))
    found = log2_mixture_tail(MARGINS[:, None], 1.0, mixture)
    assert found.shape == (5, 2)
    assert np.all(found <= 0)
    assert np.all(np.diff(found, axis=0) <= 0)
    assert log2_mixture_tail(0.0, 1.0, mixture).tolist() == [0, 0]
    classes = mixture.of_classes()
    assert log2_mixture_tail(MARGINS[None, :], 1.0, classes).shape == (2, 5)


def test_without_error_only_a_key_that_is_too_long_is_left():
    mixture = Mixture.even(1000.0, 2048.0)
    none, some = log2_mixture_tail(8.6, np.array([0.0, 1.0]), mixture)
    assert none == LONG_KEYS[-1] and some > none


def test_large_margins_have_small_bounds():
    """A bound falls with its margin, far below what the first length of keys leaves."""
    mixture = Mixture.even(1e6, 4096.0)
    at_20, at_40 = log2_mixture_tail(np.array([20.0, 40.0]), 1.0, mixture)
    assert at_40 < -500 < at_20 < -200
    assert at_40 >= log2_subgaussian_tail(40.0, 1.0)


def test_a_key_that_is_too_long_is_one_event_whatever_the_number_of_decisions():
    """Without errors nothing else is left; with errors the union is below that of decisions with a key each."""
    mixture, decisions = Mixture.even(1000.0, 2048.0), np.array([512.0])
    assert log2_mixture_union(8.6, np.array([0.0]), mixture, 2.0**20) == LONG_KEYS[-1]
    for margin in (8.6, 9.5, 10.2, 11.0, 12.0):
        apart = log2_mixture_tail(margin, 1.0, mixture) + np.log2(decisions[0])
        together = log2_mixture_union(np.array([margin]), 1.0, mixture, decisions)
        assert log2_subgaussian_tail(margin, 1.0) + 9 <= together <= apart
    one = log2_mixture_union(MARGINS[:, None], 1.0, mixture, 1.0)
    np.testing.assert_array_equal(one, log2_mixture_tail(MARGINS, 1.0, mixture))


def test_the_event_of_a_long_key_is_not_multiplied_by_the_decisions():
    """Where the bound for usual keys is far below the rarest key's probability, the union is that probability."""
    mixture = Mixture.even(1e9, 1e7)
    apart = log2_mixture_tail(100.0, 1.0, mixture) + 16
    together = log2_mixture_union(np.array([100.0]), 1.0, mixture, 2.0**16)
    assert together == pytest.approx(LONG_KEYS[-1], abs=1e-6) and apart == pytest.approx(together + 16)


def test_the_union_of_classes_is_over_their_decisions():
    """Classes side by side, and descriptions with mixtures of their own."""
    mixture = Mixture(np.array([[0.01], [0.02]]), np.array([[100.0], [50.0]]), np.array([8192.0, 4096.0]))
    counts = np.array([[3.0, 4.0], [5.0, 0.0]])
    found = log2_mixture_union(np.array([[6.0, 6.5], [6.0, 1.0]]), 1.0, mixture, counts)
    each = log2_mixture_tail(np.array([[6.0, 6.5], [6.0, 1.0]]).T, 1.0, mixture).T
    terms = counts * np.exp2(each)
    np.testing.assert_allclose(np.exp2(found), terms.sum(axis=1), rtol=1e-6)
