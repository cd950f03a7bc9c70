"""Exact sums of polynomials in the base-b digits of consecutive integers: the tool behind `digits`.

A number v splits at position i as v = period * b^(i+1) + digit * b^i + low. Any range 0 <= v < end is three boxes in
(period, digit, low), and over a box a monomial sums to a product of power sums, so all moments are exact integers
whatever the size of the modulus.
"""

from collections.abc import Iterator, Mapping

#: Polynomial in (period, digit, low): exponents -> coefficient.
Polynomial = Mapping[tuple[int, int, int], int]
Range = tuple[int, int]


def power_sum(end: int, exponent: int) -> int:
    """0^e + 1^e + ... + (end-1)^e with 0^0 = 1; e at most 4, end >= 0."""
    n = end
    if exponent == 0:
        return n
    if exponent == 1:
        return n * (n - 1) // 2
    if exponent == 2:
        return n * (n - 1) * (2 * n - 1) // 6
    if exponent == 3:
        return (n * (n - 1) // 2) ** 2
    if exponent == 4:
        return n * (n - 1) * (2 * n - 1) * (3 * n * n - 3 * n - 1) // 30
    raise ValueError(f"power sums are written out up to the exponent 4, not {exponent}")


def boxes(end: int, unit: int, base: int) -> Iterator[tuple[Range, Range, Range]]:
    """0 <= v < end as boxes of (period, digit, low), each range half open; unit = b^i."""
    periods, rest = divmod(end, unit * base)
    digit, low = divmod(rest, unit)
    yield (0, periods), (0, base), (0, unit)
    yield (periods, periods + 1), (0, digit), (0, unit)
    yield (periods, periods + 1), (digit, digit + 1), (0, low)


def box_sum(polynomial: Polynomial, *ranges: Range) -> int:
    """The sum of a polynomial over one box."""
    total = 0
    for exponents, coefficient in polynomial.items():
        for (start, end), exponent in zip(ranges, exponents):
            coefficient *= power_sum(end, exponent) - power_sum(start, exponent) if end > start else 0
            if not coefficient:
                break
        total += coefficient
    return total


def digit_sum(polynomial: Polynomial, end: int, unit: int, base: int) -> int:
    """The sum of polynomial(period, digit, low) over 0 <= v < end."""
    return sum(box_sum(polynomial, *box) for box in boxes(end, unit, base))


def multiply(left: Polynomial, right: Polynomial) -> dict[tuple[int, int, int], int]:
    """The product of two polynomials."""
    product: dict[tuple[int, int, int], int] = {}
    for a, x in left.items():
        for b, y in right.items():
            key = (a[0] + b[0], a[1] + b[1], a[2] + b[2])
            product[key] = product.get(key, 0) + x * y
    return product


def digit_power_sums(start: int, end: int, unit: int, base: int | None) -> tuple[int, int, int]:
    """(count, sum of digits, sum of their squares) over start <= v < end, start possibly negative.

    The digit is floor(v / unit) mod base, or floor(v / unit) itself where base is None.
    """
    if base is None:
        shift = min(0, start // unit)
        base, start, end = max(1, end // unit - shift + 1), start - shift * unit, end - shift * unit
    else:
        period, shift = unit * base, 0
        start, end = start - start // period * period, end - start // period * period
    count, first, second = (
        digit_sum({(0, e, 0): 1}, end, unit, base) - digit_sum({(0, e, 0): 1}, start, unit, base) for e in (0, 1, 2)
    )
    return count, first + shift * count, second + 2 * shift * first + shift * shift * count
