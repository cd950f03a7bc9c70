"""Seconds from the described operation counts and unit costs, array-valued over descriptions.

A phase is the sequence of its steps (objects of counts within it; its own counts are a step too), after the fixed cost
of any phase. A step takes the longer of its arithmetic and its memory traffic, which overlap, and then the work that
does not overlap: generators, samplers, digits, messages. `operations` says of each operation which it is. Unit costs
come from results/calibration.json, which `pirlab calibrate` measures on this machine, else from the committed defaults.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from .operations import OPERATIONS, READ_BY, operation
from .units import CALIBRATION, DEFAULTS, Array, UnitCosts

#: Phases of every prediction, named as the description counts them and as a run times them; a protocol may have more.
PHASES = ("encode", "hint", "query", "answer", "extract")
#: Phases after records changed: predicted if records change, and not part of the total, which is that of queries.
UPDATES = "update"
#: What each answer makes again of a streamed database, outside the clock: no part of the total either.
STREAMING = "streaming"

Counts = Mapping[str, float]


def steps(phase: Mapping[str, float | Counts]) -> Iterator[tuple[str, Counts]]:
    """(name, counts) of each step of a described phase; "" is what it counts itself."""
    own = {name: count for name, count in phase.items() if not isinstance(count, Mapping)}
    if own:
        yield "", own
    yield from ((name, counts) for name, counts in phase.items() if isinstance(counts, Mapping))


def predict_seconds(descriptions: Sequence[dict], units: UnitCosts, threads: int = 1) -> list[dict[str, float]]:
    """Seconds of each phase and their total, for one run of all the description's queries.

    The server answers and updates with `threads` threads, at best: these share all work but memory traffic, which
    one of them may fill. Clients and preprocessing have one.

    Updates and named steps have seconds too. An update has them where it counts anything, and the total leaves it out.
    A step is `<phase>_<step>`, as a run times it, and is part of its phase.
    """
    if not descriptions:
        return []
    phases = list(dict.fromkeys((*PHASES, *(phase for d in descriptions for phase in d["operations"]))))
    # For every step its (description, phase), and its counts.
    places: list[tuple[int, int]] = []
    charged: list[Counts] = []
    named: list[dict[str, int]] = [{} for _ in descriptions]  # the steps that have a name
    for i, description in enumerate(descriptions):
        for j, phase in enumerate(phases):
            for step, counts in steps(description["operations"].get(phase, {})):
                if _of_update(phase) and not any(counts.values()):
                    continue
                if step:
                    named[i][f"{phase}_{step}"] = len(places)
                places.append((i, j))
                charged.append(_charged(counts, description["protocol"], phase))
    seconds = np.zeros((len(descriptions), len(phases)))
    used = np.zeros_like(seconds, dtype=bool)
    sharing = [threads if phases[j] == "answer" or _of_server_update(phases[j]) else 1 for _, j in places]
    each = _step_seconds(charged, units, np.array(sharing, dtype=float))
    if places:
        at = tuple(np.array(places).T)
        np.add.at(seconds, at, each)
        used[at] = True
    seconds += np.where(used, units.total("phases", np.ones(())), 0.0)
    return [
        _phases_of(d, dict(zip(phases, row.tolist())), {p for p, counted in zip(phases, counts) if counted})
        | {step: float(each[k]) for step, k in own.items()}
        for d, own, row, counts in zip(descriptions, named, seconds, used.tolist())
    ]


def _phases_of(description: dict, seconds: dict[str, float], counted: set[str]) -> dict[str, float]:
    """Seconds of one description's phases, their total, and of updates only where anything is counted."""
    queries = {
        p: s for p, s in seconds.items() if p in PHASES or (p in description["operations"] and not _of_update(p))
    }
    updates = {p: s for p, s in seconds.items() if p in counted and _of_update(p)}
    parts = [s for p, s in updates.items() if _of_server_update(p)]
    # If the server's work has parts, a run times the whole too.
    whole = {"update_server": sum(parts)} if parts and "update_server" not in updates else {}
    return queries | updates | whole | {"total": sum(s for p, s in queries.items() if p != STREAMING)}


def _of_update(phase: str) -> bool:
    return phase.startswith(UPDATES)


def _of_server_update(phase: str) -> bool:
    return _of_update(phase) and phase != "update_client"


def _charged(counts: Counts, protocol: str, phase: str) -> Counts:
    """The counts by the operations they are charged as."""
    for name in counts:
        if operation(name) is None:
            remedy = "add it to estimator/cost/operations.toml"
            raise ValueError(f"{protocol}: no unit cost for operation {name!r} of phase {phase}; {remedy}")
    read_as = next((reader for product, reader in READ_BY.items() if product in counts), "bytes_read")
    return {read_as if name == "bytes_read" else name: count for name, count in counts.items()}


def _step_seconds(steps: Sequence[Counts], units: UnitCosts, threads: Array) -> Array:
    """max(arithmetic, traffic) + serial of each step, whose threads share arithmetic and serial work."""
    parts = {part: np.zeros(len(steps)) for part in ("arithmetic", "traffic", "serial")}
    for name in sorted({name for counts in steps for name in counts}):
        found = operation(name)
        assert found is not None, name
        parts[found.part] += units.total(name, np.array([counts.get(name, 0) for counts in steps], dtype=float))
    return np.maximum(parts["arithmetic"] / threads, parts["traffic"]) + parts["serial"] / threads
