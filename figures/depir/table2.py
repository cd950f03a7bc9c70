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
        return counting.prime_above(self.shape.degree)

    def primes(self, factor: int) -> list[int]:
        """The primes of Q: the smallest that are 1 modulo `factor` n k."""
        return counting.ciphertext_primes(factor * RING_DEGREE * self.k, LOG2_Q)

    def estimate(self, ln_modulus: float) -> Estimate:
        """The propositions at one point modulo q."""
        degree = self.shape.degree
        if self.algorithm == ONE:
            return propositions.one_step(degree, self.variables, ln_modulus)
        return propositions.two_steps(degree, self.variables, ln_modulus, log(self.shape.coefficient))

    def _ln_one_modulus(self, power: int) -> float:
        """ln of (Q/2)^(D^3 n) D^((D-1) D^2 n) n^((D-1) n), or with D^2 for D^3 the first factor alone."""
        degree, n, ln_half_q = self.shape.degree, RING_DEGREE, (LOG2_Q - 1) * log(2)
        grown = float(degree**power * n * ln_half_q)
        return grown + (degree - 1) * n * (degree**2 * log(degree) + log(n)) if power == 3 else grown

    def proposition(self) -> Cost:
        """As sections 5 and 6 print it: k n r points modulo the largest of the primes 1 modulo n k."""
        if self.optimisation == NONE:
            return self.estimate(self._ln_one_modulus(3)).printed
        primes = self.primes(1)
        found = self.estimate(log(max(primes)))
        return Cost(self.k * RING_DEGREE * len(primes) * found.reads, found.entries)

    def recipe(self) -> Cost:
        """As the printed numbers come out: D for k, D^2 for D^3, and no factor 1/(m + 1)."""
        if self.optimisation == NONE:
            found = self.estimate(self._ln_one_modulus(2))
            return Cost(found.reads, found.recipe)
        primes = self.primes(1)
        found = self.estimate(log(max(primes)))
        return Cost(self.shape.degree * RING_DEGREE * len(primes) * found.reads, found.recipe)

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
