"""What runs measured of a set at a database, for pages that show one number of it."""

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pirlab_estimator.machine import machine_name
from pirlab_estimator.noise import FAILURE_TARGET
from pirlab_estimator.search.evaluate import Shape
from pirlab_estimator.security.attacks import SECURITY_TARGET
from pirlab_estimator.sets import set_name

from ..lib.marks import SYMBOLS

Run = Mapping[str, Any]
"""Records and predictions of a run, by their paths in a packed one."""
Key = tuple[str, str, str, Shape, int, bool]
"""The first fields of `Measured`, which tell one measurement from others."""


@dataclass(frozen=True)
class Measured:
    """The records of a run that have the same machine, set, database and number of queries, on one thread.

    seconds: of an answer, by query: the median of the records' medians. update_seconds: of the server until it answers
    from `updates` changed records; None where none changed. reached: whether all of them reach the targets.
    """

    machine: str
    protocol: str
    name: str
    shape: Shape
    queries: int
    streamed: bool
    seconds: float
    updates: int
    update_seconds: float | None
    reached: bool
    ids: tuple[str, ...]

    def marks(self) -> str:
        """The symbols of a batch and of a streamed database."""
        return (SYMBOLS["batch"] if self.queries > 1 else "") + (SYMBOLS["streamed"] if self.streamed else "")

    def words(self) -> str:
        """The set, how it ran, and its records."""
        batch = f"{self.queries} queries" if self.queries > 1 else ""
        how = filter(None, (batch, "streamed" if self.streamed else ""))
        return ", ".join([f"`{self.name}`", *how, *(f"`{each}`" for each in self.ids)])


def measured(runs: Iterable[Run]) -> list[Measured]:
    """What these runs measured. Where two runs measured the same, the later one counts."""
    found: dict[Key, Measured] = {}
    for run in runs:
        found |= _of_run(run)
    return list(found.values())


def fastest(found: Iterable[Measured]) -> Measured | None:
    """The fastest answer that reaches the targets: of a single query where one was measured, else of a batch."""
    reached = (each for each in found if each.reached)
    return min(reached, key=lambda each: (each.queries > 1, each.seconds, each.name), default=None)


def _of_run(run: Run) -> dict[Key, Measured]:
    found: dict[Key, Measured] = {}
    groups: dict[Key, list[dict[str, Any]]] = {}
    for path, record in sorted(run.items()):
        if not path.startswith("records/") or record["kind"] != "protocol":
            continue
        if record["status"] == "ok" and record["threads"] == 1:
            groups.setdefault(_key(record), []).append(record)
    predictions = {
        (path, line["id"]): line
        for path, lines in run.items()
        if path.startswith("predictions/") and isinstance(lines, list)
        for line in lines
    }
    for key, records in groups.items():
        updates = max(record["updates"] for record in records)
        changed = [_seconds(record, "update_server") for record in records if record["updates"] == updates > 0]
        answers = [_seconds(record, "answer") / record["queries"] for record in records]
        places = [(f"predictions/{r['experiment']}.json", f"{r['group']}/{r['row']}") for r in records]
        reached = all(_reaches(predictions.get(place, {})) for place in places)
        seconds, update_seconds = statistics.median(answers), statistics.median(changed) if changed else None
        ids = tuple(record["id"] for record in records)
        found[key] = Measured(*key, seconds, updates, update_seconds, reached, ids)
    return found


def _key(record: Run) -> Key:
    database = record["database"]
    shape = Shape(database["records"], database["record_bits"])
    name = set_name(record["parameters"])
    return machine_name(record), record["protocol"], name, shape, record["queries"], record["streamed"]


def _seconds(record: Run, phase: str) -> float:
    """The median seconds of a phase."""
    samples: list[float] = next(each["seconds"] for each in record["phases"] if each["name"] == phase)
    return statistics.median(samples)


def _reaches(prediction: Mapping[str, Any]) -> bool:
    bits, failure = prediction.get("security_bits"), prediction.get("noise", {}).get("log2_failure")
    return bits is not None and bits >= SECURITY_TARGET and failure is not None and failure <= FAILURE_TARGET
