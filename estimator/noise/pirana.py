"""Errors of PIRANA (Liu, Li, Wu, Ren, ePrint 2022/1401) over BFV and over GBFV.

`bfv.py` has the steps. Further:
- A fresh ciphertext has sigma^2 + 1/12; the product of two adds up each error times what the other operand's phase
  exceeds q by, t times fractions of variance (1 + N E[s^2]) / 12.
- A short plaintext is t times fractions of 1. Random data: these are uniform, so that the variances of all products
  add up. Any data: they are at most 1/2, and products of one error may add up in phase: those of a selected column at
  every turn, and of what a key switch added to all turns after it.
What products add does not depend on data: the masks that it is made of are drawn after the database.
"""

from collections.abc import Sequence

import numpy as np

from .bfv import Steps
from .respire import buckets
from .ring_setting import Floats, Rings, numbers
from .stage import Chance, Stage, stages


def turns(layout: dict, full: bool) -> tuple[float, float, float]:
    """The plaintexts of a column in one answer: their number, their key switches, and how many share each, squared.

    full: for the fullest answer, else for the mean one.
    """
    number = -(-layout["polynomials_per_record"] // layout["answer_ciphertexts"])
    each = -(-number // layout["halves"])
    place = np.arange(number)
    half, baby = place // each, place % each // layout["giant_steps"]
    share = 1.0 if full else layout["polynomials_per_record"] / layout["answer_ciphertexts"] / number
    together = 0.0
    for h in range(layout["halves"]):
        of_half = baby[half == h]
        together += h * len(of_half) ** 2
        together += sum(float((of_half >= step).sum()) ** 2 for step in range(1, layout["baby_steps"]))
    return share * number, share * float((half + baby).sum()), together


class _Chain(Steps):
    """Variances in units of q, over arrays of descriptions."""

    def __init__(self, descriptions: Sequence[dict]) -> None:
        super().__init__(descriptions)
        self.weight, self.columns = numbers(self.layouts, "codeword_weight"), numbers(self.layouts, "columns")
        self.giants = numbers(self.layouts, "giant_steps")

    def selection(self, under: Rings) -> Floats:
        """A selected column."""
        fresh, key = under.encoded, under.key
        cross = 2 * fresh * under.n * self.square_norm / self.norm * under.rounding
        product = cross + (1 + key + 2 * key**2) / 12 + self.switch(under)
        return np.asarray(np.where(self.weight > 1, product, fresh))

    def sum(self, under: Rings, any_data: bool = False) -> Floats:
        """The products of all columns in one answer, turned and added."""
        counted = np.array([turns(o, any_data) for o in self.layouts], dtype=float).T
        number, switches, together = counted
        selected, switch = self.selection(under), self.switch(under)
        if any_data:
            products = self.worst * (number**2 * selected + together * switch)
        else:
            products = self.random * (number * selected + switches * switch)
        return np.asarray(under.n * self.columns * products + (self.giants - 1) * switch)


def chain(descriptions: Sequence[dict]) -> list[Stage | Chance]:
    """`selection`, `sum`, and `answer`, which decides the coefficients of plaintexts."""
    errors = _Chain(descriptions)
    rings, layouts, stage = errors.rings, errors.layouts, stages("pirana")
    batches = [o if "buckets" in o else {"batch_queries": 1, "buckets": 1, "copies": 1} for o in layouts]
    return [
        buckets("pirana", batches),
        stage("selection", errors.messages(errors.selection), digits=errors.words, terms=rings.n),
        *errors.decided(errors.sum, stage),
    ]
