"""Rings of a space, and gadgets for them: moduli as products of primes, secrets and errors that are secure enough, and
of each length of a gadget the base and dropped digits with the least noise."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isqrt
from typing import Any

from ..modulus import parse_modulus
from ..noise.digits import gadget, gadget_length
from ..security.assess import best, fast_estimate
from ..security.attacks import CIPHER_BITS, FAST_TOLERANCE, MODEL
from ..security.fast.domain import secret_stddev
from ..security.instance import Instance

#: Primes of the rings of the implementation are below 2^28 (impl/pir/src/parts/ring_matrix/rlwe.rs).
LARGEST_PRIME_LOG2 = 28


class NoRing(ValueError):
    """There are no such primes; the message says which."""


@dataclass(frozen=True)
class Secured:
    """A table `[lwe]` or `[rlwe]` with the bits of security that the fast model gives it (None: it has no figure)."""

    table: dict[str, Any]
    bits: float | None


def is_prime(value: int) -> bool:
    """By trial division: values here are below 2^28."""
    return value > 1 and all(value % d for d in range(2, isqrt(value) + 1))


def primes_below(bound: int, step: int) -> Iterable[int]:
    """Primes below `bound` that are 1 modulo `step`, largest first."""
    start = (bound - 2) // step * step + 1
    return (p for p in range(start, step, -step) if is_prime(p))


@lru_cache(maxsize=1024)
def two_primes(degree: int, bits: int) -> str:
    """Two different primes, 1 modulo 2 degree, of ceil(bits/2) and floor(bits/2) bits, as large as there are.

    So residues take `bits` bits on the wire, and the product stays below 2^bits.
    """
    step, first = 2 * degree, 0
    for width in (-(-bits // 2), bits // 2):
        if width > LARGEST_PRIME_LOG2:
            break
        found = next((p for p in primes_below(1 << width, step) if p >> (width - 1) and p != first), None)
        if found is None:
            break
        if first:
            return f"{first} * {found}"
        first = found
    raise NoRing(
        f"no two primes below 2^{LARGEST_PRIME_LOG2} that are 1 modulo {step} have {bits} bits together: "
        "take another log2_modulus or a smaller degree"
    )


def tables(family: dict[str, Any]) -> list[dict[str, Any]]:
    """The tables of a family as spaces have it: every degree (or dimension) with every modulus, secret and error.

    {"degree": [..], "log2_modulus": [..], "secrets": [..]} of rings; {"dimension": [..], "modulus": "2^32", ..} of LWE.
    A secret is {"kind": .., "error": [stddev, ..]}.
    """
    found = [
        with_error({"secret": {key: value for key, value in secret.items() if key != "error"}}, stddev)
        for secret in family["secrets"]
        for stddev in secret["error"]
    ]
    if "dimension" in family:
        sizes = [{"dimension": n, "modulus": family["modulus"]} for n in family["dimension"]]
    else:
        sizes = [
            {"degree": degree, "modulus": two_primes(degree, bits)}
            for degree in family["degree"]
            for bits in family["log2_modulus"]
        ]
    return [size | drawn for size in sizes for drawn in found]


def with_error(table: dict[str, Any], stddev: float) -> dict[str, Any]:
    """The table with this error; a gaussian secret is as wide."""
    wide = {"stddev": stddev} if table["secret"]["kind"] == "gaussian" else {}
    return table | {"secret": table["secret"] | wide, "error": {"stddev": stddev}}


def instance(table: dict[str, Any]) -> Instance:
    """The instance that a table exposes at least, with its dimension, modulus, secret and error."""
    return Instance.of(
        {
            "dimension": table.get("degree", table.get("dimension")),
            "modulus": table["modulus"],
            "secret": table["secret"],
            "error_stddev": table["error"]["stddev"],
        }
    )


def secured(family: Sequence[dict[str, Any]]) -> list[Secured]:
    """Each table with its security by the fast model."""
    instances = [instance(table) for table in family]
    answers = fast_estimate(instances)
    found = []
    for table, each in zip(family, instances):
        attack = best(answers[each]["results"], MODEL)
        found.append(Secured(table, None if attack is None else attack.log2_rop))
    return found


def reaches(bits: float | None, target: float) -> bool:
    """Whether the fast model's figure reaches the target, however far it may lie above the lattice estimator's. A
    cipher's bits do not come from a model."""
    return bits is not None and bits >= target + (0.0 if bits == CIPHER_BITS else FAST_TOLERANCE)


def quietest(candidates: Sequence[Secured]) -> list[Secured]:
    """Without those that another of the same dimension and modulus undercuts in secret and in error.

    Secret and error change neither bytes nor work, only noise, which grows with both.
    """
    return [c for c in candidates if not any(_undercuts(other, c) for other in candidates)]


def _size(table: dict[str, Any]) -> tuple:
    return table.get("degree"), table.get("dimension"), table["modulus"]


def _widths(table: dict[str, Any]) -> tuple[float, float]:
    if table["secret"]["kind"] == "uniform":
        return float("inf"), table["error"]["stddev"]
    return secret_stddev(instance(table)), table["error"]["stddev"]


def _undercuts(left: Secured, right: Secured) -> bool:
    if left is right or _size(left.table) != _size(right.table):
        return False
    mine, theirs = _widths(left.table), _widths(right.table)
    return mine != theirs and mine[0] <= theirs[0] and mine[1] <= theirs[1]


#: Bases and dropped digits that are tried; the implementation takes bases up to 2^20 (impl/gadget/src/plan.rs).
BASES_LOG2 = range(1, 21)
DROPPED = range(4)


def digits_of(table: dict[str, Any]) -> str:
    """The kind of a gadget's digits; a set of a protocol that has balanced ones alone does not say so."""
    return str(table.get("digits", "balanced"))


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
    """The least base in which balanced digits of all of a modulus have at most that length, which adds least noise, or
    None."""
    bases = range(2, (1 << max(BASES_LOG2)) + 1)
    at = bisect_left(bases, True, key=lambda base: gadget_length("balanced", modulus, base, 0) <= length)
    return bases[at] if at < len(bases) else None
