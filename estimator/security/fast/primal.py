"""The primal attacks: unique SVP with exact search, and bounded distance decoding.

Symbols: n LWE dimension, q modulus, sigma the error's standard deviation, xi = sigma / sigma_s >= 1 the scaling of the
secret's part of the lattice (Bai and Galbraith, ACISP 2014), d lattice dimension, L ln of its volume. Basis shape by
the geometric series assumption: ln ||b*_i|| = (d - 1 - 2i) ln delta(beta) + L/d. Samples are unlimited.
"""

from math import ceil, exp, inf, log, log1p, log2, sqrt

import numpy as np

from .compiled import compiled
from .reduction import LN_DELTA, MATZOV, MAX_BLOCK, MIN_BLOCK, ln_ball, log2_sum, log2_svp, within_angle


@compiled
def usvp_dimension(beta: int, n: int, ln_q: float, ln_xi: float, sigma: float) -> int:
    """Smallest dimension in which BKZ-beta finds the embedded vector, or 0 without one.

    (1/2) ln(sigma^2 (beta-1) + tau^2) <= (2 beta - d - 1) ln delta + L/d, with L = (d-n-1) ln q + n ln xi + ln tau and
    tau = sigma (ADPS16; Albrecht, Göpfert, Virdia, Wunderer, Asiacrypt 2017); times d it is a quadratic in d.
    """
    ln_delta = LN_DELTA[beta]
    ln_tau = log(sigma)
    a = -ln_delta
    b = (2 * beta - 1) * ln_delta + ln_q - 0.5 * log(sigma * sigma * beta)
    c = ln_tau + n * ln_xi - (n + 1) * ln_q
    d = n
    if (a * n + b) * n + c < 0.0:
        discriminant = b * b - 4.0 * a * c
        if discriminant < 0.0:
            return 0
        root = (-b + sqrt(discriminant)) / (2.0 * a)
        if root < n:
            return 0
        d = ceil(root)
    d = max(d, beta)
    return d + 1 if d == beta else d


@compiled
def usvp(n: int, ln_q: float, ln_xi: float, sigma: float, model: int) -> tuple[float, int, int]:
    """(log2 cost, beta, d) of the cheapest block; (inf, 0, 0) if none up to MAX_BLOCK succeeds.

    Feasibility is monotone in beta, so the smallest feasible block is found by bisection. A few larger ones are tried
    too: they cost more but allow smaller dimensions.
    """
    low, high = MIN_BLOCK - 1, MAX_BLOCK
    if usvp_dimension(high, n, ln_q, ln_xi, sigma) == 0:
        return inf, 0, 0
    while high - low > 1:
        middle = (low + high) // 2
        if usvp_dimension(middle, n, ln_q, ln_xi, sigma) > 0:
            high = middle
        else:
            low = middle
    best, best_beta, best_d = inf, 0, 0
    for beta in range(high, min(high + 16, MAX_BLOCK) + 1):
        d = usvp_dimension(beta, n, ln_q, ln_xi, sigma)
        cost = log2_svp(beta, d, model) if d > 0 else inf
        if cost < best:
            best, best_beta, best_d = cost, beta, d
    return best, best_beta, best_d


#: Above this dimension the lattice estimator looks for the SVP block only among the last MAX_BLOCK vectors.
_LARGE = 4096


@compiled
def _log_gap(d: int, k: int, ln_delta: float, mean: float, sigma: float) -> float:
    """ln of the squared Gaussian heuristic of the last k vectors and the target's, over the target's squared length.

    Negative: the projected target is no longer than what one expects to find anyway.
    """
    ln_volume = k * mean - (d - k) * k * ln_delta + log(sigma)
    return 2.0 * (ln_volume - ln_ball(k + 1)) / (k + 1) - log(sigma * sigma * (k + 1))


@compiled
def svp_dimension(d: int, ln_delta: float, mean: float, sigma: float) -> int:
    """Dimension of the final SVP call: the last k vectors for which the target is expected, and two more; 0 if all.

    The gap falls as fewer vectors are left, so bisection finds the first index at which it is negative.
    """
    low, high = 0, MAX_BLOCK if d > _LARGE else d
    if _log_gap(d, high, ln_delta, mean, sigma) < 0.0:
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        if _log_gap(d, middle, ln_delta, mean, sigma) < 0.0:
            low = middle
        else:
            high = middle
    return low + 2


@compiled
def babai_ln_probability(d: int, eta: int, ln_delta: float, mean: float, sigma: float) -> float:
    """ln of the probability that Babai's nearest plane lifts the target over the first d - eta vectors.

    The product of I_{r_i/(4 R^2)}(1/2, (d-eta-1)/2), r_i the squared norms, R = sqrt(d-eta) sigma (Wunderer, JMC
    2019). Norms fall with i, so the product is taken from the last vector on until the factors are 1.
    """
    count = d - eta
    a = 0.5 * (count - 1)
    ln_scale = log(4.0 * count * sigma * sigma)
    total = 0.0
    for i in range(count - 1, -1, -1):
        factor = within_angle(exp(min(0.0, 2.0 * ((d - 1 - 2 * i) * ln_delta + mean) - ln_scale)), a)
        if factor >= 1.0 - 1e-14:
            break
        if factor <= 0.0:
            return -inf
        total += log(factor)
    return total


#: Repetitions of a BDD attempt raise the success probability to this, unless a single one has it.
_SUCCESS = 0.99


@compiled
def _repetitions(ln_p: float) -> float:
    """ceil(ln(1 - 0.99) / ln(1 - p)) for p <= 0.99, else 1; inf beyond all hope."""
    p = exp(ln_p)
    if p > _SUCCESS:
        return 1.0
    if p < 1e-280:
        return inf
    return float(np.ceil(log(1.0 - _SUCCESS) / log1p(-p)))


@compiled
def _mean(d: int, n: int, ln_q: float, ln_xi: float) -> float:
    """L/d of the lattice without embedding."""
    return ((d - n) * ln_q + n * ln_xi) / d


@compiled
def _attempt(beta: int, d: int, eta: int, model: int) -> float:
    """log2 of one attempt: BKZ-beta, one SVP call in dimension eta + 1, the lift."""
    cost = log2_sum(log2_svp(beta, d, model), log2_svp(eta + 1, eta + 1, model))
    return log2_sum(cost, 2.0 * log2(max(d - eta, 1)))


@compiled
def bdd_at(beta: int, n: int, ln_q: float, ln_xi: float, sigma: float, model: int) -> tuple[float, int, int]:
    """(log2 cost, eta, d) for one block size; (inf, 0, 0) if it does not succeed.

    The dimension sqrt(n ln(q/xi)/ln delta) is the best for the shape. From there d goes down, which makes the reduction
    cheaper, while the SVP dimension s and the number of repetitions rise in steps. The best dimension is at the end of
    a step, so the walk goes from step to step, the ends found by bisection, until steps stop paying.
    """
    ln_delta = LN_DELTA[beta]
    d = _start(beta, n, ln_q, ln_xi)
    least = max(beta, n) + 1
    best, best_eta, best_d = inf, 0, 0
    losses = 0
    patience = _PATIENCE_WEAK if beta == MIN_BLOCK and model == MATZOV else _PATIENCE
    while d >= least and losses < patience:
        mean = _mean(d, n, ln_q, ln_xi)
        s = svp_dimension(d, ln_delta, mean, sigma)
        if s == 0 or d - s < _LEAST_LIFT:
            break
        runs = _repetitions(babai_ln_probability(d, s - 1, ln_delta, mean, sigma))
        if runs == inf:
            break
        low, high = max(least, s + _LEAST_LIFT) - 1, d
        while high - low > 1:
            middle = (low + high) // 2
            mean = _mean(middle, n, ln_q, ln_xi)
            if (
                svp_dimension(middle, ln_delta, mean, sigma) == s
                and _repetitions(babai_ln_probability(middle, s - 1, ln_delta, mean, sigma)) <= runs
            ):
                high = middle
            else:
                low = middle
        cost = _attempt(beta, high, s - 1, model) + log2(runs)
        losses += 1
        if cost < best:
            best, best_eta, best_d = cost, s - 1, high
            losses = 0
        d = high - 1
    return best, best_eta, best_d


#: Steps in a row without gain after which the walk over dimensions ends.
_PATIENCE = 3
#: The same with the smallest block under MATZOV, where the cost of weak instances has wider ripples.
_PATIENCE_WEAK = 10
#: Fewer vectors than these before the SVP block are not considered (the formula of the lift needs some).
_LEAST_LIFT = 16


@compiled
def _start(beta: int, n: int, ln_q: float, ln_xi: float) -> int:
    return max(beta + 1, n + 1, ceil(sqrt(n * (ln_q - ln_xi) / LN_DELTA[beta])))


@compiled
def _bdd_rough(beta: int, n: int, ln_q: float, ln_xi: float, sigma: float, model: int) -> float:
    """log2 of one attempt in the starting dimension; inf without one."""
    d = _start(beta, n, ln_q, ln_xi)
    s = svp_dimension(d, LN_DELTA[beta], _mean(d, n, ln_q, ln_xi), sigma)
    return inf if s == 0 else _attempt(beta, d, s - 1, model)


@compiled
def bdd(n: int, ln_q: float, ln_xi: float, sigma: float, model: int, largest: int) -> tuple[float, int, int, int]:
    """(log2 cost, beta, eta, d) of BDD (Liu and Nguyen, CT-RSA 2013) over blocks from MIN_BLOCK to `largest`.

    Reduction costs grow with beta and the SVP call falls. The rough cost of every fourth block says where to look;
    from there all blocks are evaluated exactly, downwards and upwards, until a dozen in a row gain nothing.
    """
    middle, rough = largest, inf
    for beta in range(MIN_BLOCK, largest + 1, 4):
        here = _bdd_rough(beta, n, ln_q, ln_xi, sigma, model)
        if here < rough:
            middle, rough = beta, here
    best, best_beta, best_eta, best_d = inf, 0, 0, 0
    for direction in (-1, 1):
        beta = middle if direction < 0 else middle + 1
        idle = 0
        while MIN_BLOCK <= beta <= largest and idle < _IDLE:
            idle += 1
            if _bdd_rough(beta, n, ln_q, ln_xi, sigma, model) < best + 0.3:
                cost, eta, d = bdd_at(beta, n, ln_q, ln_xi, sigma, model)
                if cost < best:
                    best, best_beta, best_eta, best_d = cost, beta, eta, d
                    idle = 0
            beta += direction
    return best, best_beta, best_eta, best_d


#: Blocks in a row without gain after which the search for the best one ends.
_IDLE = 12
