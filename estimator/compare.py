"""Predicted against measured, quantity by quantity. A contradiction is a bug in one of the two."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import sqrt
from statistics import median

MEMORY_TOLERANCE = 0.10
NOISE_TOLERANCE = 0.10
#: Sampling error allowed for, in standard deviations of a measured stddev, where few samples make it exceed 10 %.
SAMPLING_DEVIATIONS = 4.0


@dataclass(frozen=True)
class Comparison:
    """ratio = measured / predicted (None if predicted is 0). within is None where nothing is demanded."""

    quantity: str
    unit: str
    predicted: float
    measured: float
    ratio: float | None
    within: bool | None
    tolerance: str

    def mapping(self) -> dict:
        return asdict(self)


def compare(prediction: dict, record: dict) -> list[Comparison]:
    """All pairs of a prediction record and the run record of the same row.

    Payload bytes exact; peak memory and noise stddev within 10 %, noise never above its bound; seconds for information
    only. Empty if the run has no measurements (skipped, failed).
    """
    if record["status"] not in ("ok", "wrong"):
        return []
    return [*_bytes(record), *_memory(prediction, record), *_noise(prediction, record), *_seconds(prediction, record)]


def _row(
    quantity: str, unit: str, predicted: float, measured: float, within: bool | None, tolerance: str
) -> Comparison:
    ratio = measured / predicted if predicted else None
    return Comparison(quantity, unit, predicted, measured, ratio, within, tolerance)


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
    """The random-data stddev is demanded of seeded databases only; the bound of all."""
    stages = {s["stage"]: s for s in prediction["noise"]["stages"]}
    random_data = record["database"]["source"].startswith("seeded:")
    rows = []
    for measured in record.get("noise") or []:
        stage = stages.get(measured["stage"])
        if stage is None:
            rows.append(_row(f"noise stddev {measured['stage']}", "", 0.0, measured["stddev"], False, "stage unknown"))
            continue
        allowed = _noise_allowance(stage, measured, record["description"]["layout"])
        below_bound = measured["stddev"] <= stage["stddev_bound"] * (1 + allowed)
        near = abs(measured["stddev"] - stage["stddev"]) <= allowed * stage["stddev"]
        rows.append(
            _row(
                f"noise stddev {measured['stage']}",
                "",
                stage["stddev"],
                measured["stddev"],
                below_bound and (near or not random_data),
                f"{allowed:.0%}, below the bound" if random_data else "below the bound",
            )
        )
    return rows


def _noise_allowance(stage: dict, measured: dict, layout: dict) -> float:
    """10 %, or what sampling explains: the common part of the error is one sample a key, the rest at most one per
    term of the error vector and key."""
    terms = layout["groups"] if stage["stage"] == "second_layer" else layout["entries"] / layout["rows"]
    keys = max(1, measured["keys"])
    independent = max(1.0, min(measured["samples"], keys * terms))
    common = stage["common_share"]
    relative_variance = 2 * common**2 / keys + 2 * (1 - common) ** 2 / independent
    return max(NOISE_TOLERANCE, SAMPLING_DEVIATIONS * sqrt(relative_variance) / 2)


def _seconds(prediction: dict, record: dict) -> list[Comparison]:
    measured = {p["name"]: median(p["seconds"]) for p in record.get("phases") or [] if p["seconds"]}
    return [
        _row(f"seconds {name}", "s", predicted, measured[name], None, "for information")
        for name, predicted in prediction["seconds"].items()
        if name in measured
    ]
