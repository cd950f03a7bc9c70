"""Moments of the digits of every gadget family, exact for a given modulus q and base b.

Deterministic: `unsigned` digits of u in [0, q); `balanced` digits of the representative of u in [-q/2, q/2), in
-floor(b/2) .. ceil(b/2)-1, but the highest takes the rest; `symmetric` ones are the balanced digits of min(u, q - u),
negated where that is q - u, so that none has a mean (but for u = q/2). They may drop their `dropped` lowest digits
(approximate gadgets): u is then rounded to the nearest multiple of b^dropped, and the highest unsigned digit may be b.

Randomised, with coins of their own for every coefficient, k digits with b^(k-1) < q <= b^k: pick v in {u, u - q}, write
v = a b^(k-1) + (digits v_i), pick carries r_i in {0, 1}; then x_0 = v_0 - b r_0, x_i = v_i - b r_i + r_(i-1),
x_(k-1) = a + r_(k-2).
- `gmp19` (Genise, Micciancio, Polyakov, Eurocrypt 2019): v = u - q with probability u/q; r_i independent, 1 with
  probability p_i = (v mod b^(i+1)) / b^(i+1).
- `zy22` (Zhang, Yu, PKC 2022): the same v and the same law of each r_i, the carries those of v + rho for one uniform
  rho: subtractive dithering, x = digits(v + rho) - digits(rho).
- `jlp24` (Jeon, Lee, Park, "Practical Randomized Lattice Gadget Decomposition"): v and all r_i by fair coins.
- `jlp21` (Jeon, Lee, Park 2021): x = u + S_q y with y of fair coins, so x_i = u_i - b r_i + r_(i-1) - q_i r_(k-1).
- `dither-q`: x = digits((u + rho) mod q) - digits(rho), rho uniform modulo q.

Noise depends on E[x^2] about zero: rows of a key carry independent errors, so correlations between digits do not
count and means count in full. The subgaussian parameter b sqrt(2 pi) of the papers is not a variance; as one it
overstates JLP24 by about 19 and ZY22 by about 38.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from .sums import box_sum, boxes, digit_power_sums, digit_sum, multiply

DETERMINISTIC = ("unsigned", "balanced", "symmetric")
#: The families that decompose a representative in [-q/2, q/2].
SIGNED = ("balanced", "symmetric")
RANDOMISED = ("gmp19", "zy22", "jlp21", "jlp24", "dither-q")
FAMILIES = DETERMINISTIC + RANDOMISED


@dataclass(frozen=True)
class Digit:
    """One digit, over uniform u mod q and all coins.

    mean: E[x]. square: E[x^2] about zero. fixed: E_u[(E[x | u])^2], the part that the same input repeats.
    """

    mean: Fraction
    square: Fraction
    fixed: Fraction


@dataclass(frozen=True)
class Gadget:
    """A gadget's digits, of weights b^dropped, b^(dropped+1), ...; and u minus what they recompose to."""

    digits: tuple[Digit, ...]
    error: Digit


def gadget_length(family: str, modulus: int, base: int, dropped: int = 0) -> int:
    """The number of digits that a gadget produces, so that no residue needs a highest digit out of range.

    Unsigned: below b, or b itself where a residue is rounded up to b^k. Balanced: at most floor(b/2) in absolute value.
    """
    length, reach, half = 1, base, base // 2
    unit = base**dropped
    if family == "unsigned":
        largest = (modulus - 1 + unit // 2) // unit
        while largest > reach or (largest == reach and not dropped):
            length, reach = length + 1, reach * base
    elif family in SIGNED:
        top, lift = unit, unit // 2
        while ((modulus - 1) // 2 + lift) // top > half or (lift - modulus // 2) // top < -half:
            length, top, lift = length + 1, top * base, lift + half * top
    else:
        while reach < modulus:
            length, reach = length + 1, reach * base
    return length


@lru_cache(maxsize=65536)
def gadget(family: str, modulus: int, base: int, dropped: int = 0) -> Gadget:
    """The moments of one gadget; ValueError if there is no such gadget."""
    if family not in FAMILIES:
        raise ValueError(f"family {family!r} is not one of {', '.join(FAMILIES)}")
    if modulus < 2 or base < 2:
        raise ValueError(f"a gadget needs a modulus and a base of at least 2, not {modulus} and {base}")
    if dropped < 0 or base**dropped >= modulus:
        raise ValueError(f"dropped must leave a digit: {base}^{dropped} is not below the modulus {modulus}")
    if dropped and family not in DETERMINISTIC:
        raise ValueError(f"only {' and '.join(DETERMINISTIC)} digits can be dropped, not {family}")
    length = gadget_length(family, modulus, base, dropped)
    if length == 1 and family in RANDOMISED:
        raise ValueError(f"{family} needs two digits at least: a base below the modulus {modulus}, not {base}")
    digits = tuple(_DIGIT[family](modulus, base, length, i, dropped) for i in range(length))
    return Gadget(digits, _error(family, modulus, base, dropped))


def _moments(sums: tuple[int, int, int], offset: int = 0) -> tuple[Fraction, Fraction]:
    """(E[x - offset], E[(x - offset)^2]) of (count, sum of x, sum of x^2)."""
    count, first, second = sums
    return Fraction(first, count) - offset, Fraction(second - 2 * offset * first, count) + offset * offset


def _unsigned(q: int, b: int, k: int, i: int, dropped: int) -> Digit:
    unit, shift = b ** (i + dropped), b**dropped // 2
    mean, square = _moments(digit_power_sums(shift, shift + q, unit, None if i == k - 1 else b))
    return Digit(mean, square, square)


def _nearest(b: int, k: int, i: int, dropped: int) -> Callable[[int, int], tuple[Fraction, Fraction]]:
    """Moments of digit i of the numbers from a start to an end."""
    unit, half = b ** (i + dropped), b // 2
    # The rest after removing the lower digits.
    shift = b**dropped // 2 + half * (b**i - 1) // (b - 1) * b**dropped
    period, offset = (None, 0) if i == k - 1 else (b, half)
    first = shift + offset * unit
    return lambda s, e: _moments(digit_power_sums(s + first, e + first, unit, period), offset)


def _balanced(q: int, b: int, k: int, i: int, dropped: int) -> Digit:
    low = -(q // 2)
    mean, square = _nearest(b, k, i, dropped)(low, low + q)
    return Digit(mean, square, square)


def _symmetric(q: int, b: int, k: int, i: int, dropped: int) -> Digit:
    mean, square = _odd_moments(q, _nearest(b, k, i, dropped))
    return Digit(mean, square, square)


def _odd_moments(q: int, moments: Callable[[int, int], tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction]:
    """Moments over all u of what q - u has negated, from those over start <= v < end; q/2, alone, has that of -q/2."""
    below = (q + 1) // 2
    _, square = moments(0, below)
    alone = moments(-(q // 2), 1 - q // 2) if q % 2 == 0 else (Fraction(0), Fraction(0))
    return alone[0] / q, (2 * below * square + alone[1]) / q


def _triangular_mean(polynomial: dict, q: int, unit: int, base: int) -> Fraction:
    """E[g(v)] for g even, g(0) = 0, v = u - q with probability u/q, else u: Pr[v] = (q - |v|) / q^2."""
    weight = {(0, 0, 0): q, (1, 0, 0): -unit * base, (0, 1, 0): -unit, (0, 0, 1): -1}
    return Fraction(2 * digit_sum(multiply(weight, polynomial), q, unit, base), q * q)


def _carry_variance(q: int, b: int, i: int) -> Fraction:
    """E[p_i (1 - p_i)]: the variance of the carry r_i given v, averaged."""
    period = b ** (i + 1)
    return _triangular_mean({(0, 1, 0): period, (0, 2, 0): -1}, q, 1, period) / period**2


def _centred_top(q: int, b: int, k: int) -> Digit:
    """x_(k-1) has the mean v/B given v, and v the mean 0 given u with E[v^2 | u] = u (q - u); B = b^(k-1)."""
    big = b ** (k - 1)
    square = Fraction(q * q - 1, 6 * big * big) + _carry_variance(q, b, k - 2)
    return Digit(Fraction(0), square, Fraction(0))


def _gmp19(q: int, b: int, k: int, i: int, dropped: int) -> Digit:
    if i == k - 1:
        return _centred_top(q, b, k)
    square = b * b * _carry_variance(q, b, i) + (_carry_variance(q, b, i - 1) if i else 0)
    return Digit(Fraction(0), square, Fraction(0))


def _zy22(q: int, b: int, k: int, i: int, dropped: int) -> Digit:
    """Given w = v_i + r_(i-1), x_i is w - b with probability w/b, else w: variance w (b - w), averaged over r_(i-1)."""
    if i == k - 1:
        return _centred_top(q, b, k)
    unit = b**i
    polynomial = {(0, 1, 0): unit * b, (0, 2, 0): -unit, (0, 0, 1): b - 1, (0, 1, 1): -2}
    square = _triangular_mean(polynomial, q, unit, b) / unit
    return Digit(Fraction(0), square, Fraction(0))


def _fair_coins(q: int, b: int, k: int, i: int) -> tuple[Fraction, Fraction]:
    """Mean and variance of r_(i-1) - b r_i (of r_(k-2) for the top digit), all carries fair coins."""
    own, lower = (b if i < k - 1 else 0), (1 if i else 0)
    return Fraction(lower - own, 2), Fraction(lower + own * own, 4)


def _jlp24(q: int, b: int, k: int, i: int, dropped: int) -> Digit:
    unit = b**i
    base = None if i == k - 1 else b
    coin_mean, coin_variance = _fair_coins(q, b, k, i)
    mean, square = _moments(digit_power_sums(-q, q, unit, base))
    fixed_mean = mean + coin_mean
    pair = Fraction(_product_sum(q, unit, base, -q), q)
    fixed = (square + pair) / 2 + 2 * coin_mean * mean + coin_mean**2
    return Digit(fixed_mean, square + 2 * coin_mean * mean + coin_mean**2 + coin_variance, fixed)


def _product_sum(q: int, unit: int, base: int | None, offset: int) -> int:
    """Sum over 0 <= u < q of digit(u) digit(u + offset), digit(x) = floor(x / unit), modulo base unless None."""
    step, low = divmod(offset, unit)
    wide = base or q // unit + 1
    total = 0
    for periods, digits, lows in boxes(q, unit, wide):
        for carry, low_part in ((0, (0, unit - low)), (1, (unit - low, unit))):
            moved = step + carry
            if base is not None:
                moved %= base
                splits = [(moved, (0, base - moved)), (moved - base, (base - moved, base))]
            else:
                splits = [(moved, (0, wide))]
            for addend, digit_part in splits:
                ranges = periods, _meet(digits, digit_part), _meet(lows, low_part)
                total += box_sum({(0, 2, 0): 1, (0, 1, 0): addend}, *ranges)
    return total


def _meet(left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    return max(left[0], right[0]), min(left[1], right[1])


def _jlp21(q: int, b: int, k: int, i: int, dropped: int) -> Digit:
    """The shared coin r_(k-1) takes off the digit q_i of q, q_(k-1) = floor(q / b^(k-1)) <= b without reduction."""
    unit = b**i
    q_i = q // unit if i == k - 1 else q // unit % b
    coin_mean, coin_variance = _fair_coins(q, b, k, i)
    coin_mean, coin_variance = coin_mean - Fraction(q_i, 2), coin_variance + Fraction(q_i * q_i, 4)
    mean, square = _moments(digit_power_sums(0, q, unit, b))
    fixed = square + 2 * coin_mean * mean + coin_mean**2
    return Digit(mean + coin_mean, fixed + coin_variance, fixed)


def _dither_q(q: int, b: int, k: int, i: int, dropped: int) -> Digit:
    """The difference of two digits of uniform numbers, independent over uniform u."""
    mean, square = _moments(digit_power_sums(0, q, b**i, b))
    return Digit(Fraction(0), 2 * (square - mean * mean), Fraction(0))


def _error(family: str, q: int, b: int, dropped: int) -> Digit:
    """u minus the recomposed digits, over uniform u: rounding to a multiple of b^dropped."""
    if not dropped:
        return Digit(Fraction(0), Fraction(0), Fraction(0))
    unit, half = b**dropped, b**dropped // 2

    def rounding(start: int, end: int) -> tuple[Fraction, Fraction]:
        return _moments(digit_power_sums(start + half, end + half, 1, unit), half)

    if family == "symmetric":
        mean, square = _odd_moments(q, rounding)
    else:
        first = -(q // 2) if family == "balanced" else 0
        mean, square = rounding(first, first + q)
    return Digit(mean, square, square)


_DIGIT = {
    "unsigned": _unsigned,
    "balanced": _balanced,
    "symmetric": _symmetric,
    "gmp19": _gmp19,
    "zy22": _zy22,
    "jlp21": _jlp21,
    "jlp24": _jlp24,
    "dither-q": _dither_q,
}
