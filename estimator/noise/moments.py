"""Second moments E[x^2] about zero of what an error vector is multiplied with: database entries and digits.

The mean counts: an error vector e with independent entries of stddev sigma gives the inner product <x, e> the
variance sigma^2 * sum x_i^2, whatever the x_i average to. All moments are exact for uniformly random data.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .sums import digit_power_sums

#: Records longer than this are cut into blocks; each block is written in base p on its own.
BLOCK_BITS = 2048


class Moments(NamedTuple):
    """E[x^2] about zero, and E[x]."""

    square: float
    mean: float


def _moments(sums: tuple[int, int, int], offset: int) -> Moments:
    """Moments of x - offset, from (count, sum of x, sum of x^2)."""
    count, first, second = sums
    return Moments((second - 2 * offset * first + offset * offset * count) / count, first / count - offset)


def packed_moments(bits: int, filled: int) -> Moments:
    """An entry that packs `bits` bits, centred by 2^(bits-1); the lowest `filled` are uniform, others 0."""
    return _moments(digit_power_sums(0, 1 << filled, 1, None), 1 << (bits - 1))


def digit_count(bits: int, base: int) -> int:
    """The least d with base^d >= 2^bits, exactly: ceil(bits / log2 base)."""
    count = max(1, int(bits / np.log2(base)) - 1)
    while base**count < 1 << bits:
        count += 1
    return count


@lru_cache(maxsize=4096)
def digit_moments(bits: int, base: int) -> tuple[Moments, ...]:
    """Centred base-`base` digits (digit - floor(base/2)) of a uniform integer of `bits` bits, lowest first.

    Counted exactly. The lower digits are uniform but for the last partial period of the block; the highest digit
    reaches only part of its range, which its moments show.
    """
    total, offset = 1 << bits, base // 2
    full, moments = _moments(digit_power_sums(0, base, 1, None), offset), []
    for i in range(digit_count(bits, base)):
        unit = base**i
        many_periods = total // (unit * base) >= 1 << 64
        moments.append(full if many_periods else _moments(digit_power_sums(0, total, unit, base), offset))
    return tuple(moments)


def _blocks(record_bits: int) -> list[tuple[int, int]]:
    """(bits, how many blocks have them) of a record."""
    full, rest = divmod(record_bits, BLOCK_BITS)
    return [(bits, blocks) for bits, blocks in ((BLOCK_BITS, full), (rest, 1)) if bits and blocks]


@lru_cache(maxsize=4096)
def record_moments(record_bits: int, base: int) -> tuple[tuple[Moments, int], ...]:
    """All entries of a record stored as base-`base` digits, as (moments, how many entries have them)."""
    counts: dict[Moments, int] = {}
    for bits, blocks in _blocks(record_bits):
        for moment in digit_moments(bits, base):
            counts[moment] = counts.get(moment, 0) + blocks
    return tuple(counts.items())


@lru_cache(maxsize=4096)
def constant_second_moment(record_bits: int, base: int, ones: bool) -> float:
    """Mean square of the centred base-`base` digits of a record whose bits are all zeros or all ones."""
    squares, count = 0, 0
    for bits, times in _blocks(record_bits):
        value = (1 << bits) - 1 if ones else 0
        for _ in range(digit_count(bits, base)):
            value, digit = divmod(value, base)
            squares += times * (digit - base // 2) ** 2
            count += times
    return squares / count


def record_digit_count(record_bits: int, base: int) -> int:
    """Entries of a record stored as digits."""
    return sum(blocks * digit_count(bits, base) for bits, blocks in _blocks(record_bits))


@lru_cache(maxsize=4096)
def balanced_digit_count(log2_modulus: int, base: int) -> int:
    """The least number of balanced digits that represents all of -2^(k-1)..2^(k-1)-1, k = log2_modulus.

    For 32 bits: four in bases from 258 to 1024, five in base 231. Base 2 has no positive digit; at least 3.
    """
    if base < 3:
        raise ValueError(f"balanced digits need a base of at least 3, not {base}")
    half, low, high, power, count = 1 << (log2_modulus - 1), 0, 0, 1, 0
    while high < half - 1 or low < half:
        low += base // 2 * power
        high += ((base + 1) // 2 - 1) * power
        power *= base
        count += 1
    return count


@lru_cache(maxsize=4096)
def balanced_moments(log2_modulus: int, base: int) -> tuple[Moments, ...]:
    """Balanced base-`base` digits of v uniform over -2^(k-1)..2^(k-1)-1, k = log2_modulus, lowest first.

    Digits lie in -floor(base/2) .. ceil(base/2)-1. Counted exactly; the highest reaches only part of that range.
    """
    half, low = 1 << (log2_modulus - 1), base // 2
    moments = []
    for i in range(balanced_digit_count(log2_modulus, base)):
        unit = base**i
        # Start of the range after the lower digits are subtracted and the lowest digit is shifted to 0.
        start = low * (unit - 1) // (base - 1) + low * unit - half
        moments.append(_moments(digit_power_sums(start, start + 2 * half, unit, base), low))
    return tuple(moments)
