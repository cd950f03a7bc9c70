"""DEPIR's tails: against sampled Gaussians, exact polynomials in small rings, closed forms and published sets."""

from math import exp, factorial, log, log2

import numpy as np
import pytest
from pirlab_estimator.noise import depir
from pirlab_estimator.noise.polynomial_tails import log2_form_tail, log2_largest_tail, log2_sum_tail, moments
from pirlab_estimator.noise.stage import evaluate, record_noise
from pirlab_estimator.noise.tails import log2_gaussian_tail


def description(n, variables, degree, log2_q, log2_answer, t=65537, columns=1, stddev=2**0.5):
    layout = {"variables": variables, "degree": degree, "plain_modulus": t, "coefficient_bound": (t - 1) // 2}
    layout |= {"modulus_log2": log2_q, "answer_modulus_log2": log2_answer, "entries_per_record": columns}
    ring = {"name": "query", "dimension": n, "modulus": "2^20", "error_stddev": stddev, "secret": {"kind": "ternary"}}
    return {"protocol": "depir", "layout": layout, "instances": [ring]}


def stages_of(descriptions):
    """The stages of each by name, in one call, which takes little longer than for one."""
    return [{s["stage"]: s for s in made} for made in evaluate(depir.chain(descriptions), len(descriptions))]


def stages(*arguments, **more):
    return stages_of([description(*arguments, **more)])[0]


def answers(places, **more):
    """The stage of answers at each place: n, variables, degree and the two moduli."""
    return [found["answer"] for found in stages_of([description(*place, **more) for place in places])]


def complete(variables, degree):
    """h_D of each row."""
    values = np.zeros((degree + 1, len(variables)))
    values[0] = 1
    for each in variables.T:
        for j in range(1, degree + 1):
            values[j] += each * values[j - 1]
    return values[degree]


@pytest.mark.parametrize(("variables", "degree"), [(1, 3), (2, 1), (2, 6), (3, 4), (4, 4), (4, 18), (5, 10)])
def test_tails_are_those_of_samples(variables, degree):
    rng = np.random.default_rng(variables * degree)
    squares = rng.exponential(size=(1 << 19, variables))
    form = complete(squares, degree) * rng.exponential(size=len(squares))
    largest = complete(np.sqrt(squares), degree) ** 2
    for rate, off in ((0.5, 0.02), (0.01, 0.06), (0.001, 0.15)):
        for values, tail in ((form, log2_form_tail), (largest, log2_largest_tail)):
            at = log2(np.quantile(values, 1 - rate))
            assert 2 ** tail(variables, degree, at) == pytest.approx(rate, rel=off), (rate, tail)


@pytest.mark.parametrize("degree", [1, 4, 30])
def test_the_tail_of_one_variable_is_exponential(degree):
    for square in (1.0, 9.0, 400.0):
        assert log2_largest_tail(1, degree, degree * log2(square)) == pytest.approx(-square / log(2), rel=1e-6)
    # The sum of two exponential variables.
    assert log2_form_tail(1, 1, 0.0) == pytest.approx(log2(0.279731763633), abs=1e-6)


def test_coefficients_up_to_one_are_the_worst():
    """Far out, random ones of mean square 1/3 are below the bound for any up to 1."""
    for variables, degree in ((3, 4), (4, 18), (6, 68)):
        at = degree * log2(40.0)
        assert log2_form_tail(variables, degree, at + log2(3)) < log2_largest_tail(variables, degree, at) < -20


def test_moments_are_those_of_monomials():
    log_mean, spread, equal = moments(2, 3)
    by_hand = {(i, 3 - i): factorial(i) * factorial(3 - i) for i in range(4)}
    mean = sum(by_hand.values())
    pairs = sum(factorial(i + k) * factorial(6 - i - k) for i in range(4) for k in range(4))
    assert exp(log_mean) == pytest.approx(mean) and spread == pytest.approx(pairs / mean**2)
    assert equal == pytest.approx(mean**2 / sum(v**2 for v in by_hand.values()))
    assert exp(moments(1, 18)[0]) == pytest.approx(factorial(18))


def multiply(left, right):
    """Products of rows as polynomials modulo X^n + 1, in integers."""
    n = left.shape[1]
    found = np.zeros_like(left)
    for shift in range(n):
        turned = np.concatenate([-right[:, n - shift :], right[:, : n - shift]], axis=1)
        found += left[:, shift : shift + 1] * turned
    return found


N, T, TRIALS = 16, 17, 30_000


def phases(rng):
    """t e + mu with errors of variance 2, each a sum of bits, and uniform messages."""
    bits = rng.integers(0, 2, size=(TRIALS, N, 8))
    error = bits[..., :4].sum(axis=-1) - bits[..., 4:].sum(axis=-1)
    return T * error + rng.integers(-(T // 2), T // 2 + 1, size=(TRIALS, N))


@pytest.fixture(scope="module")
def values():
    """The exact coefficients of random polynomials of degree 4 in two phases."""
    rng = np.random.default_rng(7)
    first, second = phases(rng), phases(rng)
    powers = [np.zeros_like(first)]
    powers[0][:, 0] = 1
    for _ in range(4):
        powers.append(multiply(powers[-1], first))
    total = np.zeros_like(first)
    for degrees in range(1, 6):
        total = multiply(total, second)
        for power in powers[:degrees]:
            total += rng.integers(-(T // 2), T // 2 + 1, size=(TRIALS, 1)) * power
    return total


def test_failures_are_those_of_exact_polynomials(values):
    """The modulus at which a rate of answers fails, to 0.3 bit: one pair of roots alone decides rare failures."""
    largest = np.abs(values).max(axis=1)
    for rate in (0.01, 0.001):
        log2_q = 1 + log2(np.quantile(largest, 1 - rate))
        low, high = answers([(N, 2, 4, log2_q + off, log2_q + off) for off in (-0.3, 0.3)], t=T)
        assert high["log2_failure"] < log2(rate) < low["log2_failure"], rate


def test_no_data_fail_more_often_than_the_bound(values):
    """Nor do polynomials all of whose coefficients are as large as they may be."""
    rng = np.random.default_rng(8)
    powers = [[np.ones((TRIALS, N), dtype=complex)] for _ in range(2)]
    roots = np.exp(1j * np.pi * np.outer(2 * np.arange(N) + 1, np.arange(N)) / N)
    for each in powers:
        v = phases(rng) @ roots.T
        for _ in range(4):
            each.append(each[-1] * v)
    at_roots = T // 2 * sum(powers[0][i] * powers[1][j] for i in range(5) for j in range(5 - i))
    worst = np.abs((at_roots @ roots.conj()).real / N).max(axis=1)
    at = [1 + log2(np.quantile(largest, 0.999)) for largest in (worst, np.abs(values).max(axis=1))]
    log2_qs = (at[0] + 0.3, at[1] + 0.3, at[0] - 0.3)
    *above, below = answers([(N, 2, 4, log2_q, log2_q) for log2_q in log2_qs], t=T)
    for found in above:
        assert found["log2_failure_bound"] > log2(0.001) - 2 and found["log2_failure_bound"] >= found["log2_failure"]
    assert below["log2_failure_bound"] > log2(0.001)


def test_variances_are_those_of_exact_polynomials(values):
    """Thousands of answers determine the mean square at this degree; a query has as many samples as the stage says."""
    found = stages(N, 2, 4, 40.0, 40.0, t=T)
    assert values.astype(float).var() * 2.0**-80 == pytest.approx(found["value"]["variance"], rel=0.1)
    each = np.mean(values.astype(float) ** 2, axis=1)
    spread = each.var() / each.mean() ** 2
    expected = 2 / (1 / (1 / found["value"]["terms"] + 1 / (2 * found["value"]["data_values"])))
    assert spread == pytest.approx(expected, rel=0.5)


@pytest.mark.parametrize(("n", "trials", "rate", "off"), [(64, 20000, 0.001, 0.3), (256, 3000, 0.01, 0.9)])
def test_the_switch_adds_powers_of_the_secret(n, trials, rate, off):
    """At the roots. Other pairs of roots contribute to a failure rate of 1 %, where the modulus is known to a bit."""
    rng = np.random.default_rng(9)
    roots = np.exp(1j * np.pi * np.outer(2 * np.arange(n // 2) + 1, np.arange(n)) / n)
    secret, total = rng.integers(-1, 2, size=(trials, n)) @ roots.T, np.zeros(())
    for _ in range(5):
        total = total * secret + rng.uniform(-T / 2, T / 2, size=(trials, n)) @ roots.T
    errors = (total @ roots.conj()).real * 2 / n
    answer = stages(n, 2, 4, 4000.0, 20.0, t=T)["answer"]
    assert errors.var() * 2.0**-40 == pytest.approx(answer["variance"], rel=0.12)
    log2_q = 1 + log2(np.quantile(np.abs(errors).max(axis=1), 1 - rate))
    low, high = answers([(n, 2, 4, 4000.0, log2_q + by) for by in (-off, off)], t=T)
    assert high["log2_failure"] < log2(rate) < low["log2_failure"]


def test_published_sets_fail_as_worked_out_apart():
    """One pair of roots alone has that estimate; a bound of all together costs under three bits."""
    sets = [
        ((1 << 15, 4, 30, 804.43, 401.91), -48, -44.5),
        ((1 << 16, 5, 68, 1817.37, 878.33), -13, -11.5),
        ((1 << 16, 6, 68, 1817.37, 878.33), -12.6, -11.1),
    ]
    for (place, random, any_data), found in zip(sets, answers([place for place, _, _ in sets]), strict=True):
        assert found["log2_failure"] == pytest.approx(random, abs=0.5)
        assert any_data - 0.1 < found["log2_failure_bound"] < any_data + 3
        assert found["decisions"] == place[0] / 2


def test_moduli_for_the_target_are_as_worked_out_apart():
    """Of the value alone, and of the switch alone, which the next four bits of the answer's modulus leave room."""
    moduli = [((1 << 15, 4, 18), 484, 186), ((1 << 15, 4, 30), 803, 304), ((1 << 16, 6, 68), 1849, 712)]
    for off, holds in ((-4, False), (4, True)):
        alone = [(*shape, value + off, value + off) for shape, value, _ in moduli]
        switched = [(*shape, 2 * value, switch + off + 1) for shape, value, switch in moduli]
        for place, found in zip(alone + switched, answers(alone + switched), strict=True):
            assert (found["log2_failure"] < -40) == holds, place


def test_answers_of_a_record_fail_separately():
    several = [description(1 << 15, 4, 30, 804.43, 401.91, columns=columns) for columns in (1, 4)]
    one, four = (found["answer"] for found in stages_of(several))
    assert four["log2_failure_bound"] == pytest.approx(one["log2_failure_bound"] + 2)
    assert record_noise(evaluate(depir.chain(several[:1]), 1)[0], -40)["log2_failure"] == one["log2_failure_bound"]


def test_a_sweep_is_one_call():
    several = [description(256, 3, 4, 100.6, 60.5), description(1 << 15, 4, 18, 518.48, 217.9)]
    together = evaluate(depir.chain(several), 2)
    assert together == [evaluate(depir.chain([each]), 1)[0] for each in several]


@pytest.mark.parametrize("degree", [1, 2])
def test_at_low_degrees_all_roots_decide_together(degree):
    """A form of degree one is Gaussian, whose tail Chernoff bounds within 4.2 bits at 7 deviations; of degree two its
    coefficients fail no less."""
    found = stages(8192, 4, degree, 60, 60)["value"]["stddev"]
    log2_q = 60 + log2(7 * found / 0.5)
    gaussian = 13 + float(log2_gaussian_tail(7, 1))
    answer = stages(8192, 4, degree, log2_q, log2_q)["answer"]
    assert answer["log2_failure_bound"] >= answer["log2_failure"] - 1e-6
    assert answer["log2_failure"] > gaussian - 0.1
    assert degree > 1 or answer["log2_failure"] < gaussian + 4.5


@pytest.mark.parametrize(("degree", "terms"), [(1, 64), (2, 64), (4, 32), (8, 32), (18, 64)])
def test_sums_exceed_a_level_no_more_often_than_the_bound(degree, terms):
    """Of every degree: few large terms or many small ones decide. The bound is not far above either."""
    rng = np.random.default_rng(degree)
    squares = rng.exponential(size=(1 << 15, terms)) ** degree * rng.exponential(size=(1 << 15, terms))
    phases = np.exp(2j * np.pi * rng.random(squares.shape))
    values = np.sqrt(squares) * phases
    either = np.maximum(np.abs(values.sum(axis=1).real), np.abs(values.sum(axis=1).imag))
    for rate in (0.01, 0.001):
        level = 2 * log2(np.quantile(either, 1 - rate))
        bound = log2_sum_tail(log2_form_tail, 1, degree, terms, level)
        # A union over terms is what the chain makes of it.
        assert min(0.0, bound + log2(terms)) > log2(rate)
        higher = log2_sum_tail(log2_form_tail, 1, degree, terms, level + 2 * degree)
        assert higher + log2(terms) < log2(rate)
    assert log2_sum_tail(log2_form_tail, 1, degree, terms, 400.0 * degree) < -1000
