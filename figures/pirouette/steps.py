"""The steps of an answer: their seconds, transforms and bytes, as records and descriptions have them."""

from collections.abc import Mapping, Sequence
from typing import Any

from pirlab_estimator.cost.operations import transform

from ..lib.frame import quartiles
from ..lib.marks import PREDICTED
from ..lib.output import words
from ..lib.protocols import STEPS

PIROUETTE = STEPS["pirouette-phases"]
OVERLAPPED = {"conversion": words("digits bits rgsw")}
"""Steps of several threads that are one phase, since they run at the same time."""
Document = Mapping[str, Any]


def transforms(description: Document, step: str) -> dict[str, int]:
    """Transforms of a step by size and prime."""
    found: dict[str, int] = {}
    operations = description["operations"] if step in PIROUETTE.once else description["operations"]["answer"]
    for part in OVERLAPPED.get(step, [step]):
        for name, count in operations.get(part, {}).items():
            if transform(name):
                found[name] = found.get(name, 0) + count
    return found


def answer_transforms(description: Document) -> int:
    """Transforms of a whole answer."""
    steps = description["operations"]["answer"].values()
    return sum(count for step in steps for name, count in step.items() if transform(name))


def shown(
    rows: Sequence[dict[str, Any]], protocols: Sequence[str] = PIROUETTE.protocols, predictions: bool = False
) -> list[dict[str, Any]]:
    """Answers of protocols by database, protocol and threads: measured ones, and predicted ones if asked for."""
    wanted = ("ok", PREDICTED) if predictions else ("ok",)
    found = [row for row in rows if row["protocol"] in protocols and row["status"] in wanted]
    key = words("records record_bits protocol set threads repetitions")
    return sorted(found, key=lambda row: [row[name] for name in key])


def phase(step: str) -> str:
    """The name of a step in records and predictions."""
    return step if step in PIROUETTE.once else f"answer_{step}"


def steps(row: Document, wanted: Sequence[str] = PIROUETTE.steps) -> dict[str, float]:
    """Median seconds of the steps that a record has."""
    measured = {each["name"]: each["seconds"] for each in row["phases"]}
    return {step: quartiles(measured[phase(step)])[1] for step in wanted if measured.get(phase(step))}
