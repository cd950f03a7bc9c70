"""Records of primitives, each with its prediction, and the table that shows all that any of them measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pandas as pd
from pirlab_estimator.compare import Comparison, compare
from pirlab_estimator.records import PRIMITIVE, read_all

from .loader import ORPHAN, prediction_documents, quartiles
from .marks import Mark, footnotes, marks_of, provenance, symbols
from .names import words
from .table import Cell, Column, Row, Table
from .units import human_seconds, significant

SPREAD_LIMIT = 0.10
SETS = ("packing",)
"""Primitives that the papers show as parameter sets: security and a failure bound are predicted of them."""
SPREAD = Mark("varying", "ᵛ", "v", "times vary: interquartile range above 10 % of the median")


@dataclass(frozen=True)
class Time:
    """Quartiles of a time, seconds of one call."""

    low: float
    median: float
    high: float

    @property
    def varying(self) -> bool:
        """Whether the interquartile range is above SPREAD_LIMIT of the median."""
        return self.high - self.low > SPREAD_LIMIT * self.median


@dataclass(frozen=True)
class Primitive:
    """A record. What was measured of one whose status is not `ok` does not exist."""

    document: dict[str, Any]
    path: str
    stale: str | None = None
    prediction: dict[str, Any] | None = None

    @property
    def ok(self) -> bool:
        return bool(self.document["status"] == "ok")

    @property
    def id(self) -> str:
        return str(self.document["id"])

    @property
    def name(self) -> str:
        return str(self.document["primitive"])

    @property
    def settings(self) -> dict[str, Any]:
        """As asked for, with all that the description filled in."""
        return {**self.document["settings"], **self.document["described"]["settings"]}

    def _measured(self, part: str, name: str) -> Any:
        return self.document["measured"][part].get(name) if self.ok else None

    def time(self, name: str) -> Time | None:
        """Quartiles of a time; None where there is none."""
        times = self._measured("times", name)
        return Time(*quartiles(times["samples"])) if times and times["samples"] else None

    def seconds(self, name: str) -> float | None:
        """Median of a time."""
        time = self.time(name)
        return time.median if time else None

    def values(self, name: str) -> list[float]:
        """All values of a name."""
        return self._measured("values", name) or []

    def count(self, name: str) -> float | None:
        """A count, measured or described."""
        found: float | None = self._measured("counts", name)
        described: dict[str, float] = self.document["described"]["counts"]
        return described.get(name) if found is None else found

    def noise(self, stage: str) -> dict[str, float] | None:
        """The errors of a stage."""
        found: dict[str, float] | None = self._measured("noise", stage)
        return found

    def predicted_noise(self, stage: str) -> dict[str, Any] | None:
        """The prediction of a stage."""
        stages = ((self.prediction or {}).get("noise") or {}).get("stages") or []
        return next((entry for entry in stages if entry["stage"] == stage), None)

    def row(self) -> dict[str, Any]:
        """What marks and provenance look at."""
        document, foretold = self.document, self.prediction or {}
        noise = foretold.get("noise") or {}
        machine, build = document["machine"], document["build"]
        probes = [machine[k] for k in ("read_bandwidth_before", "read_bandwidth_after") if machine.get(k)]
        return {
            "kind": "set" if self.name in SETS else "primitive",
            "protocol": self.name,
            "set": document["row"],
            "security": foretold.get("security") or [],
            "security_bits": foretold.get("security_bits"),
            "security_target": foretold.get("security_target"),
            "failure_log2": noise.get("log2_failure"),
            "failure_target": noise.get("failure_target"),
            "status": document["status"],
            "stale": self.stale,
            "seeded": document.get("seed") is not None,
            "dirty": bool(build.get("dirty")),
            "cpu": machine.get("cpu"),
            "kernel": build.get("kernel"),
            "commit": build.get("commit"),
            "threads": document["threads"],
            "repetitions": document["repetitions"],
            "read_bandwidth": sum(probes) / len(probes) if probes else None,
        }

    def marks(self, times: Iterable[str] = ()) -> str:
        """Symbols of the record's marks, and whether one of these times varies."""
        varying = any(time.varying for time in map(self.time, times) if time)
        return symbols(marks_of(self.row())) + (SPREAD.symbol if varying else "")

    def status(self) -> str | None:
        """Why there is no number."""
        reason = self.document.get("reason")
        words = self.document["status"].replace("_", ", ") if not self.ok else None
        return f"{words}: {reason}" if words and reason else words


def load(
    folders: Sequence[Path], predictions: Sequence[Path] = (), stale: dict[str, str] | None = None
) -> list[Primitive]:
    """All records of primitives below the folders, in order of their paths.

    predictions: of the rows of the first folders, one file each. Where several records measure the same row, the one
    finished last stays. A folder that does not exist holds none.
    """
    rows: dict[tuple[Any, ...], Primitive] = {}
    for folder, file in zip_longest(folders, predictions[: len(folders)]):
        foretold = {document["id"]: document for _, document in prediction_documents(file)} if file else {}
        for path, document in read_all(folder, PRIMITIVE):
            record = _beside(path, document, stale or {}, foretold)
            key = tuple(document.get(part) for part in ("experiment", "group", "row"))
            if key not in rows or str(document.get("finished")) >= str(rows[key].document.get("finished")):
                rows[key] = record
    return list(rows.values())


def _beside(
    path: Path, document: dict[str, Any], stale: dict[str, str], foretold: dict[str, dict[str, Any]]
) -> Primitive:
    """A record with the date of a stale one, and its prediction."""
    hit = stale.get(document["id"])
    if hit is None:
        hit = next((date for key, date in stale.items() if "/" in key and path.as_posix().endswith(key)), None)
    if hit in ("", ORPHAN):
        hit = str(document.get("finished") or "date unknown")[:10] + hit
    prediction = foretold.get(f"{document.get('group')}/{document.get('row')}")
    return Primitive(document, path.as_posix(), hit, prediction)


def notes(records: Sequence[Primitive], varying: bool = False) -> tuple[list[tuple[Mark, str]], str]:
    """The footnotes these records need, and where they come from."""
    rows = [record.row() for record in records]
    found = footnotes(rows)
    if varying:
        found.append((SPREAD, SPREAD.meaning))
    return found, provenance(rows)


def lines(record: Primitive) -> list[tuple[str, str, float, str]]:
    """Kind, name, value in base units and text of all that a record measured: medians of samples."""
    found = []
    for name in sorted(record.document["measured"]["times"] if record.ok else []):
        median = record.seconds(name)
        if median is not None:
            found.append(("seconds", name, median, human_seconds(median)))
    for name, values in sorted(record.document["measured"]["values"].items() if record.ok else []):
        if values:
            found.append(("value", name, quartiles(values)[1], significant(quartiles(values)[1], 4)))
    for stage, noise in record.document["measured"]["noise"].items() if record.ok else []:
        deviation = noise["variance"] ** 0.5
        found.append(("noise", stage, deviation, f"{significant(deviation, 4)} (stddev)"))
    for name, counted in record.document["measured"].get("failures", {}).items() if record.ok else []:
        rate = counted["failures"] / counted["trials"]
        found.append(("failure rate", name, rate, significant(rate, 3)))
    for name, count in record.document["measured"]["counts"].items() if record.ok else []:
        found.append(("count", name, count, f"{count:g}"))
    return found


#: What the estimator calls a measured quantity of each kind.
TWINS = {"seconds": "seconds", "noise": "noise stddev", "failure rate": "failure rate"}
#: What a time is called that no described operation gives.
NOT_DESCRIBED = "no operation described"
RULES = (
    "Demanded: variance within 1/16 of a formula, never above a bound, sampling error apart; failure rates with a "
    "variance within 1/16, sampling error apart. Seconds are of one call and predicted from the operations that the "
    "description counts, which the note names: less than all the call does, so for information only."
)


def twins(record: Primitive) -> dict[str, Comparison]:
    """What of a record has a predicted twin, by the estimator's name."""
    return {twin.quantity: twin for twin in compare(record.prediction, record.document)} if record.prediction else {}


def _held(kind: str, twin: Comparison | None) -> dict[str, Cell]:
    """Cells of a measured quantity beside its prediction, if it has one."""
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
    """Every record with all that it measured, one line a quantity, beside its prediction."""
    columns = [
        Column("group", "Group", text=True),
        Column("row", "Row", text=True),
        Column("kind", "Kind", text=True),
        Column("quantity", "Quantity", text=True),
        Column("value", "Measured (median)"),
        Column("predicted", "Predicted"),
        Column("ratio", "Measured / predicted"),
        Column("verdict", "Verdict", text=True),
        Column("note", "Tolerance and note", text=True),
    ]
    rows, data, varying = [], [], False
    for record in records:
        place = {"group": Cell(str(record.document["group"])), "row": Cell(str(record.document["row"]), record.marks())}
        found, foretold = lines(record), twins(record)
        if not found:
            rows.append(Row(place, record.id, record.status() or "nothing was measured"))
        for kind, name, value, text in found:
            time = record.time(name) if kind == "seconds" else None
            vary = SPREAD.symbol if time and time.varying else ""
            varying = varying or bool(vary)
            cells = {"kind": Cell(kind), "quantity": Cell(name.replace("_", " ")), "value": Cell(text, vary, value)}
            twin = foretold.get(f"{TWINS.get(kind)} {name}")
            rows.append(Row(place | cells | _held(kind, twin), record.id))
            entry = {"primitive": record.name, "group": record.document["group"], "row": record.document["row"]}
            entry |= {"kind": kind, "quantity": name, "median": value}
            if twin is not None:
                entry |= {"predicted": twin.predicted, "ratio": twin.ratio, "verdict": twin.verdict}
            data.append(entry | {"record_id": record.id})
    columns_written = words("primitive group row kind quantity median predicted ratio verdict record_id")
    frame = pd.DataFrame(data, columns=columns_written)
    marks, origin = notes(records, varying)
    title = f"Primitives: {', '.join(dict.fromkeys(record.name for record in records)) or 'none measured'}"
    return Table(title, columns, rows, frame, marks, [origin, RULES], "primitives", "kind")
