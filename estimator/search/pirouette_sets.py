"""Pirouette's and Pirouette^H's sets for a search: the committed ones, and those that the search of their own finds.

Their key sizes, seconds and noise hang together too much for axes, so whole sets are listed (`sets_of` of a space).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from typing import Any

from ..paths import ROOT
from .bounds import Bounds
from .evaluate import SOURCE, Evaluator, Literal
from .files import toml
from .pirouette.circuit import Limits, Search
from .pirouette.command import CONSIDERED, OFFLINE_BYTES, OFFLINE_BYTES_HALF, space_of

#: Both halves of every key are counted in the limit of that search; one of them is sent.
HALVES = 2
#: Tables and keys of a file that say what it is, and not what it does.
_WORDS = ("protocol", "title", "source")
#: Bits of an index beyond position and the smallest first dimension, which that search asks for.
LEAST_INDEX_BITS = 8


def committed(protocol: str, evaluator: Evaluator, bounds: Bounds) -> list[Literal]:
    """The sets of params/<protocol>/ with every division of the index into rows and columns."""
    del evaluator, bounds
    found = []
    for path in sorted((ROOT / "params" / protocol).glob("*.toml")):
        literal = {k: v for k, v in tomllib.loads(path.read_text(encoding="utf-8")).items() if k not in _WORDS}
        if literal["database"].get("encrypted"):
            continue
        for first_bits in range(1, 14):
            for moduli in (1, 2):
                each = deepcopy(literal)
                each["database"] |= {"first_bits": first_bits, "moduli": moduli}
                found.append(each)
    return found


def searched(protocol: str, evaluator: Evaluator, bounds: Bounds) -> list[Literal]:
    """The committed sets, and the fastest that are found for as many items as the shape has."""
    known = committed(protocol, evaluator, bounds)
    bits = _index_bits(protocol, known, evaluator)
    if bits is None or bits < LEAST_INDEX_BITS:
        return known
    half = protocol == "pirouette_h"
    most = OFFLINE_BYTES_HALF if half else OFFLINE_BYTES
    limits = Limits(most if bounds.offline is None else HALVES * bounds.offline, bounds.failure, 0.0)
    search = Search(space_of(half), evaluator.unit_costs, bits, limits, half)
    return known + [_literal(candidate.toml("", "", "")) for candidate in search.best(CONSIDERED)]


def _index_bits(protocol: str, known: list[Literal], evaluator: Evaluator) -> int | None:
    """Bits of an index, which the binary says; None for a shape that the protocol refuses."""
    texts = [toml({"protocol": protocol, "title": "", "source": SOURCE} | each) for each in known]
    bits: Iterator[int] = (d["layout"]["index_bits"] for d in evaluator.describe(texts) if "error" not in d)
    return next(bits, None)


def _literal(text: str) -> dict[str, Any]:
    return {k: v for k, v in tomllib.loads(text).items() if k not in _WORDS}


pirouette, pirouette_h = (partial(searched, name) for name in ("pirouette", "pirouette_h"))
committed_pirouette, committed_pirouette_h = (partial(committed, name) for name in ("pirouette", "pirouette_h"))
