"""Noise stages of measured primitives: from the settings that `pirlab primitive describe` completed to the formulas.

Stages `output`: error against the exact result on the messages. `added`: against the exact result on the input's
phases, so without input noise. `kept`, `added-kept`: the same on the coefficients that a trace keeps. `after-<L>`: of
a chain of L steps.
"""

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
Formula = Callable[[Settings, Noise], Noise]


def _output(noise: Callable[[Settings], Noise]) -> Callable[[Settings], Stages]:
    return lambda s: [("output", noise(s))]


def _added(noise: Callable[[Settings], Noise]) -> Callable[[Settings], Stages]:
    return lambda s: [("added", noise(s))]


def _packed(noise: Callable[[Settings], Noise]) -> Callable[[Settings], Stages]:
    return lambda s: [("packed", noise(s))]


def _both(formula: Formula, given: Callable[[Settings], Noise] = lambda s: s.fresh) -> Callable[[Settings], Stages]:
    """Of an operation on a ciphertext whose noise is `given`: with that noise, and what it adds alone."""
    return lambda s: [("output", formula(s, given(s))), ("added", formula(s, NOTHING))]


def _plaintext_product(s: Settings) -> Noise:
    balanced = s.one_of("plain_digits", ("balanced", "unsigned")) == "balanced"
    return lattice.plaintext_product(s.n, lattice.uniform_square(s["plain_modulus"], balanced), s.fresh)


def _external_product(s: Settings, noise: Noise) -> Noise:
    return lattice.external_product(s.n, s.gadget, s.fresh, s.ring_secret, s.message_norm_square, noise)


def _cmux(s: Settings, noise: Noise) -> Noise:
    share = {0: 0.0, 1: 1.0, "random": 0.5}[s.one_of("bit", (0, 1, "random"), "random")]
    return lattice.cmux(s.n, s.gadget, s.fresh, s.ring_secret, share, noise)


def _lwe_key_switch(s: Settings, noise: Noise) -> Noise:
    dimension = int(s["dimension_from"])
    return lattice.lwe_key_switch(dimension, s.gadget, s.fresh, s.secret(dimension), noise)


def _switch(s: Settings, noise: Noise = NOTHING, gadget: GadgetNoise | None = None) -> Noise:
    return lattice.rlwe_key_switch(s.n, gadget or s.gadget, s.fresh, s.ring_secret, noise)


def _automorphism(s: Settings, noise: Noise) -> Noise:
    return lattice.automorphism(s.n, s.gadget, s.fresh, s.ring_secret, int(s["exponent"]), noise)


def _levels(formula: Callable[..., lattice.TraceNoise], count: Callable[[Settings], int]) -> Callable:
    def stages(s: Settings) -> Stages:
        output, added = (formula(count(s), _switch(s), noise) for noise in (s.fresh, NOTHING))
        both = [("output", output.everywhere), ("kept", output.kept)]
        return [*both, ("added", added.everywhere), ("added-kept", added.kept)]

    return stages


def _modulus_switch(s: Settings, noise: Noise) -> Noise:
    return lattice.modulus_switch(s.n, s.modulus, parse_modulus(s["to_modulus"]), s.ring_secret, noise)


def _split_modulus_switch(s: Settings, noise: Noise) -> Noise:
    to_a, to_b = parse_modulus(s["to_modulus_a"]), parse_modulus(s["to_modulus_b"])
    return lattice.split_modulus_switch(s.n, s.modulus, to_a, to_b, s.ring_secret, noise)


def _compensated_modulus_switch(s: Settings, noise: Noise) -> Noise:
    ratio_square = (parse_modulus(s["to_modulus"]) / s.modulus) ** 2
    dimension = int(s["dimension"])
    return circuit.compensated_modulus_switch(dimension, s.secret(dimension), ratio_square, noise)


def _chain(s: Settings) -> Stages:
    same_input = s.one_of("input", ("rotate", "constant")) == "constant"
    lengths = [int(length) for length in s["lengths"]]
    chain = lattice.cmux_chain(
        np.array(lengths, dtype=float),
        s.n,
        s.gadget,
        s.fresh,
        s.ring_secret,
        same_input=same_input,
        same_selector=s.one_of("selectors", ("fresh", "one")) == "one",
        noise=NOTHING if same_input else s.fresh,
    )
    variances = np.asarray(chain.variance, dtype=float)
    return [(f"after-{length}", Noise(v, chain.kind)) for length, v in zip(lengths, variances)]


def _conversion(s: Settings) -> Stages:
    """Rows made from tables of fresh noise by keys of the same family and noise."""
    switch = _switch(s, gadget=s.gadget_of("trace"))
    rows = lattice.converted_rows(s.n, switch, s.gadget_of("squaring"), s.fresh, s.ring_secret, s.fresh)
    return [
        ("body", rows.body),
        ("body-constant", lattice.trace(log2(s.n), switch, s.fresh).kept),
        ("mask", rows.mask),
        ("product", lattice.converted_product(s.n, s.gadget, rows, s.ring_secret).added()),
    ]


#: Families that decompose zero into zeros.
ZERO_TO_ZERO = ("unsigned", "balanced", "symmetric", "gmp19", "zy22", "dither-q")


def _selector(s: Settings) -> Stages:
    if s["family"] not in ZERO_TO_ZERO:
        raise ValueError(f"setting `family`: digits of zero by {s['family']} are not zero, so that the root adds noise")
    rows = lattice.RgswNoise(s.fresh, s.fresh)
    product = lattice.converted_product(s.n, s.gadget, rows, s.ring_secret)
    tree = lattice.selector_tree(int(s["bits"]), product, lattice.root_product(s.gadget, rows))
    p = int(s["plain_modulus"])
    # A uniform digit's variance, whatever the range's place.
    first = lattice.first_dimension(s.n, tree, (p * p - 1) / 12)
    return [("selected", tree.selected), ("leaves", tree.mean), ("first-dimension", first)]


def _rotated(s: Settings) -> Noise:
    """A rotation's accumulator."""
    ternary = s.one_of("small_secret", ("binary", "ternary")) == "ternary"
    return circuit.blind_rotation(int(s["dimension"]), s.n, s.gadget, s.fresh, s.ring_secret, s.joint, ternary)


def _to_small(s: Settings) -> Noise:
    modulus = parse_modulus(s["switch_modulus"])
    small = {"binary": Secret.binary(), "ternary": Secret.ternary()}
    reduction = Reduction(
        n=s.n,
        secret=s.ring_secret,
        modulus=modulus,
        fresh=lattice.fresh(s["switch_stddev"]),
        gadget=s.gadget_of("switch", modulus),
        lwe_dimension=int(s["dimension"]),
        lwe_secret=small[s.one_of("small_secret", tuple(small))],
    )
    return reduction.added


def _split_ring_switch(s: Settings, noise: Noise) -> Noise:
    """Both parts to the mask's modulus, key switch, every (n / n')-th coefficient, body to its own modulus."""
    to_a, to_b, to = parse_modulus(s["to_modulus_a"]), parse_modulus(s["to_modulus_b"]), int(s["n_to"])
    gadget = GadgetNoise.of("symmetric", to_a, int(s["switch_base"]))
    rounded = lattice.modulus_switch(s.n, s.modulus, to_a, s.ring_secret, noise)
    projected = lattice.ring_switch(s.n, gadget, lattice.fresh(s["switch_stddev"]), s.ring_secret, rounded)
    return lattice.split_modulus_switch(to, to_a, to_a, to_b, s.secret(to, "small_secret"), projected)


def _floor(s: Settings) -> Noise:
    ratio = 2 ** int(s["log_modulus"]) / s.modulus
    return functional.floor(s.n, s.ring_secret, _rotated(s), ratio, int(s["digit_bits"]), NOTHING)


def _bits(s: Settings) -> Stages:
    bits = int(s["digit_bits"])
    return [(f"bit-{k}", _rotated(s).scaled(functional.bit_square(bits, k))) for k in range(bits)]


def _inspiring(s: Settings) -> Noise:
    return lattice.inspiring(s.n, int(s["gamma"]), s.gadget, s.fresh, s.ring_secret)


KEY_SWITCH = "n V_row sum E[x^2] + n E[eps^2] E[s^2] of the gadget product with a"
MODULUS_SWITCH = "(q_b/q)^2 V_in + 1/12 + (q_b/q_a)^2 n E[s^2] / 12, exact rounding moments"
LEVELS = "every level: factor 4 on kept coefficients, 2 in the mean, of what key switches before it added"
EXTERNAL = "n V_row 2 sum E[x^2] + ||m||^2 (V_in + E[eps^2] (1 + n E[s^2]))"
ROTATION = "d (c 2 n V_row sum E[x^2] + r E[eps^2] (1 + n E[s^2])), c and r of the form: circuit.py"


class Operation(NamedTuple):
    """An operation of a primitive: its stages, their formula and where it comes from."""

    stages: Callable[[Settings], Stages]
    formula: str
    source: str


OPERATIONS: dict[str, Operation] = {
    "fresh": Operation(_output(lambda s: s.fresh), "stddev^2", "definition"),
    "add": Operation(
        _output(lambda s: lattice.sum_of(s.fresh, s.values.get("terms", 2))),
        "terms V_in",
        "independent errors: variances add",
    ),
    "plaintext-product": Operation(_output(_plaintext_product), "n E[p^2] V_in", "Pirouette A.1.1, mended"),
    "monomial-product": Operation(
        _output(lambda s: lattice.monomial_product(s.fresh)), "V_in, permuted", "Pirouette Thm A.10"
    ),
    "sample-extraction": Operation(
        _output(lambda s: lattice.sample_extraction(s.fresh)), "V_in of that coefficient", "Pirouette Thm A.10"
    ),
    "gadget-product": Operation(
        _added(lambda s: lattice.gadget_product(s.n, s.gadget, s.fresh, s.message_norm_square)),
        "n V_row sum E[x^2] + ||m||^2 E[eps^2]",
        "Pirouette Thm A.1, mended",
    ),
    "external-product": Operation(_both(_external_product), EXTERNAL, "Pirouette Thm A.2, with digits' moments"),
    "cmux": Operation(_both(_cmux), f"V_in + external product of the bit: {EXTERNAL}", "Pirouette Thm A.4"),
    "lwe-key-switch": Operation(
        _both(_lwe_key_switch, lambda s: lattice.fresh(s["input_stddev"])), KEY_SWITCH, "Pirouette Thm A.6"
    ),
    "rlwe-key-switch": Operation(_both(_switch), KEY_SWITCH, "Pirouette Thm A.7"),
    "automorphism": Operation(_both(_automorphism), KEY_SWITCH, "Pirouette Thm A.8"),
    "ring-switch": Operation(_both(_switch), f"{KEY_SWITCH}, n of the large ring", "Pirouette Thm A.9"),
    "trace": Operation(
        _levels(lattice.trace, lambda s: round(log2(s.n / int(s.values.get("subring", 1))))),
        LEVELS,
        "Pirouette Thm A.12, mended",
    ),
    "expansion": Operation(
        _levels(lattice.expansion, lambda s: int(s["depth"])), LEVELS, "as the trace; Spiral and Respire have bounds"
    ),
    "modulus-switch": Operation(_both(_modulus_switch), MODULUS_SWITCH, "Pirouette Thm A.14"),
    "compensated-modulus-switch": Operation(
        _both(_compensated_modulus_switch),
        "(q'/q)^2 V_in + (1 + d/4) / 12",
        "de Ruijter, D'Anvers, Verbauwhede (2025)",
    ),
    "split-modulus-switch": Operation(_both(_split_modulus_switch), MODULUS_SWITCH, "Spiral, Respire"),
}
ROTATIONS = {
    "blind-rotation": Operation(_added(_rotated), ROTATION, "Pirouette Thm A.5, other forms"),
    "to-small": Operation(
        _added(_to_small),
        "(2n/q_ks)^2 ((1 + n E[s^2])/12 + n (V_ks sum E[x^2] + E[eps^2] E[s^2])) + (1 + d Var(z))/12",
        "Pirouette Thms A.6 and A.14; rounding to 2n compensated",
    ),
    "floor": Operation(
        _added(_floor), "2 ((q/Q)^2 V_rotation + (1 + n E[s^2])/12)", "Liu, Micciancio, Polyakov (Asiacrypt 2022)"
    ),
    "bits": Operation(_bits, "2^(bits - 1 - k) V_rotation", "Carpov, Izabachene, Mollimard (CT-RSA 2019)"),
}
INSPIRING = Operation(_packed(_inspiring), f"(gamma - 1) ({KEY_SWITCH})", "InsPIRe Thms 2 and 4, with digits' moments")
CDKS = Operation(
    _packed(lambda s: lattice.cdks(s.n, s.gadget, s.fresh, s.ring_secret)),
    f"(n^2 - 1)/3 ({KEY_SWITCH})",
    "V to 4 V + V_ks at each of log2 n levels",
)
PACKINGS = {"inspiring": INSPIRING, "inspiring-online": INSPIRING, "cdks": CDKS, "cdks-preprocessed": CDKS}
#: By primitive, the setting that names its operation, and the operations.
CHOICES = {"noise": ("operation", OPERATIONS), "rotation": ("operation", ROTATIONS), "packing": ("method", PACKINGS)}
#: Primitives that are one operation.
ALONE = {
    "cmux-chain": Operation(
        _chain, f"length times {EXTERNAL}; what equal digits repeat, length^2", "Pirouette Thm A.5"
    ),
    "rgsw-conversion": Operation(
        _conversion,
        "rows: V_in/n + (n - 1) V_ks, times n E[s^2] plus a squaring for the mask; "
        "product: n sum E[x^2] (V_mask + V_body)",
        "Pirouette Thms A.12 and A.13, mended",
    ),
    "selector-tree": Operation(
        _selector,
        "v - 1 products on the selected leaf, every error in two leaves; first dimension: n 2 Var(d) an error",
        "Pirouette Thm A.20, mended",
    ),
    "ring-switch": Operation(
        _both(_split_ring_switch),
        "(q_b/q)^2 V_in + 1/12 + (q_b/q_a)^2 ((1 + n E[s^2])/12 + n V_row sum E[x^2])",
        "Respire, section 4; Pirouette Thms A.9 and A.14",
    ),
}

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
        if name in CHOICES:
            setting, operations = CHOICES[name]
            operation = operations[settings.one_of(setting, tuple(operations))]
        elif name in ALONE:
            operation = ALONE[name]
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
