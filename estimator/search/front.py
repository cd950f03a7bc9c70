"""Pareto fronts: the sets that no other undercuts in every respect."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Costs = NDArray[np.float64]


def undominated(costs: Costs) -> list[int]:
    """Positions of the rows on the front; of equal rows the first. costs: shape (sets, objectives), less is better."""
    found: list[int] = []
    if not len(costs):
        return found
    front = np.empty((0, costs.shape[1]))
    for i in np.lexsort(costs.T[::-1]):
        # In lexicographic order no later row undercuts an earlier one.
        if not np.any(np.all(front <= costs[i], axis=1)):
            found.append(int(i))
            front = np.vstack([front, costs[i]])
    return sorted(found)


def frontier(*columns: ArrayLike) -> NDArray[np.intp]:
    """Indices, ascending, of the candidates that no other one dominates; each column is a cost, smaller is better.

    Of equal candidates the first stays. Where an objective grows with every column, its minimum over the frontier is
    the minimum over all.
    """
    costs = np.stack([np.asarray(column, dtype=float).ravel() for column in np.broadcast_arrays(*columns)], axis=1)
    if costs.shape[1] != 2 or not len(costs):
        return np.array(undominated(costs), dtype=np.intp)
    # Of two costs in order of the first, those are kept that undercut all before them in the second.
    order = np.lexsort(costs.T[::-1])
    least = np.minimum.accumulate(costs[order, 1])
    return np.sort(order[np.concatenate([[True], costs[order[1:], 1] < least[:-1]])])


class Front:
    """The front of what was added so far."""

    def __init__(self) -> None:
        self._costs: Costs | None = None

    def covers(self, costs: Sequence[float]) -> bool:
        """Whether something added costs no more in any respect."""
        return self._costs is not None and bool(np.any(np.all(self._costs <= np.asarray(costs), axis=1)))

    def add(self, costs: Sequence[float]) -> bool:
        """Add a set and forget the sets that it covers; False if it is covered itself."""
        if self.covers(costs):
            return False
        new = np.asarray(costs, dtype=float)[None, :]
        old = np.empty((0, new.shape[1])) if self._costs is None else self._costs
        self._costs = np.vstack([old[~np.all(new <= old, axis=1)], new])
        return True
