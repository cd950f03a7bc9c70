"""Records of primitives, each with its prediction."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pirlab_estimator.compare import Comparison, compare
from pirlab_estimator.machine import read_bandwidth
from pirlab_estimator.records import PRIMITIVE, read_all

from .frame import prediction_documents, quartiles, stale_date
from .marks import SPREAD_LIMIT, Mark, footnotes, marks_of, provenance, symbols

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
    """A record. One whose status is not `ok` has no measured values."""

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
        """The settings, completed by the description."""
        return {**self.document["settings"], **self.document["described"]["settings"]}

    def _measured(self, part: str, name: str) -> Any:
        return self.document["measured"][part].get(name) if self.ok else None

    def time(self, name: str) -> Time | None:
        """Quartiles of a time; None where it was not measured."""
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

    def twins(self) -> dict[str, Comparison]:
        """The measured quantities that have a predicted twin, by the estimator's name."""
        return {twin.quantity: twin for twin in compare(self.prediction, self.document)} if self.prediction else {}

    def row(self) -> dict[str, Any]:
        """What marks and provenance look at."""
        document, predicted = self.document, self.prediction or {}
        noise = predicted.get("noise") or {}
        machine, build = document["machine"], document["build"]
        row = {key: document[key] for key in ("status", "threads", "repetitions")}
        row |= {key: build.get(key) for key in ("kernel", "commit", "source_hash")}
        row["dirty"] = bool(build.get("dirty"))
        row |= {key: predicted.get(key) for key in ("security_bits", "security_target")}
        row |= {"kind": "set" if self.name in SETS else "primitive", "protocol": self.name, "set": document["row"]}
        row |= {"security": predicted.get("security") or [], "failure_log2": noise.get("log2_failure")}
        row |= {"failure_target": noise.get("failure_target"), "stale": self.stale, "cpu": machine.get("cpu")}
        return row | {"seeded": document.get("seed") is not None, "read_bandwidth": read_bandwidth(machine)}

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
        predicted = {document["id"]: document for _, document in prediction_documents(file)} if file else {}
        for path, document in read_all(folder, PRIMITIVE):
            date = stale_date(stale or {}, document["id"], path.as_posix(), document.get("finished"))
            prediction = predicted.get(f"{document.get('group')}/{document.get('row')}")
            key = tuple(document.get(part) for part in ("experiment", "group", "row"))
            if key not in rows or str(document.get("finished")) >= str(rows[key].document.get("finished")):
                rows[key] = Primitive(document, path.as_posix(), date, prediction)
    return list(rows.values())


def notes(records: Sequence[Primitive], varying: bool = False) -> tuple[list[tuple[Mark, str]], str]:
    """The footnotes these records need, and where they come from."""
    rows = [record.row() for record in records]
    found = footnotes(rows)
    if varying:
        found.append((SPREAD, SPREAD.meaning))
    return found, provenance(rows)
