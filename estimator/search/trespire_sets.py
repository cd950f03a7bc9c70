"""T-Respire's sets for a search (`sets_of` of its space): the committed ones, and a descent from the fastest of them.

Keys, seconds and noise hang together as Pirouette's do, but nearly all of an answer converts bits between the rounds of
the cipher, of which the search for Pirouette's sets knows nothing. So whole sets are changed step by step: all values
of one part are tried, and two keys at once by one place each; the fastest set within the bounds is where the next step
starts. A step that finds nothing faster is the last one.
"""

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import lru_cache, partial
from itertools import combinations, product
from typing import Any

from .bounds import Bounds
from .evaluate import Evaluator, Literal
from .pirouette.command import DEGREE, PRIME_PAIRS, SECRETS, SWITCHING_MODULUS_LOG2
from .pirouette.space import secure_rings, secure_small_keys
from .pirouette_sets import committed
from .progress import Progress
from .space_file import get, load, put

#: Dimensions of the small key that are tried.
DIMENSIONS = range(740, 800, 8)
#: Keys of a set by part, each with its values in order; a part's keys are tried in all combinations.
PARTS: dict[str, dict[str, tuple[Any, ...]]] = {
    "switching": {"query.key_switching.base_log2": (1, 2, 3, 4), "query.key_switching.dropped": (0, 1, 2, 3, 4)},
    "rounds": {"query.rounds.base_log2": tuple(range(5, 16)), "query.rounds.dropped": tuple(range(9))},
    "rotation": {
        "blind_rotation.base_log2": tuple(range(7, 17)),
        "blind_rotation.dropped": (0, 1, 2, 3),
        "blind_rotation.bits_per_step": (1, 2),
    },
    "automorphism": {"automorphism.base_log2": tuple(range(2, 12)), "automorphism.dropped": tuple(range(6))},
    "squaring": {"squaring.base_log2": tuple(range(5, 16))},
    "rgsw": {
        "rgsw.base_log2": (1, 2, 3, 4, 5, 6),
        "rgsw.dropped": tuple(range(2, 17)),
        "rgsw.spacing": (32, 64, 128, 256),
    },
    "database": {"database.first_bits": tuple(range(4, 14)), "database.moduli": (1, 2)},
}
#: Values of several keys at once.
Change = dict[str, Any]


@lru_cache(maxsize=1)
def _ladders() -> dict[str, list[list[Change]]]:
    """The ladders of each part: the changes that each of its keys may make, in order. Rings and small keys have the
    least error that is secure."""
    rings: list[Change] = [
        {
            "rlwe.modulus": " * ".join(map(str, ring.primes)),
            "rlwe.secret": {"kind": ring.secret},
            "rlwe.error": {"stddev": ring.stddev},
        }
        for ring in secure_rings(DEGREE, PRIME_PAIRS, SECRETS)
    ]
    small: list[Change] = [
        {"lwe.dimension": key.dimension, "query.key_switching.error": {"stddev": key.stddev}}
        for key in secure_small_keys(DIMENSIONS, SWITCHING_MODULUS_LOG2)
    ]
    parts = {name: [[{key: v} for v in values] for key, values in keys.items()] for name, keys in PARTS.items()}
    return {"ring": [rings], "small": [small]} | parts


def steps(literal: Literal) -> Iterator[Literal]:
    """The sets that a step from this one tries."""
    parts = _ladders()
    for ladders in parts.values():
        for changes in product(*ladders):
            yield _changed(literal, *changes)
    near = [_beside(literal, ladder) for ladders in parts.values() for ladder in ladders]
    for one, other in combinations(near, 2):
        for changes in product(one, other):
            yield _changed(literal, *changes)


def _beside(literal: Literal, ladder: list[Change]) -> list[Change]:
    """The changes next to the one that the set has; an empty list where it has another."""
    at = next((i for i, change in enumerate(ladder) if all(get(literal, k) == v for k, v in change.items())), None)
    return [] if at is None else [ladder[i] for i in (at - 1, at + 1) if 0 <= i < len(ladder)]


def _changed(literal: Literal, *changes: Change) -> Literal:
    found = deepcopy(literal)
    for change in changes:
        for key, value in change.items():
            put(found, key, value)
    return found


def searched(evaluator: Evaluator, bounds: Bounds, progress: Progress) -> list[Literal]:
    """All sets that were tried, for the front has slower ones with smaller keys too."""
    known = [_whole(each) for each in committed("trespire", evaluator, bounds, progress)]
    tried: dict[str, Literal] = {}
    best = _fastest(known, evaluator, bounds, progress)
    tried |= {_text(each): each for each in known}
    while best is not None:
        new = {_text(each): each for each in steps(best[1])}
        tried |= new
        before, best = best, _fastest(list(new.values()), evaluator, bounds, progress)
        if best is None or best[0] >= before[0]:
            break
    return list(tried.values())


def _whole(literal: Literal) -> Literal:
    """With the keys that a file may leave out."""
    found = deepcopy(literal)
    for key in (key for keys in PARTS.values() for key in keys if key.endswith(".dropped")):
        table, _, name = key.rpartition(".")
        get(found, table).setdefault(name, 0)
    return found


def _fastest(
    sets: list[Literal], evaluator: Evaluator, bounds: Bounds, progress: Progress
) -> tuple[float, Literal] | None:
    """The least seconds of an answer within the bounds, and the set that has them."""
    progress.stage("T-Respire: sets of a step", len(sets))
    # In the form in which the walk asks for them.
    named = [{"protocol": "trespire", "title": load("trespire").title} | each for each in sets]
    right = [
        (figures.seconds, _text(literal), literal)
        for literal, figures in zip(sets, evaluator(named, progress.advance))
        if bounds.keeps(figures)
    ]
    if not right:
        return None
    seconds, _, literal = min(right, key=lambda each: each[:2])
    return seconds, literal


def _text(literal: Literal) -> str:
    return json.dumps(literal, sort_keys=True)


coarse = partial(committed, "trespire")
