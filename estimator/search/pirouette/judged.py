"""How likely candidates fail: what the noise chain says of descriptions, of arrays of margins."""

from __future__ import annotations

from dataclasses import dataclass

from ...noise.pirouette import KEY_SQUARES
from ...noise.tails import Array, Mixture, log2_mixture_tail, log2_subgaussian_tail
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


def tail_of(margins: Array, mixture: Mixture | None) -> Array:
    return log2_subgaussian_tail(margins, 1.0) if mixture is None else log2_mixture_tail(margins, 1.0, mixture)
