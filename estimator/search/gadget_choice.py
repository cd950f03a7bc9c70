"""Gadgets of a space: of each length, base and dropped digits with the least noise for a ring."""

from functools import lru_cache
from typing import Any

from ..modulus import parse_modulus
from ..noise.digits import gadget, gadget_length
from ..security.fast.domain import secret_stddev
from .rings import instance

#: Bases and dropped digits that are tried; the implementation takes bases up to 2^20 (impl/gadget/src/plan.rs).
BASES_LOG2 = range(1, 21)
DROPPED = range(4)


def quietest_gadget(ring: dict[str, Any], length: int, digits: str) -> dict[str, int] | None:
    """`base_log2` and `dropped` of the gadget of that length that switches keys with the least noise, or None.

    A key switch adds n sigma^2 sum E[x^2] + n E[s^2] E[eps^2]: digits x, and eps what dropping the lowest leaves out.
    Bytes and work depend on the length alone.
    """
    exposed = instance(ring)
    found = _quietest(
        parse_modulus(ring["modulus"]), length, digits, exposed.error_stddev**2, secret_stddev(exposed) ** 2
    )
    return None if found is None else {"base_log2": found[0], "dropped": found[1]}


@lru_cache(maxsize=4096)
def _quietest(modulus: int, length: int, digits: str, error: float, secret: float) -> tuple[int, int] | None:
    least, chosen = float("inf"), None
    for dropped in DROPPED:
        for base_log2 in BASES_LOG2:
            base = 1 << base_log2
            if base**dropped >= modulus or gadget_length(digits, modulus, base, dropped) != length:
                continue
            each = gadget(digits, modulus, base, dropped)
            noise = error * float(sum(d.square for d in each.digits)) + secret * float(each.error.square)
            if noise < least:
                least, chosen = noise, (base_log2, dropped)
    return chosen


@lru_cache(maxsize=4096)
def least_base(modulus: int, length: int) -> int | None:
    """The least base in which balanced digits of all of a modulus have that length, which adds least noise, or None."""
    low, high = 2, 1 << max(BASES_LOG2)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if gadget_length("balanced", modulus, middle, 0) <= length else (middle + 1, high)
    return low if gadget_length("balanced", modulus, low, 0) == length else None
