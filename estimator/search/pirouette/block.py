"""Everything behind the rotation: RGSW ciphertexts, the first dimension, folding, the response."""

from math import prod

import numpy as np
from numpy.typing import NDArray

from ...noise import functional, lattice
from ...noise.circuit_selection import Response, Setting, rows_alike
from ...noise.error import Noise
from ...noise.lattice import GadgetNoise, Secret
from ...noise.tails import log2_subgaussian_tail
from .candidate import Candidate, rotation_bits
from .frontier import frontier
from .gadgets import Gadgets, column, entries
from .judged import Judged, key_squares, mixed_inputs, union_of
from .seconds import Array, Seconds, tree_automorphisms
from .small import Small
from .space import Ring
from .task import Task

#: Least bits of Q that a gadget may keep, and most digits it may have; what is beyond was never near the best.
KEPT_AUTOMORPHISM, KEPT_RGSW = 36, 20
MOST_DIGITS = 28
#: Combinations whose failure is computed together.
TOGETHER = 64


class Block:
    """Everything behind the rotation, over axes (automorphism, squaring, RGSW with spacing, first bits, moduli)."""

    def __init__(self, task: Task, ring: Ring, seconds: Seconds, fresh: Noise, secret: Secret):
        self.task, self.ring, self.fresh, self.secret = task, ring, fresh, secret
        space, n, q = task.space, ring.degree, ring.modulus
        bits = float(np.log2(float(q)))
        self.v3 = rotation_bits(space, ring)
        self._choose_rows(seconds, bits)
        self.first_bits = np.array([v for v in space.first_bits if 1 <= v <= task.index_bits - self.v3])
        self.moduli = np.array(sorted({min(m, len(ring.primes)) for m in space.moduli}))

        v, m = self.first_bits[:, None], self.moduli
        g = self.rgsw.digits[:, None, None]
        fold_bits = task.index_bits - self.v3 - v
        one_product = seconds.external_product(g)
        self.parts = {
            "rows": self.rows_seconds[:, None, None],
            "selector": seconds.selector(v, g, m),
            "first_dimension": seconds.first_dimension(np.exp2(fold_bits), np.exp2(v), m),
            "folding": (np.exp2(fold_bits) - 1 + self.v3) * one_product,
        }
        self.after = np.asarray(sum(self.parts.values()))
        self.shape = self.after.shape
        limits = task.limits
        response_key = n * int(space.mask_modulus).bit_length() * limits.ring_bytes(1, [space.mask_modulus])
        ring_keys = int(np.log2(n)) * self.automorphism.digits + self.squaring.digits
        self.offline_bytes = (limits.ring_bytes(n, ring.primes) * ring_keys + response_key)[:, None, None]
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
        return self.task.space.response_degree * self.task.space.slots

    def _choose_rows(self, seconds: Seconds, bits: float) -> None:
        """Automorphism, squaring and RGSW gadgets with a spacing: the frontier of all triples, along one axis.

        Of a triple matter the noise of a product, which is V_0 + V_1 V_rotation, the seconds of the rows, and for each
        number of RGSW digits the spacing.
        """
        space, q = self.task.space, self.ring.modulus
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
        self.rows_seconds = self.task.index_bits * cost[front]

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
            plain_modulus=float(self.task.space.plain_modulus),
            rotation_bits=float(self.v3),
            **parts,
        )

    def _judged(self, small: Small, i: int) -> Judged:
        space, setting = self.task.space, self._with(self.setting_parts, Noise(float(small.rotated[i])))
        variance = self.response.switched(setting, setting.answer_bound).variance
        final = np.broadcast_to(np.sqrt(np.asarray(variance)), self.shape).ravel()
        stddevs, counts = self._inputs(small, i)
        mixture = None if self.task.half else mixed_inputs(self.ring)
        spacings, of_spacing = np.unique(self.spacing, return_inverse=True)
        margins = spacings[:, None] / 2 / np.array(stddevs)
        union = union_of(margins, mixture, np.array(counts))
        before = np.logaddexp2(union, small.log2_failure[i])[of_spacing]
        least = np.minimum(margins.min(axis=1), small.margin[i])[of_spacing]
        threshold = space.body_modulus / (2 * space.plain_modulus)
        before, least = (np.broadcast_to(x[:, None, None], self.shape).ravel() for x in (before, least))
        return Judged(threshold / final, before, np.minimum(threshold / final, least))

    def _failure(self, small: Small, i: int, judged: Judged, places: NDArray[np.intp]) -> Array:
        """log2 of the union over all decisions, for any data, of some combinations."""
        t, v, m = np.unravel_index(places, self.shape)
        parts = {name: entries(part, t, v, m) for name, part in self.setting_parts.items()}
        setting = self._with(parts, Noise(float(small.rotated[i])))
        _, mixture = self.response.bound(setting, key_squares(self.ring))
        answer = union_of(judged.response[places][:, None], mixture, self._coefficients)
        return np.logaddexp2(judged.before[places], answer)

    def _inputs(self, small: Small, i: int) -> tuple[list[float], list[float]]:
        """Standard deviations at 2N of the inputs of the rotations that make RGSW ciphertexts, and how many of each."""
        space, bits = self.task.space, self.task.index_bits
        if self.task.half:
            return [float(np.sqrt(small.added[i]))], [float(bits)]
        each = range(min(space.digit_bits, bits))
        shrunk = float(small.rotated[i]) * (2 * self.ring.degree / float(self.ring.modulus)) ** 2
        variances = [functional.bit_square(space.digit_bits, j) * shrunk + small.added[i] for j in each]
        return [float(np.sqrt(v)) for v in variances], [float((bits - 1 - j) // space.digit_bits + 1) for j in each]

    def fastest(self, small: Small, i: int, count: int, below: float) -> list[tuple[float, int]]:
        """Seconds and places of the `count` fastest combinations with that small key and rotation within the limits."""
        limits = self.task.limits
        judged = self._judged(small, i)
        offline = np.broadcast_to(self.offline_bytes + small.offline_bytes[i], self.shape).ravel()
        total = np.asarray(self.after + small.total[i]).ravel()
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

    def candidate(self, small: Small, i: int, at: int) -> Candidate:
        t, v, m = (int(x) for x in np.unravel_index(at, self.shape))
        judged = self._judged(small, i)
        seconds = {name: float(part[i]) for name, part in small.seconds.items()}
        seconds |= {name: float(np.broadcast_to(part, self.shape).flat[at]) for name, part in self.parts.items()}
        return Candidate(
            space=self.task.space,
            index_bits=self.task.index_bits,
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
