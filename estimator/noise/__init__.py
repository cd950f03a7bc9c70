"""Noise and failure probability, one module a protocol, array-valued over descriptions."""

from __future__ import annotations

from collections.abc import Sequence

from . import doublepir, simplepir
from .stage import combine_stages

#: A protocol's module gives `stages(descriptions) -> for each, its list of stages`.
PROTOCOLS = {"simplepir": simplepir, "doublepir": doublepir}

FAILURE_TARGET = -40.0


def predict_noise(descriptions: Sequence[dict], failure_target: float = FAILURE_TARGET) -> list[dict]:
    """The `noise` part of the prediction record of each description, in their order."""
    result: list[dict] = [{} for _ in descriptions]
    for protocol in {d["protocol"] for d in descriptions}:
        if protocol not in PROTOCOLS:
            raise ValueError(f"no noise formulas for protocol {protocol!r}; add estimator/noise/{protocol}.py")
        indices = [i for i, d in enumerate(descriptions) if d["protocol"] == protocol]
        all_stages = PROTOCOLS[protocol].stages([descriptions[i] for i in indices])
        for i, stages in zip(indices, all_stages):
            result[i] = combine_stages(stages, failure_target)
    return result
