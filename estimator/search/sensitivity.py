"""The effects of small changes: one bit of q, one digit fewer, one bit less of an answer, a doubled database."""

from copy import deepcopy
from dataclasses import dataclass
from math import isfinite
from typing import Any

from ..cost.plan import format_bytes
from ..modulus import parse_modulus
from ..noise.digits import gadget_length
from ..noise.stage import NEVER
from .evaluate import Evaluator, Figures, Literal, Shape
from .rings import NoRing, digits_of, quietest_gadget, two_primes
from .space_file import Axis, Space, get, put


@dataclass(frozen=True)
class Change:
    """A change of a set, and the figures after it."""

    words: str
    figures: Figures


def sensitivity(space: Space, literal: Literal, evaluator: Evaluator) -> list[Change]:
    """The set as it is, then every change."""
    changed = [("as found", literal), *_changes(space, literal)]
    figures = evaluator([each for _, each in changed])
    found = [Change(words, each) for (words, _), each in zip(changed, figures)]
    shape = Shape(2 * evaluator.shape.records, evaluator.shape.record_bits)
    return [*found, Change("twice the records", evaluator.at(shape)([literal])[0])]


def _changes(space: Space, literal: Literal) -> list[tuple[str, Literal]]:
    found = []
    for axis in space.axes:
        if axis.kind == "family" and "degree" in literal[axis.key]:
            found += [_modulus(space, axis, literal, step) for step in (1, -1)]
        elif axis.kind == "gadget":
            found.append(_digit(axis, literal))
        elif axis.kind.startswith("above"):
            less = deepcopy(literal)
            put(less, axis.key, get(literal, axis.key) // 2)
            found.append((f"{axis.key}: one bit less", less))
    return [each for each in found if each is not None]


def _modulus(space: Space, axis: Axis, literal: Literal, step: int) -> tuple[str, Literal] | None:
    """One bit of q more or fewer; gadgets of the same length."""
    ring = literal[axis.key]
    bits = sum((int(p) - 1).bit_length() for p in str(ring["modulus"]).split("*"))
    try:
        modulus = two_primes(ring["degree"], bits + step)
    except NoRing:
        return None
    changed = deepcopy(literal)
    changed[axis.key]["modulus"] = modulus
    for gadget in space.axes:
        if gadget.kind == "gadget" and gadget.of == axis.key:
            table = literal[gadget.key]
            fitted = quietest_gadget(changed[axis.key], _length(table, ring), digits_of(table))
            if fitted is None:
                return None
            changed[gadget.key].update(fitted)
    space.put_bytes(changed)
    return f"q of {bits + step} bits instead of {bits}", changed


def _digit(axis: Axis, literal: Literal) -> tuple[str, Literal] | None:
    """One digit fewer, with the base and the dropped digits that are then best."""
    table, ring = literal[axis.key], literal[axis.of]
    length = _length(table, ring)
    fewer = quietest_gadget(ring, length - 1, digits_of(table)) if length > 1 else None
    if fewer is None:
        return None
    changed = deepcopy(literal)
    changed[axis.key].update(fewer)
    return f"{axis.key}: {length - 1} digits instead of {length}", changed


def _length(table: dict[str, Any], ring: dict[str, Any]) -> int:
    return gadget_length(digits_of(table), parse_modulus(ring["modulus"]), 1 << table["base_log2"], table["dropped"])


def table(changes: list[Change]) -> list[list[str]]:
    """Rows of text, the header first."""
    rows = [["change", "security", "failure", "upload", "download", "answer", "server"]]
    for change in changes:
        f = change.figures
        if f.refused is not None:
            rows.append([change.words, f"refused: {f.refused}", *[""] * 5])
        else:
            rows.append([change.words, *described(f)])
    return rows


def described(figures: Figures) -> list[str]:
    """Security, failure, upload, download, answer time and server memory as people read them."""
    return [
        security(figures.bits),
        failure(figures.log2_failure),
        format_bytes(figures.upload),
        format_bytes(figures.download),
        seconds(figures.seconds),
        format_bytes(figures.server_bytes),
    ]


def security(bits: float | None) -> str:
    """Bits of security; `perfect` where no computation helps an attacker."""
    if bits is None:
        return "unknown"
    return f"{bits:.1f}" if isfinite(bits) else "perfect"


def failure(log2: float) -> str:
    """A failure probability; `never` where nothing can fail."""
    return "never" if log2 <= NEVER / 2 else f"2^{log2:.1f}"


def seconds(value: float) -> str:
    """Three digits."""
    return f"{1000 * value:.3g} ms" if value < 0.9995 else f"{value:.3g} s"
