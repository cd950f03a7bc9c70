"""Errors of Respire (ePrint 2024/1165, section 4), of every ciphertext between a query and its response.

The authors bound squared widths with (4^11 - 1)/3 key switches on every coefficient of an expanded ciphertext. That is
what the constant coefficient has; products see the mean over all coefficients, a factor of 2^11/3 less: measured noise
is five to eight bits below their bound. Here every stage is an equality over uniform masks and random data. The
bound of the decision, for any data, takes database digits at their largest, p/2, agreeing in sign, and digits of
gadgets as they are for uniform ciphertexts, which ciphertexts are under ring-LWE.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from . import lattice
from .error import Noise, ratio
from .lattice import GadgetNoise
from .ring_setting import Answers, Floats, Rings, bound_by_key, moduli, numbers
from .stage import Chance, Decision, Stage, stages, words

#: A third of the noise of an expanded ciphertext is on the coefficients that the expansion keeps.
CONSTANT_TERMS = 9
#: Ciphertexts of a kind that a run opens for each query.
OPENED = 4


class Gadgets:
    """Symmetric digits of each step, by name."""

    def __init__(self, layouts: Sequence[dict], modulus: np.ndarray, mask_modulus: np.ndarray) -> None:
        # A variant of Spiral that expands nothing has base 1, which stands for no gadget.
        self.bases = {name: [max(o["bases"][name], 2) for o in layouts] for name in layouts[0]["bases"]}
        self.of = {
            name: GadgetNoise.of(
                "symmetric", mask_modulus if name == "response" else modulus, np.array(bases, dtype=object)
            )
            for name, bases in self.bases.items()
        }

    def words(self, name: str) -> list[str]:
        return [f"symmetric base-{base} digits of uniform residues" for base in self.bases[name]]


@dataclass(frozen=True)
class _Errors:
    """Errors of every ciphertext between query and response, over random data; `bounds` are for any data.

    early: those of `until_first`. after: folding, rotation, projection and the vector's switch, one by one. answer: in
    units of q2."""

    early: tuple[Noise, ...]
    after: list[Noise]
    after_bound: list[Noise]
    answer: Noise
    answer_bound: Noise
    small: Noise

    @staticmethod
    def of(
        layouts: Sequence[dict], gadgets: Gadgets, answers: Answers, queries: Rings, vectors: Rings, responses: Rings
    ) -> "_Errors":
        n, levels, p = queries.n, np.log2(queries.n), numbers(layouts, "plain_modulus")

        def switch(name: str, rows: Noise) -> Noise:
            """The noise that a key switch with that gadget adds."""
            return lattice.rlwe_key_switch(n, gadgets.of[name], rows, queries.secret)

        leaf = lattice.expansion(levels, switch("leaf_expansion", queries.fresh), queries.fresh).everywhere
        body = lattice.expansion(levels, switch("selector_expansion", queries.fresh), queries.fresh).everywhere
        mask = lattice.rlwe_to_rgsw_row(n, gadgets.of["conversion"], queries.fresh, queries.secret, body)
        first, first_bound = first_dimension(layouts, queries, leaf, p)
        # Digits of the mask meet the rows of -s m, those of the body the rows of m.
        by_digits = lattice.digit_noise(n, gadgets.of["selector"], Noise(1.0))
        cmux = (mask + body).scaled(by_digits.variance)
        slots = np.log2(n / numbers(layouts, "response_degree"))
        project = lattice.trace(slots, switch("selector_expansion", queries.fresh))
        widen = switch("vector", vectors.fresh)
        small = lattice.ring_switch(n, gadgets.of["response"], responses.fresh, vectors.secret)
        # Other slots that share the ring element, and other elements of a vector, which a body of the fullest response
        # also carries.
        crowd, each = numbers(layouts, "queries") * numbers(layouts, "slots"), numbers(layouts, "slots_per_body")
        elements = np.minimum(np.ceil(crowd / each), numbers(layouts, "vector_length"))
        shared = project.everywhere.scaled(np.minimum(crowd, each) - 1) + widen.scaled(elements - 1)
        steps = [
            cmux.scaled(numbers(layouts, "column_bits")),
            cmux.scaled(numbers(layouts, "position_bits")),
            project.kept,
            widen,
        ]

        def after(noise: Noise) -> list[Noise]:
            return list(accumulate(steps, initial=noise))[1:]

        def switched(noise: Noise) -> Noise:
            """(q2/q)^2 V, rounding to q2 under the vector's secret, switch to the small ring, rounding."""
            return answers.switched(replace(queries, secret=vectors.secret), noise + shared) + small

        random, bound = after(first), after(first_bound)
        answer, answer_bound = switched(random[-1]), switched(bound[-1])
        return _Errors((leaf, body, mask, first, first_bound), random, bound, answer, answer_bound, small)


def chain(descriptions: Sequence[dict]) -> list[Stage | Chance]:
    """From `leaf`, `selector_body` and `selector_mask` to `vector`, modulo q; then `answer`, which decides.

    Before them `buckets`: a batch whose records cannot be given buckets of their own."""
    layouts = [d["layout"] for d in descriptions]
    queries, vectors, responses = (Rings.of(descriptions, i) for i in range(3))
    answers, p = Answers.of(layouts), numbers(layouts, "plain_modulus")
    gadgets = Gadgets(layouts, queries.modulus, answers.mask)

    def of_keys(queries: Rings, vectors: Rings) -> _Errors:
        return _Errors.of(layouts, gadgets, answers, queries, vectors, responses)

    errors = of_keys(queries, vectors)
    # Rows of the selectors' masks and the leaves' rounding meet the queries' key, the answer's rounding the vectors'.
    answer_bound, key = bound_by_key(lambda *keys: of_keys(*keys).answer_bound, queries, vectors)

    rows = numbers(layouts, "rows")
    selects = numbers(layouts, "column_bits") + numbers(layouts, "position_bits") > 0
    digits = gadgets.words
    on_the_way = {"folding": "selector", "rotation": "selector", "projection": "selector_expansion", "vector": "vector"}
    stage = stages("respire")
    return [
        buckets("respire", layouts),
        *until_first(stage, errors.early, map(digits, UNTIL_FIRST), selects, rows),
        *(
            stage(name, noise, worst, digits=digits(gadget), terms=CONSTANT_TERMS * rows)
            for (name, gadget), noise, worst in zip(on_the_way.items(), errors.after, errors.after_bound)
        ),
        stage(
            "answer",
            errors.answer,
            answer_bound,
            digits=digits("response"),
            decision=Decision(
                answers.threshold(p),
                {"slots of a record": numbers(layouts, "slots"), "coefficients": numbers(layouts, "response_degree")},
                key=key,
            ),
            common_share=lattice.mean_in_common(gadgets.of["response"])
            * np.asarray(errors.small.variance)
            / np.asarray(errors.answer.variance),
        ),
    ]


#: Gadgets of the leaf, and of a selector's body and mask.
UNTIL_FIRST = ("leaf_expansion", "selector_expansion", "conversion")


def until_first(
    stage: Callable[..., Stage],
    noises: Sequence[Noise],
    digits: Iterable[Sequence[str]],
    selects: NDArray[np.bool_],
    rows: Floats,
) -> list[Stage]:
    """`leaf`, `selector_body` and `selector_mask`, each with its digits, and `first_dimension`, with its bound."""
    leaf, body, mask, first, first_bound = noises
    of_leaf, of_body, of_mask = digits
    opened = CONSTANT_TERMS * OPENED
    return [
        stage("leaf", leaf, digits=of_leaf, terms=CONSTANT_TERMS * np.minimum(rows, OPENED)),
        stage("selector_body", body, digits=of_body, present=selects, terms=opened),
        stage("selector_mask", mask, digits=of_mask, present=selects, terms=opened),
        stage("first_dimension", first, first_bound, digits="centred digits of records", terms=CONSTANT_TERMS * rows),
    ]


def buckets(chain: str, layouts: Sequence[dict]) -> Chance:
    """A batch whose records cannot all have a bucket of their own."""
    failures = [log2_unassigned(o["batch_queries"], o["buckets"], o["copies"]) for o in layouts]
    present = [o["buckets"] > 1 for o in layouts]
    return Chance("buckets", **words(chain)["buckets"], log2_failure=failures, over="batches", present=present)


EXACT = 512
"""Most records that share buckets of which choices are summed; of more their sum is bounded."""


@lru_cache(maxsize=256)
def log2_unassigned(records: int, buckets: int, copies: int) -> float:
    """At most, log2 of the chance that records cannot all have a bucket of their own, each with one in each of `copies`
    groups of buckets; whichever records they are.

    By Hall's theorem some s of them then share s - 1 buckets between them: the union over the choices of records and of
    t_j buckets of each group j, which add up to s - 1. Records of a block have different places in a group, others
    independent ones, so that s of them lie within t_j of G_j places with a probability of (t_j / G_j)^s at most.
    """
    sizes = [buckets // copies + (j < buckets % copies) for j in range(copies)]

    def within(size: int, s: int) -> np.ndarray:
        chosen = np.arange(min(size, s - 1) + 1)
        with np.errstate(divide="ignore"):
            return np.asarray(_log2_choices(size, chosen) + s * np.log2(chosen / size))

    def confined(s: int) -> float:
        parts = [within(size, s) for size in sizes]
        if s > EXACT:
            return float(_log2_choices(records, np.array(s))) + _coefficient_bound(parts, s - 1)
        total = np.ones(1)
        for part in parts:
            total = np.convolve(total, np.exp2(part))[:s]
        with np.errstate(divide="ignore"):
            return float(_log2_choices(records, np.array(s)) + np.log2(total[s - 1] if len(total) == s else 0.0))

    terms = [confined(s) for s in range(2, records + 1)]
    return min(float(np.logaddexp2.reduce(terms)), 0.0) if terms else -np.inf


def _coefficient_bound(parts: Sequence[np.ndarray], degree: int) -> float:
    """At least log2 of a coefficient of the product of polynomials whose coefficients have these logarithms.

    It is at most the product's value at x over x^degree for any x > 0; here for that at which each has its share."""
    if sum(len(part) - 1 for part in parts) < degree:
        return -np.inf
    place = max(1, min(degree // len(parts), min(len(part) for part in parts) - 1))
    slope = float(parts[0][place - 1] - parts[0][place]) if place > 1 else -float(parts[0][place])
    tilted = [part + slope * np.arange(len(part)) for part in parts]
    return sum(float(np.logaddexp2.reduce(part)) for part in tilted) - slope * degree


def _log2_choices(n: int, chosen: np.ndarray) -> np.ndarray:
    """log2 of the binomial coefficients of n."""
    return np.asarray((gammaln(n + 1) - gammaln(chosen + 1) - gammaln(n - chosen + 1)) / log(2))


def first_dimension(
    layouts: Sequence[dict], queries: Rings, leaf: Noise, p: Floats, stacked: Floats | float = 1.0
) -> tuple[Noise, Noise]:
    """Sum over the rows of leaf times polynomial; leaves are first switched to the matrix's modulus.

    stacked: ciphertexts of a leaf, each of which is switched; `leaf` is the noise of all together."""
    matrix = moduli(layouts, "matrix_modulus")
    narrow = matrix != queries.modulus
    switched = lattice.modulus_switch(queries.n, queries.modulus, matrix, queries.secret)
    rounding = np.where(narrow, np.asarray(switched.variance) * np.square(ratio(queries.modulus, matrix)), 0.0)
    each = leaf + Noise(stacked * rounding)
    terms = numbers(layouts, "rows") * queries.n
    # Rows are of random data, padding is zero.
    filled = 1 / (1 + numbers(layouts, "waste"))
    random = each.scaled(filled * terms * np.asarray(lattice.uniform_square(p, balanced=True)))
    return random, Noise(each.scaled(terms * (p / 2) ** 2).variance, "bound")
