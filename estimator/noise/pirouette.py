"""Errors of Pirouette and Pirouette^H: digits of the query, their bits, RGSW ciphertexts of these, selection, answer.

The query is an LWE ciphertext of the index under the ring's key. Digit k is what it holds modulo q_k = 2^(digit bits)
times the digit's scale; reduced modulo q_k it goes to the small key and to modulus 2N, where a rotation must see it in
the right window of alpha = 2N / 2^(digit bits). A floor takes the digit off with two rotations, of the highest bit and
of the rest. Bits leave the multi-value rotation modulo Q and go to the small key and to 2N again: the inputs of the
rotations that make RGSW ciphertexts, each in a window of N / (number of rows). Pirouette^H sends these inputs.

Decisions before the answer do not depend on the database, so their bound is the variance itself. All bounds are tails
of mixtures (tails.py, docs/pirouette.md): given keys, errors are sums over uniform digits, of a variance that keys and
selectors make random. Before the answer N errors of a key or more share it alike; the errors of selectors sit on few
coefficients, and the response's variance varies with these.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import circuit, functional, lattice
from .circuit_selection import Reduction, Response, Setting, rows_alike
from .error import Noise, ratio
from .ring_setting import Floats, Keys, Objects, key_squares, moduli, numbers, secret_of
from .stage import Decision, Stage, by_class, stages
from .tails import Mixture

_stage = stages("pirouette")


@dataclass(frozen=True)
class Described:
    """The parts of descriptions that chains read, as arrays; that of T-Respire (trespire.py) reads them too."""

    layouts: list[dict]
    n: Floats
    modulus: Objects
    setting: Setting
    words: dict[str, list[str]]
    response: Response
    key_squares: Floats

    @property
    def mixed_inputs(self) -> Mixture:
        """The mixture of the errors of rotations' inputs."""
        return Mixture.even(self.n, self.key_squares)

    @staticmethod
    def of(descriptions: Sequence[dict], lwe: str) -> "Described":
        """lwe: the name of the instance whose dimension the small key has."""
        layouts = [d["layout"] for d in descriptions]
        rings, small = instances_of(descriptions, "ring"), instances_of(descriptions, lwe)
        n, modulus, mask = numbers(rings, "dimension"), moduli(rings, "modulus"), moduli(layouts, "mask_modulus")
        keys = {name: Keys.of(layouts, name, modulus) for name in ("rotation", "automorphism", "squaring", "rgsw")}
        keys["response"] = Keys.of(layouts, "response", mask)
        fresh, secret, rgsw = lattice.fresh(numbers(rings, "error_stddev")), secret_of(rings), keys["rgsw"].gadget
        rotated = circuit.blind_rotation(
            numbers(small, "dimension"),
            n,
            keys["rotation"].gadget,
            fresh,
            secret,
            numbers(layouts, "bits_per_step") == 2,
            np.array([i["secret"]["kind"] == "ternary" for i in small]),
        )
        plain = ("plain_modulus", "first_bits", "fold_bits", "rotation_bits", "rows", "encrypted")
        rgsw_gadgets = [o["rgsw_gadget"] for o in layouts]
        setting = Setting(
            n=n,
            modulus=modulus,
            fresh=fresh,
            secret=secret,
            rotated=rotated,
            automorphism=keys["automorphism"].gadget,
            squaring=keys["squaring"].gadget,
            rgsw=rgsw,
            first_modulus=moduli(layouts, "first_dimension_modulus"),
            rgsw_rows=rows_alike(rgsw, np.array([g["base_log2"] for g in rgsw_gadgets])),
            rgsw_spacing=numbers(layouts, "rgsw_window"),
            rgsw_digits=numbers(rgsw_gadgets, "digits"),
            **{name: numbers(layouts, name) for name in plain},
        )
        switching = lattice.fresh(numbers(instances_of(descriptions, "response"), "error_stddev"))
        response = Response(mask, moduli(layouts, "body_modulus"), switching, keys["response"].gadget)
        words = {name: each.words for name, each in keys.items()}
        return Described(layouts, n, modulus, setting, words, response, key_squares(rings))


def instances_of(descriptions: Sequence[dict], name: str) -> list[dict]:
    """The instance of that name of each description."""
    return [next(i for i in d["instances"] if i["name"] == name) for d in descriptions]


def chain(descriptions: Sequence[dict]) -> list[Stage]:
    """Pirouette: `query`, the inputs of all rotations, which decide, and `selection`, whose `response` decides."""
    d = Described.of(descriptions, "key_switching")
    keys, reduction = reduction_of(d, descriptions)
    queries = instances_of(descriptions, "query")
    query = _query(d.layouts, queries)
    return [
        _stage("query", query),
        *_digit_stages(d, keys.words, reduction, moduli(queries, "modulus"), query),
        *_bit_stages(d, keys.words, reduction),
        *selection(d),
    ]


def reduction_of(d: Described, descriptions: Sequence[dict]) -> tuple[Keys, Reduction]:
    """The switch to the small key and to modulus 2N, and the digits of its key."""
    switching = instances_of(descriptions, "key_switching")
    keys = Keys.of(d.layouts, "switching", moduli(switching, "modulus"))
    reduction = Reduction(
        n=d.setting.n,
        secret=d.setting.secret,
        modulus=moduli(switching, "modulus"),
        fresh=lattice.fresh(numbers(switching, "error_stddev")),
        gadget=keys.gadget,
        lwe_dimension=numbers(switching, "dimension"),
        lwe_secret=secret_of(switching),
    )
    return keys, reduction


def chain_h(descriptions: Sequence[dict]) -> list[Stage]:
    """Pirouette^H: bits come as rotations' inputs, modulo 2N, their bodies rounded."""
    d = Described.of(descriptions, "query")
    each = np.asarray(_query(d.layouts, instances_of(descriptions, "query")).variance)[:, None]
    return [rgsw_input(d, "pirouette_h", each, np.ones((len(d.layouts), 1)), None, None), *selection(d)]


def _query(layouts: Sequence[dict], queries: Sequence[dict]) -> Noise:
    """A fresh ciphertext whose body is rounded to a smaller modulus: second moments of rounding and of the Gaussian.

    Seeds may be chosen so that the rounding is within 2^-chosen_bits of what it is at random.
    """
    unit = np.asarray(ratio(moduli(queries, "modulus"), moduli(layouts, "query_body_modulus")))
    chosen = np.array([o.get("query_chosen_bits", 0) for o in layouts])
    # Integers are rounded, a half always up: errors are from -unit/2 to unit/2 - 1, or from -most to most where seeds
    # are chosen.
    most = np.floor(unit / 2 / np.exp2(chosen))
    rounding = np.where(chosen > 0, most * (most + 1) / 3, (unit**2 + 2) / 12)
    return lattice.fresh(numbers(queries, "error_stddev")) + Noise(np.where(unit == 1, 0.0, rounding))


def _digit_stages(
    d: Described, words: list[str], reduction: Reduction, query_modulus: Objects, query: Noise
) -> list[Stage]:
    """The inputs of the rotations for digits, one class a digit, of descriptions that may have different numbers."""
    counts, widths = numbers(d.layouts, "digits"), numbers(d.layouts, "digit_bits")
    relative = query.scaled(np.array([1.0 / int(q) ** 2 for q in query_modulus]))
    rotated = d.setting.rotated.scaled(np.array([1.0 / int(q) ** 2 for q in d.modulus]))
    rows: list[tuple[list[float], list[float]]] = [([], [])] * len(d.layouts)
    for count, width in {(int(c), int(w)) for c, w in zip(counts, widths) if c > 0}:
        inputs = np.array(reduction.digit_inputs(relative, rotated, count, width))
        for i in np.flatnonzero((counts == count) & (widths == width)):
            rows[i] = inputs[:, 0, i].tolist(), inputs[:, 1, i].tolist()

    def stage(name: str, inputs: list[list[float]], rotations: Floats) -> Stage:
        variances = by_class(inputs)
        return _stage(
            name,
            Noise(variances),
            Noise(variances, "bound"),
            digits=words,
            decision=Decision(
                d.n / np.exp2(widths), {"digits": rotations}, (variances > 0).astype(float), d.mixed_inputs
            ),
            present=rotations > 0,
        )

    floors = np.maximum(counts - 1, 0)
    return [
        stage("floor_msb", [digit[:-1] for digit, _ in rows], floors),
        stage("floor_rest", [rest[:-1] for _, rest in rows], floors),
        stage("digit", [digit for digit, _ in rows], counts),
    ]


def _bit_stages(d: Described, words: list[str], reduction: Reduction) -> list[Stage]:
    """Bit j of a digit has a table of 2^(bits - 1 - j) steps (impl/lattice/src/functional)."""
    digit_bits = numbers(d.layouts, "digit_bits")[:, None]
    j = np.arange(np.max(digit_bits))
    factors = np.where(j < digit_bits, functional.bit_square(digit_bits, j), 0.0)
    bits = np.asarray(d.setting.rotated.variance)[:, None] * factors
    # The lowest bits of a digit are the most frequent: the last digit may hold fewer than the others.
    index_bits = numbers(d.layouts, "index_bits")[:, None]
    counts = np.where(j < digit_bits, np.floor((index_bits - 1 - j) / digit_bits) + 1, 0.0)
    mean = Noise(np.sum(bits * counts, axis=1) / np.maximum(np.sum(counts, axis=1), 1))
    shrink = np.square(ratio(2 * d.n.astype(object), d.modulus))
    inputs = bits * shrink[:, None] + np.asarray(reduction.added.variance)[:, None]
    return [
        _stage("bit", mean, digits=d.words["rotation"]),
        rgsw_input(d, "pirouette", np.where(counts > 0, inputs, 0.0), counts, words, d.mixed_inputs),
    ]


def rgsw_input(
    d: Described,
    chain: str,
    variances: Floats,
    shares: Floats,
    words: list[str] | None,
    mixture: Mixture | None,
) -> Stage:
    bits = numbers(d.layouts, "index_bits")
    counts = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1) * bits[:, None]
    return stages(chain)(
        "rgsw_input",
        Noise(variances),
        Noise(variances, "bound"),
        digits=words,
        decision=Decision(np.divide(d.setting.rgsw_spacing, 2), {"index bits": bits}, counts, mixture),
        present=bits > 0,
    )


def selection(d: Described) -> list[Stage]:
    """From the rotations that make RGSW ciphertexts to the `response`, which decides."""
    setting, words = d.setting, d.words
    folded = lattice.folding(setting.fold_bits, setting.product, setting.first_product)
    folded_bound = lattice.folding(setting.fold_bits, setting.product_bound, setting.first_product_bound)
    placed, placed_bound = setting.answer, setting.answer_bound
    coefficients = numbers(d.layouts, "used_coefficients")
    # A third of a row's energy is the error of one coefficient, which the trace spreads: some seven independent squares
    # a row. The deepest selector, of as many rows, has half the noise of all that follows it.
    squares = 7.0 * np.array([max(1, o["rgsw_gadget"]["digits"]) for o in d.layouts])
    rows = squares * np.maximum(numbers(d.layouts, "index_bits"), 1)
    # Dropped digits err where an index bit is one only, and half of that noise or more comes from one bit.
    selector = 1 / (1 / squares + setting.product.dropped_share**2 / 2)
    final_bound, mixture = d.response.bound(setting, d.key_squares)
    # One row: its leaf is a constant without noise, and what folds first has no mask.
    constant = (np.asarray(setting.first_bits) == 0) & (np.asarray(setting.encrypted) == 0)
    # Means of digits meet the key at few roots of unity: |s|^2 |e|^2 there, of variance 3. What the first dimension has
    # of them is multiplied with one more such square, that of the database, which all runs with it share.
    common = setting.common_share
    digits = [f"centred digits modulo {o['plain_modulus']}" for o in d.layouts]
    later = {"terms": selector, "bound_where": constant}
    return [
        _stage("rotation", setting.rotated, digits=words["rotation"]),
        _stage("row", setting.rows_made.body, digits=words["automorphism"], terms=rows),
        _stage("row_secret", setting.rows_made.mask, digits=words["squaring"], terms=rows),
        _stage("selector", setting.selector.mean, digits=words["rgsw"], terms=selector, common_share=common),
        _stage(
            "first_product",
            setting.first_product,
            setting.first_product_bound,
            digits=digits,
            common_share=common,
            **later,
        ),
        _stage("folded", folded, folded_bound, digits=words["rgsw"], **later),
        _stage("rotated", placed, placed_bound, digits=words["rgsw"], **later),
        _stage(
            "response",
            d.response.switched(setting, placed),
            final_bound,
            digits=words["response"],
            decision=Decision(
                np.asarray(d.response.body_modulus, dtype=float) / (2 * setting.plain_modulus),
                {"coefficients of a record": coefficients},
                mixture=mixture,
            ),
            **later,
        ),
    ]
