"""Exact counts of the DEPIR paper's data structure: the primes that Algorithms 2 and 3 need, what they read and store.

A polynomial is evaluated modulo q by its values modulo the smallest primes, as many as make the lift unique: their
product is at least 2 N |f| (q/2)^D. Algorithm 2 has a table of p^m values of each; Algorithm 3 evaluates modulo each in
the same way once more, and has tables of the primes of this second step.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from math import comb, log2

import numpy as np

SIEVED = 1 << 16
"""The primes of tables are below this, and those of ciphertexts below its square."""


def _sieve(bound: int) -> list[int]:
    prime = np.ones(bound, dtype=bool)
    prime[:2] = False
    for number in range(2, int(bound**0.5) + 1):
        if prime[number]:
            prime[number * number :: number] = False
    return [int(each) for each in np.flatnonzero(prime)]


PRIMES = _sieve(SIEVED)
_SMALL = np.array(PRIMES, dtype=np.int64)
_BITS = np.cumsum(np.log2(_SMALL))
"""log2 of the product of the first primes."""


@dataclass(frozen=True)
class Shape:
    """A polynomial in m variables of total degree D: N monomials, all of them by default, coefficients up to |f|."""

    degree: int
    variables: int
    coefficient: float
    monomials: int = 0

    @property
    def log2_product(self) -> float:
        """log2 of 2 N |f|."""
        return 1 + log2(self.monomials or comb(self.degree + self.variables, self.variables)) + log2(self.coefficient)

    def primes(self, modulus: float) -> int:
        """The fewest of the smallest primes that evaluate it modulo `modulus`."""
        needed = int(np.searchsorted(_BITS, self.log2_product + self.degree * log2(modulus / 2))) + 1
        if needed > len(PRIMES):
            raise ValueError(f"degree {self.degree} modulo {modulus:g} needs primes above 2^16")
        return needed


@dataclass(frozen=True)
class Cost:
    """Reads of one evaluation, and the entries of all tables."""

    reads: float
    entries: float


def _entries(primes: int, variables: int) -> float:
    return float(sum(prime**variables for prime in PRIMES[:primes]))


def one_step(shape: Shape, moduli: Sequence[float]) -> Cost:
    """Algorithm 2 at one point modulo each of the moduli, which have their tables in common."""
    needed = [shape.primes(modulus) for modulus in moduli]
    return Cost(float(sum(needed)), _entries(max(needed), shape.variables))


def two_steps(shape: Shape, moduli: Sequence[float]) -> Cost:
    """Algorithm 3: each of the primes of the first step is a modulus of the second."""
    first = [shape.primes(modulus) for modulus in moduli]
    second = [shape.primes(prime) for prime in PRIMES[: max(first)]]
    reads = float(sum(sum(second[:needed]) for needed in first))
    return Cost(reads, _entries(max(second), shape.variables))


def ciphertext_primes(step: int, log2_modulus: float) -> list[int]:
    """The smallest primes that are 1 modulo `step`, as many as make a product of that many bits."""
    found: list[int] = []
    bits = 0.0
    for prime in _primes_of(step):
        found.append(prime)
        bits += log2(prime)
        if bits >= log2_modulus:
            break
    return found


def _primes_of(step: int) -> Iterator[int]:
    for number in count(step + 1, step):
        if number >= SIEVED**2:
            raise ValueError(f"too few primes below 2^32 are 1 modulo {step}")
        if np.all(number % _SMALL[number >= _SMALL * _SMALL]):
            yield number


def least_degree(monomials: int, variables: int) -> int:
    """The least total degree of which a polynomial has that many monomials."""
    return next(degree for degree in count(1) if comb(degree + variables, variables) >= monomials)
