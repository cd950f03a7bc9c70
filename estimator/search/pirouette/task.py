"""What a search for Pirouette's sets is asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2, prod

from ...cost.units import UnitCosts
from ...noise import FAILURE_TARGET
from .space import SmallKey, Space


@dataclass(frozen=True)
class Limits:
    """offline_bytes: of all keys, both halves of every ciphertext, or where `sent` the half of which no seed is known.
    margin: of every decision, in standard deviations, for any data."""

    offline_bytes: float
    log2_failure: float = FAILURE_TARGET
    margin: float = 8.2
    sent: bool = False

    def ring_bytes(self, degree: int, primes: Sequence[int]) -> float:
        """Of a ciphertext of the ring."""
        if self.sent:
            return degree * sum(prime.bit_length() for prime in primes) / 8
        return 2 * degree * log2(prod(primes)) / 8

    def small_bytes(self, small: SmallKey) -> float:
        """Of a ciphertext of a small key."""
        return (1 if self.sent else small.dimension + 1) * small.modulus_log2 / 8


@dataclass(frozen=True)
class Task:
    """For databases of 2^index_bits records; `half` for Pirouette^H."""

    space: Space
    units: UnitCosts
    index_bits: int
    limits: Limits
    half: bool = False

    def words(self) -> str:
        """All that the best sets depend on, beside formulas."""
        units = sorted(self.units.seconds.items())
        return repr((self.space, units, self.index_bits, self.limits, self.half))
