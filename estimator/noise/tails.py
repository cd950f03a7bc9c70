"""Failure probabilities in the log domain, so that 2^-300 is a number. All functions are array-valued.

A decision fails if a centred error reaches the threshold in absolute value: |error| >= threshold.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import lambertw, log_ndtr

Array = NDArray[np.float64]
LN2 = float(np.log(2.0))
#: Probabilities, as log2, that a key is longer than a mixture's bound allows for. Each gives a bound, to which it is
#: added: the rarer the longer keys are, the larger is the error that the bound has to allow for.
LONG_KEYS = (-70.0, -140.0, -280.0, -560.0, -1120.0)
#: A bound that is this many bits above the probability added to it gains nothing from a smaller probability.
NEGLIGIBLE = 24.0
#: Where lengths are chosen freely: the rarest long key that is counted, the number of halvings of the choice, and how
#: many bits rarer the keys are that are tried beside the choice that balances both terms.
LEAST, HALVINGS, RARER = -4096.0, 40, (0.0, 1.0, 2.0, 4.0, 8.0)
#: Points of the Chernoff bound's parameter that are tried: each gives a bound, the best of these is within 0.01 bit.
POINTS = 64
#: How many numbers are held at once for some of these points.
AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Mixture:
    """Where a variance V is itself random: S = G (V_fixed + sum_i lambda_i g_i^2), g independent standard Gaussians.

    Digits of ciphertexts are multiplied with errors of keys or selectors; given these, the error is a sum over
    independent digits, subgaussian with S, and E[S] = V. G = |s|^2 / (n E[s^2]) is what the ring key's length does.

    shares, counts: lambda_i / V by class, and how many squares of each; shape (..., classes), or (classes,) for all.
    What they leave of 1 is fixed.
    key_squares: 2 / Var G, how many squares have a mean that varies as much: 4 n for a ternary key, 2 n for a binary
    one.
    """

    shares: Array
    counts: Array
    key_squares: ArrayLike

    def of_classes(self) -> "Mixture":
        """Alike for all classes of decisions: shape (descriptions, 1, squares)."""
        return Mixture(self.shares[..., None, :], self.counts[..., None, :], np.asarray(self.key_squares)[..., None])

    @staticmethod
    def even(squares: ArrayLike, key_squares: ArrayLike) -> "Mixture":
        """All of the variance on `squares` squares of the same size."""
        squares = np.asarray(squares, dtype=float)[..., None]
        return Mixture(1 / squares, squares, key_squares)


@dataclass(frozen=True)
class KeyLength:
    """Where a part of the variance V grows with the key's length: S = V (1 + share (G - 1)), G = |s|^2 / (n E[s^2]).

    Answers are rounded to small moduli, and the mask's rounding meets the key, as does what dropped digits leave of
    masks: for one key all its errors are larger or smaller. A key is drawn once and serves all queries, so the bound
    allows for keys up to a length and counts longer ones once, whatever the number of decisions: 2^log2_long_key is the
    share of keys that it says nothing of.

    share: by description and class of decisions, or one number for all classes. squares: a number k such that G varies
    no more than the mean of k squares of standard Gaussians (`longest_key`). keys: how many keys of that kind the
    answer meets.
    """

    share: ArrayLike
    squares: ArrayLike
    keys: int = 1

    @property
    def shares(self) -> Array:
        """The share by description and class."""
        share = np.asarray(self.share, dtype=float)
        return np.asarray(share[:, None] if share.ndim == 1 else share)

    def growth(self, log2_long_key: Array) -> Array:
        """The factor by which V grows for all keys but a share 2^log2_long_key; shape (descriptions, classes)."""
        longest = longest_key(log2_long_key - np.log2(self.keys), self.squares)
        return np.asarray(1 + self.shares * (longest - 1)[:, None])


def longest_key(log2_long_key: ArrayLike, squares: ArrayLike) -> Array:
    """The G = |s|^2 / (n E[s^2]) that a key exceeds with a probability of 2^log2_long_key at most.

    exp(-K/2 (g - 1 - ln g)), Chernoff's bound for the mean of K squares of Gaussians, which also holds for keys of n
    coefficients that are strictly subgaussian, K = n: E exp(c s^2) <= (1 - 2 c E[s^2])^(-1/2). Discrete Gaussians are,
    uniform ranges, ternary and binary ones, of which the last two vary less (K = 4 n and 2 n). 1 for infinite K.
    """
    exponent = -1 + 2 * LN2 * np.asarray(log2_long_key, dtype=float) / np.asarray(squares, dtype=float)
    # At the branch point itself, where the mean key is the longest, the function is not defined.
    with np.errstate(invalid="ignore"):
        return np.where(exponent < -1, -np.real(lambertw(-np.exp(exponent), -1)), 1.0)


def log2_gaussian_tail(threshold: ArrayLike, stddev: ArrayLike) -> Array:
    """log2 Pr[|X| >= threshold] for X Gaussian of that standard deviation (log2 of erfc(t / sqrt 2)).

    The error of an answer is a sum of thousands of independent terms; that it is Gaussian is the central limit
    theorem, not a bound. -inf where stddev is 0 and the threshold is positive.
    """
    return np.minimum(0.0, 1.0 + log_ndtr(-_deviations(threshold, stddev)) / LN2)


def log2_subgaussian_tail(threshold: ArrayLike, stddev: ArrayLike) -> Array:
    """log2 of the Chernoff bound 2 exp(-t^2 / 2), t = threshold / stddev, capped at probability 1.

    A theorem for what is subgaussian: a discrete Gaussian over Z is, with its stddev as parameter (Micciancio, Peikert,
    Eurocrypt 2012, Lemma 2.8), and fixed integer combinations of independent ones are, with variances added.
    """
    return np.minimum(0.0, 1.0 - _deviations(threshold, stddev) ** 2 / (2.0 * LN2))


class Union(NamedTuple):
    """log2 of a bound on a failure among the decisions of a record, and of the part of it that a long key makes.

    The latter is -inf where the bound holds for every key.
    """

    failure: Array
    long_key: Array


def mixture_union(threshold: ArrayLike, stddev: ArrayLike, mixture: Mixture, count: ArrayLike) -> Union:
    """log2 Pr that one of the decisions fails, `count` of each class along the last axis, all under one key.

    An error is subgaussian with the random variance S of the mixture, E[S] = stddev^2. That the key is too long is one
    event, however many decisions are taken under it: it is added once, to the union of those that fail under a usual
    key.
    """
    deviations, of_classes = _deviations(threshold, stddev), mixture.of_classes()
    return _for_any_key(lambda long_key: log2_union(_log2_tail_of_usual_keys(deviations, of_classes, long_key), count))


def log2_mixture_union(threshold: ArrayLike, stddev: ArrayLike, mixture: Mixture, count: ArrayLike) -> Array:
    """`mixture_union` without the part of a long key."""
    return mixture_union(threshold, stddev, mixture, count).failure


def key_union(threshold: ArrayLike, variance: Array, key: KeyLength, count: Array) -> Union:
    """The same for errors that are subgaussian with a variance that grows with the key; shapes (descriptions, classes).

    The length allowed for is where a longer key is as rare as a failure under this one: no other length gives a bound
    that is better by a bit. Somewhat rarer keys are tried, too.
    """
    thresholds = np.asarray(threshold, dtype=float)[..., None]

    def of_usual_keys(log2_long_key: Array) -> Array:
        stddev = np.sqrt(variance * key.growth(log2_long_key))
        return log2_union(log2_subgaussian_tail(thresholds, stddev), count)

    low, high = np.full(variance.shape[0], LEAST), np.zeros(variance.shape[0])
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        rarer = of_usual_keys(middle) < middle
        low, high = np.where(rarer, low, middle), np.where(rarer, middle, high)
    tried = [*(np.maximum(low - bits, LEAST) for bits in RARER), np.full_like(low, LEAST)]
    bounds = np.stack([np.logaddexp2(of_usual_keys(long_key), long_key) for long_key in tried])
    best = np.argmin(bounds, axis=0)[None]
    chosen, bound = (np.take_along_axis(each, best, axis=0)[0] for each in (np.stack(tried), bounds))
    # If even usual keys fail, the bound is trivial; if no key is longer, no probability has to be added.
    fixed = np.all(key.growth(low * 0 + LEAST) == 1, axis=1)
    counted = np.where(fixed, -np.inf, np.where(bound < 0, chosen, 0.0))
    return Union(np.where(fixed, of_usual_keys(low * 0), np.minimum(0.0, bound)), counted)


def _for_any_key(of_usual_keys: Callable[[float], Array]) -> Union:
    """The best bound over LONG_KEYS on a failure under a usual key or a key that is too long."""
    failure, counted = np.asarray(np.inf), np.asarray(LONG_KEYS[0])
    for long_key in LONG_KEYS:
        bound = np.logaddexp2(of_usual_keys(long_key), long_key)
        failure, counted = np.minimum(failure, bound), np.where(bound < failure, long_key, counted)
        if np.all(failure > long_key + NEGLIGIBLE):
            break
    return Union(np.minimum(0.0, failure), counted)


def _log2_tail_of_usual_keys(deviations: Array, mixture: Mixture, long_key: float) -> Array:
    """log2 of the bound on a failure with a key that is not among the longest.

    2 exp(-h t) E exp(h^2 S / 2) for the best h. With theta = h^2 V / 2,
    psi(theta) = theta (1 - sum shares) - sum counts / 2 ln(1 - 2 theta share), which is convex, so that for G <= g
    psi(theta G) <= G c, c = psi(theta g) / g; and E exp(c G) <= (1 - 2 c / K)^(-K / 2) for K key_squares. That G
    exceeds g has one of the probabilities LONG_KEYS at most, also by Chernoff's bound.
    """
    k = np.asarray(mixture.key_squares, dtype=float)
    largest = np.max(mixture.shares, axis=-1)
    fixed = np.maximum(0.0, 1 - np.sum(mixture.shares * mixture.counts, axis=-1))
    best = np.zeros(np.broadcast_shapes(deviations.shape, k.shape, fixed.shape))
    # Without any error, or with few squares, some points are infinity minus infinity.
    with np.errstate(divide="ignore", invalid="ignore"):
        longest = longest_key(long_key, k)
        widest = np.minimum(np.minimum(deviations, 1e3), 1 / np.sqrt(longest * np.maximum(largest, 1e-30)))
        # The points are the first axis; all at once for few decisions, where a call takes longer than its numbers.
        points = np.arange(1, POINTS).reshape(-1, *(1 for _ in best.shape)) / POINTS
        together = max(1, AT_ONCE // max(1, best.size * mixture.shares.shape[-1]))
        for begin in range(0, len(points), together):
            h = points[begin : begin + together] * widest
            theta = h * h * longest / 2
            spread = np.sum(mixture.counts * np.log1p(-2 * theta[..., None] * mixture.shares), axis=-1) / 2
            c = (theta * fixed - spread) / longest
            exponent = -h * deviations - k / 2 * np.log1p(-np.minimum(2 * c / k, 1.0))
            best = np.fmin(best, np.fmin.reduce(exponent, axis=0))
    return np.minimum(0.0, 1.0 + best / LN2)


def _deviations(threshold: ArrayLike, stddev: ArrayLike) -> Array:
    threshold, stddev = np.asarray(threshold, dtype=float), np.asarray(stddev, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((stddev == 0) & (threshold == 0), 0.0, threshold / stddev)


def log2_union(log2_probability: ArrayLike, count: ArrayLike = 1.0) -> Array:
    """Union bound over the last axis: log2 min(1, sum count * 2^log2_probability); a count of 0 adds nothing."""
    with np.errstate(divide="ignore"):
        terms = np.asarray(log2_probability, dtype=float) + np.log2(np.asarray(count, dtype=float))
    return np.minimum(0.0, np.logaddexp2.reduce(terms, axis=-1))
