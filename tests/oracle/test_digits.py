"""Digit moments against enumeration: every u, every coin, in fractions, by the carry form and not by the formulas."""

from collections import defaultdict
from fractions import Fraction
from functools import cache
from itertools import product
from math import hypot

import pytest
from pirlab_estimator.noise import digits, sums

SMALL = [(2, 23), (2, 32), (3, 77), (3, 81), (4, 211), (4, 64), (5, 26), (8, 401), (2, 3), (6, 36), (7, 300), (3, 28)]
DROPPED = [(2, 23, 1), (2, 32, 3), (3, 77, 2), (4, 211, 1), (4, 64, 2), (8, 401, 2), (6, 216, 1), (5, 626, 4)]


def length_of(q, b, family="unsigned"):
    if family in digits.SIGNED:  # the highest of k digits reaches b // 2
        centred = [v - q if v >= q - q // 2 else v for v in range(q)]
        return next(k for k in range(1, 99) if all(abs(balanced(v, b, k)[-1]) <= b // 2 for v in centred))
    return next(k for k in range(1, 99) if b**k >= q)


def unsigned(v, b, k):
    return [v // b**i % b for i in range(k)]


def balanced(v, b, k):
    """Digit by digit from below; the last takes what is left."""
    row = []
    for _ in range(k - 1):
        digit = (v + b // 2) % b - b // 2
        row.append(digit)
        v = (v - digit) // b
    return [*row, v]


def carries(v, b, k, r):
    """The shape that the four samplers share."""
    row = unsigned(v % b ** (k - 1), b, k - 1)
    x = [row[0] - b * r[0]] + [row[i] - b * r[i] + r[i - 1] for i in range(1, k - 1)]
    return [*x, v // b ** (k - 1) + r[k - 2]]


def outcomes(family, u, q, b, k):
    """(probability, digits) over all coins, u fixed."""
    big = b ** (k - 1)
    if family == "unsigned":
        yield Fraction(1), unsigned(u, b, k)
    elif family == "balanced":
        yield Fraction(1), balanced(u - q if u >= q - q // 2 else u, b, k)
    elif family == "symmetric":
        minus = u > q // 2
        v = q - u if minus else u - q if 2 * u == q else u
        yield Fraction(1), [-d if minus else d for d in balanced(v, b, k)]
    elif family == "dither-q":
        for rho in range(q):
            x, y = unsigned((u + rho) % q, b, k), unsigned(rho, b, k)
            yield Fraction(1, q), [c - d for c, d in zip(x, y)]
    elif family == "jlp21":
        of_q = [*unsigned(q % big, b, k - 1), q // big]
        for *r, last in product((0, 1), repeat=k):
            x = carries(u, b, k, r)
            yield Fraction(1, 2**k), [c - last * d for c, d in zip(x, of_q)]
    else:
        half = family == "jlp24"
        below = Fraction(1, 2) if half else Fraction(u, q)
        for v, weight in ((u, 1 - below), (u - q, below)):
            if family == "zy22":
                for rho in range(big):
                    x = [*unsigned((v + rho) % big, b, k - 1), (v + rho) // big]
                    yield weight / big, [c - d for c, d in zip(x, [*unsigned(rho, b, k - 1), 0])]
                continue
            for r in product((0, 1), repeat=k - 1):
                chance = weight
                for i, carry in enumerate(r):
                    p = Fraction(1, 2) if half else Fraction(v % b ** (i + 1), b ** (i + 1))
                    chance *= p if carry else 1 - p
                yield chance, carries(v, b, k, r)


@cache
def enumerate_moments(family, q, b):
    """Per digit E[x], E[x^2], E_u[E[x|u]^2]; the norm's mean; recomposition is checked on the way."""
    k = length_of(q, b, family)
    weights = [b**i for i in range(k)]
    mean, square, fixed = ([Fraction(0)] * k for _ in range(3))
    norm = 0.0
    for u in range(q):
        alike = defaultdict(list)
        for chance, x in outcomes(family, u, q, b, k):
            assert sum(w * c for w, c in zip(weights, x)) % q == u
            alike[chance].append(x)
        first, second = [Fraction(0)] * k, [Fraction(0)] * k
        for chance, rows in alike.items():
            first = [m + chance * sum(column) for m, column in zip(first, zip(*rows))]
            second = [m + chance * sum(c * c for c in column) for m, column in zip(second, zip(*rows))]
            norm += float(chance) * sum(hypot(*x) for x in rows)
        mean = [m + c / q for m, c in zip(mean, first)]
        square = [m + c / q for m, c in zip(square, second)]
        fixed = [m + c * c / q for m, c in zip(fixed, first)]
    return mean, square, fixed, norm / q


@pytest.mark.parametrize("family", digits.FAMILIES)
@pytest.mark.parametrize(("b", "q"), SMALL)
def test_moments_are_those_of_all_inputs_and_coins(family, b, q):
    mean, square, fixed, _ = enumerate_moments(family, q, b)
    got = digits.gadget(family, q, b).digits
    assert [d.mean for d in got] == mean
    assert [d.square for d in got] == square
    assert [d.fixed for d in got] == fixed
    if family in ("gmp19", "zy22", "dither-q"):
        assert all(d.mean == d.fixed == 0 for d in got), "centred for every input"


@pytest.mark.parametrize("family", digits.DETERMINISTIC)
@pytest.mark.parametrize(("b", "q", "dropped"), DROPPED)
def test_dropped_digits_and_what_they_lose(family, b, q, dropped):
    """Rounding to the nearest multiple of b^dropped, then digits; moments of both parts over all u."""
    got = digits.gadget(family, q, b, dropped)
    k, unit = len(got.digits), b**dropped
    rows, errors = [], []
    for u in range(q):
        v = u - q if family in digits.SIGNED and u >= q - q // 2 else u
        minus = family == "symmetric" and q // 2 < u
        rounded = (abs(v) + unit // 2) // unit if minus else (v + unit // 2) // unit
        row = (
            balanced(rounded, b, k)
            if family in digits.SIGNED
            else [*unsigned(rounded, b, k - 1), rounded // b ** (k - 1)]
        )
        row = [-x for x in row] if minus else row
        errors.append(v - sum(x * unit * b**i for i, x in enumerate(row)))
        rows.append(row)
    assert max(abs(row[-1]) for row in rows) <= (b // 2 if family in digits.SIGNED else b)
    for digit, column in zip(got.digits, zip(*rows)):
        assert digit.mean == Fraction(sum(column), q)
        assert digit.square == digit.fixed == Fraction(sum(x * x for x in column), q)
    assert max(map(abs, errors)) <= unit // 2
    assert got.error.mean == Fraction(sum(errors), q)
    assert got.error.square == Fraction(sum(e * e for e in errors), q)


#: E ||x|| of the four samplers as published in the facts about the paper.
NORMS = {
    (2, 23): (1.7151, 1.5009, 2.8793, 2.5826),
    (2, 32): (1.8137, 1.6058, 2.6631, 2.6631),
    (3, 77): (2.3368, 2.2304, 3.9630, 3.4156),
    (4, 211): (3.0102, 2.9262, 4.9270, 4.3882),
    (8, 401): (4.9365, 4.9127, 7.3293, 7.2043),
}


@pytest.mark.parametrize(("b", "q"), NORMS)
def test_mean_norms_of_the_samplers(b, q):
    for family, norm in zip(("gmp19", "zy22", "jlp21", "jlp24"), NORMS[b, q]):
        assert enumerate_moments(family, q, b)[-1] == pytest.approx(norm, abs=6e-5), family


LARGE = (1 << 60) - 93, 5070602400912917605986812821771  # below 2^60; above 2^102


@pytest.mark.parametrize("q", LARGE)
@pytest.mark.parametrize("b", [2, 4, 10, 256, 1 << 19])
def test_middle_digits_of_large_moduli_have_the_simple_forms(q, b):
    """The forms for digits far from both ends: b^2/3 + 1/6 and so on."""
    expected = {
        "unsigned": (b - 1) * (2 * b - 1) / 6,
        "balanced": (b * b + 2) / 12 if b % 2 == 0 else (b * b - 1) / 12,
        "gmp19": (b * b + 1) / 6,
        "zy22": (b * b - 1) / 6,
        "jlp24": b * b / 3 + 1 / 6,
        "dither-q": (b * b - 1) / 6,
    }
    for family, square in expected.items():
        got = digits.gadget(family, q, b).digits
        i = len(got) // 2 if b < 100 else 1
        scale = 1 - (2 if family == "gmp19" else 0) * b ** (-2.0 * i) / (b * b + 1)
        assert float(got[i].square) == pytest.approx(square * scale, rel=2e-3 if b > 1000 else 1e-4), family
    got = digits.gadget("jlp21", q, b).digits[1]
    assert float(got.square) == pytest.approx(b * b / 3 + 1 / 6 + (q // b % b) ** 2 / 2, rel=1e-3)


def test_sums_against_loops():
    for end, unit, base in [(0, 3, 5), (14, 3, 5), (15, 3, 5), (97, 4, 3), (50, 1, 7)]:
        polynomial = {(1, 2, 1): 3, (0, 1, 2): -2, (2, 0, 0): 1, (0, 4, 0): 1}
        parts = [(v // (unit * base), v // unit % base, v % unit) for v in range(end)]
        expected = sum(3 * p * d * d * r - 2 * d * r * r + p * p + d**4 for p, d, r in parts)
        assert sums.digit_sum(polynomial, end, unit, base) == expected
    for start, end, unit, base in [(-17, 40, 3, 5), (-40, -3, 2, 3), (4, 90, 7, None), (-31, 12, 4, None)]:
        row = [v // unit % base if base else v // unit for v in range(start, end)]
        assert sums.digit_power_sums(start, end, unit, base) == (end - start, sum(row), sum(x * x for x in row))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("signed", 97, 4), "not one of unsigned"),
        (("unsigned", 1, 4), "at least 2"),
        (("unsigned", 97, 1), "at least 2"),
        (("unsigned", 97, 4, 4), "must leave a digit"),
        (("balanced", 97, 4, -1), "must leave a digit"),
        (("zy22", 97, 4, 1), "can be dropped"),
        (("jlp24", 97, 97), "two digits"),
    ],
)
def test_impossible_gadgets_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        digits.gadget(*arguments)
