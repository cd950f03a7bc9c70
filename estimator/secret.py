"""The kinds of secrets that descriptions name: the moments of a coordinate, and its name in the lattice estimator."""

from collections.abc import Mapping
from math import inf, sqrt
from typing import Any, NamedTuple


class Coordinate(NamedTuple):
    """E[s^2] about zero, E[s], the standard deviation about that, how many values there are, the estimator's ND."""

    square: float
    mean: float
    stddev: float
    values: float
    sage: str


def coordinate(secret: Mapping[str, Any], dimension: int) -> Coordinate:
    """The coordinate of a short secret in a dimension; ValueError for kinds that the lattice estimator lacks."""
    match secret["kind"]:
        case "gaussian":
            stddev = float(secret["stddev"])
            return Coordinate(stddev**2, 0.0, stddev, inf, f"ND.DiscreteGaussian({secret['stddev']!r})")
        case "ternary":
            return Coordinate(2 / 3, 0.0, sqrt(2 / 3), 3.0, "ND.Uniform(-1, 1)")
        case "binary":
            return Coordinate(1 / 2, 1 / 2, 0.5, 2.0, "ND.Uniform(0, 1)")
        case "uniform_range":
            low, high = int(secret["low"]), int(secret["high"])
            values, mean = high - low + 1, (low + high) / 2
            variance = (values * values - 1) / 12
            return Coordinate(variance + mean**2, mean, sqrt(variance), float(values), f"ND.Uniform({low}, {high})")
        case "fixed_weight":
            plus, minus = int(secret["plus"]), int(secret["minus"])
            square, mean = (plus + minus) / dimension, (plus - minus) / dimension
            signs = 1.0 + (plus > 0) + (minus > 0)
            return Coordinate(square, mean, sqrt(square - mean * mean), signs, f"ND.SparseTernary({plus}, {minus})")
    raise ValueError(f"secret kind {secret['kind']!r} is unknown to the lattice estimator")
