"""Tails of polynomials in Gaussians: how rarely h_D(E_1, ..., E_m) is large, whose variance only rare values make.

h_D is the sum of all monomials of degree D. Of independent complex Gaussians z_j of mean square 1, the squares are
E_j = |z_j|^2, which are exponential, and
- a form of degree D with independent coefficients of mean square 1 is near a complex Gaussian of mean square h_D(E):
  its square has the law of h_D(E) times another exponential variable;
- one with coefficients up to 1 is at most h_D(sqrt E), whatever its coefficients.
A sum of many such values may be large without one that is: `log2_sum_tail` bounds that at every degree.
A tail is summed over the ratios of the others to the largest E_j, which is integrated over exactly. The ratios are a
fixed sequence of points, half of them near 0 as where one variable alone is large, half of them anywhere.
"""

from collections.abc import Callable
from functools import lru_cache
from math import lgamma, log, log2

import numpy as np
from numpy.typing import NDArray
from scipy.special import ive, logsumexp

from .tails import LN2

Array = NDArray[np.float64]

POINTS = {1: 1 << 9, 2: 1 << 12}
"""Points of each half by the root that is taken."""
SCALES = np.linspace(-6.0, 6.0, 81)
"""Logarithms of the exponential variable over which the first tail is summed."""


@lru_cache(maxsize=1 << 16)
def log2_form_tail(variables: int, degree: int, log2_square: float) -> float:
    """log2 Pr[|form|^2 >= 2^log2_square] of a form with random coefficients, of mean square 1."""
    each = _log_tail(variables, degree, log2_square * LN2 - SCALES, 1)
    found = logsumexp(each + SCALES - np.exp(SCALES)) + log(SCALES[1] - SCALES[0])
    return min(0.0, float(found) / LN2)


@lru_cache(maxsize=1 << 16)
def log2_largest_tail(variables: int, degree: int, log2_square: float) -> float:
    """log2 of a bound of the same for any coefficients up to 1."""
    return min(0.0, float(_log_tail(variables, degree, np.array([log2_square * LN2 / 2]), 2)[0]) / LN2)


Tail = Callable[[int, int, float], float]
"""log2 of a tail probability, by the number of variables, the degree and log2 of a square."""
CAPS = (1 / 2, 3 / 4, 7 / 8)
"""The shares c of the level of a sum that are tried as a cap on each of its terms."""
RATES = np.geomspace(1.0, 2048.0, 96)
"""Parameters of the exponential moment that are tried, times the level: each gives a bound."""
SIZES = np.exp2(-14.0 * np.linspace(1.0, 0.0, 192) ** 2)
"""Sizes of a term, as shares of the largest, over which its moment is summed: dense where it grows fastest."""


def log2_sum_tail(
    tail: Tail, variables: int, degree: int, terms: float, log2_square: float, *, bound: bool = True
) -> float:
    """log2 of a bound of the probability that a value is above a share c of a level, or one of two sums of `terms`
    values, the coefficients of a pair, reaches it where none is.

    The values x are independent, of uniform phase, and |x|^2 is above 2^w with the probability `tail`; log2_square is
    that of the level. With the level as unit, the bound is Pr[|x| > c] + 4 e^-r E[e^(r Re x); |x| <= c]^terms: a union,
    and Chernoff's bound of both signs of both sums. Given |x|, the mean of e^(r Re x) over the phase is I_0(r |x|), and
    over |x| at most 1 + r times the integral of I_1(r u) Pr[|x| > u]. It holds for each c and r; the best are taken.
    Where failures are frequent it is far too large. The estimate, bound = False, leaves out what a value between a
    quarter of the level and the level does with the help of others: Pr[|x| > 1], and Chernoff's bound at c = 1/4.
    """
    found = 0.0
    for cap in CAPS if bound else (1 / 4,):
        alone = tail(variables, degree, log2_square + (2 * log2(cap) if bound else 0.0))
        size = cap * SIZES
        above = _log_of(tail, variables, degree, log2_square + 2 * np.log2(size))
        argument = RATES[:, None] * size
        grown = np.log(ive(1, argument)) + argument + np.log(RATES[:, None]) + above
        # Trapezes; what is below the first size is at most r^2 u^2 / 4.
        cells = np.logaddexp(grown[:, 1:], grown[:, :-1]) + np.log(np.diff(size) / 2)
        moment = np.exp(np.minimum(logsumexp(cells, axis=1), 600.0)) + (RATES * size[0] / 2) ** 2
        together = float(np.min(2 * LN2 - RATES + terms * moment)) / LN2
        found = min(found, float(np.logaddexp2(alone, together)))
    return found


def _log_of(tail: Tail, variables: int, degree: int, levels: Array) -> Array:
    """ln of the tail at levels that ascend, from some that many calls share.

    Between these it is a line in 2^(level / D), which the largest |v|^2 is near: it falls like that variable.
    """
    step = max(0.5, degree / 16)
    known = step * np.arange(np.floor(levels[0] / step), np.ceil(levels[-1] / step) + 1)
    logs = LN2 * np.array([tail(variables, degree, float(level)) for level in known])
    return np.interp(np.exp2((levels - levels[-1]) / degree), np.exp2((known - levels[-1]) / degree), logs)


def _log_tail(variables: int, degree: int, log_levels: Array, root: int) -> Array:
    """ln Pr[h_D(E^(1/root)) >= level] of each level.

    m times the integral over the ratios y of the others to the largest E_1, in [0, 1], of that over E_1 from where
    E_1^(D/root) h_D(1, y^(1/root)) is the level: Gamma(m) (1 + sum y)^(-m) Q_m, Q_m the tail of a gamma variable.
    """
    m, levels = variables, log_levels[:, None]
    alone = np.exp(np.minimum(root * log_levels / degree, 300.0))
    ratios, log_density = _ratios(_points(m, POINTS[root]), np.maximum(alone / 2, 1.0)[:, None, None])
    total = 1 + np.sum(ratios, axis=-1)
    largest = np.exp(np.minimum(root * (levels - np.log(_form(degree, ratios ** (1 / root)))) / degree, 300.0))
    inner = lgamma(m) - log_density - m * np.log(total) + _log_gamma_tail(m, largest * total)
    return np.asarray(log(m) + logsumexp(inner, axis=-1) - log(inner.shape[-1]))


@lru_cache(maxsize=64)
def _points(variables: int, number: int) -> Array:
    """Points of the unit cube of one dimension less, a point for one variable."""
    if variables == 1:
        return np.zeros((1, 0))
    # This module takes longer to load than everything else that predicts, and few descriptions need it.
    from scipy.stats import qmc

    return np.asarray(qmc.Sobol(variables - 1, seed=1).random(number))


def _ratios(points: Array, rate: Array) -> tuple[Array, Array]:
    """The points with those that they become under exp(-rate y), and ln of the density of both together."""
    spread = -np.expm1(-rate)
    near = -np.log1p(-points * spread) / rate
    ratios = np.concatenate([near, np.broadcast_to(points, near.shape)], axis=1)
    of_near = np.sum(np.log(rate / spread) - rate * ratios, axis=-1)
    return ratios, np.logaddexp(of_near, 0.0) - log(2)


def _form(degree: int, ratios: Array) -> Array:
    """h_D(1, y_2, ..., y_m), by degrees."""
    values = np.ones((degree + 1, *ratios.shape[:-1]))
    for variable in range(ratios.shape[-1]):
        for j in range(1, degree + 1):
            values[j] += ratios[..., variable] * values[j - 1]
    return np.asarray(values[degree])


def _log_gamma_tail(shape: int, x: Array) -> Array:
    """ln of the probability that the sum of that many exponential variables exceeds x: e^-x times the sum of x^j / j!.

    From the first term on where x < 1, else from the last, so that no partial sum is large.
    """
    small, inverse = np.minimum(x, 1.0), 1 / np.maximum(x, 1.0)
    upwards, downwards = np.ones_like(x), np.ones_like(x)
    for j in range(1, shape):
        upwards = 1 + small * upwards / (shape - j)
        downwards = 1 + j * inverse * downwards
    last = (shape - 1) * np.log(np.maximum(x, 1.0)) - lgamma(shape)
    return np.asarray(np.where(x < 1, np.log(upwards), last + np.log(downwards)) - x)


@lru_cache(maxsize=1 << 16)
def moments(variables: int, degree: int) -> tuple[float, float, float]:
    """ln E[h_D(E)]; E[h_D(E)^2] / E[h_D(E)]^2; as many equal monomials have as large a share each in the mean.

    From the means of monomials, prod I_j!, and of products of two, prod (I_j + I'_j)!, of variables E over D.
    """
    powers = np.arange(degree + 1)
    grown = np.array([[lgamma(i + j + 1) - (i + j) * log(degree) for j in powers] for i in powers])
    single, squared, double = np.exp(grown[0]), np.exp(2 * grown[0]), np.exp(grown)
    mean, squares, pairs = single, squared, double
    for _ in range(variables - 1):
        mean, squares = (np.convolve(*each)[: degree + 1] for each in ((mean, single), (squares, squared)))
        pairs = _product(pairs, double)
    first = float(mean[degree])
    return log(first) + degree * log(degree), float(pairs[degree, degree]) / first**2, first**2 / float(squares[degree])


def _product(left: Array, right: Array) -> Array:
    """The product of two polynomials in two variables, up to the degree in each that they have."""
    found, size = np.zeros_like(left), len(left)
    for i in range(size):
        for j in range(size):
            found[i:, j:] += left[i, j] * right[: size - i, : size - j]
    return found
