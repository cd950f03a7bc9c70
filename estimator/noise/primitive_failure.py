"""The decision that the primitive `failure` counts failures of: what its error is, and how often it goes wrong."""

from math import log2
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from ..modulus import parse_modulus
from . import circuit, lattice
from .lattice import Noise, Secret
from .primitive_settings import Settings
from .stage import Decision, Stage, words


def _stage(name: str, noise: Noise, bound: Noise | None = None, **more: Any) -> Stage:
    return Stage(name, noise=noise, bound=bound, **words("primitive")["failure"][name], **more)


class FloorInputs(NamedTuple):
    """The errors modulo 2n that the two rotations of a floor see, and what both see alike; bits take the first."""

    first: Noise
    second: Noise
    shared: Noise


def _rotated(s: Settings) -> Noise:
    """A rotation's accumulator."""
    return circuit.blind_rotation(int(s["dimension"]), s.n, s.gadget_of("rotation"), s.fresh, s.ring_secret, s.joint)


def _rgsw_row(s: Settings) -> Stage:
    """The constant coefficient of a row of a right conversion: noise, no decision, however small the row's weight."""
    gadget = s.gadget_of("trace")
    switch = lattice.rlwe_key_switch(s.n, gadget, s.fresh, s.ring_secret)
    return _stage(
        "row",
        lattice.trace(log2(s.n), switch, _rotated(s)).kept,
        common_share=float(lattice.mean_in_common(gadget)),
    )


def _floor_inputs(s: Settings) -> list[FloorInputs]:
    """Of digit 0, 1, ...: digit k begins at bit `low` + k `digit_bits`.

    The message's own error stays below it, and each rotation adds its noise, switched from the ring's modulus to the
    message's.
    """
    q, low, bits, digits = s.modulus, int(s["low"]), int(s["digit_bits"]), int(s["digits"])
    kept = lattice.modulus_switch(s.n, q, 2 ** (low + bits * digits), s.ring_secret, _rotated(s))
    noise, inputs = lattice.fresh(s["input_stddev"]), []
    for k in range(digits):
        end = 2 ** (low + bits * (k + 1))
        shared = noise.scaled((2 * s.n / end) ** 2)
        inputs.append(FloorInputs(_small_input(s, end, noise), _small_input(s, end, noise + kept), shared))
        noise = noise + kept.scaled(2)
    return inputs


def _first_alone(floor: FloorInputs, limit: float, bits: int) -> float:
    """By how much of its own failure rate the first rotation of a floor adds to the second's.

    It tells the halves of the digits apart, so that it fails on one side of 4 of 2^bits digits. The average is over
    what both rotations see alike; the rest of their errors is independent.
    """
    alike = float(floor.shared.variance)
    nodes, weights = np.polynomial.hermite_e.hermegauss(201)
    at = nodes * alike**0.5
    own = [(float(noise.variance) - alike) ** 0.5 for noise in (floor.first, floor.second)]
    wrong = [ndtr((at - limit) / stddev) + ndtr((-at - limit) / stddev) for stddev in own]
    alone, first = (float(np.dot(weights, rate)) for rate in (wrong[0] * (1 - wrong[1]), wrong[0]))
    return 2 / 2**bits * alone / first if first else 0.0


def _small_input(s: Settings, modulus: int, noise: Noise) -> Noise:
    """From a modulus under the ring's key to the small key and modulo 2n."""
    switching = parse_modulus(s["switch_modulus"])
    gadget = s.gadget_of("switch", switching)
    there = lattice.modulus_switch(s.n, modulus, switching, s.ring_secret, noise)
    switched = lattice.lwe_key_switch(s.n, gadget, lattice.fresh(s["switch_stddev"]), s.ring_secret, there)
    return _compensated(s, switching, switched)


def _compensated(s: Settings, modulus: int, noise: Noise) -> Noise:
    """From a modulus to 2n under the small key, which is binary."""
    ratio = 2 * s.n / modulus
    return circuit.compensated_modulus_switch(int(s["dimension"]), Secret.binary(), ratio**2, noise)


def failure_stages(s: Settings) -> list[Stage]:
    """The decisions of a trial. Integer errors from -limit to limit - 1 are right: as a continuous one, up to limit.

    A floor fails with its second rotation, for whichever digit, and sometimes with the first alone: that is counted as
    a fraction of a decision.
    """
    decision, limit = s.one_of("decision", ("rgsw", "floor", "digit", "bits")), float(s["limit"])
    common = 0.0
    if decision == "rgsw":
        # A fresh error, switched to 2n with mean compensation.
        seen = _compensated(s, parse_modulus(s["input_modulus"]), lattice.fresh(s["input_stddev"]))
    else:
        floors, bits = _floor_inputs(s), int(s["digit_bits"])
        seen = floors[0].first
        gadget = s.gadget_of("switch", parse_modulus(s["switch_modulus"]))
        common = float(lattice.mean_in_common(gadget))
    if decision in ("floor", "digit"):
        taken = floors[:1] if decision == "floor" else floors[:-1]
        classes = [(floor.second, 1.0) for floor in taken]
        classes += [(floor.first, _first_alone(floor, limit, bits)) for floor in taken if bits > 1]
    else:
        classes = [(seen, 1.0)]
    variances = np.array([[float(noise.variance) for noise, _ in classes]])
    counts = np.array([[count for _, count in classes]])
    return [
        _stage(
            "decision",
            Noise(variances),
            Noise(variances, "bound"),
            decision=Decision(limit, {"decisions of a trial": counts.sum()}, counts),
        ),
        _stage("input", seen, common_share=common),
        *([_rgsw_row(s)] if decision == "rgsw" else []),
    ]
