"""Errors of one-hot PIR, the variant that a thesis compares PIRANA with.

`bfv.py` has the steps. Further:
- Column selectors are fresh, or a key switch more where they are turned. Their products with plaintexts come first,
  then the product with the row selector, which adds up errors of both.
- Random data: variances of all products add up. Any data: all products of one selector's error may add up in phase,
  over the diagonals of a block and over the entries of an answer, and those of a turn's key switch over giant steps.
  What the row selector's error is multiplied by has a mask of its own for each entry.
- The product multiplies by 1 + y, y = |s(zeta)|^2 at a root zeta of X^N + 1, and so are roundings of a turn's switch
  where no giant step moves them to another root: the mean of y^2 is 2 (N E[s^2])^2. Any key: at most twice that, which
  leaves room for a root of 56 times the mean.
"""

from collections.abc import Sequence

import numpy as np

from .bfv import Steps
from .ring_setting import Floats, Rings, numbers
from .stage import Chance, Stage, stages


class _Chain(Steps):
    """Variances in units of q, over arrays of descriptions."""

    def __init__(self, descriptions: Sequence[dict]) -> None:
        super().__init__(descriptions)
        layouts = self.layouts
        self.blocks, self.width = numbers(layouts, "column_blocks"), numbers(layouts, "block_columns")
        self.baby, self.giants = numbers(layouts, "baby_steps"), numbers(layouts, "giant_steps")
        entries = numbers(layouts, "entries_per_record")
        rows = np.array([2 if o["plaintext"]["kind"] == "integer" else 1 for o in layouts])
        #: Entries of the mean ciphertext of an answer, and of the fullest.
        self.mean = entries / numbers(layouts, "answer_ciphertexts")
        self.most = np.minimum(entries, numbers(layouts, "plaintext_slots") / rows)

    def column(self, under: Rings, any_data: bool = False) -> Floats:
        """What diagonals select of one entry."""
        fresh, switch = under.encoded, self.switch(under)
        if any_data:
            turns = (self.baby - 1) * self.giants**2
            products = self.worst * self.blocks * (self.width**2 * fresh + turns * switch)
        else:
            turned = (self.baby - 1) / self.baby
            products = self.random * self.blocks * self.width * (fresh + turned * switch)
        return np.asarray(under.n * products + (self.giants - 1) * switch)

    def linear(self, any_data: bool = False) -> Floats:
        """The part of :meth:`column` that is multiplied by |s(zeta)|^2 at the root itself."""
        steps = self.giants**2 if any_data else 1.0
        products = (self.worst if any_data else self.random) * self.rings.n * self.blocks
        return np.asarray(np.where(self.special > 1, products * (self.baby - 1) * steps / 12, 0.0))

    def sum(self, under: Rings, any_data: bool = False) -> Floats:
        """The products with the row selector of all entries in one answer, turned and added."""
        key, switch = under.key, self.switch(under)
        cross = under.n * self.square_norm / self.norm * under.rounding
        own = cross * under.encoded + (1 + key + 2 * key**2) / 12 + switch
        entries = self.most if any_data else self.mean
        together = entries**2 if any_data else entries
        column = cross * self.column(under, any_data)
        # The mean of y (1 + y) is above that of y and of 1 + y apart.
        more = under.n * self.square_norm / self.norm / 12 * key**2 * (3.0 if any_data else 1.0)
        column = column + self.linear(any_data) * more
        return np.asarray(together * column + entries * own + (entries - 1) * switch)


def chain(descriptions: Sequence[dict]) -> list[Stage | Chance]:
    """`column`, `sum`, and `answer`, which decides the coefficients of plaintexts."""
    errors = _Chain(descriptions)
    rings, stage = errors.rings, stages("onehot")
    return [
        stage("column", errors.messages(errors.column), digits=errors.words, terms=rings.n),
        *errors.decided(errors.sum, stage),
    ]
