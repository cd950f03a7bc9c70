"""The search for Pirouette's sets: least seconds of an answer, secure, correct, keys within a limit.

Seconds and bytes are sums over parts (small key with rotation gadget; automorphisms; squaring; RGSW rows with their
spacing; dimensions), and every error grows with each part's own errors. So of each part only the frontier is looked at
(frontier.py), and of these every combination, as arrays: the result is that of trying everything. One thing apart: the
frontiers compare variances, and do not see that the same variance fails less often where more squares mix it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from ...cost.units import UnitCosts
from ...noise import FAILURE_TARGET, circuit, functional, lattice
from ...noise.circuit_selection import Reduction, Response, Setting, rows_alike
from ...noise.error import Noise
from ...noise.lattice import GadgetNoise, Secret
from ...noise.tails import log2_subgaussian_tail
from .candidate import Candidate, digit_count, rotation_bits
from .frontier import frontier
from .gadgets import Gadgets, column, entries
from .judged import Judged, key_squares, mixed_inputs, union_of
from .seconds import TOGETHER as ROTATIONS_TOGETHER
from .seconds import Array, Seconds, tree_automorphisms
from .space import Ring, SmallKey, Space

#: Least bits of Q that a gadget may keep, and most digits it may have; what is beyond was never near the best.
KEPT_SWITCHING, KEPT_ROTATION, KEPT_AUTOMORPHISM, KEPT_RGSW = 10, 24, 36, 20
MOST_DIGITS, MOST_ROTATION_DIGITS = 28, 9
#: Combinations whose failure is computed together.
TOGETHER = 64


@dataclass(frozen=True)
class Limits:
    """offline_bytes: of all keys, both halves. margin: of every decision, in standard deviations, for any data."""

    offline_bytes: float
    log2_failure: float = FAILURE_TARGET
    margin: float = 8.2


@dataclass(frozen=True)
class _Small:
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

    def __len__(self) -> int:
        return len(self.key)


class Search:
    """For databases of 2^index_bits records; `half` for Pirouette^H."""

    def __init__(self, space: Space, units: UnitCosts, index_bits: int, limits: Limits, half: bool = False):
        self.space, self.units, self.index_bits, self.limits, self.half = space, units, index_bits, limits, half

    def best(self, count: int = 1) -> list[Candidate]:
        """The `count` fastest over all rings, fastest first; none if nothing is within the limits."""
        found = [candidate for ring in self.space.rings for candidate in self._of_ring(ring, count)]
        return sorted(found, key=lambda c: c.total)[:count]

    def _of_ring(self, ring: Ring, count: int) -> Iterator[Candidate]:
        seconds = Seconds(self.units, ring.degree, len(ring.primes))
        fresh, secret = lattice.fresh(ring.stddev), _secret(ring.secret)
        small = self._small(ring, seconds, fresh, secret)
        block = _Block(self, ring, seconds, fresh, secret)
        before = np.asarray(sum(small.seconds.values()))
        # (seconds, small, place in the block), the best so far; a small key that is too slow already ends it.
        best: list[tuple[float, int, int]] = []
        for i in np.argsort(before, kind="stable").tolist():
            if len(best) == count and before[i] + block.after.min() >= best[-1][0]:
                break
            found = block.fastest(small, i, count, best[-1][0] if len(best) == count else np.inf)
            best = sorted([*best, *((total, i, at) for total, at in found)])[:count]
        for _, i, at in best:
            yield block.candidate(small, i, at)

    def _small(self, ring: Ring, seconds: Seconds, fresh: Noise, secret: Secret) -> _Small:
        """Pairs of a small key (with a switching gadget) and a rotation gadget (with a form) that get digits right."""
        space, n, bits = self.space, ring.degree, self.index_bits
        gadgets = Gadgets.of(ring.modulus, space.rotation_bases, KEPT_ROTATION, MOST_ROTATION_DIGITS)
        forms = [(g, joint) for g in range(len(gadgets)) for joint in space.joint]
        index, joint = np.array([g for g, _ in forms]), np.array([j for _, j in forms])
        unit = circuit.blind_rotation(1.0, n, gadgets.at(index).noise, fresh, secret, joint)
        digits = 0 if self.half else digit_count(space, bits)
        per_bit = seconds.rotations(1.0, gadgets.digits[index], joint, ROTATIONS_TOGETHER, bits)
        per_digit = seconds.rotations(1.0, gadgets.digits[index], joint, ROTATIONS_TOGETHER, digits)
        per_floor = seconds.rotations(1.0, gadgets.digits[index], joint, 1, max(0, 2 * (digits - 1)))
        wire = 4 * n * np.where(joint, 1.5, 1.0) * gadgets.digits[index] * np.log2(float(ring.modulus)) / 8
        front = frontier(unit.variance, per_bit, per_digit, per_floor, wire)
        keys = list(self._keys(ring, seconds, secret))
        pairs = [(k, int(r)) for k in range(len(keys)) for r in front]
        k, r = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
        dimension = np.array([key.small.dimension for key in keys], dtype=float)[k]
        rotated = np.asarray(unit.variance)[r] * dimension
        failure, margin = self._digits(ring, [keys[i] for i in k], rotated)
        parts = {
            "floors": dimension * per_floor[r] + np.array([keys[i].floors for i in k]),
            "digits": dimension * per_digit[r] + np.array([keys[i].digits for i in k]),
            "bits": dimension * per_bit[r] + np.array([keys[i].bits for i in k]),
        }
        added = np.array([keys[i].added for i in k])
        offline = dimension * wire[r] + np.array([keys[i].offline_bytes for i in k])
        right = np.flatnonzero((failure <= self.limits.log2_failure) & (margin >= self.limits.margin))
        total = sum(parts.values())
        best = right[frontier(rotated[right], added[right], failure[right], total[right], offline[right])]
        return _Small(
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

    def _keys(self, ring: Ring, seconds: Seconds, secret: Secret) -> Iterator[_Key]:
        """Small keys; for Pirouette with each gadget of the key switch."""
        space, bits = self.space, self.index_bits
        if self.half:
            rounding = (2 * ring.degree / 2.0**space.body_bits) ** 2 / 12
            for small in space.small_keys:
                yield _Key(small, None, None, small.stddev**2 + rounding, 0.0, 0.0, 0.0, 0.0)
            return
        digits = digit_count(space, bits)
        for small in space.small_keys:
            gadgets = Gadgets.of(1 << small.modulus_log2, space.switching_bases, KEPT_SWITCHING, MOST_DIGITS)
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
            wire = rows * (small.dimension + 1) * small.modulus_log2 / 8
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

    def _digits(self, ring: Ring, keys: list[_Key], rotated: Array) -> tuple[Array, Array]:
        """Union over all decisions on digits, and the least margin."""
        if self.half:
            return np.full(len(keys), -np.inf), np.full(len(keys), np.inf)
        space = self.space
        count, bits = digit_count(space, self.index_bits), space.digit_bits
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
        stages = [
            part for part in np.split(threshold[:, None] / stddevs, [count - 1, 2 * count - 2], axis=1) if part.size
        ]
        failure = np.logaddexp2.reduce([union_of(margins, mixed_inputs(ring)) for margins in stages])
        return failure, threshold / stddevs.max(axis=1)


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


class _Block:
    """Everything behind the rotation, over axes (automorphism, squaring, RGSW with spacing, first bits, moduli)."""

    def __init__(self, search: Search, ring: Ring, seconds: Seconds, fresh: Noise, secret: Secret):
        self.search, self.ring, self.fresh, self.secret = search, ring, fresh, secret
        space, n, q = search.space, ring.degree, ring.modulus
        bits = float(np.log2(float(q)))
        self.v3 = rotation_bits(space, ring)
        self._choose_rows(seconds, bits)
        self.first_bits = np.array([v for v in space.first_bits if 1 <= v <= search.index_bits - self.v3])
        self.moduli = np.array(sorted({min(m, len(ring.primes)) for m in space.moduli}))

        v, m = self.first_bits[:, None], self.moduli
        g = self.rgsw.digits[:, None, None]
        fold_bits = search.index_bits - self.v3 - v
        one_product = seconds.external_product(g)
        self.parts = {
            "rows": self.rows_seconds[:, None, None],
            "selector": seconds.selector(v, g, m),
            "first_dimension": seconds.first_dimension(np.exp2(fold_bits), np.exp2(v), m),
            "folding": (np.exp2(fold_bits) - 1 + self.v3) * one_product,
        }
        self.after = np.asarray(sum(self.parts.values()))
        self.shape = self.after.shape
        response_key = n * int(space.mask_modulus).bit_length() * 2 * np.log2(space.mask_modulus) / 8
        ring_keys = int(np.log2(n)) * self.automorphism.digits + self.squaring.digits
        self.offline_bytes = (2 * n * bits / 8 * ring_keys + response_key)[:, None, None]
        binary = GadgetNoise.of("symmetric", space.mask_modulus, 2)
        self.response = Response(space.mask_modulus, space.body_modulus, lattice.fresh(space.response_stddev), binary)
        divisors = [prod(ring.primes[:k]) for k in self.moduli.tolist()]
        self.setting_parts = {
            "automorphism": column(self.automorphism.noise),
            "squaring": column(self.squaring.noise),
            "rgsw": column(self.rgsw.noise),
            "first_modulus": np.array(divisors, dtype=object),
            "first_bits": v.astype(float),
            "fold_bits": fold_bits.astype(float),
            "rows": np.exp2(v),
            "rgsw_rows": rows_alike(self.rgsw.noise, self.rgsw.base_log2)[:, None, None],
        }

    @property
    def _coefficients(self) -> int:
        """Of the longest record, each of which is rounded."""
        return self.search.space.response_degree * self.search.space.slots

    def _choose_rows(self, seconds: Seconds, bits: float) -> None:
        """Automorphism, squaring and RGSW gadgets with a spacing: the frontier of all triples, along one axis.

        Of a triple matter the noise of a product, which is V_0 + V_1 V_rotation, the seconds of the rows, and for each
        number of RGSW digits the spacing.
        """
        space, q = self.search.space, self.ring.modulus
        automorphism = self._frontier(Gadgets.of(q, space.automorphism_bases, KEPT_AUTOMORPHISM, MOST_DIGITS))
        squaring = self._frontier(Gadgets.of(q, space.squaring_bases, bits, 2 * MOST_DIGITS))
        rgsw, spacing, automorphisms = self._rows(Gadgets.of(q, space.rgsw_bases, KEPT_RGSW, MOST_DIGITS))
        a, s = (x.ravel() for x in np.meshgrid(np.arange(len(automorphism)), np.arange(len(squaring)), indexing="ij"))
        each_automorphism, each_square = (
            seconds.automorphism(automorphism.digits)[a],
            seconds.squaring(squaring.digits)[s],
        )
        chosen: list[tuple[NDArray[np.intp], int]] = []
        for g in range(len(rgsw)):
            setting = self._setting(automorphism.at(a), squaring.at(s), rgsw.at(g), Noise(0.0))
            cost = automorphisms[g] * each_automorphism + rgsw.digits[g] * each_square
            chosen.append((frontier(_product(setting), cost), g))
        pairs = np.concatenate([index for index, _ in chosen])
        g_of = np.concatenate([np.full(len(index), g) for index, g in chosen])
        products = [
            _product(self._setting(automorphism.at(a[pairs]), squaring.at(s[pairs]), rgsw.at(g_of), Noise(v)))
            for v in (0.0, float(q) ** 2 * 2.0**-60)
        ]
        cost = automorphisms[g_of] * each_automorphism[pairs] + rgsw.digits[g_of] * each_square[pairs]
        front = frontier(rgsw.digits[g_of], -spacing[g_of], cost, products[0], products[1] - products[0])
        self.automorphism, self.squaring = automorphism.at(a[pairs[front]]), squaring.at(s[pairs[front]])
        self.rgsw, self.spacing = rgsw.at(g_of[front]), spacing[g_of[front]]
        self.rows_seconds = self.search.index_bits * cost[front]

    def _frontier(self, gadgets: Gadgets) -> Gadgets:
        """By the noise of a key switch, digits' and dropped, and by the digits, with which seconds and bytes grow."""
        n = gadgets.noise
        return gadgets.at(frontier(n.square, n.error_square, np.abs(n.error_mean), gadgets.digits))

    def _rows(self, gadgets: Gadgets) -> tuple[Gadgets, NDArray[np.int64], NDArray[np.int64]]:
        """RGSW gadgets with the spacing of their rows in the accumulator: wider spacings, or fewer automorphisms."""
        n = self.ring.degree
        found = []
        for g, rows in enumerate(gadgets.digits.tolist()):
            spacings = {n // rows >> shared << shared for shared in range(1, n.bit_length())} - {0}
            found += [(g, spacing, tree_automorphisms(n, rows, spacing)) for spacing in spacings]
        index, spacing, automorphisms = (np.array(column) for column in zip(*found))
        at = gadgets.at(index)
        front = frontier(
            at.noise.square, at.noise.error_square, np.abs(at.noise.error_mean), at.digits, automorphisms, -spacing
        )
        return at.at(front), spacing[front], automorphisms[front]

    def _setting(self, automorphism: Gadgets, squaring: Gadgets, rgsw: Gadgets, rotated: Noise) -> Setting:
        """As far as the noise of a product goes."""
        parts = {"automorphism": automorphism.noise, "squaring": squaring.noise, "rgsw": rgsw.noise}
        nothing = {"first_modulus": self.ring.modulus, "first_bits": 0.0, "fold_bits": 0.0, "rows": 0.0}
        return self._with(parts | nothing, rotated)

    def _with(self, parts: dict, rotated: Noise) -> Setting:
        return Setting(
            n=float(self.ring.degree),
            modulus=self.ring.modulus,
            fresh=self.fresh,
            secret=self.secret,
            rotated=rotated,
            plain_modulus=float(self.search.space.plain_modulus),
            rotation_bits=float(self.v3),
            **parts,
        )

    def _judged(self, small: _Small, i: int) -> Judged:
        space, setting = self.search.space, self._with(self.setting_parts, Noise(float(small.rotated[i])))
        variance = self.response.switched(setting, setting.answer_bound).variance
        final = np.broadcast_to(np.sqrt(np.asarray(variance)), self.shape).ravel()
        stddevs, counts = self._inputs(small, i)
        mixture = None if self.search.half else mixed_inputs(self.ring)
        spacings, of_spacing = np.unique(self.spacing, return_inverse=True)
        margins = spacings[:, None] / 2 / np.array(stddevs)
        union = union_of(margins, mixture, np.array(counts))
        before = np.logaddexp2(union, small.log2_failure[i])[of_spacing]
        least = np.minimum(margins.min(axis=1), small.margin[i])[of_spacing]
        threshold = space.body_modulus / (2 * space.plain_modulus)
        before, least = (np.broadcast_to(x[:, None, None], self.shape).ravel() for x in (before, least))
        return Judged(threshold / final, before, np.minimum(threshold / final, least))

    def _failure(self, small: _Small, i: int, judged: Judged, places: NDArray[np.intp]) -> Array:
        """log2 of the union over all decisions, for any data, of some combinations."""
        t, v, m = np.unravel_index(places, self.shape)
        parts = {name: entries(part, t, v, m) for name, part in self.setting_parts.items()}
        setting = self._with(parts, Noise(float(small.rotated[i])))
        _, mixture = self.response.bound(setting, key_squares(self.ring))
        answer = union_of(judged.response[places][:, None], mixture, self._coefficients)
        return np.logaddexp2(judged.before[places], answer)

    def _inputs(self, small: _Small, i: int) -> tuple[list[float], list[float]]:
        """Standard deviations at 2N of the inputs of the rotations that make RGSW ciphertexts, and how many of each."""
        space, bits = self.search.space, self.search.index_bits
        if self.search.half:
            return [float(np.sqrt(small.added[i]))], [float(bits)]
        each = range(min(space.digit_bits, bits))
        shrunk = float(small.rotated[i]) * (2 * self.ring.degree / float(self.ring.modulus)) ** 2
        variances = [functional.bit_square(space.digit_bits, j) * shrunk + small.added[i] for j in each]
        return [float(np.sqrt(v)) for v in variances], [float((bits - 1 - j) // space.digit_bits + 1) for j in each]

    def fastest(self, small: _Small, i: int, count: int, below: float) -> list[tuple[float, int]]:
        """Seconds and places of the `count` fastest combinations with that small key and rotation within the limits."""
        limits = self.search.limits
        judged = self._judged(small, i)
        offline = np.broadcast_to(self.offline_bytes + small.offline_bytes[i], self.shape).ravel()
        total = np.asarray(self.after + sum(part[i] for part in small.seconds.values())).ravel()
        # A mixture's tail is never below that of a fixed variance, which is quick to tell.
        least = log2_subgaussian_tail(judged.response, 1.0) + np.log2(self._coefficients)
        hopeful = (np.logaddexp2(judged.before, least) <= limits.log2_failure) & (judged.margin >= limits.margin)
        hopeful &= (offline <= limits.offline_bytes) & (total < below)
        places = np.flatnonzero(hopeful)
        places = places[np.argsort(total[places], kind="stable")]
        found: list[tuple[float, int]] = []
        for start in range(0, len(places), TOGETHER):
            some = places[start : start + TOGETHER]
            right = some[self._failure(small, i, judged, some) <= limits.log2_failure]
            found += [(float(total[at]), int(at)) for at in right]
            if len(found) >= count:
                break
        return found[:count]

    def candidate(self, small: _Small, i: int, at: int) -> Candidate:
        t, v, m = (int(x) for x in np.unravel_index(at, self.shape))
        judged = self._judged(small, i)
        seconds = {name: float(part[i]) for name, part in small.seconds.items()}
        seconds |= {name: float(np.broadcast_to(part, self.shape).flat[at]) for name, part in self.parts.items()}
        return Candidate(
            space=self.search.space,
            index_bits=self.search.index_bits,
            ring=self.ring,
            small=small.key[i],
            switching=small.switching[i],
            rotation=small.rotation[i],
            joint=bool(small.joint[i]),
            automorphism=self.automorphism.table(t),
            squaring=self.squaring.table(t),
            rgsw=self.rgsw.table(t),
            spacing=int(self.spacing[t]),
            first_bits=int(self.first_bits[v]),
            moduli=int(self.moduli[m]),
            seconds=seconds,
            offline_bytes=float(np.broadcast_to(self.offline_bytes, self.shape).flat[at] + small.offline_bytes[i]),
            log2_failure=float(self._failure(small, i, judged, np.array([at]))[0]),
            margin=float(judged.margin[at]),
        )


def _product(setting: Setting) -> Array:
    """The variance of a product with a one."""
    return np.asarray(setting.product.added(1.0).variance)


def _secret(kind: str) -> Secret:
    return {"ternary": Secret.ternary(), "binary": Secret.binary()}[kind]
