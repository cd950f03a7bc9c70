"""Seconds from the described operation counts and unit costs, array-valued over descriptions.

A phase is its steps one after the other (objects of counts within it; what it counts itself is a step too), after
what any phase takes. A step takes the longer of its arithmetic and of its memory traffic, which overlap, and then what
does not overlap: generators, samplers, digits, messages. `operations` says of each operation which it is. Unit costs
come from results/calibration.json, which `pirlab calibrate` measures on this machine, else from the committed defaults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from .operations import OPERATIONS, operation
from .units import CALIBRATION, DEFAULTS, Array, UnitCosts

__all__ = ["CALIBRATION", "DEFAULTS", "OPERATIONS", "PHASES", "UnitCosts", "predict_seconds", "steps"]

#: Phases of a prediction, named as the description counts them and as a run times them.
PHASES = ("encode", "hint", "query", "answer", "extract")

Counts = Mapping[str, float]


def steps(phase: Mapping[str, float | Counts]) -> Iterator[tuple[str, Counts]]:
    """(name, counts) of each step of a described phase; "" is what it counts itself."""
    own = {name: count for name, count in phase.items() if not isinstance(count, Mapping)}
    if own:
        yield "", own
    yield from ((name, counts) for name, counts in phase.items() if isinstance(counts, Mapping))


def predict_seconds(descriptions: Sequence[dict], unit_costs: UnitCosts | None = None) -> list[dict[str, float]]:
    """Seconds of each phase and their total, for one run of all the description's queries on one thread."""
    if not descriptions:
        return []
    units = unit_costs or UnitCosts.load()
    places, names = [], []  # of every step: (description, phase), and its counts
    for i, description in enumerate(descriptions):
        for j, phase in enumerate(PHASES):
            for _, counts in steps(description["operations"].get(phase, {})):
                places.append((i, j))
                names.append(_named(counts, description["protocol"], phase))
    seconds = np.zeros((len(descriptions), len(PHASES)))
    used = np.zeros_like(seconds, dtype=bool)
    if places:
        at = tuple(np.array(places).T)
        np.add.at(seconds, at, _step_seconds(names, units))
        used[at] = True
    seconds += np.where(used, units.total("phases", np.ones(())), 0.0)
    return [{**dict(zip(PHASES, row.tolist())), "total": float(row.sum())} for row in seconds]


def _named(counts: Counts, protocol: str, phase: str) -> Counts:
    """The counts by the operations they are charged as."""
    for name in counts:
        if operation(name) is None:
            remedy = "add it to estimator/cost/operations.py"
            raise ValueError(f"{protocol}: no unit cost for operation {name!r} of phase {phase}; {remedy}")
    if "multiply_adds_packed" in counts and "bytes_read" in counts:
        # Read by the matrix-vector kernel, which is slower than reading alone.
        return {"matvec_bytes" if name == "bytes_read" else name: count for name, count in counts.items()}
    return counts


def _step_seconds(steps: Sequence[Counts], units: UnitCosts) -> Array:
    """max(arithmetic, traffic) + serial of each step."""
    parts = {part: np.zeros(len(steps)) for part in ("arithmetic", "traffic", "serial")}
    for name in sorted({name for counts in steps for name in counts}):
        found = operation(name)
        assert found is not None, name
        parts[found.part] += units.total(name, np.array([counts.get(name, 0) for counts in steps], dtype=float))
    return np.maximum(parts["arithmetic"], parts["traffic"]) + parts["serial"]
