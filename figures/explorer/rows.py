"""The explorer's rows: each measured, predicted or searched set at a database, in base units, of one request."""

import csv
import shlex
from collections.abc import Callable, Iterable, Iterator
from math import isinf
from pathlib import Path
from typing import Any

from pirlab_estimator.machine import machine_name
from pirlab_estimator.paths import ROOT
from pirlab_estimator.search import study
from pirlab_estimator.sets import options_with

from ..lib.frame import quartiles
from ..lib.marks import PREDICTED, marks_of
from ..lib.units import has

Row = dict[str, Any]
SEARCHED = "searched"
"""The status of a set that a search found, at a database for which no run has it."""
SHOWN = ("ok", PREDICTED)
DEFAULTS = {"queries": 1, "threads": 1, "updates": 0, "repetitions": 0}
"""Counts that the command of a row leaves out; a row that did not run has no repetitions."""
COMMITTED = "committed"
"""The kind of a sweep's rows that are of committed sets."""


def _phases(row: Row) -> list[list[Any]]:
    """Each phase of a request: its name, the quartiles of its seconds, lowest first, and the number of samples."""
    timed = [(phase["name"], phase["seconds"]) for phase in row["phases"] or [] if phase["seconds"]]
    return [[name, *quartiles(seconds), len(seconds)] for name, seconds in timed]


def _seconds(row: Row, name: str) -> float | None:
    """The median seconds of a phase of a request."""
    return next((median for phase, _, median, *_ in _phases(row) if phase == name), None)


def _margins(row: Row) -> list[list[Any]]:
    """Each stage whose noise was measured: its name, its margin in standard deviations, and the number of samples."""
    return [[stage["stage"], stage["margin"], stage["samples"]] for stage in row.get("noise") or []]


def _parts(row: Row, *sides: str) -> list[list[Any]]:
    """What these sides hold while queries are served: side, name and bytes."""
    memory = (row["description"] or {}).get("memory", {})
    return [[side, part["name"], part["bytes"]] for side in sides for part in memory.get(side, [])]


def _held(row: Row) -> list[list[Any]]:
    """What both sides hold, and the most bytes that the program took: as measured, where it ran, and as described."""
    measured = [] if row["status"] == PREDICTED else [["program", "peak", row["peak_bytes"]]]
    described = ["program", "peak, described", row["described_peak_bytes"]]
    return [*_parts(row, "server", "client"), *measured, described]


def _memory(row: Row, side: str) -> int | None:
    """The bytes that a side holds while it serves queries."""
    return sum(part[-1] for part in _parts(row, side)) if row["description"] else None


def _serves(row: Row) -> int | None:
    """The number of queries that what is sent beforehand serves; None for any number."""
    messages = (row["description"] or {}).get("messages", [])
    counts = [message.get("queries_served") for message in messages if message["phase"] == "offline"]
    return min((count for count in counts if count is not None), default=None)


def _parameters(row: Row) -> dict[str, Any]:
    return (row["description"] or {}).get("parameters") or {}


def _command(row: Row) -> str:
    """The command that measures the row again."""
    parameters = _parameters(row)
    words = ["pirlab", "run", parameters.get("path", ""), *options_with(parameters.get("with", {}))]
    words += ["--records", str(row["records"]), "--record-bits", str(row["record_bits"])]
    counts = row | (row["document"] or {})
    for name, default in DEFAULTS.items():
        words += [f"--{name}", str(int(counts[name]))] if counts.get(name, default) != default else []
    words += ["--streamed"] if row["streamed"] else []
    return shlex.join([*words, "--out", "record.json"])


#: The function that computes each column from a row of `lib.frame.rows`, by the column's name.
COLUMNS: dict[str, Callable[[Row], Any]] = {
    "protocol": lambda row: row["protocol"],
    "set": lambda row: row["set"],
    "records": lambda row: row["records"],
    "record_bits": lambda row: row["record_bits"],
    "queries": lambda row: int(row["queries"]),
    "threads": lambda row: int(row["threads"]),
    "status": lambda row: "measured" if row["status"] == "ok" else row["status"],
    "security": lambda row: row["security_bits"],
    "failure": lambda row: row["failure_log2"],
    "upload": lambda row: row["upload_bytes"],
    "download": lambda row: row["download_bytes"],
    "hint": lambda row: row["offline_bytes"],
    "keys": lambda row: row["offline_upload_bytes"],
    "serves": _serves,
    "query_s": lambda row: _seconds(row, "query"),
    "answer_s": lambda row: row["answer_s"],
    "extract_s": lambda row: _seconds(row, "extract"),
    "setup_s": lambda row: row["preprocess_s"],
    "server": lambda row: _memory(row, "server"),
    "client": lambda row: _memory(row, "client"),
    "machine": lambda row: row["machine"],
    "marks": lambda row: "".join(marks_of(row)),
    "place": lambda row: "/".join(filter(None, (row["experiment"], row["row"]))),
    "id": lambda row: row["id"],
    "file": lambda row: row["path"],
    "phases": _phases,
    "margins": _margins,
    "held": _held,
    "parameters": lambda row: _parameters(row).get("path"),
    "command": _command,
}


def shown(rows: Iterable[Row], unpacked: Path | None = None) -> Iterator[list[Any]]:
    """The columns of every row that has numbers. unpacked: the folder from which the files of records are named."""
    above = f"{unpacked.as_posix()}/" if unpacked else ""
    rows = [row for row in rows if row["status"] in SHOWN]
    for row, machine in zip(rows, _machines(rows), strict=True):
        named = row | {"path": (row["path"] or "").removeprefix(above), "machine": machine}
        yield [_plain(of(named)) for of in COLUMNS.values()]


def _machines(rows: list[Row]) -> Iterator[str | None]:
    """The machine that ran each row, or whose unit costs predict it. Unit costs name only a processor; where two
    machines that ran rows have the same processor, the machine of the unit costs is unknown."""
    ran: dict[str | None, set[str]] = {}
    for row in rows:
        if row["document"]:
            ran.setdefault(row["cpu"], set()).add(machine_name(row["document"]))
    for row in rows:
        processor = ((row.get("prediction") or {}).get("unit_costs") or {}).get("machine")
        known = ran.get(processor, set())
        yield machine_name(row["document"]) if row["document"] else next(iter(known)) if len(known) == 1 else processor


def searched(sweep: Path) -> Iterator[list[Any]]:
    """The columns of every set of a sweep's CSV: found ones, which their search finds again, and committed ones."""
    for line in _lines(sweep):
        if not line["refused"]:
            yield [_plain(value) for value in _found(line).values()]


def refused(sweep: Path) -> Iterator[list[Any]]:
    """Protocol, records, bits of a record and the reason, where no committed set of a protocol serves a database."""
    for line in _lines(sweep):
        if line["kind"] == COMMITTED and line["refused"]:
            yield [line["protocol"], int(line["records"]), int(line["record_bits"]), line["refused"]]


def costs(sweeps: Iterable[Path]) -> list[Path]:
    """The unit costs of sweeps."""
    files = {_file(line) for sweep in sweeps for line in _lines(sweep)}
    return [study.costs(study.read(ROOT / file)) for file in sorted(files)]


def _file(line: dict[str, str]) -> str:
    """The file that asks for a line of a sweep."""
    return f"experiments/search/{line['sweep']}.toml"


def _lines(sweep: Path) -> Iterator[dict[str, str]]:
    with sweep.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def _found(line: dict[str, str]) -> Row:
    records, bits = int(line["records"]), int(line["record_bits"])
    status, parameters = SEARCHED, line["set"]
    words = ["pirlab-search", "--sweep", _file(line), "--part", line["part"]]
    if line["kind"] == COMMITTED:
        status, parameters = PREDICTED, f"params/{line['name']}.toml"
        shape = ["--records", str(records), "--record-bits", str(bits)]
        words = ["pirlab", "run", parameters, *shape, "--out", "record.json"]
    row: Row = dict.fromkeys(COLUMNS)
    row |= {"protocol": line["protocol"], "set": line["name"], "records": records, "record_bits": bits}
    row |= {"queries": 1, "threads": 1, "status": status, "marks": "", "place": "", "command": shlex.join(words)}
    row |= {"machine": line["machine"], "parameters": parameters}
    row |= {name: float(line[key]) for key, name in FIGURES.items() if line.get(key)}
    # A search has one figure for the client's seconds.
    return row | {"extract_s": 0.0}


#: The explorer's name of each column of a sweep's CSV that the explorer shows.
FIGURES = {
    "upload": "upload",
    "download": "download",
    "hint_bytes": "hint",
    "key_bytes": "keys",
    "hint_serves": "serves",
    "seconds": "answer_s",
    "client_seconds": "query_s",
    "setup_seconds": "setup_s",
    "server_bytes": "server",
    "client_bytes": "client",
    "log2_failure": "failure",
    "bits": "security",
}


def _plain(value: Any) -> Any:
    """A value as JSON has it, with six digits; None for what is missing."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, str):
        return value
    if not has(value) or isinf(number := float(value)):
        return None
    return int(number) if number.is_integer() else float(f"{number:.6g}")
