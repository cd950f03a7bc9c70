"""The dual attack with modulus switching and FFT (Guo and Johansson, Asiacrypt 2021; MATZOV 2022).

m = n samples. The n secret coordinates are split: zeta are guessed, t go through an FFT modulo a small p, and
k = n - zeta - t stay in the lattice, of dimension d = k + m.
"""

from math import exp, inf, log, log2, pi, sqrt, tanh

from .compiled import compiled
from .reduction import HOPELESS, LN_DELTA, MAX_BLOCK, MIN_BLOCK, advantage_exponent, log2_short_vectors, log2_sum

_LOG2E = 1.0 / log(2.0)
#: MATZOV's constants for an entry of the FFT table and for a sample's way into it.
_FFT, _TABLE = 1024.0, 640.0
_STEP = 10
#: A smaller rise in bits is ignored: with whole block sizes, costs stay level for a while.
_LEVEL = 1e-9


@compiled
def entropy(sigma_s: float) -> float:
    """Bits of entropy of a secret coordinate, of a discrete Gaussian of this standard deviation."""
    return (0.5 + log(sqrt(2 * pi) * sigma_s) - log(tanh(pi * pi * sigma_s * sigma_s))) * _LOG2E


@compiled
def cost_at(
    beta: int, p: int, zeta: int, t: int, n: int, ln_q: float, sigma_s: float, sigma_e: float, model: int
) -> float:
    """log2 of the whole attack.

    l = sigma_e^(m/d) (sigma_s q)^(k/d) sqrt(4/3) sqrt(beta/(2 pi e)) delta^(d-beta) is the length of the dual vectors;
    N = exp(4 (pi l/q)^2) exp((t/3) (pi sigma_s/p)^2) (zeta H + t ln p + ln 2) their number.
    """
    k = n - zeta - t
    d = k + n
    ln_l = (n * log(sigma_e) + k * (log(sigma_s) + ln_q)) / d + (d - beta) * LN_DELTA[beta]
    ln_l += 0.5 * log(4.0 / 3.0 * beta / (2.0 * pi * exp(1.0)))
    exponent = advantage_exponent(ln_l - ln_q) + t / 3.0 * (pi * sigma_s / p) ** 2
    h = entropy(sigma_s)
    log2_n = exponent * _LOG2E + log2(zeta * h + t * log(p) + log(2.0))
    sampling = log2_short_vectors(beta, d, log2_n, model)
    x = pi * pi * sigma_s * sigma_s
    per_guess = h + 1.0 + (8.0 * x * exp(-2.0 * x) * tanh(x) - 0.5) * _LOG2E
    guessing = log2(_TABLE) + log2_n
    if t > 0:
        guessing = log2_sum(guessing, log2(_FFT * t) + (t + 1) * log2(p))
    guessing += zeta * per_guess - log2(1.0 - exp(-0.5 / (sigma_s * sigma_s)))
    return log2_sum(sampling, guessing)


@compiled
def _best_block(
    guess: int, p: int, zeta: int, t: int, n: int, ln_q: float, sigma_s: float, sigma_e: float, model: int
) -> tuple[float, int]:
    """(log2 cost, beta): downhill from a guess in shrinking steps, then all blocks around the place."""
    beta = guess
    here = cost_at(beta, p, zeta, t, n, ln_q, sigma_s, sigma_e, model)
    step = 64
    while step >= 4:
        moved = True
        while moved:
            moved = False
            for other in (beta - step, beta + step):
                if MIN_BLOCK <= other <= MAX_BLOCK:
                    there = cost_at(other, p, zeta, t, n, ln_q, sigma_s, sigma_e, model)
                    if there < here:
                        beta, here, moved = other, there, True
                        break
        step //= 2
    best, best_beta = here, beta
    for other in range(max(MIN_BLOCK, beta - 5), min(MAX_BLOCK, beta + 5) + 1):
        there = cost_at(other, p, zeta, t, n, ln_q, sigma_s, sigma_e, model)
        if there < best:
            best, best_beta = there, other
    return best, best_beta


@compiled
def dual_hybrid(n: int, ln_q: float, sigma_s: float, sigma_e: float, model: int) -> tuple[float, int, int, int, int]:
    """(log2 cost, beta, zeta, t, p). As the lattice estimator searches: p = 2, 3, ..., zeta and t in tens, each until
    the cost first rises; blocks exactly."""
    best = (inf, 0, 0, 0, 0)
    beta = 300
    p = 2
    while True:
        of_p = (inf, 0, 0, 0, 0)
        for zeta in range(0, n, _STEP):
            of_zeta = (inf, 0, 0, 0, 0)
            for t in range(0, n - zeta, _STEP):
                cost, beta = _best_block(beta, p, zeta, t, n, ln_q, sigma_s, sigma_e, model)
                if cost > min(of_zeta[0] + _LEVEL, HOPELESS):
                    break
                if cost <= of_zeta[0]:
                    of_zeta = (cost, beta, zeta, t, p)
            if of_zeta[0] > min(of_p[0] + _LEVEL, HOPELESS):
                break
            if of_zeta[0] <= of_p[0]:
                of_p = of_zeta
            beta = of_zeta[1]
        if of_p[0] >= best[0]:
            return best
        best = of_p
        beta = of_p[1]
        if p > 2 and of_p[3] == 0:
            return best
        p += 1
