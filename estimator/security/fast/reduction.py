"""Quality and cost of lattice reduction, and the geometric series assumption, compiled.

Logarithms: `ln_` is natural, `log2_` to the base 2. Tables are indexed by the block size beta, up to MAX_BLOCK + 64.
"""

from math import e, erf, exp, floor, inf, lgamma, log, log1p, log2, pi, sqrt

import numpy as np

from .compiled import compiled

#: Cost models, as numbers inside compiled code.
MATZOV, ADPS16 = 0, 1

#: Block sizes tried, as by the lattice estimator.
MIN_BLOCK, MAX_BLOCK = 40, 1754

#: MATZOV 2022, after AGPS20 (Albrecht, Gheorghiu, Postlethwaite, Schanck, Asiacrypt 2020), classical list decoding:
#: a sieve in dimension b costs 2^(SLOPE b + OFFSET).
SLOPE = 0.29613500308205365
OFFSET = 20.387885985467914
#: Progressive sieving and progressive BKZ: the sum of a geometric series, 1 / (1 - 2^-SLOPE).
PROGRESSIVE = 1.0 / (1.0 - 2.0**-SLOPE)
#: Core-SVP (Alkim, Ducas, Pöppelmann, Schwabe, USENIX Security 2016, "New Hope"): 2^(CORE_SLOPE b).
CORE_SLOPE = 0.292
#: A sieve in dimension b leaves 2^(LIST_SLOPE b) short vectors, that is (4/3)^(b/2).
LIST_SLOPE = 0.2075

#: Costs of more bits than this count as infinite.
HOPELESS = 1e5

#: Root Hermite factors of small blocks, from experiments; a step function, the last entry not above beta holds.
_SMALL_BLOCKS = (
    (2, 1.02190),
    (5, 1.01862),
    (10, 1.01616),
    (15, 1.01485),
    (20, 1.01420),
    (25, 1.01342),
    (28, 1.01331),
    (40, 1.01295),
)


def root_hermite_factor(beta: int) -> float:
    """delta(beta) = (beta/(2 pi e) (pi beta)^(1/beta))^(1/(2(beta-1))), Chen's thesis (2013); a table up to 40."""
    if beta <= 40:
        return max((block, delta) for block, delta in _SMALL_BLOCKS if block <= max(beta, 2))[1]
    return (beta / (2 * pi * exp(1)) * (pi * beta) ** (1 / beta)) ** (1 / (2 * (beta - 1)))


def dimensions_for_free(beta: float) -> float:
    """beta ln(4/3)/ln(beta/(2 pi e)), at least 0 (Ducas, Eurocrypt 2018); 0 where the formula has no meaning."""
    if beta <= 2 * pi * exp(1) + 1:
        return 0.0
    return max(0.0, beta * log(4 / 3) / log(beta / (2 * pi * exp(1))))


_BLOCKS = range(MAX_BLOCK + 65)
LN_DELTA = np.array([log(root_hermite_factor(b)) for b in _BLOCKS])
#: Dimension of the sieve in which a block of size beta is solved, and the same with whole dimensions for free.
SIEVE = np.array([b - dimensions_for_free(b) for b in _BLOCKS])
SIEVE_WHOLE = np.array([b - int(dimensions_for_free(b)) for b in _BLOCKS], dtype=np.int64)


@compiled
def log2_sum(x: float, y: float) -> float:
    """log2(2^x + 2^y)."""
    high, low = max(x, y), min(x, y)
    if high - low > 60.0 or low == -inf:
        return high
    return high + log2(1.0 + 2.0 ** (low - high))


@compiled
def log2_svp(block: int, dimension: int, model: int) -> float:
    """log2 of the cost of BKZ-`block` in a dimension.

    MATZOV: d^3 + PROGRESSIVE^2 max(d - beta, 1) 2^(SLOPE (beta - dimensions for free) + OFFSET). Below block 20 the
    lattice estimator counts an enumeration; here the cube alone is counted (such blocks decide nothing).
    ADPS16: 2^(CORE_SLOPE beta).
    """
    if model == ADPS16:
        return CORE_SLOPE * block
    cube = 3.0 * log2(dimension)
    if block < 20:
        return cube
    sieve = SIEVE[block] if block < SIEVE.size else block - _free(block)
    calls = log2(max(dimension - block, 1)) + 2.0 * log2(PROGRESSIVE)
    return log2_sum(cube, calls + SLOPE * sieve + OFFSET)


@compiled
def _free(beta: int) -> float:
    return beta * log(4.0 / 3.0) / log(beta / (2.0 * pi * e))


@compiled
def sieve_dimension(beta: int, d: int) -> int:
    """Dimension of the last sieve, as large as costs no more than the reduction before it (MATZOV)."""
    if beta >= d:
        return SIEVE_WHOLE[beta]
    return min(d, floor(SIEVE_WHOLE[beta] + log2((d - beta) * PROGRESSIVE) / SLOPE))


@compiled
def log2_short_vectors(beta: int, d: int, log2_count: float, model: int) -> float:
    """log2 of the cost of 2^log2_count short vectors: reduction and sieve, repeated as often as lists are needed."""
    if model == ADPS16:
        one, log2_list = CORE_SLOPE * beta, LIST_SLOPE * beta
    else:
        last = sieve_dimension(beta, d)
        one = log2_sum(log2_svp(beta, d, model), log2(PROGRESSIVE) + SLOPE * last + OFFSET)
        log2_list = log2(float(np.floor(2.0 ** (LIST_SLOPE * last))))
    lists = log2_count - log2_list
    if lists <= 0.0:
        return one
    return one + (log2(float(np.ceil(2.0**lists))) if lists < 50.0 else lists)


@compiled
def advantage_exponent(ln_ratio: float) -> float:
    """(2 pi l/q)^2 from ln(l/q): dual vectors of length l have an advantage of exp(-half of it).

    Beyond HOPELESS it goes on linearly, so that searches see a slope and no overflow.
    """
    if ln_ratio > 4.0:
        return 4.0 * HOPELESS * ln_ratio
    return (2.0 * pi * exp(ln_ratio)) ** 2


@compiled
def ln_ball(dimension: float) -> float:
    """ln of the volume of the unit ball, pi^(r/2) / Gamma(r/2 + 1)."""
    return 0.5 * dimension * log(pi) - lgamma(0.5 * dimension + 1.0)


@compiled
def within_angle(x: float, a: float) -> float:
    """I_x(1/2, a), the regularised incomplete beta function, for 0 <= x <= 1 and a >= 7.5.

    It is the probability that one coordinate of a uniform unit vector of dimension 2a + 1 is at most sqrt(x) in
    absolute value. With 1 - u^2 = exp(-v^2), w = v^2, the integral of (1 - u^2)^(a-1) du becomes that of
    exp(-a v^2) sqrt(w/(1 - exp(-w))) dv, and the root is 1 + w/4 + w^2/96 - w^3/384 + O(w^4). Error below 2e-6.
    """
    if x >= 1.0:
        return 1.0
    square = -log1p(-x)
    if a * square > 36.0:
        return 1.0
    edge = sqrt(square)
    tail = exp(-a * square) / (2.0 * a)
    whole = 1.0
    part = erf(sqrt(a) * edge)
    unit = 2.0 * sqrt(a / pi)  # so that the moment 0 over all v is 1
    power = edge
    total, total_part = whole, part
    coefficients = (0.25, 1.0 / 96.0, -1.0 / 384.0)
    for order in range(3):
        factor = (2 * order + 1) / (2.0 * a)
        whole *= factor
        part = part * factor - unit * power * tail
        power *= square
        total += coefficients[order] * whole
        total_part += coefficients[order] * part
    return min(1.0, max(0.0, total_part / total))
