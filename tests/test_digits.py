"""Digit moments against enumeration: every u, every coin, in fractions, by the carry form and not by the formulas."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from pirlab_estimator.noise import digits, sums

SMALL = [(2, 23), (2, 32), (3, 77), (3, 81), (4, 211), (4, 64), (5, 26), (8, 401), (2, 3), (6, 36), (7, 300), (3, 28)]
DROPPED = [(2, 23, 1), (2, 32, 3), (3, 77, 2), (4, 211, 1), (4, 64, 2), (8, 401, 2), (6, 216, 1), (5, 626, 4)]


def length_of(q, b):
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
        for v, weight in ((u, Fraction(1, 2) if half else 1 - Fraction(u, q)), (u - q, Fraction(1, 2) if half else Fraction(u, q))):
            if family == "zy22":
                for rho in range(big):
                    x = unsigned((v + rho) % big, b, k - 1) + [(v + rho) // big]
                    yield weight / big, [c - d for c, d in zip(x, unsigned(rho, b, k - 1) + [0])]
                continue
            for r in product((0, 1), repeat=k - 1):
                chance = weight
                for i, carry in enumerate(r):
                    p = Fraction(1, 2) if half else Fraction(v % b ** (i + 1), b ** (i + 1))
                    chance *= p if carry else 1 - p
                yield chance, carries(v, b, k, r)


def enumerate_moments(family, q, b):
    """Per digit E[x], E[x^2], E_u[E[x|u]^2], max_u E[x^2|u]; the norm's mean; recomposition is checked on the way."""
    k = length_of(q, b)
    weights = [b**i for i in range(k)]
    mean, square, fixed, worst, norm = ([Fraction(0)] * k for _ in range(5))
    norm = 0.0
    for u in range(q):
        first, second = [Fraction(0)] * k, [Fraction(0)] * k
        for chance, x in outcomes(family, u, q, b, k):
            assert sum(w * c for w, c in zip(weights, x)) % q == u
            first = [m + chance * c for m, c in zip(first, x)]
            second = [m + chance * c * c for m, c in zip(second, x)]
            norm += float(chance) * sum(c * c for c in x) ** 0.5
        mean = [m + c / q for m, c in zip(mean, first)]
        square = [m + c / q for m, c in zip(square, second)]
        fixed = [m + c * c / q for m, c in zip(fixed, first)]
        worst = [max(m, c) for m, c in zip(worst, second)]
    return mean, square, fixed, worst, norm / q


@pytest.mark.parametrize("family", digits.FAMILIES)
@pytest.mark.parametrize(("b", "q"), SMALL)
def test_moments_are_those_of_all_inputs_and_coins(family, b, q):
    mean, square, fixed, worst, _ = enumerate_moments(family, q, b)
    got = digits.gadget(family, q, b).digits
    assert [d.mean for d in got] == mean
    assert [d.square for d in got] == square
    assert [d.fixed for d in got] == fixed
    exact = family in ("unsigned", "balanced")
    for i, (d, largest) in enumerate(zip(got, worst)):
        assert d.worst >= largest, i
        if exact:
            assert d.worst == largest
        if family in ("gmp19", "zy22", "dither-q"):
            assert d.mean == d.fixed == 0, "centred for every input"
