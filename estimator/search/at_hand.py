"""Rows of the committed sets: the sets of a protocol that no other one undercuts, and the best for an application."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from .bounds import Bounds, Network, Objective, Updates
from .choose import committed, from_committed
from .evaluate import Evaluator, Figures, Literal, Shape
from .front import undominated
from .text import count, size
from .walk import Found

Row = dict[str, Any]
#: The reason why a protocol has no set at a database.
WITHOUT = "no set that takes it has 128 bits and fails below 2^-40"


def sets_of(protocol: str) -> dict[str, Literal]:
    """All sets of params/ of a protocol, by name."""
    return {name: literal for name, literal in committed().items() if literal["protocol"] == protocol}


def front(protocol: str, evaluator: Evaluator) -> Iterator[Row]:
    """Yield the committed sets that reach the targets and that no other set undercuts, hints counted.

    If no set reaches the targets, the only row gives the reason. A row has the set's name, by which its file is found,
    but not its values.
    """
    named = sets_of(protocol)
    found = list(zip(named, evaluator(list(named.values())), strict=True))
    kept = [(name, figures) for name, figures in found if Bounds().keeps(figures)]
    costs = np.array([(*figures.costs(), figures.hint_bytes) for _, figures in kept], dtype=float)
    for place in undominated(costs):
        name, figures = kept[place]
        yield row(protocol, name, figures)
    if not kept:
        refusals = [figures.refused for _, figures in found if figures.refused is not None]
        yield row(protocol, "", Figures(refused=refusals[0] if len(refusals) == len(found) else WITHOUT))


def row(protocol: str, name: str, figures: Figures) -> Row:
    return {"name": name, "literal": {"protocol": protocol}} | asdict(figures)


def application(protocols: list[str], shape: Shape, settings: Mapping[str, Any], evaluator: Evaluator) -> Iterator[Row]:
    """The best committed set of each protocol by seconds, or the reason why none fits.

    A set that is ready before the next update goes before one that is not."""
    updates = Updates.read(settings["updates"]) if "updates" in settings else None
    network = Network.read(settings["network"])
    network = Network(network.round_trip, network.bandwidth, count(settings["hint_queries"]))
    objective, memory = Objective("seconds", shape, network), size(settings["memory"])
    for protocol in protocols:
        named = sets_of(protocol)
        figures = evaluator(list(named.values()))
        sets = {name: Found(named[name], each) for name, each in zip(named, figures, strict=True)}
        ready = from_committed(protocol, sets, Bounds(memory=memory, updates=updates and updates.seconds), objective)
        best = ready if ready.best else from_committed(protocol, sets, Bounds(memory=memory), objective)
        asked = {"objective": "seconds", "varied": json.dumps(dict(settings))}
        if best.best is None:
            yield row(protocol, "", Figures(refused="; ".join(best.missed))) | asked
        else:
            yield row(protocol, best.name, best.best.figures) | asked | {"score": objective(best.best.figures)}
