"""Where the search for Pirouette's sets looks: rings, small keys, bases; secure ones only."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import log, log2, prod

import numpy as np
from numpy.typing import NDArray

from ...cost.units import UnitCosts
from ...noise import FAILURE_TARGET
from ...noise.lattice import Secret
from ...noise.ring_setting import KEY_SQUARES
from ...secret import coordinate
from ...security.attacks import SECURITY_TARGET
from .gadgets import Gadgets

#: Over the target, in bits: what the fast model has been seen to lie above the lattice estimator, and a little more.
SECURITY_MARGIN = 0.2
#: Least bits of a modulus that a part's gadget may keep (those of squarings are exact), and most digits it may have;
#: what is beyond was never near the best.
KEPT_BITS = {"switching": 10.0, "rotation": 24.0, "automorphism": 36.0, "rgsw": 20.0}
MOST_DIGITS = {"switching": 28, "rotation": 9, "automorphism": 28, "rgsw": 28, "squaring": 56}


@dataclass(frozen=True)
class Ring:
    """The ring of all keys: degree, primes of Q, secret (`ternary` or `binary`), standard deviation of errors."""

    degree: int
    primes: tuple[int, ...]
    secret: str
    stddev: float

    @property
    def modulus(self) -> int:
        return prod(self.primes)

    @property
    def key(self) -> Secret:
        """Moments of the secret."""
        moments = coordinate({"kind": self.secret}, self.degree)
        return Secret(moments.square, moments.mean)

    @property
    def key_squares(self) -> float:
        """The key squares of a mixture."""
        return KEY_SQUARES[self.secret] * self.degree


@dataclass(frozen=True)
class SmallKey:
    """The key of blind rotations, binary, and the LWE instance that shows it.

    Pirouette: the key-switching key, modulo 2^modulus_log2. Pirouette^H: the query, modulo 2N.
    """

    dimension: int
    modulus_log2: int
    stddev: float


@dataclass(frozen=True)
class Space:
    """The combinations: bases as base-two logarithms, each with every number of dropped digits."""

    rings: Sequence[Ring]
    small_keys: Sequence[SmallKey]
    switching_bases: Sequence[int] = (1, 2, 3, 4)
    rotation_bases: Sequence[int] = tuple(range(5, 17))
    automorphism_bases: Sequence[int] = tuple(range(1, 12))
    squaring_bases: Sequence[int] = tuple(range(1, 16))
    rgsw_bases: Sequence[int] = tuple(range(1, 9))
    joint: Sequence[bool] = (False, True)
    first_bits: Sequence[int] = tuple(range(4, 14))
    moduli: Sequence[int] = (1, 2)
    plain_modulus: int = 16
    digit_bits: int = 5
    response_stddev: float = 110.0
    response_degree: int = 512
    mask_modulus: int = 16760833
    body_modulus: int = 256
    query_modulus_log2: int = 56
    query_body_bits: int = 32
    #: Bits by which chosen seeds reduce the rounding error of the body.
    query_chosen_bits: int = 0
    query_stddev: float = 24.0
    #: A record's, at most: failures count over all its coefficients. The noise of a selection is the index's alone, so
    #: what holds for 2^k records of that length holds for fewer and for shorter ones.
    slots: int = 128
    #: Pirouette^H: bits of each body.
    body_bits: int = 9

    def gadgets(self, part: str, modulus: int) -> Gadgets:
        """All that there are of a part of a set: its bases, with as many dropped digits as leave bits enough."""
        kept = KEPT_BITS.get(part, float(np.log2(float(modulus))))
        return Gadgets.of(modulus, getattr(self, f"{part}_bases"), kept, MOST_DIGITS[part])


@dataclass(frozen=True)
class Limits:
    """offline_bytes: of all keys, both halves of every ciphertext, or where `sent` the half of which no seed is known.
    margin: of every decision, in standard deviations, for any data."""

    offline_bytes: float
    log2_failure: float = FAILURE_TARGET
    margin: float = 8.2
    sent: bool = False

    def ring_bytes(self, degree: int, primes: Sequence[int]) -> float:
        """Bytes of a ciphertext of the ring."""
        if self.sent:
            return degree * sum(prime.bit_length() for prime in primes) / 8
        return 2 * degree * log2(prod(primes)) / 8

    def small_bytes(self, small: SmallKey) -> float:
        """Bytes of a ciphertext of a small key."""
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
        """All that the best sets depend on, beside formulas and binary."""
        units = sorted(self.units.seconds.items())
        return repr((self.space, units, self.index_bits, self.limits, self.half))


def security_bits(dimension: int, modulus_log2: float, secret: str, stddevs: NDArray) -> NDArray:
    """The least of the fast model's attacks for each error, with any number of samples."""
    from ...security.fast.model import evaluate

    short = coordinate({"kind": secret}, dimension)
    figures = evaluate(dimension, modulus_log2 * log(2), short.stddev, stddevs, support=short.values, least=True)
    return np.asarray(figures[:, :, 0].min(axis=1))


def secure_rings(degree: int, prime_pairs: Iterable[tuple[int, ...]], secrets: Iterable[str]) -> list[Ring]:
    """Each modulus with the least error that is secure; more error would only be worse."""
    return [
        Ring(degree, primes, secret, stddev)
        for primes, secret in product(prime_pairs, secrets)
        if (stddev := _least_error(degree, log2(prod(primes)), secret, 9.0)) is not None
    ]


def secure_small_keys(dimensions: Iterable[int], modulus_log2: int) -> list[SmallKey]:
    """Each dimension with the least secure error."""
    return [
        SmallKey(dimension, modulus_log2, stddev)
        for dimension in dimensions
        if (stddev := _least_error(dimension, float(modulus_log2), "binary", modulus_log2 - 8 + 1 / 32)) is not None
    ]


def _least_error(dimension: int, modulus_log2: float, secret: str, most_log2: float) -> float | None:
    """The least secure standard deviation, from 1/2 up in steps of 1/16 of a bit."""
    stddevs = np.array([_rounded_up(stddev) for stddev in np.exp2(np.arange(-1, most_log2, 1 / 16))])
    bits = security_bits(dimension, modulus_log2, secret, stddevs)
    secure = np.flatnonzero(bits >= SECURITY_TARGET + SECURITY_MARGIN)
    return float(stddevs[secure[0]]) if len(secure) else None


def _rounded_up(stddev: float) -> float:
    """To three significant digits, never down."""
    unit = 10.0 ** (int(np.floor(np.log10(stddev))) - 2)
    return float(f"{np.ceil(stddev / unit - 1e-9) * unit:.6g}")
