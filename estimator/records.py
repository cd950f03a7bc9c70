"""Reads records for every program, and checks them by the binary's schema and by rules that no schema states.

A record that breaks one is refused with its file and key. Nothing downstream checks again.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import fastjsonschema

from .inputs import InputError as InputError
from .inputs import read_text
from .paths import ROOT
from .schemas import fault, short

RUN, PRIMITIVE = "pirlab/run/1", "pirlab/primitive/1"
#: The file that describes the records of each schema.
FILES = {RUN: "run", PRIMITIVE: "primitive"}
KINDS = {RUN: ("protocol",), PRIMITIVE: ("primitive", "failure")}
#: The ranges of the schemas' formats. The square of every float must be finite.
RANGES: dict[str, tuple[float, float]] = {
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
    "uint128": (0, 2**128 - 1),
    "double": (-1e150, 1e150),
}
#: A margin over errors of exactly zero is the largest float: JSON has no infinity.
UNSQUARED = ("margin",)
#: Bounds of a sample of seconds: below any clock's tick divided by its calls, and about a human life.
SHORTEST, LONGEST = 1e-12, 1e9
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
AGAIN = "Delete it and measure again"
ALWAYS_POSITIVE = ("queries", "threads", "repetitions")
ANSWERING = ("answer", "online")


def parse(path: Path, text: str) -> Any:
    """The JSON in a file's text, or in one of its lines."""
    try:
        return json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise InputError(path, f"line {error.lineno}", f"not JSON ({error.msg})", "Delete it and run again") from None
    except (ValueError, RecursionError) as error:
        raise InputError(path, None, f"not JSON that can be read ({error})", "Delete it and run again") from None


def read_json(path: Path) -> Any:
    """The JSON of a file."""
    return parse(path, read_text(path))


def read_lines(path: Path) -> list[Any]:
    """The documents of a file of JSON lines."""
    return [parse(path, line) for line in read_text(path).splitlines() if line.strip()]


def read(path: Path) -> dict[str, Any]:
    """The record in a file."""
    return check(path, read_json(path))


def read_all(folder: Path, schema: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The records of a schema below a folder, in order of their paths; those of the other one are checked as well. A
    folder that does not exist holds none."""
    if folder.exists() and not folder.is_dir():
        raise InputError(folder, None, "is a file, not a folder of records", "Give --records DIR")
    for path in sorted(folder.rglob("*.json")):
        document = read(path)
        if document["schema"] == schema:
            yield path, document


def check(path: Path, document: Any) -> dict[str, Any]:
    """The document, if it is a valid record; InputError names the fault."""
    for key, problem in faults(document):
        raise InputError(path, key, problem, AGAIN)
    found: dict[str, Any] = document
    return found


def faults(document: Any) -> Iterator[tuple[str, str]]:
    """Key and problem of every fault of a record, but only the first that the schema finds."""
    name = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(name, str) or name not in FILES:
        yield "schema", f"{short(name)} is not that of a record, which is {' or '.join(FILES)}"
        return
    try:
        _compiled(name)(document)
    except fastjsonschema.JsonSchemaValueException as error:
        wrong = fault(document, _schema(name))
        yield (wrong.key, wrong.problem) if wrong else (".".join(map(str, error.path[1:])), error.message)
        return
    if document["kind"] not in KINDS[name]:
        yield "kind", f"`{document['kind']}` in a record of {name}, which is of kind {' or '.join(KINDS[name])}"
    yield from _everywhere(document)
    yield from _protocol(document) if name == RUN else _primitive(document)


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a number that JSON has")


@cache
def _schema(name: str) -> dict[str, Any]:
    """The schema of records, with the ranges of its formats."""
    schema: dict[str, Any] = json.loads((ROOT / f"impl/cli/schemas/{FILES[name]}.schema.json").read_text())
    _bound(schema)
    return schema


@cache
def _compiled(name: str) -> Callable[[Any], Any]:
    """A validator well below a millisecond, where jsonschema takes five; it does not always give the reason."""
    compiled: Callable[[Any], Any] = fastjsonschema.compile(_schema(name), use_formats=False)
    return compiled


def _bound(schema: Any, name: str = "") -> None:
    """Write the range of every format into a schema, in place."""
    for key, part in schema.items() if isinstance(schema, dict) else enumerate(schema):
        if isinstance(part, dict | list):
            _bound(part, str(key))
    if isinstance(schema, dict) and schema.get("format") in RANGES:
        low, high = RANGES[schema["format"]]
        high = sys.float_info.max if name in UNSQUARED else high
        schema["minimum"], schema["maximum"] = max(low, schema.get("minimum", low)), high


def _everywhere(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Rules for records of protocols and primitives."""
    for key in ("id", "protocol", "primitive"):
        if record.get(key, key) == "":
            yield key, "is empty"
    for key in ("started", "finished"):
        if not DATE.match(record[key]):
            yield key, f"`{record[key]}` is not a time such as 2026-11-20T10:00:00Z"
    for key in ALWAYS_POSITIVE:
        if record.get(key) == 0:
            yield key, "is 0; it is 1 or more"
    for place, speed in enumerate(record["machine"]["read_bandwidth"]):
        if not speed > 0:
            yield f"machine.read_bandwidth.{place}", f"{speed:g} bytes per second; it is positive"


def _compared(key: str, status: str, correct: dict[str, int]) -> Iterator[tuple[str, str]]:
    """Checks that the status fits the comparison."""
    compared, right = correct["compared"], correct["right"]
    if right > compared:
        yield key, f"{right} right of {compared} compared"
    elif status == "ok" and right < compared:
        yield key, f"status ok although a record came back wrong ({right} of {compared} right)"
    elif status == "wrong" and right == compared > 0:
        yield key, f"status wrong although no record came back wrong ({right} of {compared} right)"


def _samples(key: str, seconds: list[float], least: float = SHORTEST) -> Iterator[tuple[str, str]]:
    """Samples of a clock."""
    for place, sample in enumerate(seconds):
        if not least <= sample <= LONGEST:
            yield f"{key}.{place}", f"{sample:g} s was not measured: a sample is from {least:g} to {LONGEST:g} s"


def _stage(key: str, noise: dict[str, Any], spread: str) -> Iterator[tuple[str, str]]:
    """The errors of a stage."""
    for name in ("samples", "keys"):
        if noise[name] == 0:
            yield f"{key}.{name}", "is 0: nothing was measured"
    for name in (spread, "max"):
        if noise[name] < 0:
            yield f"{key}.{name}", f"{noise[name]:g} is negative"


def _repeated(key: str, names: list[Any]) -> Iterator[tuple[str, str]]:
    for place, name in enumerate(names):
        if name in names[:place]:
            yield f"{key}.{place}", f"`{name}` is there twice"


def _counted(key: str, counts: Any) -> Iterator[tuple[str, str]]:
    """Counts of a description, at any depth, which the schema leaves open."""
    if isinstance(counts, dict):
        for name, part in counts.items():
            yield from _counted(f"{key}.{name}", part)
    elif isinstance(counts, bool) or not isinstance(counts, int | float) or not 0 <= counts <= RANGES["double"][1]:
        yield key, f"{short(counts)} is not a count"


def _protocol(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Rules for a protocol's record."""
    shape = record["description"]["shape"]
    for key in ("records", "record_bits"):
        if record["database"][key] == 0:
            yield f"database.{key}", "is 0; it is 1 or more"
        if record["database"][key] != shape[key]:
            yield f"database.{key}", f"{record['database'][key]}, but {shape[key]} in description.shape"
    description = record["description"]
    for phase, counts in description["operations"].items():
        if isinstance(counts, dict):
            yield from _counted(f"description.operations.{phase}", counts)
        else:
            yield f"description.operations.{phase}", f"{short(counts)} is not an object of counts"
    yield from _counted("description.layout.stored_bytes", description["layout"].get("stored_bytes", 0))
    yield from _compared("correct", record["status"], record["correct"])
    yield from _repeated("phases", [phase["name"] for phase in record["phases"]])
    yield from _repeated("transcript", [f"{sent['phase']} {sent['name']}" for sent in record["transcript"]])
    yield from _repeated("noise", [stage["stage"] for stage in record["noise"]])
    for place, stage in enumerate(record["noise"]):
        yield from _stage(f"noise.{place}", stage, "stddev")
        if not stage["threshold"] > 0:
            yield f"noise.{place}.threshold", f"{stage['threshold']:g} is not positive"
    if record["status"] != "ok":
        return
    if record["correct"]["compared"] == 0:
        yield "correct.compared", "status ok although nothing was compared"
    if not any(phase["name"] == "answer" and phase["seconds"] for phase in record["phases"]):
        yield "phases.answer", "a record with status ok has no answer times"
    if not any(sent["direction"] == "download" and sent["phase"] in ANSWERING for sent in record["transcript"]):
        yield "transcript", "a record with status ok has no answer"
    for place, phase in enumerate(record["phases"]):
        # A client that holds nothing of the database has no work in an update, hence samples of zero.
        least = 0.0 if phase["group"] == "update" else SHORTEST
        yield from _samples(f"phases.{place}.seconds", phase["seconds"], least)


def _primitive(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Rules for a primitive's record, which may compare nothing."""
    measured = record["measured"]
    yield from _compared("measured.correct", record["status"], measured["correct"])
    failures = measured.get("failures", {})
    for name, counted in failures.items():
        key = f"measured.failures.{name}"
        if counted["trials"] == 0 or counted["failures"] > counted["trials"]:
            yield key, f"{counted['failures']} failures in {counted['trials']} trials"
    for name, noise in measured["noise"].items():
        yield from _stage(f"measured.noise.{name}", noise, "variance")
    if record["status"] != "ok":
        return
    if not any(measured[part] for part in ("times", "values", "counts", "noise")) and not failures:
        yield "measured", "status ok although nothing was measured"
    for name, times in measured["times"].items():
        yield from _samples(f"measured.times.{name}.samples", times["samples"])
