"""All systems over seventeen databases: answer times, predicted of committed sets and measured, and bytes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from pirlab_estimator.search.bounds import Objective
from pirlab_estimator.search.evaluate import Figures, Shape

from ..lib.marks import MEANINGS, SYMBOLS
from ..lib.protocols import place, protocol_name
from ..lib.units import has, human_bytes, human_seconds, shape_text
from .measured import Measured, fastest

Line = dict[str, Any]
Cells = Mapping[tuple[str, Shape], str]
"""Texts by protocol and database."""
COMMAND = (
    "`pirlab run params/SET.toml --records N --record-bits W --out r.json` measures a cell again, with "
    "`--with KEY=VALUE` for each value that stands behind the set, `--queries Q` and `--streamed` where these are said."
)
MEASURED = (
    "One thread. Of each protocol the fastest answer of a set that reaches 128 bits and a failure of 2^-40, whether "
    "the table above has this set or another; of several records of a set the median of their medians. A batch "
    "of queries stands where no single query was measured."
)


def serving(sweep: Path) -> tuple[list[Shape], dict[tuple[str, Shape], Line]]:
    """The databases of a sweep of committed sets, smallest first, and each protocol's fastest set at each."""
    frame = pd.read_csv(sweep)
    frame = frame[frame["kind"] == "committed"]
    shapes = {Shape(int(records), int(bits)) for records, bits in zip(frame["records"], frame["record_bits"])}
    found: dict[tuple[str, Shape], Line] = {}
    for line in frame[frame["refused"].isna()].to_dict("records"):
        shape = Shape(int(line["records"]), int(line["record_bits"]))
        numbers = {key: line[key] for key in ("upload", "download", "hint_bytes", "seconds", "client_seconds")}
        serves = int(line["hint_serves"]) if has(line["hint_serves"]) else None
        line["score"] = Objective("seconds", shape)(Figures(**numbers, hint_serves=serves))
        known = found.setdefault((line["protocol"], shape), line)
        found[line["protocol"], shape] = min(known, line, key=lambda each: each["score"])
    return sorted(shapes, key=lambda shape: (shape.records * shape.record_bits, shape.record_bits)), found


def page(sweep: Path, measured: Sequence[Measured], costs: str) -> str:
    """Tables of an answer's seconds, predicted and measured on each machine, and of the bytes of query and answer, with
    their sets or records. costs: the unit costs of the predicted ones, as Markdown."""
    shapes, found = serving(sweep)
    parts = [
        f"## Time of an answer, predicted\n\nOne thread, by {costs}.",
        _table(shapes, {at: human_seconds(line["seconds"], 2) for at, line in found.items()}),
        f"The sets of this table and of the bytes below. {COMMAND}",
        _list(shapes, {at: f"`{line['name']}`" for at, line in found.items()}),
    ]
    for machine in sorted({each.machine for each in measured}):
        parts += _measured(shapes, machine, [each for each in measured if each.machine == machine])
    parts += [
        "## Bytes of query and answer\n\nHints and keys, which are sent beforehand, are not in it.",
        _table(shapes, {at: human_bytes(line["upload"] + line["download"], 2) for at, line in found.items()}),
    ]
    return "\n\n".join(parts)


def _measured(shapes: list[Shape], machine: str, measured: Sequence[Measured]) -> list[str]:
    """The table of a machine, with its marks and records."""
    there: dict[tuple[str, Shape], list[Measured]] = {}
    for each in measured:
        if each.shape in shapes:
            there.setdefault((each.protocol, each.shape), []).append(each)
    best = {at: one for at, several in there.items() if (one := fastest(several))}
    marks = {mark for one in best.values() for mark in one.marks()}
    return [
        f"## Time of an answer, measured on {machine}\n\n{MEASURED}",
        _table(shapes, {at: human_seconds(one.seconds, 2) + one.marks() for at, one in best.items()}),
        *(f"{symbol} {MEANINGS[key]}." for key, symbol in SYMBOLS.items() if symbol in marks),
        f"The sets and records of this table. {COMMAND}",
        _list(shapes, {at: one.words() for at, one in best.items()}),
    ]


def _protocols(cells: Cells) -> list[str]:
    return sorted({name for name, _ in cells}, key=lambda name: (place(name), name))


def _list(shapes: list[Shape], cells: Cells) -> str:
    """A line a protocol: each text and the databases that it stands for."""
    lines = []
    for name in _protocols(cells):
        said: dict[str, list[str]] = {}
        for shape in (shape for shape in shapes if (name, shape) in cells):
            said.setdefault(cells[name, shape], []).append(shape_text(shape.records, shape.record_bits))
        parts = [f"{each} ({', '.join(databases)})" for each, databases in said.items()]
        lines.append(f"- {protocol_name(name)}: {'; '.join(parts)}")
    return "\n".join(lines)


def _table(shapes: list[Shape], cells: Cells) -> str:
    head = [f"| protocol | {' | '.join(shape_text(shape.records, shape.record_bits) for shape in shapes)} |"]
    head += ["|---|" + "---:|" * len(shapes)]
    lines = {name: [cells.get((name, shape), "") for shape in shapes] for name in _protocols(cells)}
    return "\n".join([*head, *(f"| {protocol_name(name)} | {' | '.join(of)} |" for name, of in lines.items())])
