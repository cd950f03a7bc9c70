"""One decryption stage of many descriptions at once: error sizes in, failure probabilities out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .tails import log2_gaussian_tail, log2_subgaussian_tail, log2_union, log2_union_ragged


@dataclass
class StageInputs:
    """What a stage needs of one description.

    random_variances: (variance of the error over random data, how many decisions of a record have it), one or more.
    bound_variance: the variance for the worst data.
    threshold: an error of this absolute value is decoded wrongly.
    fill: the variance averaged over the decisions that a run measures, by the above (1 unless there is padding).
    common_share: the share of the variance that comes from the mean of what the error vector is multiplied with.
        All decisions of one query have that part of the error in common, so it averages over queries only.
    """

    random_variances: Sequence[tuple[float, int]]
    bound_variance: float
    threshold: float
    fill: float = 1.0
    common_share: float = 0.0
    decisions: int = field(init=False)

    def __post_init__(self) -> None:
        self.decisions = sum(count for _, count in self.random_variances)


def evaluate_stage(name: str, theorem: str, inputs: Sequence[StageInputs]) -> list[dict]:
    """Stage entries of the prediction record, one per description.

    `stddev` is an equality for uniformly random data (root mean square over the decisions that a run measures), and
    `log2_failure` takes the error as Gaussian. `stddev_bound` is the worst case over all data, and
    `log2_failure_bound` the rigorous subgaussian tail there. Both failures are unions over the stage's decisions.
    """
    if not inputs:
        return []
    lengths = np.array([len(i.random_variances) for i in inputs])
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.intp)
    variances = np.array([v for i in inputs for v, _ in i.random_variances], dtype=float)
    counts = np.array([c for i in inputs for _, c in i.random_variances], dtype=float)
    thresholds = np.array([i.threshold for i in inputs], dtype=float)
    decisions = np.array([i.decisions for i in inputs], dtype=float)
    fill = np.array([i.fill for i in inputs], dtype=float)
    stddev = np.sqrt(fill * np.add.reduceat(variances * counts, starts) / decisions)
    stddev_bound = np.sqrt(np.array([i.bound_variance for i in inputs], dtype=float))

    random_tail = log2_gaussian_tail(np.repeat(thresholds, lengths), np.sqrt(variances))
    random = log2_union_ragged(random_tail, counts, starts)
    bound = log2_union(log2_subgaussian_tail(thresholds, stddev_bound)[:, None], decisions[:, None])
    return [
        {
            "stage": name,
            "stddev": float(stddev[i]),
            "stddev_bound": float(stddev_bound[i]),
            "threshold": float(thresholds[i]),
            "decisions": inputs[i].decisions,
            "common_share": inputs[i].common_share,
            "log2_failure": _finite(random[i]),
            "log2_failure_bound": _finite(bound[i]),
            "kind": "equality",
            "theorem": theorem,
        }
        for i in range(len(inputs))
    ]


#: Stands for "cannot fail" (stddev 0), since JSON has no infinity.
NEVER = -1e9


def _finite(log2_probability: float) -> float:
    return float(max(log2_probability, NEVER))


def combine_stages(stages: Sequence[dict], failure_target: float) -> dict:
    """The `noise` part of a prediction: a record is right if every decision of every stage is (union bound)."""
    bound = log2_union(np.array([s["log2_failure_bound"] for s in stages]))
    random = log2_union(np.array([s["log2_failure"] for s in stages]))
    return {
        "stages": list(stages),
        "log2_failure": _finite(bound),
        "log2_failure_random": _finite(random),
        "failure_target": failure_target,
    }
