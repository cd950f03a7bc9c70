"""The table of all quantities in records of primitives, one line each, with its prediction."""

from collections.abc import Sequence
from typing import Any

from pirlab_estimator.compare import Comparison

from ..lib.frame import quartiles
from ..lib.primitive import SPREAD, Primitive, notes
from ..lib.spec import spec
from ..lib.table import Cell, Row, Table
from ..lib.units import human_seconds, significant


def lines(record: Primitive) -> list[tuple[str, str, float, str]]:
    """Kind, name, value in base units and text of all that a record measured: medians of samples."""
    if not record.ok:
        return []
    measured, found = record.document["measured"], []
    for name in sorted(measured["times"]):
        median = record.seconds(name)
        if median is not None:
            found.append(("seconds", name, median, human_seconds(median)))
    for name, values in sorted(measured["values"].items()):
        if values:
            median = quartiles(values)[1]
            found.append(("value", name, median, significant(median, 4)))
    for stage, noise in measured["noise"].items():
        deviation = noise["variance"] ** 0.5
        found.append(("noise", stage, deviation, f"{significant(deviation, 4)} (stddev)"))
    for name, counted in measured.get("failures", {}).items():
        rate = counted["failures"] / counted["trials"]
        found.append(("failure rate", name, rate, significant(rate, 3)))
    for name, count in measured["counts"].items():
        found.append(("count", name, count, f"{count:g}"))
    return found


#: The estimator's name of a measured quantity of each kind.
TWINS = {"seconds": "seconds", "noise": "noise stddev", "failure rate": "failure rate"}
#: The name of a time that no described operation gives.
NOT_DESCRIBED = "no operation described"
SPEC = spec("runs/primitives")


def _held(kind: str, twin: Comparison | None) -> dict[str, Cell]:
    """Cells that compare a measured quantity with its prediction, if it has one."""
    if twin is None:
        return {"note": Cell(NOT_DESCRIBED)} if kind == "seconds" else {}
    predicted = human_seconds(twin.predicted) if kind == "seconds" else significant(twin.predicted, 4)
    return {
        "predicted": Cell(predicted, sort=twin.predicted),
        "ratio": Cell(significant(twin.ratio, 3), sort=twin.ratio),
        "verdict": Cell(twin.verdict),
        "note": Cell("; ".join(filter(None, (twin.tolerance, twin.note)))),
    }


def table(records: Sequence[Primitive]) -> Table:
    """A line a quantity of each record."""
    rows, varying = [], False
    data: list[dict[str, Any]] = []
    for record in records:
        place = {"group": Cell(str(record.document["group"])), "row": Cell(str(record.document["row"]), record.marks())}
        found, predicted = lines(record), record.twins()
        if not found:
            rows.append(Row(place, record.id, record.status() or "nothing was measured"))
        for kind, name, value, text in found:
            time = record.time(name) if kind == "seconds" else None
            vary = SPREAD.symbol if time and time.varying else ""
            varying = varying or bool(vary)
            cells = {"kind": Cell(kind), "quantity": Cell(name.replace("_", " ")), "value": Cell(text, vary, value)}
            twin = predicted.get(f"{TWINS.get(kind)} {name}")
            rows.append(Row(place | cells | _held(kind, twin), record.id))
            entry = {"primitive": record.name, "group": record.document["group"], "row": record.document["row"]}
            entry |= {"kind": kind, "quantity": name, "median": value}
            if twin is not None:
                entry |= {"predicted": twin.predicted, "ratio": twin.ratio, "verdict": twin.verdict}
            data.append(entry | {"record_id": record.id})
    marks, origin = notes(records, varying)
    names = ", ".join(dict.fromkeys(record.name for record in records)) or "none measured"
    return SPEC.table(rows, data, marks, names=names, origin=origin)
