"""How likely candidates fail: what the noise chain says of descriptions, of arrays of margins."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from ...noise.ring_setting import KEY_SQUARES
from ...noise.tails import Array, Mixture, log2_mixture_union, log2_subgaussian_tail, log2_union
from .space import Ring


@dataclass(frozen=True)
class Judged:
    """Of all combinations, in one line: margin of the response, log2 failure of what comes before it, least margin."""

    response: Array
    before: Array
    margin: Array


def key_squares(ring: Ring) -> float:
    """Of a mixture's key."""
    return KEY_SQUARES[ring.secret] * ring.degree


def mixed_inputs(ring: Ring) -> Mixture:
    """Of the errors of rotations' inputs, as the noise chain has it."""
    return Mixture.even(float(ring.degree), key_squares(ring))


def union_of(margins: Array, mixture: Mixture | None, counts: ArrayLike = 1.0) -> Array:
    """log2 of the union over the last axis, so many decisions of each margin."""
    if mixture is None:
        return log2_union(log2_subgaussian_tail(margins, 1.0), counts)
    return log2_mixture_union(margins, 1.0, mixture, counts)
