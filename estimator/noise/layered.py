"""Errors of YPIR (Menon, Wu, USENIX Security 2024) and of InsPIRe_0: two layers, the second one packed.

The first layer is an LWE product modulo 2^32 whose hint and answer, switched to q1 and cut into digits, are the
database of the second layer, an RLWE product that selects a row of digits. Its outputs are packed, by CDKS in YPIR
and by InspiRING in InsPIRe_0, and switched to the moduli of answers. The digits of the answer depend on the query:
YPIR brings them into the packed ciphertext by a homomorphic trace; InsPIRe_0 sends them unpacked, as published, or
packed once more, apart or merged into the first ciphertext. Of long records, polynomials of all an entry's digits are
selected whole by a ring ciphertext for each group: a coefficient has the errors of every digit of the polynomial, and
nothing is packed.

YPIR's own analysis: delta = delta_simple + delta_double with tau_double = q_b/(2p) less rounding, and sigma^2 =
(q_b/q_a)^2 d s^2/4 + (q_b/q)^2 (s^2/4)(l2 p^2 + (d^2 - 1) t d z^2 / 3), subgaussian parameters of width s = sigma
sqrt(2 pi), for digits up to z. Here the variances themselves, with the digits' own moments.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

import numpy as np

from . import lattice, simplepir
from .error import Noise
from .ring_setting import Answers, Floats, Keys, Rings, bound_by_key, numbers
from .stage import Decision, Stage, by_class, stages

CENTRED = "digits of a uniform value modulo q1, less 2^(digit bits - 1)"
TRACED, UNPACKED, PACKED, MERGED, SELECTED = "traced", "unpacked", "packed", "merged", "selected"


def body_of(layout: dict) -> str:
    """How the query-dependent digits are sent, by the number of ciphertexts unless polynomials are selected."""
    if layout.get("selected_whole"):
        return SELECTED
    copies, samples = layout["copies"], layout["copies"] * layout["answer_digits"]
    count = layout["answer_ciphertexts"]
    if count == copies:
        return TRACED if layout["packing"] == "cdks" else MERGED
    if count == copies + samples:
        return UNPACKED
    if count == copies + 1:
        return PACKED
    raise ValueError(f"layout.answer_ciphertexts is {count} for {copies} copies with {samples} further samples")


def digit_squares(layout: dict, values: int) -> list[tuple[float, int]]:
    """(E[x^2], how many) of the centred digits of `values` numbers modulo q1: full digits, then the last one's."""
    bits, value_bits = layout["digit_bits"], (layout["switched_modulus"] - 1).bit_length()
    total, half = values * value_bits, float(1 << (bits - 1))
    full = float(lattice.uniform_square(float(1 << bits), balanced=True))
    rest = total % bits
    last = (4.0**rest - 1) / 12 + ((2.0**rest - 1) / 2 - half) ** 2
    count = ceil(total / bits)
    return [(full, count - 1), (last if rest else full, 1)]


def classes(description: dict) -> list[tuple[float, int, bool]]:
    """(E[x^2] of a digit, number of an entry's digits with this moment, whether these are digits of the answer)."""
    layout, dimension = description["layout"], description["instances"][0]["dimension"]
    hint = [(square, count, False) for square, count in digit_squares(layout, dimension)]
    return hint + [(square, count, True) for square, count in digit_squares(layout, 1)]


def second_layer(descriptions: Sequence[dict]) -> list[Stage]:
    """Product of the digits with the second query, packing, and the switch with the decision, in units of q_a."""
    layouts = [d["layout"] for d in descriptions]
    rings = Rings.of(descriptions, 1)
    keys = Keys.of(layouts, "packing", rings.modulus)
    groups, copies = numbers(layouts, "groups"), numbers(layouts, "copies")
    each = [classes(d) for d in descriptions]
    squares = by_class([[square for square, _, _ in row] for row in each])
    half = np.exp2(numbers(layouts, "digit_bits") - 1)
    scale = (groups * np.asarray(rings.fresh.variance))[:, None]
    each_counts = by_class([[count for _, count, _ in row] for row in each])
    whole = np.array([body_of(o) == SELECTED for o in layouts])
    # A product of polynomials adds, in every coefficient, the squares of all digits.
    squares = np.where(whole[:, None], np.sum(squares * each_counts, axis=1, keepdims=True), squares)
    halves = half**2 * np.where(whole, np.sum(each_counts, axis=1), 1.0)
    product, product_bound = Noise(scale * squares), Noise(scale * halves[:, None], "bound")

    answer = by_class([[answer for _, _, answer in row] for row in each])
    added = _packing(layouts, rings, keys, answer)
    packing, packing_bound = product + added, product_bound + added
    answers = Answers.of(layouts)
    switched_bound, key = answers.switched_bound(
        rings, lambda under: product_bound + _packing(layouts, under, keys, answer)
    )
    counts = each_counts * copies[:, None]
    largest = Noise(np.max(packing_bound.variance, axis=1), "bound")
    mean, mean_packed = (
        Noise(np.sum(each.variance * counts, axis=1) / np.sum(counts, axis=1)) for each in (product, packing)
    )
    stage = stages("layered")
    return [
        stage("second_product", mean, Noise(scale[:, 0] * halves, "bound"), digits=CENTRED),
        stage("packing", mean_packed, largest, digits=keys.words),
        stage(
            "second_layer",
            answers.switched(rings, packing),
            switched_bound,
            decision=Decision(
                threshold=answers.threshold(2 * half),
                union={
                    "entries of a record": copies,
                    "digits of an entry": numbers(layouts, "hint_digits") + numbers(layouts, "answer_digits"),
                },
                counts=counts,
                key=key,
            ),
            common_share=lattice.mean_in_common(keys.gadget) * answers.share(rings, _hints(added), _hints(packing)),
        ),
    ]


def _hints(noise: Noise) -> Noise:
    """The noise of the first class, full digits of the hint: nearly all that a run measures."""
    return Noise(np.asarray(noise.variance)[:, 0], noise.kind)


def _packing(layouts: Sequence[dict], rings: Rings, keys: Keys, answer: Floats) -> Noise:
    """The noise that packing adds to each class of digits. answer: 1 for the answer's digits."""
    inspiring = np.asarray(rings.inspiring(keys, rings.n).variance)
    tree = np.asarray(rings.cdks(keys).variance)
    # A traced sample leaves n - 1 key switches' noise on the mean coefficient that is not its own.
    switch = np.asarray(rings.inspiring(keys, 2.0).variance)
    by_cdks = np.array([o["packing"] == "cdks" for o in layouts])
    body = np.array([body_of(o) for o in layouts])
    samples = numbers(layouts, "answer_digits")
    moved = np.where(body == TRACED, switch * (rings.n - 1), 0.0)
    packed = np.asarray(rings.inspiring(keys, numbers(layouts, "body_gamma")).variance)
    # Merged, every coefficient of the first ciphertext has the noise of two packings.
    inspiring = np.where(body == MERGED, 2.0, 1.0) * inspiring
    hints = np.where(by_cdks, tree, inspiring) + samples * moved
    bodies = np.where(body == PACKED, packed, inspiring)
    bodies = np.where(body == UNPACKED, 0.0, np.where(by_cdks, 2 * tree + (samples - 1) * moved, bodies))
    selected = body == SELECTED
    hints, bodies = np.where(selected, 0.0, hints), np.where(selected, 0.0, bodies)
    return Noise(np.where(answer > 0, bodies[:, None], hints[:, None]))


def first_layer(descriptions: Sequence[dict]) -> Stage:
    """The product of the database with the first query, and both of its parts switched to q1; in units of q1."""
    layouts = [d["layout"] for d in descriptions]
    stage = simplepir.first_layer("layered", "first_layer", descriptions, simplepir.records_fill)
    lwe = Rings.of(descriptions)
    switched = numbers(layouts, "switched_modulus")
    shrink = (switched / 2.0**32) ** 2
    assert stage.bound is not None and stage.decision is not None
    product_bound = stage.bound.scaled(shrink)
    bound, key = bound_by_key(lambda under: product_bound + Noise(under.rounding), lwe)
    return replace(
        stage,
        noise=stage.noise.scaled(shrink[:, None]) + Noise(lwe.rounding[:, None]),
        bound=bound,
        decision=replace(
            stage.decision,
            threshold=numbers(layouts, "scale") * switched / 2.0**33,
            key=key,
        ),
    )


def chain(descriptions: Sequence[dict]) -> list[Stage]:
    """`second_product`, `packing` and `second_layer`, which decides digits; `first_layer`, which decides entries."""
    return [*second_layer(descriptions), first_layer(descriptions)]
