"""Dominance among columns of costs that broadcast."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..front import undominated


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
