"""Errors of CwPIR (Mahdavi, Kerschbaum, USENIX Security 2022).

`bfv.py` has the steps. Further:
- An expansion of d levels leaves of a fresh ciphertext's error a 2^-d-th of the coefficients, and adds 2^d - 1 key
  switches; its errors are means over coefficients, of which products take all. The 2^j of the j-th last level are those
  of 2^j roots, of which one is the root itself: of all roundings d are multiplied by the key's own value there.
- A product of errors e_1, e_2 adds up e_i times t times fractions K of variance (1 + |s(zeta)|^2) / 12 at every root
  zeta of X^N + 1. So a variance is a polynomial in |s(zeta)|^2, of which a product of products takes powers: their
  means over roots are j! (N E[s^2])^j, as |s(zeta)|^2 is nearly exponential. For any key it stays below LONGEST times
  the mean at all roots, except once in 2^60 keys.
- The factors x, x - 1, ... of the arithmetic operator have one error: products of two of them add up in phase.
- Coefficients are entries modulo 2^w, from -2^(w-1) on. Over items variances add up: the fractions K are drawn after
  the database.
"""

from collections.abc import Sequence
from math import factorial

import numpy as np

from .bfv import Steps
from .ring_setting import Floats, Rings, numbers
from .stage import Chance, Stage, stages

#: Pr[|s(zeta)|^2 > u N E[s^2]] <= u exp(1 - u) for a subgaussian key, at one of 2^13 roots once in 2^60.
LONGEST = 56.0


class _Chain(Steps):
    """Variances in units of q, over arrays of descriptions."""

    def __init__(self, descriptions: Sequence[dict]) -> None:
        super().__init__(descriptions)
        self.operators = np.array([o["selection"]["operator"] for o in self.layouts])
        self.weight = np.array([o["codeword_weight"] for o in self.layouts])
        self.depth = numbers(self.layouts, "selector_depth")
        self.entry_bits = numbers(self.layouts, "entry_bits")
        bits = [d["shape"]["records"] * d["shape"]["record_bits"] for d in descriptions]
        #: Entries of all items in one plaintext: of the mean one, and of the fullest.
        self.mean = np.array(bits) / self.entry_bits / numbers(self.layouts, "answer_ciphertexts")
        self.most = numbers(self.layouts, "items") * np.minimum(
            self.rings.n, numbers(self.layouts, "entries_per_record")
        )

    def bit(self, under: Rings) -> Floats:
        """A bit of a word; a polynomial in |s(zeta)|^2, the constant first, by rows."""
        parts = 2.0**self.depth
        linear = np.where(self.special > 1, self.depth / 12, 0.0)
        constant = under.encoded / parts + (parts - 1) * self.switch(under) - linear * under.key
        return np.array([constant, linear])

    def expansion(self, under: Rings) -> Floats:
        """The same in the mean over roots."""
        constant, linear = self.bit(under)
        return np.asarray(constant + linear * under.n * np.asarray(under.secret.square))

    def product(self, under: Rings, left: Floats, right: Floats) -> Floats:
        """A product of ciphertexts, of polynomials as of :meth:`bit`."""
        degree = max(len(left), len(right))
        cross = np.zeros((degree, len(under.n)))
        cross[: len(left)] += left
        cross[: len(right)] += right
        cross *= under.n * self.norm / 12
        rounded = np.where(self.special > 1, 1 / 12, 0.0)
        out = np.zeros((max(degree + 1, 3), len(under.n)))
        out[:degree] += cross
        out[1 : degree + 1] += cross
        out[:3] += np.array([1 / 12 + self.switch_key(under) + rounded, 1 / 12 + rounded, 1 / 12 + 0 * rounded])
        return out

    def selection(self, under: Rings, any_key: bool = False) -> Floats:
        """A selected item."""
        key, bit = under.key, self.bit(under)
        out = np.zeros_like(key)
        for operator, weight in set(zip(self.operators.tolist(), self.weight.tolist())):
            alike = operator == "arithmetic" and weight > 1
            factors = [2 * weight * bit if alike else bit] * weight
            while len(factors) > 1:
                pairs = [factors[i : i + 2] for i in range(0, len(factors), 2)]
                factors = [self.product(under, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
            means = [LONGEST ** max(j - 1, 0) if any_key else factorial(j) for j in range(len(factors[0]))]
            variance = sum(term * mean * key**j for j, (term, mean) in enumerate(zip(factors[0], means)))
            out = np.where((self.operators == operator) & (self.weight == weight), variance, out)
        return out

    def sum(self, under: Rings, any_data: bool = False) -> Floats:
        """The products of all items in one answer."""
        squares = 4.0 ** (self.entry_bits - 1) if any_data else (4.0**self.entry_bits + 2) / 12
        return np.asarray((self.most if any_data else self.mean) * squares * self.selection(under, any_data))


def chain(descriptions: Sequence[dict]) -> list[Stage | Chance]:
    """`expansion`, `selection`, `sum`, and `answer`, which decides the coefficients of plaintexts."""
    errors = _Chain(descriptions)
    rings, stage = errors.rings, stages("cwpir")
    words = errors.words
    return [
        stage("expansion", errors.messages(errors.expansion), digits=words, terms=rings.n),
        stage("selection", errors.messages(errors.selection), digits=words, terms=rings.n),
        *errors.decided(errors.sum, stage),
    ]
