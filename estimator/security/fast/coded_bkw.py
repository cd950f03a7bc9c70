"""Coded-BKW: plain and coded steps of elimination, a guessed rest, a test (Guo, Johansson, Stankovski, Crypto 2015).

A step takes two samples that agree in a table of q^b entries and subtracts them; a coded one covers more than b
coordinates with an [N, b] code, at the price of a quantisation error. At the end ntest coordinates are tested with a
transform over q^(l+1) entries, l = b - 1, and ntop, mostly 0, are guessed.
"""

from math import ceil, erf, floor, inf, lgamma, log, log1p, log2, pi, sqrt

from .compiled import compiled

_LOG2E = 1.0 / log(2.0)
#: 2 ln 50: how sure the test is, 0.99.
_CONFIDENCE = 2.0 * log(50.0)
#: log2 of error stddev/q from which on even unlimited samples are too few.
_WIDEST = 3.0
#: Bits of an advantage of 0.99, which one sample has; the precision beyond which the lattice estimator does not go.
_CERTAIN = -log(0.99) * _LOG2E
_MOST_PRECISION = 2048
#: Added before rounding down, so that whole numbers stay whole.
_TIE = 1e-9
#: log2 of moduli beyond which that is not looked at.
_WIDE = 62.0
#: Relative tolerance of the root from which ntest is searched.
_ROOT = 0.1
#: Numbers of steps that are tried one by one; where more are possible, in _STRIDES strides and then around the best.
_STEPS, _STRIDES = 128, 32


@compiled
def gaussian_support(stddev: float) -> float:
    """Values of a discrete Gaussian that are counted: three standard deviations on either side."""
    return 6.0 * stddev + 1.0


@compiled
def code_length(i: int, b: int, ntest: float, log2_q: float) -> int:
    """N_i = floor(b/(1 - log_q(12 s^2/2^i)/2)) of the i-th coded step, with s^2 = q^(2(1 - l/ntest))/12."""
    return floor(b / ((b - 1) / ntest + i / (2.0 * log2_q)) + _TIE)


@compiled
def rounded_length(i: int, b: int, ntest: float, log2_q: float) -> int:
    """The same as the lattice estimator has it while it looks for ntest, in floating point.

    Where the length is a whole number before it is rounded down, the last bit decides, and with it which ntest is
    taken.
    """
    length = b / ((b - 1) / ntest + i * (0.5 / log2_q)) + _TIE
    down = floor(length)
    if length - down > 2.0 * _TIE or log2_q > _WIDE:
        return down
    q = floor(2.0**log2_q + 0.5)
    s = sqrt(q ** (2.0 * (1.0 - (b - 1) / ntest)) / 12.0)
    return floor(b / (1.0 - log(12.0 * (s * s) / 2.0**i) / log(q) / 2.0))


@compiled
def left_over(ntest: float, rest: int, steps: int, b: int, log2_q: float) -> float:
    """The number of `rest` coordinates left after coded steps and test; it falls as ntest grows."""
    left = rest - ntest
    for i in range(1, steps + 1):
        left -= rounded_length(i, b, ntest, log2_q)
    return left


@compiled
def rough_root(rest: int, steps: int, b: int, log2_q: float) -> float:
    """Where nothing is left over, to a tenth, by the method of Brent (1973); 2 where too few are left throughout.

    The lattice estimator looks from here on. As costs go up steeply with ntest, another root would give another figure.
    """
    before, here, opposite = 2.0, rest + 1.0, 0.0
    f_before, f_here = left_over(before, rest, steps, b, log2_q), left_over(here, rest, steps, b, log2_q)
    f_opposite = 0.0
    if f_before <= 0.0:
        return before
    step_before, step = 0.0, 0.0
    for _ in range(100):
        if (f_before < 0.0) != (f_here < 0.0):
            opposite, f_opposite = before, f_before
            step_before = step = here - before
        if abs(f_opposite) < abs(f_here):
            before, f_before = here, f_here
            here, f_here = opposite, f_opposite
            opposite, f_opposite = before, f_before
        tolerance = _ROOT / 2.0 * abs(here)
        half = (opposite - here) / 2.0
        if f_here == 0.0 or abs(half) < tolerance:
            break
        attempt = inf
        if abs(step_before) > tolerance and abs(f_here) < abs(f_before):
            if before == opposite:
                attempt = -f_here * (here - before) / (f_here - f_before)
            else:
                slope, other = (f_before - f_here) / (before - here), (f_opposite - f_here) / (opposite - here)
                attempt = -f_here * (f_opposite * other - f_before * slope) / (other * slope * (f_opposite - f_before))
        if 2.0 * abs(attempt) < min(abs(step_before), 3.0 * abs(half) - tolerance):
            step_before, step = step, attempt
        else:
            step_before = step = half
        before, f_before = here, f_here
        here += step if abs(step) > tolerance else (tolerance if half > 0.0 else -tolerance)
        f_here = left_over(here, rest, steps, b, log2_q)
    return here


@compiled
def tested(rest: int, steps: int, b: int, log2_q: float) -> int:
    """ntest: from the root upward while less is left over."""
    best = 1
    least = abs(left_over(1.0, rest, steps, b, log2_q))
    for ntest in range(max(round(rough_root(rest, steps, b, log2_q)) - 1, 2), rest + 1):
        left = abs(left_over(float(ntest), rest, steps, b, log2_q))
        if left >= least:
            break
        best, least = ntest, left
    return best


@compiled
def log2_tests(log2_ratio: float) -> float:
    """log2 of the samples that tell an error of stddev q 2^log2_ratio from uniform, 2 ln 50/-ln(1 - e^2); inf if none.

    e = exp(-2 pi^2 stddev^2/q^2) is the advantage of one sample. The lattice estimator computes 1 - e^2 with twice the
    bits of 1/e, so that one to four units of the last place are left of e^2. Its figures jump with them, and so do
    ours.
    """
    if log2_ratio > _WIDEST:
        return inf
    bits = 2.0 * pi * pi * _LOG2E * 4.0**log2_ratio
    if bits < _CERTAIN:
        return 0.0
    if bits < 16.0:
        return log2(float(ceil(-_CONFIDENCE / log1p(-(4.0**-bits)))))
    precision = min(max(53, 2 * ceil(bits)), _MOST_PRECISION)
    units = round(2.0 ** (precision - 2.0 * bits))
    return log2(_CONFIDENCE) + precision - log2(float(units)) if units > 0 else inf


@compiled
def cost_at(
    b: int, steps: int, n: int, log2_q: float, support: float, sigma_s: float, sigma_e: float
) -> tuple[float, float, int]:
    """(log2 operations, log2 samples, plain steps) of `steps` in all with tables of q^b; (inf, inf, 0) if impossible.

    Steps whose code would cover no more than b coordinates are plain ones. `support` is the number of values of a
    coordinate of the secret. The parts of the sum are the equations (7) to (11) of the paper.
    """
    ntest = tested(n, steps, b, log2_q)
    plain = 0
    for i in range(1, steps + 1):
        if code_length(i, b, ntest, log2_q) <= b:
            plain += 1
    plain = min(plain, n // b)
    coded, rest = steps - plain, n - plain * b
    if rest < 1:
        return inf, inf, 0
    if plain > 0:
        ntest = tested(rest, coded, b, log2_q)
    ncod = 0
    for i in range(1, coded + 1):
        ncod += code_length(i, b, ntest, log2_q)
    ntop = max(0, rest - ncod - ntest)

    log2_coding = 2.0 * (log2(sigma_s) + (1.0 - (b - 1) / ntest) * log2_q) + log2((ncod + ntest) / 12.0)
    log2_summed = steps + 2.0 * log2(sigma_e)
    high = max(log2_coding, log2_summed)
    log2_error = 0.5 * (high + log2(2.0 ** (log2_coding - high) + 2.0 ** (log2_summed - high)))
    log2_m = log2_tests(log2_error - log2_q)
    if log2_m == inf:
        return inf, inf, 0

    log2_table = b * log2_q
    unit = max(log2_m, log2_table)
    tests, table = 2.0 ** (log2_m - unit), 2.0 ** (log2_table - 1.0 - unit)
    samples = steps * table + tests
    total = 0.0
    if sigma_s > sigma_e:
        total += samples * (n + 1.0) * ceil(rest / (b - 1))
    for i in range(1, plain + 1):
        total += (n + 1.0 - i * b) * (samples - i * table)
    reached = ntop + ntest
    for i in range(1, coded + 1):
        code = code_length(i, b, ntest, log2_q)
        reached += code
        total += 4.0 * (tests + i * table) * code + reached * (tests + (i - 1) * table)
    total += 4.0 * tests * ntest
    guesses = ntop * log2(2.0 * support + 1.0)
    guessed = tests * ntop + 2.0 * table * (b * log2_q + 1.0)
    log2_total = unit + log2(guessed) + guesses
    if total > 0.0:
        other = unit + log2(total)
        high = max(log2_total, other)
        log2_total = high + log2(2.0 ** (log2_total - high) + 2.0 ** (other - high))
    if ntop > 0:
        log2_total -= ntop * log2(erf(support / sqrt(2.0 * sigma_e)))
    return log2_total, unit + log2(samples), plain


@compiled
def log2_sums(samples: float, k: int) -> float:
    """log2 of the number of signed sums of k samples; k = 1 is the samples themselves, and their negatives."""
    if k > samples:
        return -inf
    log2_sums = k - lgamma(k + 1.0) * _LOG2E
    for j in range(k):
        log2_sums += log2(samples - j)
    return log2_sums


@compiled
def fewest_steps(b: int, n: int, log2_q: float, sigma_s: float, bound: float) -> int:
    """A number of steps below which tables of q^b cost at least 2^bound.

    The more coordinates are tested, the wider are the codes and their error. So the test takes few, and the
    steps must cover the others.
    """
    low, high = 1, n
    while low < high:
        room = (low + high + 1) // 2
        log2_error = log2(sigma_s) + (1.0 - (b - 1) / room) * log2_q + 0.5 * log2(room / 12.0)
        if log2_tests(log2_error - log2_q) < bound:
            low = room
        else:
            high = room - 1
    left = n - low - 2
    steps = 0
    while left > 0 and steps < n // b:
        steps += 1
        left -= max(b, code_length(steps, b, low + 1.0, log2_q))
    return max(2, steps)


@compiled
def _search(
    n: int, log2_q: float, support: float, sigma_s: float, sigma_e: float, available: float, bound: float
) -> tuple[float, int, int, int, bool]:
    """(log2 cost, b, plain, coded, whether more samples would help) with at most 2^available samples, below `bound`.

    Tables of q^b cost at least that; a sum of 2^steps samples has an error of 2^(steps/2) sigma_e. Both end the search.
    """
    best, best_b, best_plain, best_steps, starved = bound, 0, 0, 0, False
    for b in range(2, 3 * ceil(log2_q)):
        log2_table = b * log2_q
        if log2_table + log2(log2_table + 1.0) >= best:
            break
        fewest, most = fewest_steps(b, n, log2_q, sigma_s, best), max(3, n // b) - 1
        while most > fewest and log2_tests(0.5 * most + log2(sigma_e) - log2_q) >= best:
            most -= 1
        stride = 1 if most <= _STEPS else most // _STRIDES
        first, last = fewest, most
        while stride > 0:
            around = best_steps if best_b == b else 0
            for steps in range(first, last + 1, stride):
                if log2_table + log2(steps) - 1.0 > available:
                    starved = True
                    continue
                # Each step sees what is left of the tables before it, and the test all samples.
                if log2_table - 2.0 + log2(steps * (steps - 1.0)) >= best:
                    break
                cost, m, plain = cost_at(b, steps, n, log2_q, support, sigma_s, sigma_e)
                if cost < best and m > available:
                    starved = True
                elif cost < best:
                    best, best_b, best_plain, best_steps = cost, b, plain, steps
                    around = steps
            if stride == 1 or around == 0:
                break
            first, last = max(fewest, around - stride), min(most, around + stride)
            stride = 1
    return best, best_b, best_plain, best_steps - best_plain, starved


@compiled
def coded_bkw(
    n: int, ln_q: float, support: float, sigma_s: float, sigma_e: float, samples: float, bound: float
) -> tuple[float, int, int, int, int]:
    """(log2 cost, b, plain steps, coded steps, k), or (inf, 0, 0, 0, 0) where nothing is below the bound, log2 too; the
    secret as it is, not in normal form.

    With fewer samples than an attack wants, signed sums of k of them serve, with an error sqrt(k) times as wide.
    """
    log2_q = ln_q * _LOG2E
    # Normal form: n samples make the secret an error; where there are just n, secret and error change places.
    if sigma_e < sigma_s:
        if samples >= 2.0 * n:
            samples -= n
            sigma_s = sigma_e
            support = gaussian_support(sigma_e)
        elif samples == n:
            sigma_s, sigma_e = sigma_e, sigma_s
            support = gaussian_support(sigma_s)
    best, at_b, at_plain, at_coded, at_k = bound, 0, 0, 0, 0
    k = 1
    while True:
        available = inf if samples == inf else log2_sums(samples, k)
        if available == -inf:
            break
        cost, b, plain, coded, starved = _search(n, log2_q, support, sigma_s, sqrt(k) * sigma_e, available, best)
        if b > 0:
            best, at_b, at_plain, at_coded, at_k = cost, b, plain, coded, k
        if not starved:
            break
        k += 1
    return best if at_b else inf, at_b, at_plain, at_coded, at_k
