"""The error of a ciphertext: its variance, and whether that is an equality or a bound."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

#: A number, or an array of them: one for each description.
Numbers = float | NDArray[np.float64]
#: The same for integers of any size, such as moduli.
Integers = int | NDArray[np.object_]


def ratio(numerator: Integers, denominator: Integers) -> Numbers:
    """The quotient of integers of any size."""
    divide = np.frompyfunc(lambda x, y: int(x) / int(y), 2, 1)
    quotient = divide(np.asarray(numerator, dtype=object), np.asarray(denominator, dtype=object))
    return np.asarray(quotient, dtype=float)[()]


Kind = Literal["equality", "bound"]


@dataclass(frozen=True)
class Noise:
    """E[e^2] of one coefficient of the error (mean over the coefficients and over keys), in units of the modulus.

    kind: `equality` for uniformly random inputs, or `bound` for any.
    """

    variance: Numbers
    kind: Kind = "equality"

    def __add__(self, other: "Noise") -> "Noise":
        """The noise of the sum of two independent errors: an equality only if both are."""
        return Noise(np.add(self.variance, other.variance), self.kind if self.kind == other.kind else "bound")

    def scaled(self, factor: Numbers) -> "Noise":
        """The noise with its variance multiplied by `factor`."""
        return Noise(np.multiply(self.variance, factor), self.kind)


NOTHING = Noise(0.0)
