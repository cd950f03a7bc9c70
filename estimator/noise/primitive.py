"""Noise stages of measured primitives: from the settings that `pirlab primitive describe` completed to the formulas.

Stages `output`: error against the exact result on the messages. `added`: against the exact result on the input's
phases, so without input noise. `kept`, `added-kept`: the same on the coefficients that a trace keeps. `after-<L>`: of
a chain of L steps.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import NamedTuple

import numpy as np

from ..modulus import parse_modulus
from . import FAILURE_TARGET, circuit, functional, lattice
from .circuit_selection import Reduction
from .lattice import NOTHING, GadgetNoise, Noise, Secret
from .primitive_failure import failure_stages
from .primitive_settings import Settings
from .stage import Decision, Stage, evaluate, record_noise

Stages = list[tuple[str, Noise]]


def _fresh(s: Settings) -> Stages:
    return [("output", s.fresh)]


def _add(s: Settings) -> Stages:
    return [("output", lattice.sum_of(s.fresh, s.values.get("terms", 2)))]


def _plaintext_product(s: Settings) -> Stages:
    balanced = s.one_of("plain_digits", ("balanced", "unsigned")) == "balanced"
    square = lattice.uniform_square(s["plain_modulus"], balanced)
    return [("output", lattice.plaintext_product(s.n, square, s.fresh))]


def _monomial_product(s: Settings) -> Stages:
    return [("output", lattice.monomial_product(s.fresh))]


def _sample_extraction(s: Settings) -> Stages:
    return [("output", lattice.sample_extraction(s.fresh))]


def _gadget_product(s: Settings) -> Stages:
    return [("added", lattice.gadget_product(s.n, s.gadget, s.fresh, s.message_norm_square))]


def _both(formula: Callable[[Noise], Noise], noise: Noise) -> Stages:
    return [("output", formula(noise)), ("added", formula(NOTHING))]


def _external_product(s: Settings) -> Stages:
    arguments = s.n, s.gadget, s.fresh, s.secret(s.n), s.message_norm_square
    return _both(lambda noise: lattice.external_product(*arguments, noise), s.fresh)


def _cmux(s: Settings) -> Stages:
    share = {0: 0.0, 1: 1.0, "random": 0.5}[s.one_of("bit", (0, 1, "random"), "random")]
    return _both(lambda noise: lattice.cmux(s.n, s.gadget, s.fresh, s.secret(s.n), share, noise), s.fresh)


def _lwe_key_switch(s: Settings) -> Stages:
    dimension = int(s["dimension_from"])
    arguments = dimension, s.gadget, s.fresh, s.secret(dimension)
    return _both(lambda noise: lattice.lwe_key_switch(*arguments, noise), lattice.fresh(s["input_stddev"]))


def _rlwe_key_switch(s: Settings) -> Stages:
    return _both(lambda noise: lattice.rlwe_key_switch(s.n, s.gadget, s.fresh, s.secret(s.n), noise), s.fresh)


def _ring_switch(s: Settings) -> Stages:
    return _both(lambda noise: lattice.ring_switch(s.n, s.gadget, s.fresh, s.secret(s.n), noise), s.fresh)


def _automorphism(s: Settings) -> Stages:
    arguments = s.n, s.gadget, s.fresh, s.secret(s.n), int(s["exponent"])
    return _both(lambda noise: lattice.automorphism(*arguments, noise), s.fresh)


def _levels(s: Settings, formula: Callable, levels: int) -> Stages:
    switch = lattice.rlwe_key_switch(s.n, s.gadget, s.fresh, s.secret(s.n))
    output, added = formula(levels, switch, s.fresh), formula(levels, switch)
    return [
        ("output", output.everywhere),
        ("kept", output.kept),
        ("added", added.everywhere),
        ("added-kept", added.kept),
    ]


def _trace(s: Settings) -> Stages:
    return _levels(s, lattice.trace, round(log2(s.n / int(s.values.get("subring", 1)))))


def _expansion(s: Settings) -> Stages:
    return _levels(s, lattice.expansion, int(s["depth"]))


def _modulus_switch(s: Settings) -> Stages:
    arguments = s.n, s.modulus, parse_modulus(s["to_modulus"]), s.secret(s.n)
    return _both(lambda noise: lattice.modulus_switch(*arguments, noise), s.fresh)


def _split_modulus_switch(s: Settings) -> Stages:
    to_a, to_b = parse_modulus(s["to_modulus_a"]), parse_modulus(s["to_modulus_b"])
    arguments = s.n, s.modulus, to_a, to_b, s.secret(s.n)
    return _both(lambda noise: lattice.split_modulus_switch(*arguments, noise), s.fresh)


def _compensated_modulus_switch(s: Settings) -> Stages:
    ratio_square = (parse_modulus(s["to_modulus"]) / s.modulus) ** 2
    dimension, secret = int(s["dimension"]), s.secret(int(s["dimension"]))
    return _both(lambda noise: circuit.compensated_modulus_switch(dimension, secret, ratio_square, noise), s.fresh)


def _chain(s: Settings) -> Stages:
    same_input = s.one_of("input", ("rotate", "constant")) == "constant"
    same_selector = s.one_of("selectors", ("fresh", "one")) == "one"
    lengths = [int(length) for length in s["lengths"]]
    chain = lattice.cmux_chain(
        np.array(lengths, dtype=float),
        s.n,
        s.gadget,
        s.fresh,
        s.secret(s.n),
        same_input=same_input,
        same_selector=same_selector,
        noise=NOTHING if same_input else s.fresh,
    )
    variances = np.asarray(chain.variance, dtype=float)
    return [(f"after-{length}", Noise(v, chain.kind)) for length, v in zip(lengths, variances)]


def _inspiring(s: Settings) -> Stages:
    return [("packed", lattice.inspiring(s.n, int(s["gamma"]), s.gadget, s.fresh, s.secret(s.n)))]


def _cdks(s: Settings) -> Stages:
    return [("packed", lattice.cdks(s.n, s.gadget, s.fresh, s.secret(s.n)))]


def _converted(s: Settings) -> lattice.RgswNoise:
    """Rows made from tables of fresh noise by keys of the same family and noise."""
    secret = s.secret(s.n)
    keys = [GadgetNoise.of(s["family"], s.modulus, int(s[key])) for key in ("trace_base", "squaring_base")]
    switch = lattice.rlwe_key_switch(s.n, keys[0], s.fresh, secret)
    return lattice.converted_rows(s.n, switch, keys[1], s.fresh, secret, s.fresh)


def _conversion(s: Settings) -> Stages:
    rows, secret = _converted(s), s.secret(s.n)
    switch = lattice.rlwe_key_switch(s.n, GadgetNoise.of(s["family"], s.modulus, int(s["trace_base"])), s.fresh, secret)
    return [
        ("body", rows.body),
        ("body-constant", lattice.trace(log2(s.n), switch, s.fresh).kept),
        ("mask", rows.mask),
        ("product", lattice.converted_product(s.n, s.gadget, rows, secret).added()),
    ]


def _selector(s: Settings) -> Stages:
    if s["family"] not in ZERO_TO_ZERO:
        raise ValueError(f"setting `family`: digits of zero by {s['family']} are not zero, so that the root adds noise")
    rows = lattice.RgswNoise(s.fresh, s.fresh)
    product = lattice.converted_product(s.n, s.gadget, rows, s.secret(s.n))
    tree = lattice.selector_tree(int(s["bits"]), product, lattice.root_product(s.gadget, rows))
    p = int(s["plain_modulus"])
    # A uniform digit's variance, whatever the range's place.
    first = lattice.first_dimension(s.n, tree, (p * p - 1) / 12)
    return [("selected", tree.selected), ("leaves", tree.mean), ("first-dimension", first)]


#: Families that decompose zero into zeros.
ZERO_TO_ZERO = ("unsigned", "balanced", "symmetric", "gmp19", "zy22", "dither-q")


def _rotated(s: Settings) -> Noise:
    """A rotation's accumulator."""
    joint = s.one_of("form", ("cmux", "joint")) == "joint"
    ternary = s.one_of("small_secret", ("binary", "ternary")) == "ternary"
    return circuit.blind_rotation(int(s["dimension"]), s.n, s.gadget, s.fresh, s.secret(s.n), joint, ternary)


def _blind_rotation(s: Settings) -> Stages:
    return [("added", _rotated(s))]


def _to_small(s: Settings) -> Stages:
    modulus = parse_modulus(s["switch_modulus"])
    small = {"binary": Secret.binary(), "ternary": Secret.ternary()}
    reduction = Reduction(
        n=s.n,
        secret=s.secret(s.n),
        modulus=modulus,
        fresh=lattice.fresh(s["switch_stddev"]),
        gadget=GadgetNoise.of(s["family"], modulus, int(s["switch_base"]), int(s["switch_dropped"])),
        lwe_dimension=int(s["dimension"]),
        lwe_secret=small[s.one_of("small_secret", tuple(small))],
    )
    return [("added", reduction.added)]


def _split_ring_switch(s: Settings) -> Stages:
    """Both parts to the mask's modulus, key switch, every (n / n')-th coefficient, body to its own modulus."""
    to_a, to_b, to = parse_modulus(s["to_modulus_a"]), parse_modulus(s["to_modulus_b"]), int(s["n_to"])
    gadget = GadgetNoise.of("symmetric", to_a, int(s["switch_base"]))
    small = s.secret(to, "small_secret")

    def switched(noise: Noise) -> Noise:
        rounded = lattice.modulus_switch(s.n, s.modulus, to_a, s.secret(s.n), noise)
        projected = lattice.ring_switch(s.n, gadget, lattice.fresh(s["switch_stddev"]), s.secret(s.n), rounded)
        return lattice.split_modulus_switch(to, to_a, to_a, to_b, small, projected)

    return _both(switched, s.fresh)


def _floor(s: Settings) -> Stages:
    ratio = 2 ** int(s["log_modulus"]) / s.modulus
    bits = int(s["digit_bits"])
    return [("added", functional.floor(s.n, s.secret(s.n), _rotated(s), ratio, bits, NOTHING))]


def _bits(s: Settings) -> Stages:
    bits = int(s["digit_bits"])
    return [(f"bit-{k}", _rotated(s).scaled(functional.bit_square(bits, k))) for k in range(bits)]


KEY_SWITCH = "n V_row sum E[x^2] + n E[eps^2] E[s^2] of the gadget product with a"
MODULUS_SWITCH = "(q_b/q)^2 V_in + 1/12 + (q_b/q_a)^2 n E[s^2] / 12, exact rounding moments"
LEVELS = "every level: factor 4 on kept coefficients, 2 in the mean, of what key switches before it added"
EXTERNAL = "n V_row 2 sum E[x^2] + ||m||^2 (V_in + E[eps^2] (1 + n E[s^2]))"


class Operation(NamedTuple):
    """An operation of primitive `noise`: its stages, their formula and where it comes from."""

    stages: Callable[[Settings], Stages]
    formula: str
    source: str


OPERATIONS: dict[str, Operation] = {
    "fresh": Operation(_fresh, "stddev^2", "definition"),
    "add": Operation(_add, "terms V_in", "independent errors: variances add"),
    "plaintext-product": Operation(_plaintext_product, "n E[p^2] V_in", "Pirouette A.1.1, mended"),
    "monomial-product": Operation(_monomial_product, "V_in, permuted", "Pirouette Thm A.10"),
    "sample-extraction": Operation(_sample_extraction, "V_in of that coefficient", "Pirouette Thm A.10"),
    "gadget-product": Operation(_gadget_product, "n V_row sum E[x^2] + ||m||^2 E[eps^2]", "Pirouette Thm A.1, mended"),
    "external-product": Operation(_external_product, EXTERNAL, "Pirouette Thm A.2, with digits' moments"),
    "cmux": Operation(_cmux, f"V_in + external product of the bit: {EXTERNAL}", "Pirouette Thm A.4"),
    "lwe-key-switch": Operation(_lwe_key_switch, KEY_SWITCH, "Pirouette Thm A.6"),
    "rlwe-key-switch": Operation(_rlwe_key_switch, KEY_SWITCH, "Pirouette Thm A.7"),
    "automorphism": Operation(_automorphism, KEY_SWITCH, "Pirouette Thm A.8"),
    "ring-switch": Operation(_ring_switch, f"{KEY_SWITCH}, n of the large ring", "Pirouette Thm A.9"),
    "trace": Operation(_trace, LEVELS, "Pirouette Thm A.12, mended"),
    "expansion": Operation(_expansion, LEVELS, "as the trace; Spiral and Respire have bounds"),
    "modulus-switch": Operation(_modulus_switch, MODULUS_SWITCH, "Pirouette Thm A.14"),
    "compensated-modulus-switch": Operation(
        _compensated_modulus_switch, "(q'/q)^2 V_in + (1 + d/4) / 12", "de Ruijter, D'Anvers, Verbauwhede (2025)"
    ),
    "split-modulus-switch": Operation(_split_modulus_switch, MODULUS_SWITCH, "Spiral, Respire"),
}
CHAIN = Operation(_chain, f"length times {EXTERNAL}; what equal digits repeat, length^2", "Pirouette Thm A.5")
CONVERSION = Operation(
    _conversion,
    "rows: V_in/n + (n - 1) V_ks, times n E[s^2] plus a squaring for the mask; product: n sum E[x^2] (V_mask + V_body)",
    "Pirouette Thms A.12 and A.13, mended",
)
SELECTOR = Operation(
    _selector,
    "v - 1 products on the selected leaf, every error in two leaves; first dimension: n 2 Var(d) an error",
    "Pirouette Thm A.20, mended",
)
RING_SWITCH = Operation(
    _split_ring_switch,
    "(q_b/q)^2 V_in + 1/12 + (q_b/q_a)^2 ((1 + n E[s^2])/12 + n V_row sum E[x^2])",
    "Respire, section 4; Pirouette Thms A.9 and A.14",
)
ALONE = {"rgsw-conversion": CONVERSION, "selector-tree": SELECTOR, "ring-switch": RING_SWITCH}
INSPIRING = Operation(_inspiring, f"(gamma - 1) ({KEY_SWITCH})", "InsPIRe Thms 2 and 4, with digits' moments")
CDKS = Operation(_cdks, f"(n^2 - 1)/3 ({KEY_SWITCH})", "V to 4 V + V_ks at each of log2 n levels")
ROTATION = "d (c 2 n V_row sum E[x^2] + r E[eps^2] (1 + n E[s^2])), c and r of the form: circuit.py"
ROTATIONS = {
    "blind-rotation": Operation(_blind_rotation, ROTATION, "Pirouette Thm A.5, other forms"),
    "to-small": Operation(
        _to_small,
        "(2n/q_ks)^2 ((1 + n E[s^2])/12 + n (V_ks sum E[x^2] + E[eps^2] E[s^2])) + (1 + d Var(z))/12",
        "Pirouette Thms A.6 and A.14; rounding to 2n compensated",
    ),
    "floor": Operation(
        _floor, "2 ((q/Q)^2 V_rotation + (1 + n E[s^2])/12)", "Liu, Micciancio, Polyakov (Asiacrypt 2022)"
    ),
    "bits": Operation(_bits, "2^(bits - 1 - k) V_rotation", "Carpov, Izabachene, Mollimard (CT-RSA 2019)"),
}
PACKINGS = {"inspiring": INSPIRING, "inspiring-online": INSPIRING, "cdks": CDKS, "cdks-preprocessed": CDKS}

#: At a distance d the common part of two coefficients of one key correlates by 1 - 2 d / n: as three values a key.
COMMON_SAMPLES = 3
#: Packed by a full group, all coefficients of one key share, up to signs, what the means of digits add.
PACKED_COMMON_SAMPLES = 1


def primitive_noise(description: dict, failure_target: float = FAILURE_TARGET) -> dict:
    """The `noise` part of a primitive's prediction: its stages, and of a packing how often that alone fails."""
    stages = primitive_stages(description)
    return record_noise(stages, failure_target) if description["primitive"] == "packing" else {"stages": stages}


def _packed_decision(s: Settings, packed: Noise) -> Stage:
    """Rounding of all packed messages, their inputs without noise: masks are random whatever the messages are, so that
    the equality holds for any of them."""
    return Stage(
        name="decision",
        formula="of the packed ciphertexts",
        source="q/(2 p), union over the messages",
        noise=packed,
        bound=Noise(packed.variance, "bound"),
        decision=Decision(s.modulus / (2 * int(s["plain_modulus"])), {"messages packed": int(s["ciphertexts"])}),
    )


def primitive_stages(description: dict) -> list[dict]:
    """The noise stages of one `pirlab/primitive-description/1`: of the primitives that measure noise."""
    name, settings = description["primitive"], Settings(description["settings"])
    try:
        if name == "failure":
            return evaluate(failure_stages(settings), 1)[0]
        if name == "cmux-chain":
            operation = CHAIN
        elif name == "noise":
            operation = OPERATIONS[settings.one_of("operation", tuple(OPERATIONS))]
        elif name in ALONE:
            operation = ALONE[name]
        elif name == "rotation":
            operation = ROTATIONS[settings.one_of("operation", tuple(ROTATIONS))]
        elif name == "packing":
            operation = PACKINGS[settings.one_of("method", tuple(PACKINGS))]
        else:
            return []
        repeated = settings.values.get("selectors") == "one"
        lengths = settings["lengths"] if repeated else None
        made = operation.stages(settings)
        stages = [
            Stage(
                name=stage,
                formula=operation.formula,
                source=operation.source,
                noise=noise,
                digits=settings.digits,
                common_share=_common_share(settings, lengths[i] if lengths else 1),
                common_samples=PACKED_COMMON_SAMPLES if name == "packing" else COMMON_SAMPLES,
            )
            for i, (stage, noise) in enumerate(made)
        ]
        if name == "packing":
            stages.append(_packed_decision(settings, made[0][1]))
        return evaluate(stages, 1)[0]
    except ValueError as error:
        raise ValueError(f"primitive {name}, row {description.get('id')}: {error}") from None


def _common_share(settings: Settings, repetitions: int) -> float:
    """The most that the coefficients of one key's errors have in common: the share of digit means in E[x^2].

    An input that is one constant gives all coefficients the same digits: there, what equal inputs repeat. That adds
    coherently over `repetitions` products with the same key rows, the rest does not.
    """
    if "family" not in settings.values:
        return 0.0
    gadget = settings.gadget
    common = gadget.repeated if settings.values.get("input") == "constant" else gadget.mean
    return float(repetitions * common / (gadget.square + (repetitions - 1) * common))
