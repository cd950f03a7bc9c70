"""Inputs of the noise formulas beside noise: secrets and gadgets. All numbers may be arrays (a sweep is one call)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..digits import gadget
from ..error import Integers, Numbers


@dataclass(frozen=True)
class Secret:
    """E[s^2] and E[s] of a coefficient of a secret key (or of any multiplier with independent coefficients)."""

    square: Numbers
    mean: Numbers = 0.0

    @staticmethod
    def binary() -> "Secret":
        return Secret(1 / 2, 1 / 2)

    @staticmethod
    def ternary() -> "Secret":
        return Secret(2 / 3)

    @staticmethod
    def gaussian(stddev: Numbers) -> "Secret":
        return Secret(np.square(stddev))

    @staticmethod
    def fixed_weight(weight: Numbers, n: Numbers) -> "Secret":
        """`weight` of n coefficients are 1 or -1, as often the one as the other."""
        return Secret(np.divide(weight, n))


@dataclass(frozen=True)
class GadgetNoise:
    """The moments of a gadget's digits that enter noise, each a sum over the digits, for uniform inputs.

    square: of E[x^2]. repeated: of E_u[E[x | u]^2], the part that equal inputs repeat. mean: of E[x]^2.
    error_square, error_mean: of u minus what the digits recompose to (0 unless digits are dropped).
    """

    square: Numbers
    repeated: Numbers
    mean: Numbers
    error_square: Numbers
    error_mean: Numbers

    @staticmethod
    def of(family: ArrayLike, modulus: Integers, base: Integers, dropped: Integers = 0) -> "GadgetNoise":
        """The gadgets of all combinations that the arguments broadcast to."""
        one = np.frompyfunc(lambda f, q, b, low: _moments(str(f), int(q), int(b), int(low)), 4, len(_FIELDS))
        columns = one(*(np.asarray(argument, dtype=object) for argument in (family, modulus, base, dropped)))
        return GadgetNoise(*(np.asarray(column, dtype=float)[()] for column in columns))

    def each(self, change: Callable[[NDArray], NDArray]) -> "GadgetNoise":
        """The same with every array changed."""
        return GadgetNoise(**{name: change(np.asarray(getattr(self, name))) for name in _FIELDS})


_FIELDS = ("square", "repeated", "mean", "error_square", "error_mean")


@lru_cache(maxsize=65536)
def _moments(family: str, modulus: int, base: int, dropped: int) -> tuple[float, ...]:
    """The moments of one gadget, cached because sweeps need the same ones again and again."""
    g = gadget(family, modulus, base, dropped)
    return (
        float(sum(d.square for d in g.digits)),
        float(sum(d.fixed for d in g.digits)),
        float(sum(d.mean**2 for d in g.digits)),
        float(g.error.square),
        float(g.error.mean),
    )


def negacyclic_signs(n: int, exponent: int = 1) -> float:
    """Mean of (sum of its n signs)^2 over the coefficients of U(X) U(X^exponent), U = 1 + X + ... + X^(n-1).

    What means of both factors add to a negacyclic product; (n^2 + 2) / 3 for exponent 1.
    """
    positions = np.arange(n) * (exponent % (2 * n)) % (2 * n)
    image = np.zeros(2 * n)
    image[positions % n] = np.where(positions < n, 1.0, -1.0)
    wide = np.zeros(2 * n)
    wide[:n] = 1.0
    product = np.fft.irfft(np.fft.rfft(wide) * np.fft.rfft(image), 2 * n)
    return float(np.mean((product[:n] - product[n:]) ** 2))
