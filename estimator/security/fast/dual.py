"""The plain dual attack: distinguish b - <a, s> with short vectors of the dual lattice, no guessing."""

from math import ceil, inf, log, sqrt

from .compiled import compiled
from .reduction import (
    ADPS16,
    HOPELESS,
    LN_DELTA,
    MAX_BLOCK,
    MIN_BLOCK,
    advantage_exponent,
    log2_short_vectors,
    log2_svp,
    sieve_dimension,
)

_LOG2E = 1.0 / log(2.0)
#: Samples that tell with probability 0.99: 2 ln 50 / advantage^2.
_LOG2_CONFIDENCE = log(2.0 * log(50.0)) * _LOG2E

#: Blocks to either side of a place whose costs are compared.
_APART = 8

#: exp((2 pi l/q)^2) is advantage^-2: where one vector tells nearly always.
_SURE = -2.0 * log(0.99)


@compiled
def lattice_dimension(beta: int, n: int, ln_q: float, sigma_s: float, sigma_e: float) -> int:
    """n + m with the best number of samples: ceil(sqrt(n ln(q sigma_s/sigma_e)/ln delta)), at least n + 1."""
    return max(n + 1, ceil(sqrt(n * (ln_q + log(sigma_s / sigma_e)) / LN_DELTA[beta])))


@compiled
def log2_samples(beta: int, d: int, n: int, ln_q: float, sigma_s: float, sigma_e: float, model: int) -> float:
    """log2 of the number of dual vectors, 2 ln 50 exp((2 pi l/q)^2); 0, one vector, if its advantage is above 0.99.

    l = rho delta^d sigma_s q (sigma_e/(sigma_s q))^(m/d) is the stddev of <v, e> + <w, s> for a dual vector (v, w)
    (Albrecht, Eurocrypt 2017; Espitau, Joux, Kharchenko, Indocrypt 2020). rho = sqrt(4/3) delta(s)^(s-1)
    delta(beta)^(1-s): the sieve in dimension s leaves vectors sqrt(4/3) longer than the shortest of its block. s is
    that of a lattice of dimension 2 beta, as the lattice estimator takes it; beta under ADPS16.
    """
    s = beta if model == ADPS16 else sieve_dimension(beta, 2 * beta)
    ln_rho = 0.5 * log(4.0 / 3.0) + (s - 1) * (LN_DELTA[s] - LN_DELTA[beta])
    m = d - n
    ln_l = ln_rho + d * LN_DELTA[beta] + log(sigma_s) + m / d * (log(sigma_e / sigma_s) - ln_q)
    exponent = advantage_exponent(ln_l)
    return 0.0 if exponent < _SURE else exponent * _LOG2E + _LOG2_CONFIDENCE


@compiled
def cost_at(beta: int, n: int, ln_q: float, sigma_s: float, sigma_e: float, model: int) -> tuple[float, int]:
    """(log2 cost, d); a single vector needs no sieve."""
    d = lattice_dimension(beta, n, ln_q, sigma_s, sigma_e)
    count = log2_samples(beta, d, n, ln_q, sigma_s, sigma_e, model)
    if count == 0.0:
        return log2_svp(beta, d, model), d
    return log2_short_vectors(beta, d, count, model), d


@compiled
def dual(n: int, ln_q: float, sigma_s: float, sigma_e: float, model: int) -> tuple[float, int, int]:
    """(log2 cost, beta, d), or (inf, 0, 0); the secret as it is, not in normal form.

    The cost falls steeply until one sieve leaves vectors enough, then rises slowly, with ripples of a few blocks:
    bisection over wider steps than those finds the valley.
    """
    low, high = MIN_BLOCK, MAX_BLOCK
    while high - low > _APART:
        middle = (low + high) // 2
        before, _ = cost_at(middle - _APART, n, ln_q, sigma_s, sigma_e, model)
        after, _ = cost_at(middle + _APART, n, ln_q, sigma_s, sigma_e, model)
        if after < before:
            low = middle
        else:
            high = middle
    best, best_beta, best_d = HOPELESS, 0, 0
    for beta in range(max(MIN_BLOCK, low - _APART - 6), min(high + _APART + 16, MAX_BLOCK) + 1):
        cost, d = cost_at(beta, n, ln_q, sigma_s, sigma_e, model)
        if cost < best:
            best, best_beta, best_d = cost, beta, d
    return best if best_beta else inf, best_beta, best_d
