"""The DEPIR paper's Table 2: what each optimisation reads and stores, printed, estimated and counted.

All of it follows from the table's own parameters: records, ring degree, bits of Q and the number of variables.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any

import pandas as pd

from ..lib.paper import config, printed_rows
from ..lib.spec import spec
from ..lib.table import Cell, Maker, Table
from . import counting, propositions
from .counting import Cost, Shape
from .propositions import Estimate
from .table4 import PAPER

RECORDS = 1 << 20
RING_DEGREE = 1 << 16
LOG2_Q = 1000
COEFFICIENT = 1 << 15
"""The largest coefficient of f modulo 65537."""
NONE, FOURIER, TOTAL_DEGREE = "none", "fourier", "fourier+total_degree"
ONE, TWO = "one-step", "two-step"


@dataclass(frozen=True)
class Case:
    """A line of the table. Without an optimisation the ciphertext ring is one modulus q, else `fields` prime fields."""

    algorithm: str
    optimisation: str
    variables: int

    @cached_property
    def shape(self) -> Shape:
        """The polynomial: by individual degrees d with d^m = N, D = d m, or of the least total degree."""
        if self.optimisation == TOTAL_DEGREE:
            return Shape(counting.least_degree(RECORDS, self.variables), self.variables, COEFFICIENT)
        degree = round(RECORDS ** (1 / self.variables)) * self.variables
        return Shape(degree, self.variables, COEFFICIENT, RECORDS)

    @property
    def k(self) -> int:
        """The length in Y: the least prime above D."""
        return next(prime for prime in counting.PRIMES if prime > self.shape.degree)

    def primes(self, factor: int) -> list[int]:
        """The primes of Q: the smallest that are 1 modulo `factor` n k."""
        return counting.ciphertext_primes(factor * RING_DEGREE * self.k, LOG2_Q)

    def _estimated(self, length: int, power: int) -> tuple[int, Estimate]:
        """The number of points, and the propositions at one of them: `length` n r points modulo the largest of the r
        primes 1 modulo n k, or without an optimisation one point modulo q with D to that power in its exponent."""
        if self.optimisation == NONE:
            points, ln_modulus = 1, self._ln_one_modulus(power)
        else:
            primes = self.primes(1)
            points, ln_modulus = length * RING_DEGREE * len(primes), log(max(primes))
        degree, ln_coefficient = self.shape.degree, log(self.shape.coefficient)
        if self.algorithm == ONE:
            return points, propositions.one_step(degree, self.variables, ln_modulus)
        return points, propositions.two_steps(degree, self.variables, ln_modulus, ln_coefficient)

    def _ln_one_modulus(self, power: int) -> float:
        """ln of (Q/2)^(D^3 n) D^((D-1) D^2 n) n^((D-1) n), or with D^2 for D^3 the first factor alone."""
        degree, n, ln_half_q = self.shape.degree, RING_DEGREE, (LOG2_Q - 1) * log(2)
        grown = float(degree**power * n * ln_half_q)
        return grown + (degree - 1) * n * (degree**2 * log(degree) + log(n)) if power == 3 else grown

    def proposition(self) -> Cost:
        """As sections 5 and 6 print it: k n r points."""
        points, found = self._estimated(self.k, 3)
        return Cost(points * found.reads, found.entries)

    def recipe(self) -> Cost:
        """As the printed numbers come out: D for k, D^2 for D^3, and no factor 1/(m + 1)."""
        points, found = self._estimated(self.shape.degree, 2)
        return Cost(points * found.reads, found.recipe)

    def counted(self) -> Cost | None:
        """By counting primes, those of Q 1 modulo 2 n k as section 6 demands; None for moduli too large to count."""
        if self.optimisation == NONE:
            return None
        evaluate = counting.one_step if self.algorithm == ONE else counting.two_steps
        found = evaluate(self.shape, self.primes(2))
        return Cost(self.k * RING_DEGREE * found.reads, found.entries)


def cases(expected: pd.DataFrame) -> Iterator[tuple[Case, dict[str, float]]]:
    """The printed lines in their order, each with its printed numbers."""
    found: dict[Case, dict[str, float]] = {}
    for row in printed_rows(expected, PAPER, "2"):
        said = config(row["config"])
        case = Case(said["algorithm"], said["optimization"], int(said["m"]))
        found.setdefault(case, {})[row["metric"]] = row["value"]
    yield from found.items()


def power_text(value: float) -> str:
    """A large number with two digits, such as 6.9e11."""
    digits, _, power = f"{value:.1e}".partition("e")
    return f"{digits}e{int(power)}"


def _power(key: str) -> Maker:
    return lambda row: Cell(power_text(row[key]), sort=row[key]) if row.get(key) else Cell("–")


SOURCES = ("printed", "recipe", "proposition", "counted")
SPEC = spec(
    "depir/table2", **{f"{each}_{of}": _power(f"{each}_{of}") for each in SOURCES for of in ("reads", "entries")}
)
WORDS: dict[str, dict[str, str]] = SPEC.words["names"]


def _line(case: Case, printed: dict[str, float]) -> dict[str, Any]:
    costs = {"recipe": case.recipe(), "proposition": case.proposition(), "counted": case.counted()}
    line: dict[str, Any] = {"algorithm": case.algorithm, "optimisation": case.optimisation, "m": case.variables}
    line |= {"D": case.shape.degree, "k": None if case.optimisation == NONE else case.k}
    line |= {"printed_reads": printed["num_storage_queries"], "printed_entries": printed["num_storage_entries"]}
    for name, cost in costs.items():
        line |= {f"{name}_reads": cost and cost.reads, f"{name}_entries": cost and cost.entries}
    return line


def table(expected: pd.DataFrame) -> Table:
    """The table; a line a printed one."""
    data = [_line(case, printed) for case, printed in cases(expected)]
    named = [line | {key: WORDS[key][line[key]] for key in ("algorithm", "optimisation")} for line in data]
    return SPEC.table([SPEC.row(line) for line in named], data)
