"""Noise and failure probability: a protocol's module writes its chain of stages, array-valued over descriptions."""

from collections.abc import Callable, Sequence

from . import (
    cwpir,
    depir,
    doublepir,
    hintlesspir,
    inspire,
    inspire2,
    kspir,
    layered,
    onehot,
    onionpir,
    piano,
    pirana,
    pirouette,
    respire,
    simplepir,
    simpleypir,
    spiral,
    trespire,
)
from .stage import Chance, Stage, evaluate, record_noise

#: The chain of each protocol, for descriptions of that protocol.
PROTOCOLS: dict[str, Callable[[Sequence[dict]], Sequence[Stage | Chance]]] = {
    "simplepir": simplepir.chain,
    "frodopir": simplepir.chain,
    "cwpir": cwpir.chain,
    "depir": depir.chain,
    "doublepir": doublepir.chain,
    "hintlesspir": hintlesspir.chain,
    "kspir": kspir.chain,
    "ypir": layered.chain,
    "simpleypir": simpleypir.chain,
    "inspire0": layered.chain,
    "inspire2": inspire2.chain,
    "inspire": inspire.chain,
    "onehot": onehot.chain,
    "onionpir": onionpir.chain,
    "piano": piano.chain,
    "pirana": pirana.chain,
    "pirouette": pirouette.chain,
    "pirouette_h": pirouette.chain_h,
    "respire": respire.chain,
    "spiral": spiral.chain,
    "trespire": trespire.chain,
}

FAILURE_TARGET = -40.0


def predict_noise(descriptions: Sequence[dict]) -> list[dict]:
    """The `noise` part of the prediction record of each description, in their order."""
    result: list[dict] = [{} for _ in descriptions]
    for protocol in {d["protocol"] for d in descriptions}:
        if protocol not in PROTOCOLS:
            raise ValueError(f"no noise formulas for protocol {protocol!r}; add estimator/noise/{protocol}.py")
        indices = [i for i, d in enumerate(descriptions) if d["protocol"] == protocol]
        chain = PROTOCOLS[protocol]([descriptions[i] for i in indices])
        for i, stages in zip(indices, evaluate(chain, len(indices))):
            result[i] = record_noise(stages, FAILURE_TARGET)
    return result
