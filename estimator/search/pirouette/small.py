"""Small keys with rotation gadgets: what a circuit starts with, and what its digits' decisions are."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...noise import circuit, lattice
from ...noise.circuit_selection import Reduction
from ...noise.error import Noise
from ...noise.lattice import Secret
from .candidate import digit_count
from .frontier import frontier
from .gadgets import Gadgets
from .judged import mixed_inputs, union_of
from .seconds import TOGETHER as ROTATIONS_TOGETHER
from .seconds import Array, Seconds
from .space import Ring, SmallKey
from .task import Task

#: Least bits of a modulus that a gadget may keep, and most digits it may have; what is beyond was never near the best.
KEPT_SWITCHING, KEPT_ROTATION = 10, 24
MOST_SWITCHING_DIGITS, MOST_ROTATION_DIGITS = 28, 9


@dataclass(frozen=True)
class Small:
    """Small keys with rotation gadgets: one dimension."""

    key: list[SmallKey]
    switching: list[dict[str, int] | None]
    rotation: list[dict[str, int]]
    joint: NDArray[np.bool_]
    rotated: Array
    added: Array
    log2_failure: Array
    margin: Array
    seconds: dict[str, Array]
    offline_bytes: Array

    @property
    def total(self) -> Array:
        return np.asarray(sum(self.seconds.values()))


@dataclass(frozen=True)
class _Key:
    """A small key with its switching gadget: variance added at 2N, seconds of switches by step, bytes on the wire."""

    small: SmallKey
    switching: dict[str, int] | None
    reduction: Reduction | None
    added: float
    floors: float
    digits: float
    bits: float
    offline_bytes: float


def small_keys(task: Task, ring: Ring, seconds: Seconds, fresh: Noise, secret: Secret) -> Small:
    """Pairs of a small key (with a switching gadget) and a rotation gadget (with a form) that get digits right."""
    space, n, bits = task.space, ring.degree, task.index_bits
    gadgets = Gadgets.of(ring.modulus, space.rotation_bases, KEPT_ROTATION, MOST_ROTATION_DIGITS)
    forms = [(g, joint) for g in range(len(gadgets)) for joint in space.joint]
    index, joint = np.array([g for g, _ in forms]), np.array([j for _, j in forms])
    unit = circuit.blind_rotation(1.0, n, gadgets.at(index).noise, fresh, secret, joint)
    digits = 0 if task.half else digit_count(space, bits)
    per_bit = seconds.rotations(1.0, gadgets.digits[index], joint, ROTATIONS_TOGETHER, bits)
    per_digit = seconds.rotations(1.0, gadgets.digits[index], joint, ROTATIONS_TOGETHER, digits)
    per_floor = seconds.rotations(1.0, gadgets.digits[index], joint, 1, max(0, 2 * (digits - 1)))
    row = task.limits.ring_bytes(n, ring.primes)
    wire = 2 * row * np.where(joint, 1.5, 1.0) * gadgets.digits[index]
    front = frontier(unit.variance, per_bit, per_digit, per_floor, wire)
    keys = list(_keys(task, ring, seconds, secret))
    pairs = [(k, int(r)) for k in range(len(keys)) for r in front]
    k, r = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    dimension = np.array([key.small.dimension for key in keys], dtype=float)[k]
    rotated = np.asarray(unit.variance)[r] * dimension
    failure, margin = _digits(task, ring, [keys[i] for i in k], rotated)
    parts = {
        "floors": dimension * per_floor[r] + np.array([keys[i].floors for i in k]),
        "digits": dimension * per_digit[r] + np.array([keys[i].digits for i in k]),
        "bits": dimension * per_bit[r] + np.array([keys[i].bits for i in k]),
    }
    added = np.array([keys[i].added for i in k])
    offline = dimension * wire[r] + np.array([keys[i].offline_bytes for i in k])
    right = np.flatnonzero((failure <= task.limits.log2_failure) & (margin >= task.limits.margin))
    total = sum(parts.values())
    best = right[frontier(rotated[right], added[right], failure[right], total[right], offline[right])]
    return Small(
        [keys[i].small for i in k[best]],
        [keys[i].switching for i in k[best]],
        [gadgets.table(int(index[i])) for i in r[best]],
        joint[r[best]],
        rotated[best],
        added[best],
        failure[best],
        margin[best],
        {name: part[best] for name, part in parts.items()},
        offline[best],
    )


def _keys(task: Task, ring: Ring, seconds: Seconds, secret: Secret) -> Iterator[_Key]:
    """Small keys; for Pirouette with each gadget of the key switch."""
    space, bits = task.space, task.index_bits
    if task.half:
        unit = 2 * ring.degree / 2.0**space.body_bits
        rounding = (unit**2 + 2) / 12 if unit > 1 else 0.0
        for small in space.small_keys:
            yield _Key(small, None, None, small.stddev**2 + rounding, 0.0, 0.0, 0.0, 0.0)
        return
    digits = digit_count(space, bits)
    for small in space.small_keys:
        gadgets = Gadgets.of(1 << small.modulus_log2, space.switching_bases, KEPT_SWITCHING, MOST_SWITCHING_DIGITS)
        reduction = Reduction(
            n=float(ring.degree),
            secret=secret,
            modulus=1 << small.modulus_log2,
            fresh=lattice.fresh(small.stddev),
            gadget=gadgets.noise,
            lwe_dimension=float(small.dimension),
            lwe_secret=Secret.binary(),
        )
        added = np.asarray(reduction.added.variance)
        rows = ring.degree * gadgets.digits
        wire = rows * task.limits.small_bytes(small)
        single = seconds.key_switches(small.dimension, gadgets.digits, 1)
        for g in range(len(gadgets)):
            of_bits = seconds.key_switches(small.dimension, gadgets.digits[g], bits)
            floors = 2 * (digits - 1) * single[g]
            yield _Key(
                small,
                gadgets.table(g),
                replace(reduction, gadget=gadgets.at(g).noise),
                float(added[g]),
                float(floors),
                float(digits * single[g] + seconds.digit_tables(digits, space.digit_bits)),
                float(of_bits),
                float(wire[g]),
            )


def _digits(task: Task, ring: Ring, keys: list[_Key], rotated: Array) -> tuple[Array, Array]:
    """Union over all decisions on digits, and the least margin."""
    if task.half:
        return np.full(len(keys), -np.inf), np.full(len(keys), np.inf)
    space = task.space
    count, bits = digit_count(space, task.index_bits), space.digit_bits
    body = 2.0 ** -(space.query_body_bits + space.query_chosen_bits)
    query = Noise((space.query_stddev / 2.0**space.query_modulus_log2) ** 2 + body**2 / 12)
    variances = np.zeros((len(keys), 3 * count - 2))
    threshold = np.zeros(len(keys))
    for i, key in enumerate(keys):
        assert key.reduction is not None
        inputs = key.reduction.digit_inputs(query, Noise(rotated[i] / float(ring.modulus) ** 2), count, bits)
        floors = inputs[:-1]
        decided = [x.digit for x in floors] + [x.rest for x in floors] + [x.digit for x in inputs]
        variances[i] = np.array(decided, dtype=float)
        threshold[i] = float(key.reduction.n) / 2.0**bits
    stddevs = np.sqrt(variances)
    # A stage of the chain each, so that a key that is too long counts as often as there.
    stages = [part for part in np.split(threshold[:, None] / stddevs, [count - 1, 2 * count - 2], axis=1) if part.size]
    failure = np.logaddexp2.reduce([union_of(margins, mixed_inputs(ring)) for margins in stages])
    return failure, threshold / stddevs.max(axis=1)
