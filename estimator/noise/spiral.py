"""Errors of Spiral (ePrint 2022/368), of every ciphertext between a query and its answer.

The authors bound squared widths with 4^depth key switches on every coefficient of an expanded ciphertext. That is what
the kept coefficients have; products see the mean over all coefficients, which is lower by a factor of 2^depth. Here
every stage is an equality over uniform masks and random data, as for Respire.
"""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from . import lattice
from .error import Noise, ratio
from .respire import CONSTANT_TERMS, UNTIL_FIRST, Gadgets, first_dimension, until_first
from .ring_setting import Answers, Floats, Rings, bound_by_key, numbers
from .stage import Decision, Stage, stages


def _either(chosen: np.ndarray, yes: Noise, no: Noise) -> Noise:
    return Noise(np.where(chosen, np.asarray(yes.variance), np.asarray(no.variance)), yes.kind)


def chain(descriptions: Sequence[dict]) -> list[Stage]:
    """From `leaf`, `selector_body` and `selector_mask` to `packing`, modulo q; then `answer`, which decides."""
    layouts = [d["layout"] for d in descriptions]
    queries, vectors = (Rings.of(descriptions, i) for i in range(2))
    answers, p = Answers.of(layouts), numbers(layouts, "plain_modulus")
    gadgets = Gadgets(layouts, queries.modulus, answers.mask)
    variant = np.array([o["variant"] for o in layouts])
    expanded, packed = np.isin(variant, ["base", "pack"]), np.isin(variant, ["pack", "stream-pack"])
    converted = variant != "stream-pack"
    columns, rows = numbers(layouts, "column_bits"), numbers(layouts, "rows")
    length, n = numbers(layouts, "vector_length"), queries.n
    # What the key of a place of a vector adds to each body.
    place = lattice.digit_noise(n, gadgets.of["conversion"], vectors.fresh)
    spread = place.scaled(np.where(packed, 0.0, 1.0))

    def before(queries: Rings) -> tuple[Noise, ...]:
        """Leaf, body and mask of a selector, first dimension and its bound."""

        def expand(name: str, depth: str) -> Noise:
            switch = lattice.rlwe_key_switch(n, gadgets.of[name], queries.fresh, queries.secret)
            of_tree = lattice.expansion(numbers(layouts, depth), switch, queries.fresh).everywhere
            return _either(expanded, of_tree, queries.fresh)

        leaf, row = expand("leaf_expansion", "leaf_depth"), expand("selector_expansion", "selector_depth")
        mask = lattice.rlwe_to_rgsw_row(n, gadgets.of["conversion"], queries.fresh, queries.secret, row)
        mask = _either(converted, mask, queries.fresh)
        # Each body of a vector sees the keys of all places, and the leaf at its own.
        stacked = np.where(packed, 1.0, length)
        first = first_dimension(layouts, queries, leaf + spread.scaled(length), p, stacked)
        return leaf, row + spread, mask, *first

    def after(body: Noise, mask: Noise, first: Noise) -> list[Noise]:
        """Folding and packing."""
        # Digits of the mask meet the rows of -s m, those of a body the rows of m at its place.
        by_digits = lattice.digit_noise(n, gadgets.of["selector"], Noise(1.0))
        cmux = (mask + body + spread.scaled(length - 1)).scaled(by_digits.variance)
        packing = place.scaled(np.where(packed, length, 0.0))
        return list(accumulate([cmux.scaled(columns), packing], initial=first))[1:]

    def bound(queries: Rings, vectors: Rings) -> Noise:
        _, body, mask, _, worst = before(queries)
        return answers.switched(vectors, after(body, mask, worst)[-1])

    early = before(queries)
    _, body, mask, first, first_bound = early
    folding, packing = after(body, mask, first)
    folding_bound, packing_bound = after(body, mask, first_bound)
    # Rows of the selectors' masks and the leaves' rounding meet the queries' key, the answer's rounding the vectors'.
    answer_bound, key = bound_by_key(bound, queries, vectors)

    words, stage = gadgets.words, stages("spiral")
    terms: Floats = CONSTANT_TERMS * rows
    return [
        *until_first(stage, early, map(words, UNTIL_FIRST), columns > 0, rows),
        stage("folding", folding, folding_bound, digits=words("selector"), terms=terms),
        stage("packing", packing, packing_bound, digits=words("conversion"), present=packed, terms=terms),
        stage(
            "answer",
            answers.switched(vectors, packing),
            answer_bound,
            digits=words("conversion"),
            decision=Decision(
                answers.threshold(p),
                {"polynomials of a record": numbers(layouts, "slots"), "coefficients": n},
                key=key,
                # Bodies are rounded to a few times p, which is most of the noise.
                rounded=np.asarray(ratio(answers.mask, 2 * answers.body), dtype=float),
            ),
        ),
    ]
