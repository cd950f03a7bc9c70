"""Inputs of the noise formulas beside noise: secrets and gadgets. All numbers may be arrays (a sweep is one call)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..digits import Gadget, gadget
from ..error import Integers, Kind, Numbers


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
    """The moments of a gadget's digits that enter noise, each a sum over the digits.

    square: of E[x^2]. repeated: of E_u[E[x | u]^2], the part that equal inputs repeat. mean: of E[x]^2.
    error_square, error_mean: of u minus what the digits recompose to (0 unless digits are dropped).
    kind: `equality` for uniform inputs; `bound` holds for every fixed input (see `worst_case`).
    """

    square: Numbers
    repeated: Numbers
    mean: Numbers
    error_square: Numbers
    error_mean: Numbers
    kind: Kind = "equality"

    @staticmethod
    def of(family: ArrayLike, modulus: Integers, base: Integers, dropped: Integers = 0) -> "GadgetNoise":
        """The gadgets of all combinations that the arguments broadcast to, for uniform inputs."""
        return GadgetNoise._build(_uniform_input, "equality", family, modulus, base, dropped)

    def each(self, change: Callable[[NDArray], NDArray]) -> "GadgetNoise":
        """The same with every array changed."""
        return GadgetNoise(**{name: change(np.asarray(getattr(self, name))) for name in _FIELDS}, kind=self.kind)

    @staticmethod
    def worst_case(family: ArrayLike, modulus: Integers, base: Integers, dropped: Integers = 0) -> "GadgetNoise":
        """The same for the worst input, over the coins alone: no heuristic about what is decomposed."""
        return GadgetNoise._build(_any_input, "bound", family, modulus, base, dropped)

    @staticmethod
    def _build(
        pick: Callable[[Gadget], tuple[float, ...]], kind: Kind, family: ArrayLike, *numbers: Integers
    ) -> "GadgetNoise":
        """numbers: modulus, base, dropped."""
        one = np.frompyfunc(lambda f, q, b, low: _picked(pick, str(f), int(q), int(b), int(low)), 4, len(_FIELDS))
        columns = one(*(np.asarray(argument, dtype=object) for argument in (family, *numbers)))
        fields = {name: np.asarray(column, dtype=float)[()] for name, column in zip(_FIELDS, columns)}
        return GadgetNoise(**fields, kind=kind)


@lru_cache(maxsize=65536)
def _picked(
    pick: Callable[[Gadget], tuple[float, ...]], family: str, modulus: int, base: int, dropped: int
) -> tuple[float, ...]:
    """The moments of one gadget, cached because sweeps need the same ones again and again."""
    return pick(gadget(family, modulus, base, dropped))


_FIELDS = ("square", "repeated", "mean", "error_square", "error_mean")


def _uniform_input(g: Gadget) -> tuple[float, ...]:
    return (
        float(sum(d.square for d in g.digits)),
        float(sum(d.fixed for d in g.digits)),
        float(sum(d.mean**2 for d in g.digits)),
        float(g.error.square),
        float(g.error.mean),
    )


def _any_input(g: Gadget) -> tuple[float, ...]:
    worst = float(sum(d.worst for d in g.digits))
    centred = all(d.fixed == 0 for d in g.digits)
    repeated = 0.0 if centred else worst
    return worst, repeated, repeated, float(g.error.worst), float(g.error.worst) ** 0.5


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
