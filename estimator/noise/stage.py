"""A protocol's error as a chain of named stages: the error that each adds, and the decisions.

A protocol's module writes `chain(descriptions) -> [Stage, ...]`, in the order in which the error meets them; all
numbers of a stage are arrays over the descriptions, so that a sweep is one call. A stage holds the error *after* it:
one without a decision hands its `noise` to the next, which adds to it; one with a decision rounds it away, right or
wrong. `evaluate` makes of a chain the entries of the prediction record, `record_noise` the failure of a record.
docs/noise.md shows how a chain is written.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .error import Noise
from .tails import (
    LEAST,
    Array,
    KeyLength,
    Mixture,
    Union,
    key_union,
    log2_gaussian_tail,
    log2_subgaussian_tail,
    log2_union,
    mixture_union,
)

#: Databases of one byte alone, as a run names them, and whether all of its bits are ones.
CONSTANTS = {"00": False, "ff": True}


@dataclass(frozen=True)
class Decision:
    """Rounding after a stage, which an error of absolute value `threshold` turns wrong.

    union: what the union of a record runs over, as name -> count ("entries of a record": 212, "digits": 4); their
    product is the number of decisions that a record takes.
    counts: shape (descriptions, classes), where decisions differ in variance: how many there are of each class of
    `Stage.noise`, 0 for a class that a description lacks. By default all decisions are of one class.
    mixture: the distribution of the variance for any data, of shape (descriptions, squares); by default it is fixed.
    key: the part of the variance that grows with the key's length instead, which alone is random then.
    rounded: the largest error of a rounding that is part of the noise, of which its variance is a third of the square.
        Where it is most of the noise, the failure is better bounded as that of the rest reaching what it leaves.
    tails: log2 of the probability that one decision is wrong, over random data and for any, of an error that is so far
        from Gaussian that its variance says nothing of them.
    """

    threshold: ArrayLike
    union: Mapping[str, ArrayLike]
    counts: ArrayLike | None = None
    mixture: Mixture | None = None
    key: KeyLength | None = None
    rounded: ArrayLike = 0.0
    tails: tuple[ArrayLike, ArrayLike] | None = None

    def without_rounding(self, threshold: Array, bounds: Array) -> tuple["Decision", Array, Array]:
        """The decision, its threshold and the variances of shape (descriptions, classes) beside the rounding."""
        rounded = np.broadcast_to(np.asarray(self.rounded, dtype=float), threshold.shape)
        # A rounding that leaves nothing of the threshold bounds nothing.
        rounded = np.where(rounded < threshold, rounded, 0.0)
        rest = np.maximum(bounds - rounded[:, None] ** 2 / 3, np.finfo(float).tiny)
        if self.key is None:
            return self, threshold - rounded, rest
        return replace(self, key=replace(self.key, share=self.key.shares * bounds / rest)), threshold - rounded, rest


@dataclass(frozen=True)
class Stage:
    """One stage of many descriptions; every number has shape (descriptions,) or broadcasts to it.

    name: that of the run record's measured noise. formula: of the variance `noise`. source: theorem or paper.
    digits: the distribution of the digits by which the error is multiplied here, if there are any.
    noise: the error over random data, shape (descriptions,), or (descriptions, classes) for `Decision.counts`.
    bound: the error for any data, of the same shape or one number for all classes; a decision needs it, a stage may
        lack it.
    present: which descriptions have this stage. bound_where: for which an equality `noise` is only an upper bound.
    fill: the variance averaged over the measured decisions, over `noise` (not 1 if a run also measures padding).
    common_share: the share of the variance that all decisions of one key have in common, from means of the
        error's factors. It averages only over keys, with `common_samples` independent values for each.
    terms: the number of products in a decision's sum, whose independent errors all decisions of one key share;
        unlimited by default.
    data_values: the number of random data values whose second moment enters the variance; unlimited by default.
    constant: by the byte that a constant database consists of (:data:`CONSTANTS`), the variance over it, in shares of
        that over random data; absent where only the bound is known of it.
    """

    name: str
    formula: str
    source: str
    noise: Noise
    bound: Noise | None = None
    digits: str | Sequence[str] | None = None
    decision: Decision | None = None
    present: ArrayLike = True
    bound_where: ArrayLike = False
    fill: ArrayLike = 1.0
    common_share: ArrayLike = 0.0
    common_samples: int = 1
    terms: ArrayLike | None = None
    data_values: ArrayLike | None = None
    constant: Mapping[str, ArrayLike] | None = None


@cache
def words(chain: str) -> dict[str, dict[str, Any]]:
    """Formula and source of every stage of a chain, from `<chain>.toml` beside the modules."""
    return tomllib.loads(Path(__file__).with_name(f"{chain}.toml").read_text(encoding="utf-8"))


def stages(chain: str) -> Callable[..., Stage]:
    """Makes the stages of a chain by their names and numbers, with their words."""

    def stage(name: str, noise: Noise, bound: Noise | None = None, **more: Any) -> Stage:
        return Stage(name, noise=noise, bound=bound, **words(chain)[name], **more)

    return stage


@dataclass(frozen=True)
class Chance:
    """A failure without an error: a decision that is wrong with a given probability, a bound for any data.

    name, formula, source, present: as for a stage. over: the event that has one such decision.
    """

    name: str
    formula: str
    source: str
    log2_failure: ArrayLike
    over: str
    present: ArrayLike = True


def evaluate(chain: Sequence[Stage | Chance], count: int) -> list[list[dict]]:
    """The stages of each of `count` descriptions, as entries of the prediction record.

    `stddev` is over uniformly random data, the root mean square over the decisions that a run measures; `stddev_bound`
    the worst over all data, under the longest key that the bound allows for where a decision says how it grows.
    `log2_failure` takes the error as Gaussian over random data, `log2_failure_bound` is a bound for any data under the
    assumptions of docs/noise.md, subgaussian given what a mixture leaves random; both are unions over the stage's
    decisions. `log2_long_key` is the part of the bound that keys beyond that length make, once a key. Margins are of
    the decision with the largest error, in standard deviations. Numbers of a decision are null for a stage without one.
    """
    names = [stage.name for stage in chain]
    if len(set(names)) < len(names):
        raise ValueError(f"stages of a chain have different names, not {', '.join(names)}")
    result: list[list[dict]] = [[] for _ in range(count)]
    for stage in chain:
        present = np.broadcast_to(np.asarray(stage.present, dtype=bool), (count,))
        entries = _entries(stage, count) if isinstance(stage, Stage) else _chances(stage, count)
        for i, entry in enumerate(entries):
            if present[i]:
                result[i].append(entry)
    return result


def _entries(stage: Stage, count: int) -> list[dict]:
    classes, union = _classes(stage, count)
    summed = np.cumsum(classes.variances * classes.counts, axis=1)[:, -1]
    variance = _numbers(stage.fill, count) * summed / np.maximum(classes.decisions, 1)
    constant = {data: _numbers(share, count) * variance for data, share in (stage.constant or {}).items()}
    columns = {
        "stage": stage.name,
        "formula": stage.formula,
        "source": stage.source,
        "digits": stage.digits,
        "kind": np.where(np.broadcast_to(np.asarray(stage.bound_where), (count,)), "bound", stage.noise.kind),
        "variance": variance,
        "stddev": np.sqrt(variance),
        "stddev_bound": None if stage.bound is None else np.sqrt(_largest(_bounds(stage, classes), classes)),
        "common_share": _numbers(stage.common_share, count),
        "common_samples": stage.common_samples,
        "terms": None if stage.terms is None else _numbers(stage.terms, count),
        "data_values": None if stage.data_values is None else _numbers(stage.data_values, count),
        "constant_variance": [{data: float(v[i]) for data, v in constant.items()} or None for i in range(count)],
    } | _decided(stage, classes, union, count)
    rows = zip(*(_column(values, count) for values in columns.values()))
    return [dict(zip(columns, row)) for row in rows]


def _column(values: Any, count: int) -> list:
    """One value for each description, without numpy's types: from an array or a list, or the same for all."""
    if values is None or isinstance(values, str | int):
        return [values] * count
    return [each.item() if isinstance(each, np.generic) else each for each in values]


def _chances(chance: Chance, count: int) -> list[dict]:
    """Its entries of the record: a stage without error."""
    silent = Stage(chance.name, chance.formula, chance.source, Noise(np.zeros(count), "bound"))
    failures = _finite(_numbers(chance.log2_failure, count))
    union = [{"over": chance.over, "count": 1}]
    return [
        entry | {"decisions": 1, "union": union, "log2_failure": float(log2), "log2_failure_bound": float(log2)}
        for entry, log2 in zip(_entries(silent, count), failures)
    ]


def _decided(stage: Stage, classes: "_Classes", union: dict[str, Array], count: int) -> dict[str, Any]:
    if stage.decision is None:
        names = "threshold decisions union margin margin_bound log2_failure log2_failure_bound log2_long_key"
        return dict.fromkeys(names.split())
    if stage.bound is None:
        raise ValueError(f"stage {stage.name} decides, so it must say how large its error is for any data")
    threshold, key = _numbers(stage.decision.threshold, count), stage.decision.key
    bounds = _bounds(stage, classes)
    each = log2_gaussian_tail(threshold[:, None], np.sqrt(classes.variances))
    if stage.decision.tails is not None:
        each = _numbers(stage.decision.tails[0], count)[:, None]
    failure, long_key = _union(stage.decision, threshold, bounds, classes.counts)
    if np.any(stage.decision.rounded):
        _, left, variances = stage.decision.without_rounding(threshold, classes.variances)
        each = np.minimum(each, log2_gaussian_tail(left[:, None], np.sqrt(variances)))
        beside = _union(*stage.decision.without_rounding(threshold, bounds), classes.counts)
        long_key = np.where(beside.failure < failure, beside.long_key, long_key)
        failure = np.minimum(beside.failure, failure)
    if key is not None:
        bounds = bounds * key.growth(np.maximum(long_key, LEAST))
    return {
        "stddev_bound": np.sqrt(_largest(bounds, classes)),
        "threshold": threshold,
        "decisions": classes.decisions.astype(np.int64),
        "union": [[{"over": name, "count": int(n[i])} for name, n in union.items()] for i in range(count)],
        "margin": _margin(threshold, np.sqrt(_largest(classes.variances, classes))),
        "margin_bound": _margin(threshold, np.sqrt(_largest(bounds, classes))),
        "log2_failure": _finite(log2_union(each, classes.counts)),
        "log2_failure_bound": _finite(failure),
        "log2_long_key": [None if np.isneginf(each) else each for each in long_key],
    }


def _union(decision: Decision, threshold: Array, bounds: Array, counts: Array) -> Union:
    """The bound on a failure of one of a stage's decisions."""
    if decision.tails is not None:
        failure = log2_union(_numbers(decision.tails[1], len(threshold))[:, None], counts)
        return Union(failure, np.full_like(failure, -np.inf))
    if decision.mixture is not None:
        return mixture_union(threshold[:, None], np.sqrt(bounds), decision.mixture, counts)
    if decision.key is not None:
        return key_union(threshold, bounds, decision.key, counts)
    failure = log2_union(log2_subgaussian_tail(threshold[:, None], np.sqrt(bounds)), counts)
    return Union(failure, np.full_like(failure, -np.inf))


@dataclass(frozen=True)
class _Classes:
    """Variances over random data and how many decisions have each, shapes (descriptions, classes)."""

    variances: Array
    counts: Array

    @property
    def decisions(self) -> Array:
        """All decisions of each description."""
        return np.asarray(np.cumsum(self.counts, axis=1)[:, -1])


def _classes(stage: Stage, count: int) -> tuple[_Classes, dict[str, Array]]:
    variances = np.asarray(stage.noise.variance, dtype=float)
    variances = variances if variances.ndim == 2 else _numbers(variances, count)[:, None]
    union = {name: _numbers(n, count) for name, n in (stage.decision.union if stage.decision else {}).items()}
    total = np.prod([np.ones(count), *union.values()], axis=0)
    given = stage.decision.counts if stage.decision else None
    counts = total[:, None] if given is None else np.asarray(given, dtype=float)
    if counts.shape != variances.shape:
        raise ValueError(f"stage {stage.name}: variances {variances.shape} need counts alike, not {counts.shape}")
    if not np.allclose(counts.sum(axis=1), total, rtol=1e-12):
        raise ValueError(f"stage {stage.name}: the counts of its classes do not add up to its union")
    return _Classes(variances, counts), union


def _bounds(stage: Stage, classes: _Classes) -> Array:
    """The variances for any data, shape (descriptions, classes)."""
    assert stage.bound is not None
    bounds = np.asarray(stage.bound.variance, dtype=float)
    bounds = bounds[:, None] if bounds.ndim == 1 else bounds
    return np.broadcast_to(bounds, classes.counts.shape)


def _largest(variances: Array, classes: _Classes) -> Array:
    """The largest variance of a class that has decisions."""
    return np.asarray(np.max(np.where(classes.counts > 0, variances, 0.0), axis=1))


def by_class(rows: Sequence[Sequence[float]]) -> Array:
    """Rows of different lengths as one array (descriptions, classes), filled up with zeros; one class at least."""
    filled = np.zeros((len(rows), max([1, *map(len, rows)])))
    for row, values in zip(filled, rows):
        row[: len(values)] = values
    return filled


def _numbers(values: ArrayLike, count: int) -> Array:
    return np.broadcast_to(np.asarray(values, dtype=float), (count,))


#: Stands for "cannot fail" (stddev 0), because JSON has no infinity; and the margin in that case.
NEVER = -1e9
LARGEST_MARGIN = 1e9


def _finite(log2_probability: Array) -> Array:
    return np.maximum(log2_probability, NEVER)


def _margin(threshold: Array, stddev: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.minimum(threshold / stddev, LARGEST_MARGIN)


def record_noise(stages: Sequence[dict], failure_target: float) -> dict:
    """The `noise` part of a prediction: a record is right if every decision of every stage is (union bound)."""
    decided = [s for s in stages if s["decisions"] is not None]
    if not decided:
        raise ValueError(f"no stage of {', '.join(s['stage'] for s in stages)} takes a decision")
    bound = _finite(log2_union(np.array([s["log2_failure_bound"] for s in decided])))
    random = _finite(log2_union(np.array([s["log2_failure"] for s in decided])))
    return {
        "stages": list(stages),
        "log2_failure": float(bound),
        "log2_failure_random": float(random),
        "failure_target": failure_target,
    }
