"""Seconds of an answer from operation counts, in the units of estimator/cost, and bytes of keys; array-valued.

The counts are those of impl/lattice and impl/pir; `pirlab describe` states them of a whole set, and a test holds both
against each other. Of a step, arithmetic and memory traffic overlap, as in estimator/cost.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...cost.operations import operation
from ...cost.units import UnitCosts
from ...noise.error import Numbers

Counts = Mapping[str, Numbers]
Array = NDArray[np.float64]
#: Bytes of a residue in memory.
RESIDUE = 4
#: Rotations side by side at most (impl/pir/src/protocol/pirouette/server.rs).
TOGETHER = 8


class Seconds:
    """Unit costs with counts: `of` a step's counts, `ring` counts of N-coefficient objects modulo the ring's primes."""

    def __init__(self, units: UnitCosts, degree: int, primes: int):
        self.units, self.n, self.primes = units, degree, primes

    def of(self, counts: Counts) -> Array:
        """max(arithmetic, traffic) + serial work."""
        parts = {"arithmetic": np.zeros(()), "traffic": np.zeros(()), "serial": np.zeros(())}
        for name, count in counts.items():
            found = operation(name)
            assert found is not None, name
            parts[found.part] = parts[found.part] + self.units.total(name, np.asarray(count, dtype=float))
        return np.asarray(np.maximum(parts["arithmetic"], parts["traffic"]) + parts["serial"])

    def product(self, decomposed: Numbers, digits: ArrayLike, selectors: Numbers = 1.0) -> dict[str, Numbers]:
        """A gadget product of `decomposed` polynomials with rows of that many selectors, back in coefficients."""
        rows = np.multiply(decomposed, np.asarray(digits, dtype=float))
        return {
            f"ntt_{self.n}_28": self.primes * (rows + 2),
            "residue_multiply_adds": self.primes * self.n * np.multiply(2 * np.asarray(selectors, dtype=float), rows),
            "digits": self.n * rows,
        }

    def rotations(self, dimension: Numbers, digits: Numbers, joint: Numbers, together: int, times: int) -> Array:
        """`times` rotations side by side in groups of `together`, for which the key is read once."""
        steps = np.where(joint, np.divide(dimension, 2), dimension)
        selectors = np.where(joint, 3.0, 1.0)
        step = self.product(2.0, digits, selectors)
        factors = 2 * self.primes * self.n * selectors
        step["residue_multiply_adds"] = step["residue_multiply_adds"] + factors
        counts = {name: times * steps * count for name, count in step.items()}
        groups = -(-times // together)
        return self.of(counts | {"key_bytes": groups * rotation_key_bytes(self, dimension, digits, joint)})

    def key_switches(self, dimension: Numbers, digits: ArrayLike, times: int) -> Array:
        """LWE key switches from the ring's key to the small one."""
        return self.of({"multiply_adds_u32": times * self.n * np.multiply(digits, np.asarray(dimension, dtype=float))})

    def digit_tables(self, digits: int, digit_bits: int) -> Array:
        """From the accumulators of the digits' rotations to their bits."""
        return self.of({f"ntt_{self.n}_28": float(digits * self.primes * (2 + 2 * digit_bits))})

    def automorphism(self, digits: ArrayLike) -> Array:
        counts = self.product(1.0, digits) | {"automorphism_slots": 2 * self.primes * self.n}
        return self.of(counts)

    def squaring(self, digits: ArrayLike) -> Array:
        """The row of -s m of one RGSW row."""
        return self.of(self.product(1.0, digits))

    def external_product(self, digits: ArrayLike) -> Array:
        return self.of(self.product(2.0, digits))

    def selector(self, first_bits: Numbers, digits: ArrayLike, moduli: Numbers) -> Array:
        """The tree's products, whose last level stays transformed; leaves that are switched to fewer primes are not."""
        leaves, digits = np.exp2(first_bits), np.asarray(digits, dtype=float)
        rows = 2 * digits * (leaves - 1)
        switched = np.where(np.less(moduli, self.primes), leaves * (2 * self.primes + 2 * np.asarray(moduli)), 0.0)
        counts = {
            f"ntt_{self.n}_28": self.primes * (rows + 2 * (leaves / 2 - 1)) + switched,
            "residue_multiply_adds": self.primes * self.n * 2 * rows,
            "digits": self.n * rows,
        }
        return self.of(counts)

    def first_dimension(self, columns: Numbers, rows: Numbers, moduli: Numbers) -> Array:
        """Residues modulo `moduli` primes, each with both parts of a leaf; columns are transformed back."""
        residues = np.multiply(columns, rows) * self.n * np.asarray(moduli, dtype=float)
        counts = {f"ntt_{self.n}_28": 2 * np.multiply(columns, np.asarray(moduli, dtype=float))}
        return self.of(counts | {"poly_matrix_multiply_adds": 2 * residues, "poly_matrix_bytes": RESIDUE * residues})


def rotation_key_bytes(ring: Seconds, dimension: Numbers, digits: Numbers, joint: Numbers) -> Numbers:
    """Expanded, in memory: 4 N digits residues modulo each prime for each selector; a pair of bits has three."""
    selectors = np.multiply(dimension, np.where(joint, 1.5, 1.0))
    return RESIDUE * 4 * ring.n * ring.primes * np.multiply(selectors, digits)


def tree_automorphisms(degree: int, rows: int, spacing: int) -> int:
    """Automorphisms that take coefficients 0, spacing, ..., (rows - 1) spacing apart (impl/lattice/src/convert)."""
    return sum(len({row * spacing % (1 << level) for row in range(rows)}) for level in range(degree.bit_length() - 1))
