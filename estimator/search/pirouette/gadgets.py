"""Gadgets of a search, as arrays."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...noise.digits import gadget_length
from ...noise.error import Numbers
from ...noise.lattice import GadgetNoise


@dataclass(frozen=True)
class Gadgets:
    """Balanced gadgets: bases 2^base_log2 with `dropped` low digits left out, of `digits` digits.

    All arrays have one shape.
    """

    base_log2: NDArray[np.int64]
    dropped: NDArray[np.int64]
    digits: NDArray[np.int64]
    noise: GadgetNoise

    @staticmethod
    def of(modulus: int, bases_log2: Iterable[int], kept_bits: float, most_digits: int) -> "Gadgets":
        """Every number of dropped digits that keeps `kept_bits` bits of the modulus, in `most_digits` digits or fewer.

        kept_bits of at least the modulus' bits: exact gadgets only.
        """
        found = [
            (b, dropped, digits)
            for b in bases_log2
            for dropped in range(int(modulus).bit_length() // b + 1)
            if (dropped == 0 or b * dropped + kept_bits <= np.log2(float(modulus)))
            and (digits := gadget_length("symmetric", modulus, 1 << b, dropped)) <= most_digits
        ]
        if not found:
            raise ValueError(f"no base of {list(bases_log2)} has {most_digits} digits or fewer modulo {modulus}")
        base, low, length = (np.array(column) for column in zip(*found))
        noise = GadgetNoise.of("symmetric", modulus, np.array([1 << b for b, _, _ in found], dtype=object), low)
        return Gadgets(base, low, length, noise)

    def at(self, index: ArrayLike) -> "Gadgets":
        """The gadgets at the indices, in the indices' shape."""
        index = np.asarray(index)
        noise = self.noise.each(lambda array: array[index])
        return Gadgets(self.base_log2[index], self.dropped[index], self.digits[index], noise)

    def table(self, index: int) -> dict[str, int]:
        """The gadget in the form of parameter files."""
        return {"base_log2": int(self.base_log2[index]), "dropped": int(self.dropped[index])}

    def by_length(self) -> tuple[list[dict[str, int]], NDArray[np.intp]]:
        """A gadget of each length, as parameter files have it; and which of these each gadget is as long as."""
        _, first, like = np.unique(self.digits, return_index=True, return_inverse=True)
        return [self.table(int(i)) for i in first], like

    def __len__(self) -> int:
        return len(self.base_log2)


def column(noise: GadgetNoise) -> GadgetNoise:
    """Along the first of three axes."""
    return noise.each(lambda array: array[:, None, None])


def entries(part: Numbers | GadgetNoise, *index: NDArray[np.intp]) -> Numbers | GadgetNoise:
    """What an array, or a gadget's arrays, have at an index along each of the axes along which they broadcast."""

    def taken(array: NDArray) -> NDArray:
        shape = (1,) * (len(index) - array.ndim) + array.shape
        return array.reshape(shape)[tuple(np.minimum(i, size - 1) for i, size in zip(index, shape))]

    return part.each(taken) if isinstance(part, GadgetNoise) else taken(np.asarray(part))
