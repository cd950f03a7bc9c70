"""Pirouette's and Pirouette^H's sets for a search: the committed ones, and those that the search of their own finds.

Their key sizes, seconds and noise hang together too much for axes, so whole sets are listed (`sets_of` of a space).
"""

import tomllib
from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from itertools import product

from ..paths import ROOT
from ..sets import resolve
from .bounds import Bounds
from .evaluate import SOURCE, Evaluator, Literal
from .files import toml
from .pirouette.circuit import Search
from .pirouette.command import CONSIDERED, OFFLINE_BYTES, OFFLINE_BYTES_HALF, space_of
from .pirouette.space import Limits
from .progress import Progress

#: Most bytes of the keys' messages, which that search does not count.
SEED_BYTES = 512
#: Tables and keys of a file that say what it is, and not what it does.
_WORDS = ("protocol", "title", "source")
#: Bits of an index beyond position and the smallest first dimension, which that search asks for.
LEAST_INDEX_BITS = 8


def committed(protocol: str, evaluator: Evaluator, bounds: Bounds, progress: Progress) -> list[Literal]:
    """The sets of params/<protocol>/ with every division of the index into rows and columns."""
    del evaluator, bounds, progress
    found = []
    for literal in resolve(sorted((ROOT / "params" / protocol).glob("*.toml"))):
        if literal["database"].get("encrypted"):
            continue
        for first_bits, moduli in product(range(1, 14), (1, 2)):
            each = _without_words(literal)
            each["database"] |= {"first_bits": first_bits, "moduli": moduli}
            found.append(each)
    return found


def _without_words(literal: Literal) -> Literal:
    """A copy without the keys that say what the set is."""
    return {key: deepcopy(value) for key, value in literal.items() if key not in _WORDS}


def searched(protocol: str, evaluator: Evaluator, bounds: Bounds, progress: Progress) -> list[Literal]:
    """The committed sets, and those of the search."""
    return committed(protocol, evaluator, bounds, progress) + own(protocol, evaluator, bounds, progress)


def own(protocol: str, evaluator: Evaluator, bounds: Bounds, progress: Progress) -> list[Literal]:
    """The fastest sets that are found for as many items as the shape has; none for too few."""
    bits = _index_bits(protocol, committed(protocol, evaluator, bounds, progress), evaluator)
    if bits is None or bits < LEAST_INDEX_BITS:
        return []
    half = protocol == "pirouette_h"
    limits = Limits(OFFLINE_BYTES_HALF if half else OFFLINE_BYTES, bounds.failure, 0.0)
    if bounds.offline is not None:
        limits = Limits(max(0.0, bounds.offline - SEED_BYTES), bounds.failure, 0.0, sent=True)
    search = Search(space_of(half), evaluator.unit_costs, bits, limits, half)
    best = search.best(CONSIDERED, progress, evaluator.cache)
    return [_without_words(tomllib.loads(candidate.toml())) for candidate in best]


def _index_bits(protocol: str, known: list[Literal], evaluator: Evaluator) -> int | None:
    """Bits of an index, which the binary says; None for a shape that the protocol refuses."""
    texts = [toml({"protocol": protocol, "title": "", "source": SOURCE} | each) for each in known]
    bits: Iterator[int] = (d["layout"]["index_bits"] for d in evaluator.describe(texts) if "error" not in d)
    return next(bits, None)


pirouette, pirouette_h = (partial(searched, name) for name in ("pirouette", "pirouette_h"))
committed_pirouette, committed_pirouette_h = (partial(committed, name) for name in ("pirouette", "pirouette_h"))
