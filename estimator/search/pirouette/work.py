"""The binary's descriptions of sets that differ in a part of them, and the seconds of their steps.

All that a step of an answer counts is a sum over parts of a set. So each part is described once, with the rest as in
one set of the ring, and combinations add what their parts make of that set's seconds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ...cost import UnitCosts, predict_seconds
from ...describe import describe
from ...noise.tails import Array
from .candidate import Choice

#: Bits of a record, of which the response of one polynomial holds one.
RECORD_BITS = 2048

Change = Mapping[str, Any]


class Work:
    """Of sets beside `first`, the set from which all differ in a few fields."""

    def __init__(self, first: Choice, units: UnitCosts):
        self.first, self.units = first, units

    @cached_property
    def of_first(self) -> dict:
        """The description of the first set."""
        return self.described([{}])[0]

    def described(self, changes: Sequence[Change]) -> list[dict]:
        """The description of each set for as many records as it is for."""
        shape = {"parameters": "set", "records": 1 << self.first.index_bits, "record_bits": RECORD_BITS}
        texts = [replace(self.first, **change).toml() for change in changes]
        return describe([{"id": "set", "toml": text} | shape for text in texts])

    def seconds(self, steps: Sequence[str], changes: Sequence[Change]) -> Array:
        """Seconds of these steps of an answer: shape (sets, steps)."""
        each = predict_seconds(self.described(changes), self.units)
        return np.array([[seconds.get(f"answer_{step}", 0.0) for step in steps] for seconds in each])
