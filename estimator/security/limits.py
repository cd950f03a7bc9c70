"""The largest log2 q that keeps the target, and security over log2 q: by the fast model, within its domain."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import ceil, isfinite, log, log2
from typing import Any

import numpy as np
import numpy.typing as npt

from .attacks import ATTACKS, MODEL, SECURITY_TARGET
from .instance import Instance

#: log2 q over the dimension between which security crosses the target: 0.023 for n = 512 with a binary secret and a
#: narrow error, 0.04 with a wide one, 0.027 in the largest dimensions.
_RATIOS = (0.014, 0.06)
#: Points of a curve, and how far it goes to either side, as factors of log2 q at the target.
_POINTS = 65
_SPAN = (0.55, 3.5)
#: How far a curve through a single set goes to either side, as a share of its log2 q.
_NEAR = 0.07


@dataclass(frozen=True)
class Family:
    """A kind of secret and the error's stddev, in any dimension.

    `secret` is as descriptions have it; a Gaussian without `stddev` has the error's. A weight of fixed_weight may be a
    share of the dimension, "n/8".
    """

    kind: str
    secret: dict[str, Any] = field(hash=False)
    stddev: float

    def secret_in(self, dimension: int) -> dict[str, Any]:
        """The secret in one dimension, weights as numbers."""
        return {key: _share(value, dimension) for key, value in self.secret.items()}

    def exists(self, dimension: int) -> bool:
        """Whether the weights fit into the dimension."""
        secret = self.secret_in(dimension)
        return self.kind != "fixed_weight" or secret["plus"] + secret["minus"] <= dimension

    def instance(self, dimension: int, log2_modulus: int) -> Instance:
        """The instance with modulus 2^log2_modulus."""
        mapping = {"dimension": dimension, "modulus": str(1 << log2_modulus), "secret": self.secret_in(dimension)}
        return Instance.of(mapping | {"error_stddev": self.stddev})

    def mapping(self) -> dict[str, Any]:
        return {"secret": self.secret, "stddev": self.stddev}


def _share(value: Any, dimension: int) -> Any:
    if isinstance(value, str) and value.startswith("n/"):
        return dimension // int(value[2:])
    return value


def minima(family: Family, dimension: int, moduli: Sequence[int]) -> tuple[npt.NDArray[np.float64], list[str]]:
    """(bits of the cheapest attack, its name) for moduli 2^j; nan and the reason outside the model's domain."""
    from .fast.domain import MOST_BLOCK, outside, secret_stddev, secret_support
    from .fast.model import evaluate

    instances = [family.instance(dimension, j) for j in moduli]
    secret = secret_stddev(instances[0])
    n, sigma_s, sigma_e = (np.array([float(value)]) for value in (dimension, secret, family.stddev))
    support = secret_support(instances[0])
    figures = evaluate(n, np.array(moduli) * log(2.0), sigma_s, sigma_e, MODEL, support, least=True)
    bits = figures[:, :, 0].min(axis=1)
    names = [ATTACKS[MODEL][at] for at in figures[:, :, 0].argmin(axis=1)]
    for at, instance in enumerate(instances):
        reason = outside(instance)
        if reason is None and not 0 < figures[at, 0, 1] <= MOST_BLOCK:
            reason = "too secure to be counted"
        if reason is not None:
            bits[at], names[at] = np.nan, reason
    return bits, names


def limits(families: Iterable[Family], degrees: Sequence[int]) -> list[dict[str, Any]]:
    """One cell a family and degree."""
    return [family.mapping() | limit(family, degree) for family in families for degree in degrees]


@cache
def limit(family: Family, dimension: int) -> dict[str, Any]:
    """The largest integer log2 q up to which every integer from a secure one on keeps the target.

    Costs ripple with whole block sizes, by up to 0.35 bit, so the crossing that bisection finds is not the first one:
    the integers below it are looked at, as far back as a ripple reaches. Tables and curves ask for the same limits.
    """
    cell: dict[str, Any] = {"dimension": dimension, "log2_modulus": None, "bits": None, "attack": None, "reason": None}
    if not family.exists(dimension):
        return cell | {"reason": f"the secret's weight exceeds the dimension {dimension}"}
    low, high = _range(family, dimension)
    (least,), (reason,) = minima(family, dimension, [low])
    if np.isnan(least) and reason != "too secure to be counted":
        return cell | {"reason": reason}
    if least < SECURITY_TARGET:
        return cell | {"reason": f"below {SECURITY_TARGET:g} bits at every log2 q from {low} on"}
    while high - low > 1:
        middle = (low + high) // 2
        bits, _ = minima(family, dimension, [middle])
        low, high = (middle, high) if np.isnan(bits[0]) or bits[0] >= SECURITY_TARGET else (low, middle)
    # A bit of security is eight steps in dimension 16384, fourteen in the largest.
    reach = 4 + dimension // 4096
    window = range(max(_range(family, dimension)[0], low - reach), low + 1)
    bits, names = minima(family, dimension, window)
    kept = [at for at in range(len(window)) if not (bits[: at + 1] < SECURITY_TARGET).any()]
    at = kept[-1]
    if np.isnan(bits[at]):
        return cell | {"reason": names[at]}
    return cell | {"log2_modulus": window[at], "bits": round(float(bits[at]), 4), "attack": names[at]}


def _range(family: Family, dimension: int) -> tuple[int, int]:
    """Whole log2 q between which the crossing lies, as far as the model's domain goes."""
    from .fast.domain import LEAST_RATIO, LOG2_MODULI

    least = max(LOG2_MODULI[0], log2(LEAST_RATIO * family.stddev))
    low, high = (round(ratio * dimension) for ratio in _RATIOS)
    return max(ceil(least), low), min(int(LOG2_MODULI[1]), max(high, ceil(least) + 1))


def curve(family: Family, dimension: int) -> dict[str, Any]:
    """Bits over whole log2 q far around the target; None outside the model's domain."""
    middle = limit(family, dimension)["log2_modulus"]
    if middle is None:
        return family.mapping() | {"dimension": dimension, "log2_modulus": [], "bits": []}
    low, high = (factor * middle for factor in _SPAN)
    moduli = sorted({round(j) for j in np.geomspace(max(10.0, low), min(2000.0, high), _POINTS)})
    return _over(family, dimension, moduli)


def short_curve(family: Family, dimension: int, log2_modulus: float) -> dict[str, Any]:
    """The same over a few whole log2 q on both sides of one."""
    reach = max(2, round(_NEAR * log2_modulus))
    middle = round(log2_modulus)
    return _over(family, dimension, range(max(10, middle - reach), min(2000, middle + reach) + 1))


def _over(family: Family, dimension: int, moduli: Sequence[int]) -> dict[str, Any]:
    bits, _ = minima(family, dimension, moduli)
    values = [round(float(b), 4) if isfinite(b) else None for b in bits]
    return family.mapping() | {"dimension": dimension, "log2_modulus": list(moduli), "bits": values}
