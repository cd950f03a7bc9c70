"""Everything after the rotation: RGSW ciphertexts, the first dimension, folding, the response."""

from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from ...noise import functional, lattice
from ...noise.circuit_selection import Response, Setting, rows_alike
from ...noise.error import Noise
from ...noise.lattice import GadgetNoise
from ...noise.tails import Array, Mixture, log2_mixture_union, log2_subgaussian_tail, log2_union
from ..front import frontier
from .candidate import Candidate
from .gadgets import Gadgets, column, entries
from .small import STEPS, Small
from .space import Task
from .work import Work

#: Combinations whose failure is computed together.
TOGETHER = 64


#: Steps of an answer after the RGSW ciphertexts.
AFTER = ("selector", "first_dimension", "folding", "rotation")


@dataclass(frozen=True)
class Judged:
    """Of all combinations, in one line: margin of the response, log2 failure of what comes before it, least margin."""

    response: Array
    before: Array
    margin: Array


def spacings(degree: int, rows: int) -> set[int]:
    """Places between the rows in the accumulator that are tried: the widest, and what more powers of two divide."""
    return {degree // rows >> shared << shared for shared in range(1, degree.bit_length())} - {0}


class Block:
    """Everything after the rotation, over axes (automorphism, squaring, RGSW with spacing, first bits, moduli).

    Seconds are those beyond what the steps of a small key take with the first set's gadgets.
    """

    def __init__(self, task: Task, work: Work, fresh: Noise):
        self.task, self.work, self.ring, self.fresh = task, work, work.first.ring, fresh
        space, ring, n = task.space, self.ring, self.ring.degree
        self.v3 = int(work.of_first["layout"]["rotation_bits"])
        self._choose_rows()
        self.first_bits = np.array([v for v in space.first_bits if 1 <= v <= task.index_bits - self.v3])
        self.moduli = np.array(sorted({min(m, len(ring.primes)) for m in space.moduli}))

        v = self.first_bits[:, None]
        fold_bits = task.index_bits - self.v3 - v
        after = self._after()
        self.parts = {"rgsw": self.rows_seconds[:, None, None]}
        self.parts |= {step: after[..., i] for i, step in enumerate(AFTER)}
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
        """Coefficients of the longest record, each of which is rounded."""
        return self.task.space.response_degree * self.task.space.slots

    def _choose_rows(self) -> None:
        """Automorphism, squaring and RGSW gadgets with a spacing: the frontier of all triples, along one axis.

        Of a triple matter the noise of a product, which is V_0 + V_1 V_rotation, the seconds of the rows, and for each
        number of RGSW digits the spacing.
        """
        space, q = self.task.space, self.ring.modulus
        automorphism = self._frontier(space.gadgets("automorphism", q))
        squaring = self._frontier(space.gadgets("squaring", q))
        rgsw, spacing, moved = self._rows(space.gadgets("rgsw", q))
        seconds = self._rows_seconds(automorphism, squaring, rgsw, spacing, moved)
        a, s = (x.ravel() for x in np.meshgrid(np.arange(len(automorphism)), np.arange(len(squaring)), indexing="ij"))
        chosen = []
        for g in range(len(rgsw)):
            setting = self._setting(automorphism.at(a), squaring.at(s), rgsw.at(g), Noise(0.0))
            chosen.append(frontier(_product(setting), seconds[g, a, s]))
        pairs = np.concatenate(chosen)
        g_of = np.repeat(np.arange(len(rgsw)), [len(index) for index in chosen])
        products = [
            _product(self._setting(automorphism.at(a[pairs]), squaring.at(s[pairs]), rgsw.at(g_of), Noise(v)))
            for v in (0.0, float(q) ** 2 * 2.0**-60)
        ]
        cost = seconds[g_of, a[pairs], s[pairs]]
        front = frontier(rgsw.digits[g_of], -spacing[g_of], cost, products[0], products[1] - products[0])
        self.automorphism, self.squaring = automorphism.at(a[pairs[front]]), squaring.at(s[pairs[front]])
        self.rgsw, self.spacing, self.rows_seconds = rgsw.at(g_of[front]), spacing[g_of[front]], cost[front]

    def _frontier(self, gadgets: Gadgets) -> Gadgets:
        """By the noise of a key switch, digits' and dropped, and by the digits, with which seconds and bytes grow."""
        n = gadgets.noise
        return gadgets.at(frontier(n.square, n.error_square, np.abs(n.error_mean), gadgets.digits))

    def _rows(self, gadgets: Gadgets) -> tuple[Gadgets, NDArray[np.int64], NDArray[np.int64]]:
        """RGSW gadgets with the spacing of their rows in the accumulator: wider spacings, or fewer automorphisms."""
        tables, like = gadgets.by_length()
        rows = dict(zip(like.tolist(), gadgets.digits.tolist()))
        pairs = [(i, spacing) for i, digits in rows.items() for spacing in spacings(self.ring.degree, digits)]
        described = self.work.described([{"rgsw": tables[i], "spacing": spacing} for i, spacing in pairs])
        moved = [_moved(d) for d in described]
        found = [(g, pair[1], slots) for g, i in enumerate(like) for pair, slots in zip(pairs, moved) if pair[0] == i]
        index, spacing, slots = (np.array(column) for column in zip(*found))
        at = gadgets.at(index)
        front = frontier(
            at.noise.square, at.noise.error_square, np.abs(at.noise.error_mean), at.digits, slots, -spacing
        )
        return at.at(front), spacing[front], slots[front]

    def _rows_seconds(
        self, automorphism: Gadgets, squaring: Gadgets, rgsw: Gadgets, spacing: NDArray[np.int64], moved: NDArray
    ) -> Array:
        """Seconds of making all RGSW ciphertexts, beyond the first set's; shape (RGSW, automorphism, squaring).

        Digits of automorphisms cost the more, the more automorphisms there are; digits of squarings, the more rows.
        """
        # Of an RGSW gadget only the length counts, and where its rows stand.
        _, first, like = np.unique([rgsw.digits, spacing], axis=1, return_index=True, return_inverse=True)
        rows = self._seconds([{"rgsw": rgsw.table(g), "spacing": int(spacing[g])} for g in first])[like]
        traced, squared = (
            self._seconds([{name: table} for table in tables])[length]
            for name, (tables, length) in (
                ("automorphism", automorphism.by_length()),
                ("squaring", squaring.by_length()),
            )
        )
        automorphisms = moved / _moved(self.work.of_first)
        digits = rgsw.digits / self.work.of_first["layout"]["rgsw_gadget"]["digits"]
        alone, automorphisms, digits = (x[:, None, None] for x in (rows, automorphisms, digits))
        return np.asarray(alone + automorphisms * traced[:, None] + digits * squared)

    def _seconds(self, changes: list[dict]) -> Array:
        """Seconds of making the RGSW ciphertexts of sets, beyond the first set's."""
        first, *seconds = self.work.seconds(("rgsw",), [{}, *changes])[:, 0]
        return np.array(seconds) - first

    def _after(self) -> Array:
        """Seconds of the steps behind the RGSW ciphertexts: shape (rows, first bits, moduli, steps)."""
        _, first, like = np.unique(self.rgsw.digits, return_index=True, return_inverse=True)
        sets = [
            {"rgsw": self.rgsw.table(g), "spacing": int(self.spacing[g]), "first_bits": int(v), "moduli": int(m)}
            for g, v, m in product(first, self.first_bits, self.moduli)
        ]
        shape = (len(first), len(self.first_bits), len(self.moduli), len(AFTER))
        return np.asarray(self.work.seconds(AFTER, sets).reshape(shape)[like])

    def _setting(self, automorphism: Gadgets, squaring: Gadgets, rgsw: Gadgets, rotated: Noise) -> Setting:
        """The setting, as far as the noise of a product needs it."""
        parts = {"automorphism": automorphism.noise, "squaring": squaring.noise, "rgsw": rgsw.noise}
        nothing = {"first_modulus": self.ring.modulus, "first_bits": 0.0, "fold_bits": 0.0, "rows": 0.0}
        return self._with(parts | nothing, rotated)

    def _with(self, parts: dict, rotated: Noise) -> Setting:
        return Setting(
            n=float(self.ring.degree),
            modulus=self.ring.modulus,
            fresh=self.fresh,
            secret=self.ring.key,
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
        mixture = None if self.task.half else Mixture.even(float(self.ring.degree), self.ring.key_squares)
        spacings, of_spacing = np.unique(self.spacing, return_inverse=True)
        margins = spacings[:, None] / 2 / np.array(stddevs)
        union = _union(margins, mixture, np.array(counts))
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
        _, mixture = self.response.bound(setting, self.ring.key_squares)
        answer = _union(judged.response[places][:, None], mixture, self._coefficients)
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
        seconds = {step: float(each) for step, each in zip(STEPS, small.seconds[i])}
        for step, part in self.parts.items():
            seconds[step] = seconds.get(step, 0.0) + float(np.broadcast_to(part, self.shape).flat[at])
        tables = {name: getattr(self, name).table(t) for name in ("automorphism", "squaring", "rgsw")}
        places = {"spacing": int(self.spacing[t]), "first_bits": int(self.first_bits[v]), "moduli": int(self.moduli[m])}
        return Candidate(
            **(vars(self.work.first) | small.choices[i] | tables | places),
            seconds=seconds,
            offline_bytes=float(np.broadcast_to(self.offline_bytes, self.shape).flat[at] + small.offline_bytes[i]),
            log2_failure=float(self._failure(small, i, judged, np.array([at]))[0]),
            margin=float(judged.margin[at]),
        )


def _product(setting: Setting) -> Array:
    """The variance of a product with a one."""
    return np.asarray(setting.product.added(1.0).variance)


def _union(margins: Array, mixture: Mixture | None, counts: float | Array) -> Array:
    """log2 of the union over the last axis, `counts` decisions of each margin."""
    if mixture is None:
        return log2_union(log2_subgaussian_tail(margins, 1.0), counts)
    return log2_mixture_union(margins, 1.0, mixture, counts)


def _moved(description: dict) -> int:
    """Residues that automorphisms move while RGSW ciphertexts are made: the number of automorphisms, times N."""
    return int(description["operations"]["answer"]["rgsw"]["automorphism_slots"])
