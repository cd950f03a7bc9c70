"""Predicted against measured, quantity by quantity. A contradiction is a bug in one of the two."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import sqrt
from statistics import median

MEMORY_TOLERANCE = 0.10
#: Of the variance, where the formula is an equality and the samples suffice.
VARIANCE_TOLERANCE = 1 / 16
#: What suffices: independent samples, over so many keys, and over more where a key's errors have a part in common.
ENOUGH_SAMPLES = 2**14
ENOUGH_KEYS = 20
ENOUGH_KEYS_IN_COMMON = 100
#: Share of the variance in common from which that is so.
COMMON_PART = 0.05
#: How many independent samples the common part is: at a distance d its coefficients correlate by 1 - 2 d / n.
COMMON_SAMPLES = 3
#: Sampling error allowed for, in standard deviations of a measured variance.
SAMPLING_DEVIATIONS = 4.0


@dataclass(frozen=True)
class Comparison:
    """ratio = measured / predicted (None if predicted is 0). within is None where nothing is demanded. note: what a
    reader must know of the verdict, e.g. that it rests on few samples."""

    quantity: str
    unit: str
    predicted: float
    measured: float
    ratio: float | None
    within: bool | None
    tolerance: str
    note: str = ""

    def mapping(self) -> dict:
        return asdict(self)


def compare(prediction: dict, record: dict) -> list[Comparison]:
    """All pairs of a prediction record and the record of the same row, of a protocol or of a primitive.

    Payload bytes exact; peak memory within 10 %; noise variance within 1/16 where the formula is an equality and never
    above its bound, sampling error apart; seconds for information only. Empty if the run has no measurements.
    """
    if record["status"] not in ("ok", "wrong"):
        return []
    if "primitive" in prediction:
        return [*_primitive_noise(prediction, record), *_primitive_seconds(prediction, record)]
    return [*_bytes(record), *_memory(prediction, record), *_noise(prediction, record), *_seconds(prediction, record)]


def _row(
    quantity: str, unit: str, predicted: float, measured: float, within: bool | None, tolerance: str, note: str = ""
) -> Comparison:
    ratio = measured / predicted if predicted else None
    return Comparison(quantity, unit, predicted, measured, ratio, within, tolerance, note)


def _bytes(record: dict) -> list[Comparison]:
    described = {(m["phase"], m["name"]): m["payload_bytes"] for m in record["description"]["messages"]}
    sent = {(m["phase"], m["name"]): m["payload_bytes"] for m in record["transcript"]}
    rows = []
    for key in [*described, *(k for k in sent if k not in described)]:
        predicted, measured = described.get(key, 0), sent.get(key, 0)
        rows.append(_row(f"payload {key[0]} {key[1]}", "B", predicted, measured, predicted == measured, "exact"))
    return rows


def _memory(prediction: dict, record: dict) -> list[Comparison]:
    """The process's resident peak; without the mapped file where the database is one."""
    memory = record.get("memory") or {}
    mapped = record["database"]["source"].startswith("mmap:")
    measured = memory.get("peak_anonymous_bytes" if mapped else "peak_bytes")
    if not measured:
        return []
    predicted = prediction["peak_bytes"]
    within = abs(measured - predicted) <= MEMORY_TOLERANCE * predicted
    return [_row("peak memory", "B", predicted, measured, within, f"{MEMORY_TOLERANCE:.0%}")]


def _noise(prediction: dict, record: dict) -> list[Comparison]:
    """The random-data variance is demanded of seeded databases only; the bound of all."""
    stages = {s["stage"]: s for s in prediction["noise"]["stages"]}
    random_data = record["database"]["source"].startswith("seeded:")
    rows = []
    for measured in record.get("noise") or []:
        name = f"noise stddev {measured['stage']}"
        stage = stages.get(measured["stage"])
        if stage is None:
            rows.append(_row(name, "", 0.0, measured["stddev"], False, "stage unknown"))
            continue
        effective = _independent_samples(stage, measured, record["description"]["layout"], random_data)
        sampling = SAMPLING_DEVIATIONS * sqrt(2 / effective)
        enough = effective >= ENOUGH_SAMPLES and measured["keys"] >= ENOUGH_KEYS
        variance = measured["stddev"] ** 2
        within = variance <= stage["stddev_bound"] ** 2 * (1 + sampling)
        tolerance = f"variance below the bound (sampling error {sampling:.1%})"
        if random_data and stage["kind"] == "equality":
            allowed = VARIANCE_TOLERANCE + (0 if enough else sampling)
            within = within and abs(variance - stage["stddev"] ** 2) <= allowed * stage["stddev"] ** 2
            part = "1/16" if enough else f"1/16 + sampling error {sampling:.1%}"
            tolerance = f"variance within {part}, below the bound"
        rows.append(_row(name, "", stage["stddev"], measured["stddev"], within, tolerance, _few(measured)))
    return rows


def _primitive_noise(prediction: dict, record: dict) -> list[Comparison]:
    """Mean squares with their formulas: within 1/16 of an equality, not above a bound, sampling error apart."""
    stages = {s["stage"]: s for s in prediction["noise"]["stages"]}
    rows = []
    for name, measured in record["measured"]["noise"].items():
        quantity, stddev = f"noise stddev {name}", sqrt(measured["variance"])
        stage = stages.get(name)
        if stage is None:
            rows.append(_row(quantity, "", 0.0, stddev, False, "stage unknown"))
            continue
        common, keys, samples = stage["common_share"], max(1, measured["keys"]), max(1, measured["samples"])
        effective = 1 / (common**2 / (COMMON_SAMPLES * keys) + (1 - common) ** 2 / samples)
        sampling = SAMPLING_DEVIATIONS * sqrt(2 / effective)
        enough = samples >= ENOUGH_SAMPLES and keys >= (ENOUGH_KEYS_IN_COMMON if common > COMMON_PART else ENOUGH_KEYS)
        exact = enough and effective >= ENOUGH_SAMPLES
        allowed = VARIANCE_TOLERANCE + (0 if exact else sampling)
        part = "1/16" if exact else f"1/16 + sampling error {sampling:.1%}"
        excess = measured["variance"] - stage["variance"]
        if stage["kind"] == "equality":
            within, tolerance = abs(excess) <= allowed * stage["variance"], f"variance within {part}"
        else:
            within = excess <= sampling * stage["variance"]
            tolerance = f"variance below the bound (sampling error {sampling:.1%})"
        few = "" if enough else f"few samples: {samples} over {keys} keys"
        rows.append(_row(quantity, "", stage["stddev"], stddev, within, tolerance, few))
    return rows


def _primitive_seconds(prediction: dict, record: dict) -> list[Comparison]:
    """All that one repetition timed, for information."""
    timed = sum(median(t["samples"]) * t["per"] for t in record["measured"]["times"].values() if t["samples"])
    if not timed:
        return []
    predicted = prediction["seconds"]["repetition"]
    return [_row("seconds repetition", "s", predicted, timed, None, "for information")]


def _few(measured: dict) -> str:
    """The label of a stage that is sampled less than a comparison of noise asks for."""
    if measured["samples"] < ENOUGH_SAMPLES:
        return f"few samples: {measured['samples']}"
    return f"few keys: {measured['keys']}" if measured["keys"] < ENOUGH_KEYS else ""


def _independent_samples(stage: dict, measured: dict, layout: dict, random_data: bool) -> float:
    """How many independent samples tell as much of the variance as the run's own, which share error vectors.

    The common part of the error is one sample a key; the rest at most one a term of the error vector and key. Of data
    that are not random nothing is known: all decisions of a key may have the whole error in common.
    """
    keys = max(1, measured["keys"])
    if not random_data:
        return keys
    terms = layout["groups"] if stage["stage"] == "second_layer" else layout["entries"] / layout["rows"]
    independent = max(1.0, min(measured["samples"], keys * terms))
    common = stage["common_share"]
    return 1 / (common**2 / keys + (1 - common) ** 2 / independent)


def _seconds(prediction: dict, record: dict) -> list[Comparison]:
    measured = {p["name"]: median(p["seconds"]) for p in record.get("phases") or [] if p["seconds"]}
    return [
        _row(f"seconds {name}", "s", predicted, measured[name], None, "for information")
        for name, predicted in prediction["seconds"].items()
        if name in measured
    ]
