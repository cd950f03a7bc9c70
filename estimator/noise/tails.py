"""Failure probabilities in the log domain, so that 2^-300 is a number. All functions are array-valued.

A decision fails if a centred error reaches the threshold in absolute value: |error| >= threshold.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr

Array = NDArray[np.float64]
LN2 = float(np.log(2.0))


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


def _deviations(threshold: ArrayLike, stddev: ArrayLike) -> Array:
    threshold, stddev = np.asarray(threshold, dtype=float), np.asarray(stddev, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((stddev == 0) & (threshold == 0), 0.0, threshold / stddev)


def log2_union(log2_probability: ArrayLike, count: ArrayLike = 1.0, axis: int = -1) -> Array:
    """Union bound over the last axis: log2 min(1, sum count * 2^log2_probability); a count of 0 adds nothing."""
    with np.errstate(divide="ignore"):
        terms = np.asarray(log2_probability, dtype=float) + np.log2(np.asarray(count, dtype=float))
    return np.minimum(0.0, np.logaddexp2.reduce(terms, axis=axis))
