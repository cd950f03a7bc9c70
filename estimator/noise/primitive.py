"""Noise stages of measured primitives: from the settings that `pirlab primitive describe` completed to the formulas.

Stages `output`: error against the exact result on the messages. `added`: against the exact result on the input's
phases, so without input noise. `kept`, `added-kept`: the same on the coefficients that a trace keeps. `after-<L>`: of
a chain of L steps.
"""

from collections.abc import Callable
from math import log2

import numpy as np

from ..modulus import parse_modulus
from . import FAILURE_TARGET, circuit, functional, lattice
from .circuit_selection import Reduction
from .lattice import NOTHING, GadgetNoise, Noise, Secret
from .primitive_failure import failure_stages
from .primitive_settings import Settings
from .stage import Decision, Stage, evaluate, record_noise, words

Stages = list[tuple[str, Noise]]
Formula = Callable[[Settings, Noise], Noise]


def _alone(stage: str, noise: Callable[[Settings], Noise]) -> Callable[[Settings], Stages]:
    return lambda s: [(stage, noise(s))]


def _both(formula: Formula, given: Callable[[Settings], Noise] = lambda s: s.fresh) -> Callable[[Settings], Stages]:
    """The noise after an operation on a ciphertext of noise `given`, and the noise that it adds alone."""
    return lambda s: [("output", formula(s, given(s))), ("added", formula(s, NOTHING))]


def _plaintext_product(s: Settings) -> Noise:
    balanced = s.one_of("plain_digits", ("balanced", "unsigned")) == "balanced"
    return lattice.plaintext_product(s.n, lattice.uniform_square(s["plain_modulus"], balanced), s.fresh)


def _cmux(s: Settings, noise: Noise) -> Noise:
    share = {0: 0.0, 1: 1.0, "random": 0.5}[s.one_of("bit", (0, 1, "random"), "random")]
    return lattice.cmux(s.n, s.gadget, s.fresh, s.ring_secret, share, noise)


def _lwe_key_switch(s: Settings, noise: Noise) -> Noise:
    dimension = int(s["dimension_from"])
    return lattice.lwe_key_switch(dimension, s.gadget, s.fresh, s.secret(dimension), noise)


def _switch(s: Settings, noise: Noise = NOTHING, gadget: GadgetNoise | None = None) -> Noise:
    return lattice.rlwe_key_switch(s.n, gadget or s.gadget, s.fresh, s.ring_secret, noise)


def _levels(formula: Callable[..., lattice.TraceNoise], count: Callable[[Settings], int]) -> Callable:
    def of(s: Settings) -> Stages:
        output, added = (formula(count(s), _switch(s), noise) for noise in (s.fresh, NOTHING))
        both = [("output", output.everywhere), ("kept", output.kept)]
        return [*both, ("added", added.everywhere), ("added-kept", added.kept)]

    return of


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


Operation = Callable[[Settings], Stages]
OPERATIONS: dict[str, Operation] = {
    "fresh": _alone("output", lambda s: s.fresh),
    "add": _alone("output", lambda s: lattice.sum_of(s.fresh, s.values.get("terms", 2))),
    "plaintext-product": _alone("output", _plaintext_product),
    "monomial-product": _alone("output", lambda s: lattice.monomial_product(s.fresh)),
    "sample-extraction": _alone("output", lambda s: lattice.sample_extraction(s.fresh)),
    "gadget-product": _alone("added", lambda s: lattice.gadget_product(s.n, s.gadget, s.fresh, s.message_norm_square)),
    "external-product": _both(
        lambda s, v: lattice.external_product(s.n, s.gadget, s.fresh, s.ring_secret, s.message_norm_square, v)
    ),
    "cmux": _both(_cmux),
    "lwe-key-switch": _both(_lwe_key_switch, lambda s: lattice.fresh(s["input_stddev"])),
    "rlwe-key-switch": _both(_switch),
    "automorphism": _both(
        lambda s, v: lattice.automorphism(s.n, s.gadget, s.fresh, s.ring_secret, int(s["exponent"]), v)
    ),
    "ring-switch": _both(_switch),
    "trace": _levels(lattice.trace, lambda s: round(log2(s.n / int(s.values.get("subring", 1))))),
    "expansion": _levels(lattice.expansion, lambda s: int(s["depth"])),
    "modulus-switch": _both(
        lambda s, v: lattice.modulus_switch(s.n, s.modulus, parse_modulus(s["to_modulus"]), s.ring_secret, v)
    ),
    "compensated-modulus-switch": _both(_compensated_modulus_switch),
    "split-modulus-switch": _both(_split_modulus_switch),
}
ROTATIONS: dict[str, Operation] = {
    "blind-rotation": _alone("added", _rotated),
    "to-small": _alone("added", _to_small),
    "floor": _alone("added", _floor),
    "bits": _bits,
}
INSPIRING = _alone("packed", lambda s: lattice.inspiring(s.n, int(s["gamma"]), s.gadget, s.fresh, s.ring_secret))
CDKS = _alone("packed", lambda s: lattice.cdks(s.n, s.gadget, s.fresh, s.ring_secret))
PACKINGS = {"inspiring": INSPIRING, "inspiring-online": INSPIRING, "cdks": CDKS, "cdks-preprocessed": CDKS}
#: By primitive, the setting that names its operation, and the operations.
CHOICES = {"noise": ("operation", OPERATIONS), "rotation": ("operation", ROTATIONS), "packing": ("method", PACKINGS)}
#: Primitives that are one operation.
ALONE: dict[str, Operation] = {
    "cmux-chain": _chain,
    "rgsw-conversion": _conversion,
    "selector-tree": _selector,
    "ring-switch": _both(_split_ring_switch),
}

#: At a distance d the common part of two coefficients of one key correlates by 1 - 2 d / n: as three values a key.
COMMON_SAMPLES = 3
#: Packed by a full group, all coefficients of one key share, up to signs, what the means of digits add.
PACKED_COMMON_SAMPLES = 1


def primitive_noise(description: dict) -> dict:
    """The `noise` part of a primitive's prediction: its stages, and of a packing how often that alone fails."""
    found = primitive_stages(description)
    return record_noise(found, FAILURE_TARGET) if description["primitive"] == "packing" else {"stages": found}


def _packed_decision(s: Settings, packed: Noise) -> Stage:
    """Rounding of all packed messages, their inputs without noise: masks are random whatever the messages are, so that
    the equality holds for any of them."""
    return Stage(
        "decision",
        **words("primitive")["packing"]["decision"],
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
            chosen = settings.one_of(setting, tuple(operations))
            operation = operations[chosen]
        elif name in ALONE:
            operation, chosen = ALONE[name], name
        else:
            return []
        repeated = settings.values.get("selectors") == "one"
        lengths = settings["lengths"] if repeated else None
        made = operation(settings)
        found = [
            Stage(
                stage,
                **words("primitive")[name][chosen],
                noise=noise,
                digits=settings.digits,
                common_share=_common_share(settings, lengths[i] if lengths else 1),
                common_samples=PACKED_COMMON_SAMPLES if name == "packing" else COMMON_SAMPLES,
            )
            for i, (stage, noise) in enumerate(made)
        ]
        if name == "packing":
            found.append(_packed_decision(settings, made[0][1]))
        return evaluate(found, 1)[0]
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
