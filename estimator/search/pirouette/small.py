"""Small keys with rotation gadgets: what a circuit starts with, and what its digits' decisions are."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ...noise import circuit, lattice
from ...noise.circuit_selection import Reduction
from ...noise.error import Noise
from ...noise.lattice import Secret
from ...noise.tails import Array, Mixture, log2_mixture_union
from ..front import frontier
from .space import SmallKey, Task
from .work import Work

#: Steps of an answer that depend on the small key; the last depends on what is behind the rotation, too.
STEPS = ("digits", "bits", "rgsw")


@dataclass(frozen=True)
class Small:
    """Small keys with rotation gadgets: one dimension.

    choices: what each says of a set. rotated: noise of an accumulator. added: at 2N, by the way into a rotation.
    seconds: by step, with the rest as in the first set.
    """

    choices: list[dict[str, Any]]
    rotated: Array
    added: Array
    log2_failure: Array
    margin: Array
    seconds: Array
    offline_bytes: Array

    @property
    def total(self) -> Array:
        return np.asarray(self.seconds.sum(axis=1))


class _Switch(NamedTuple):
    """The way from the ring's key to a small one: its gadget, seconds by step beyond the first set's, bytes."""

    table: dict[str, int] | None
    added: float
    reduction: Reduction | None
    seconds: Array
    offline_bytes: float


def small_keys(task: Task, work: Work, fresh: Noise) -> Small:
    """Pairs of a small key (with a switching gadget) and a rotation gadget (with a form) that get digits right."""
    space, ring, keys = task.space, work.first.ring, task.space.small_keys
    gadgets = space.gadgets("rotation", ring.modulus)
    forms = list(product(range(len(gadgets)), space.joint))
    index, joint = np.array([g for g, _ in forms]), np.array([j for _, j in forms])
    unit = np.asarray(
        circuit.blind_rotation(1.0, ring.degree, gadgets.at(index).noise, fresh, ring.key, joint).variance
    )
    wire = 2 * task.limits.ring_bytes(ring.degree, ring.primes) * np.where(joint, 1.5, 1.0) * gadgets.digits[index]
    tables, like = gadgets.by_length()
    sets = [{"small": k, "rotation": t, "joint": j} for k, t, j in product(keys, tables, space.joint)]
    each = work.seconds(STEPS, sets).reshape(len(keys), len(tables), len(space.joint), len(STEPS))
    seconds = each[:, like].reshape(len(keys), len(forms), len(STEPS))
    front = frontier(unit, *seconds[0].T, wire)
    found: list[Small] = []
    for small, of_key in zip(keys, seconds):
        rotated = unit[front] * float(small.dimension)
        for switch in _switches(task, work, small):
            failure, margin = _decided(task, work, switch.reduction, rotated)
            choices = [
                {
                    "small": small,
                    "switching": switch.table,
                    "rotation": gadgets.table(int(index[r])),
                    "joint": bool(joint[r]),
                }
                for r in front
            ]
            offline = float(small.dimension) * wire[front] + switch.offline_bytes
            added = np.full(len(front), switch.added)
            found.append(Small(choices, rotated, added, failure, margin, of_key[front] + switch.seconds, offline))
    choices = [choice for part in found for choice in part.choices]
    columns = ("rotated", "added", "log2_failure", "margin", "seconds", "offline_bytes")
    whole = Small(choices, *(np.concatenate([getattr(part, name) for part in found]) for name in columns))
    right = np.flatnonzero((whole.log2_failure <= task.limits.log2_failure) & (whole.margin >= task.limits.margin))
    costs = (whole.rotated, whole.added, whole.log2_failure, whole.total, whole.offline_bytes)
    best = right[frontier(*(cost[right] for cost in costs))]
    return Small([choices[i] for i in best], *(getattr(whole, name)[best] for name in columns))


def _switches(task: Task, work: Work, small: SmallKey) -> Iterator[_Switch]:
    """For Pirouette each gadget of the key switch; nothing for Pirouette^H, whose queries come rounded."""
    space, ring = task.space, work.first.ring
    if task.half:
        unit = 2 * ring.degree / 2.0**space.body_bits
        rounding = (unit**2 + 2) / 12 if unit > 1 else 0.0
        yield _Switch(None, small.stddev**2 + rounding, None, np.zeros(len(STEPS)), 0.0)
        return
    gadgets = space.gadgets("switching", 1 << small.modulus_log2)
    tables, like = gadgets.by_length()
    first, *seconds = work.seconds(STEPS, [{"small": small}, *({"small": small, "switching": t} for t in tables)])
    for g in range(len(gadgets)):
        reduction = Reduction(
            n=float(ring.degree),
            secret=ring.key,
            modulus=1 << small.modulus_log2,
            fresh=lattice.fresh(small.stddev),
            gadget=gadgets.at(g).noise,
            lwe_dimension=float(small.dimension),
            lwe_secret=Secret.binary(),
        )
        added = float(np.asarray(reduction.added.variance))
        wire = float(ring.degree * gadgets.digits[g] * task.limits.small_bytes(small))
        yield _Switch(gadgets.table(g), added, reduction, seconds[like[g]] - first, wire)


def _decided(task: Task, work: Work, reduction: Reduction | None, rotated: Array) -> tuple[Array, Array]:
    """Union over all decisions on digits, and the least margin."""
    if reduction is None:
        return np.full(len(rotated), -np.inf), np.full(len(rotated), np.inf)
    space, ring = task.space, work.first.ring
    count, bits = int(work.of_first["layout"]["digits"]), space.digit_bits
    body = 2.0 ** -(space.query_body_bits + space.query_chosen_bits)
    query = Noise((space.query_stddev / 2.0**space.query_modulus_log2) ** 2 + body**2 / 12)
    inputs = reduction.digit_inputs(query, Noise(rotated / float(ring.modulus) ** 2), count, bits)
    floors = inputs[:-1]
    decided = [x.digit for x in floors] + [x.rest for x in floors] + [x.digit for x in inputs]
    stddevs = np.sqrt(np.stack([np.broadcast_to(each, rotated.shape) for each in decided], axis=1))
    threshold = float(ring.degree) / 2.0**bits
    # A stage of the chain each, so that a key that is too long counts as often as there.
    stages = [part for part in np.split(threshold / stddevs, [count - 1, 2 * count - 2], axis=1) if part.size]
    mixture = Mixture.even(float(ring.degree), ring.key_squares)
    failure = np.logaddexp2.reduce([log2_mixture_union(margins, 1.0, mixture, 1.0) for margins in stages])
    return failure, threshold / stddevs.max(axis=1)
