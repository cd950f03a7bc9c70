"""DEPIR's sets for a search (`sets_of` of its space): the degree and the numbers of primes are computed, not tried.

Of each number of variables and degree of the ring: the least total degree with as many monomials as records, the fewest
primes of queries that fail rarely enough, and of these the fewest for answers; one more of each, because primes are
counted here as if they were no longer than their lower bound.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import product
from math import comb, log2

from ..noise.depir import Answer
from .bounds import Bounds
from .evaluate import SOURCE, Evaluator, Literal
from .files import toml
from .progress import Progress

PLAINTEXT_MODULUS = 65537
STDDEV = 2**0.5
#: Of a ternary secret.
SECRET_SQUARE = 2 / 3
ABOVE_LOG2 = 27
VARIABLES = (2, 3, 4, 5, 6)
LOG2_DEGREES = (12, 13, 14, 15)
MEMORY_MIB = (256, 512, 2048, 6144, 14336, 20480)
#: Above this many bits a coefficient of the ring, no secret reaches 128 bits of security.
MOST_BITS = 0.03
#: Most degrees that a set may have.
MOST_DEGREE = 254


def least_degree(variables: int, records: int) -> int | None:
    """The least total degree with as many monomials as records."""
    return next((d for d in range(1, MOST_DEGREE + 1) if comb(d + variables, variables) >= records), None)


@lru_cache(maxsize=4096)
def fewest(variables: int, degree: int, n: int, target: float) -> tuple[int, int] | None:
    """The fewest primes of queries, and of these of answers, whose failures are below 2^target; None where that is not
    secure. A Q that a typical value fills is too short."""
    least = degree * log2(n * PLAINTEXT_MODULUS**2 * (STDDEV**2 + 1 / 12)) / 2
    most = int(MOST_BITS * n / ABOVE_LOG2)
    if least > ABOVE_LOG2 * most:
        return None

    def fails(query: int, answer: int) -> float:
        layout = {"variables": variables, "degree": degree, "plain_modulus": PLAINTEXT_MODULUS}
        layout |= {"coefficient_bound": PLAINTEXT_MODULUS // 2, "modulus_log2": ABOVE_LOG2 * query}
        layout |= {"answer_modulus_log2": ABOVE_LOG2 * answer}
        return Answer(layout, n, STDDEV**2, SECRET_SQUARE).tail(any_data=True)

    query = _first(lambda count: fails(count, count) <= target, most)
    answer = _first(lambda count: fails(query + 1, count) <= target, query) if query else None
    return (query, answer) if query and answer else None


def _first(holds: Callable[[int], bool], most: int) -> int | None:
    """The least number up to `most` at which what stays true holds."""
    least = 1 + bisect_left(range(1, most + 1), True, key=holds)
    return least if least <= most else None


def listed(
    memory: Sequence[int], more: Sequence[int], evaluator: Evaluator, bounds: Bounds, progress: Progress
) -> list[Literal]:
    """All sets for the records of the shape, with tables of these sizes, and `more` primes beyond what they need."""
    planned = list(_planned(evaluator.shape.records, memory))
    texts = [toml({"protocol": "depir", "title": "", "source": SOURCE} | each) for each in planned]
    # What the binary refuses has too little memory for tables, whatever its primes.
    served = [each for each, found in zip(planned, evaluator.describe(texts)) if "error" not in found]
    progress.stage("DEPIR's sets", len(served))
    found = []
    for each in served:
        found += list(_with_primes(each, more, bounds.failure))
        progress.advance(1)
    return found


def _planned(records: int, sizes: Sequence[int]) -> Iterator[Literal]:
    """Each with one prime."""
    for variables, log2_n, memory in product(VARIABLES, LOG2_DEGREES, sizes):
        degree, ring = least_degree(variables, records), {"degree": 1 << log2_n, "plaintext_modulus": PLAINTEXT_MODULUS}
        if degree is not None:
            yield {
                "variables": variables,
                "degree": degree,
                "ring": ring | {"secret": {"kind": "ternary"}, "error": {"stddev": STDDEV}},
                "primes": {"query": 1, "answer": 1, "above_log2": ABOVE_LOG2},
                "tables": {"evaluator": "derivatives", "memory_mib": memory},
            }


def _with_primes(literal: Literal, more: Sequence[int], target: float) -> Iterator[Literal]:
    """The set with as many primes of each kind as it needs, and more."""
    n = literal["ring"]["degree"]
    primes = fewest(literal["variables"], literal["degree"], n, target - log2(n / 2))
    if primes is None:
        return
    for query, answer in product(more, more):
        counts = {"query": primes[0] + query, "answer": min(primes[1] + answer, primes[0] + query)}
        yield literal | {"primes": literal["primes"] | counts}


depir, coarse = partial(listed, MEMORY_MIB, (0, 1)), partial(listed, MEMORY_MIB[3:5], (0, 1))
