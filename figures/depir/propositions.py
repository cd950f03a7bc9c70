"""The DEPIR paper's estimates: Propositions 5.3 and 5.4 with their o(1) left out, and what its Table 2 is made of.

D is the total degree, m the number of variables, q the modulus, |f| the largest coefficient; logarithms are natural.
"""

from dataclasses import dataclass
from math import log


@dataclass(frozen=True)
class Estimate:
    """Reads of one evaluation; entries as the proposition prints them, and with the terms that it leaves out.

    recipe: entries without the factor 1/(m + 1), which Table 2 does not have.
    """

    reads: float
    entries: float
    whole: float
    recipe: float


def one_step(degree: int, variables: int, ln_modulus: float) -> Estimate:
    """Proposition 5.3, Algorithm 2: primes up to B = D ln q, whose tables have B^(m+1) / ((m + 1) ln B) entries."""
    last = degree * ln_modulus
    recipe = last ** (variables + 1) / log(last)
    entries = recipe / (variables + 1)
    return Estimate(last / log(last), entries, entries, recipe)


def two_steps(degree: int, variables: int, ln_modulus: float, ln_coefficient: float) -> Estimate:
    """Proposition 5.4, Algorithm 3: the primes of the second step go up to B = ln |f| + D ln(D ln q).

    Printed is the sum of the (m+1)-th powers of B's two terms, without the products of both that B^(m+1) has.
    """
    first = one_step(degree, variables, ln_modulus)
    power = variables + 1
    grown = degree * log(degree * ln_modulus)
    last = ln_coefficient + grown
    printed = (ln_coefficient**power + grown**power) / (power * log(last))
    recipe = last**power / log(last)
    return Estimate(first.reads * last / log(last), printed, recipe / power, recipe)
