"""Failure probabilities in the log domain, so that 2^-300 is a number. All functions are array-valued.

A decision fails if a centred error reaches the threshold in absolute value: |error| >= threshold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import lambertw, log_ndtr

Array = NDArray[np.float64]
LN2 = float(np.log(2.0))
#: Probabilities, as log2, that a key is longer than a mixture's bound allows for; each gives a bound, to which it is
#: added: the rarer, the larger the error that has to be allowed for.
LONG_KEYS = (-70.0, -140.0, -280.0, -560.0, -1120.0)
#: A bound so many bits above what is added does not gain from less.
NEGLIGIBLE = 24.0
#: Points of the Chernoff bound's parameter that are tried: each gives a bound, the best of so many is within 0.01 bit.
POINTS = 64


@dataclass(frozen=True)
class Mixture:
    """Where a variance V is itself random: S = G (V_fixed + sum_i lambda_i g_i^2), g independent standard Gaussians.

    Digits of ciphertexts are multiplied with errors of keys or selectors; given these, the error is a sum over
    independent digits, subgaussian with S, and E[S] = V. G = |s|^2 / (n E[s^2]) is what the ring key's length does.

    shares, counts: lambda_i / V by class, and how many squares of each; shape (..., classes), or (classes,) for all.
    What they leave of 1 is fixed.
    key_squares: G varies no more than the mean of so many squares, 2 / Var G: 4 n for a ternary key, 2 n for a binary
    one.
    """

    shares: Array
    counts: Array
    key_squares: ArrayLike

    def of_classes(self) -> Mixture:
        """Alike for all classes of decisions: shape (descriptions, 1, squares)."""
        return Mixture(self.shares[..., None, :], self.counts[..., None, :], np.asarray(self.key_squares)[..., None])

    @staticmethod
    def even(squares: ArrayLike, key_squares: ArrayLike) -> Mixture:
        """All of the variance on so many squares, each as large."""
        squares = np.asarray(squares, dtype=float)[..., None]
        return Mixture(1 / squares, squares, key_squares)


def log2_gaussian_tail(threshold: ArrayLike, stddev: ArrayLike) -> Array:
    """log2 Pr[|X| >= threshold] for X Gaussian of that standard deviation (log2 of erfc(t / sqrt 2)).

    The error of an answer is a sum of thousands of independent terms; that it is Gaussian is the central limit
    theorem, not a bound. -inf where stddev is 0 and the threshold is positive.
    """
    return np.minimum(0.0, 1.0 + log_ndtr(-_deviations(threshold, stddev)) / LN2)


def log2_subgaussian_tail(threshold: ArrayLike, stddev: ArrayLike) -> Array:
    """log2 of the Chernoff bound 2 exp(-t^2 / 2), t = threshold / stddev, capped at probability 1.

    Rigorous: a discrete Gaussian over Z is subgaussian with its stddev as parameter (Micciancio, Peikert,
    Eurocrypt 2012, Lemma 2.8), and fixed integer combinations of independent ones are, with variances added.
    """
    return np.minimum(0.0, 1.0 - _deviations(threshold, stddev) ** 2 / (2.0 * LN2))


def log2_mixture_tail(threshold: ArrayLike, stddev: ArrayLike, mixture: Mixture) -> Array:
    """log2 Pr[|X| >= threshold] for X that is subgaussian with the random variance S of the mixture, E[S] = stddev^2.

    2 exp(-h t) E exp(h^2 S / 2) for the best h. With theta = h^2 V / 2,
    psi(theta) = theta (1 - sum shares) - sum counts / 2 ln(1 - 2 theta share), which is convex, so that for G <= g
    psi(theta G) <= G c, c = psi(theta g) / g; and E exp(c G) <= (1 - 2 c / K)^(-K / 2) for K key_squares. That G
    exceeds g has one of the probabilities LONG_KEYS at most, also by Chernoff's bound.
    """
    deviations = _deviations(threshold, stddev)
    return _for_any_key(partial(_log2_tail_of_usual_keys, deviations, mixture))


def log2_mixture_union(threshold: ArrayLike, stddev: ArrayLike, mixture: Mixture, count: ArrayLike) -> Array:
    """log2 Pr that one of the decisions fails, `count` of each class along the last axis, all under one key.

    That the key is too long is one event, however many decisions are taken under it: it is added once, to the union of
    those that fail under a usual key.
    """
    deviations, of_classes = _deviations(threshold, stddev), mixture.of_classes()
    return _for_any_key(lambda long_key: log2_union(_log2_tail_of_usual_keys(deviations, of_classes, long_key), count))


def _for_any_key(of_usual_keys: Callable[[float], Array]) -> Array:
    """The best bound over LONG_KEYS: a failure under a usual key, or a key that is too long."""
    found: Array | None = None
    for long_key in LONG_KEYS:
        bound = np.logaddexp2(of_usual_keys(long_key), long_key)
        found = bound if found is None else np.minimum(found, bound)
        if np.all(found > long_key + NEGLIGIBLE):
            break
    assert found is not None
    return np.minimum(0.0, found)


def _log2_tail_of_usual_keys(deviations: Array, mixture: Mixture, long_key: float) -> Array:
    """log2 of the bound on a failure with a key that is not among the longest."""
    k = np.asarray(mixture.key_squares, dtype=float)
    largest = np.max(mixture.shares, axis=-1)
    fixed = np.maximum(0.0, 1 - np.sum(mixture.shares * mixture.counts, axis=-1))
    best = np.zeros(np.broadcast_shapes(deviations.shape, k.shape, fixed.shape))
    # Without any error, or with a few squares, some points are infinity less infinity.
    with np.errstate(divide="ignore", invalid="ignore"):
        # exp(-K/2 (g - 1 - ln g)) = 2^long_key.
        longest = -np.real(lambertw(-np.exp(-1 + 2 * long_key * LN2 / k), -1))
        widest = np.minimum(np.minimum(deviations, 1e3), 1 / np.sqrt(longest * np.maximum(largest, 1e-30)))
        for point in np.arange(1, POINTS) / POINTS:
            h = point * widest
            theta = h * h * longest / 2
            spread = np.sum(mixture.counts * np.log1p(-2 * theta[..., None] * mixture.shares), axis=-1) / 2
            c = (theta * fixed - spread) / longest
            exponent = -h * deviations - k / 2 * np.log1p(-np.minimum(2 * c / k, 1.0))
            best = np.fmin(best, exponent)
    return np.minimum(0.0, 1.0 + best / LN2)


def _deviations(threshold: ArrayLike, stddev: ArrayLike) -> Array:
    threshold, stddev = np.asarray(threshold, dtype=float), np.asarray(stddev, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((stddev == 0) & (threshold == 0), 0.0, threshold / stddev)


def log2_union(log2_probability: ArrayLike, count: ArrayLike = 1.0, axis: int = -1) -> Array:
    """Union bound over the last axis: log2 min(1, sum count * 2^log2_probability); a count of 0 adds nothing."""
    with np.errstate(divide="ignore"):
        terms = np.asarray(log2_probability, dtype=float) + np.log2(np.asarray(count, dtype=float))
    return np.minimum(0.0, np.logaddexp2.reduce(terms, axis=axis))
