"""All systems over seventeen databases: of each the committed set that is fastest there, its answer time and bytes."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from pirlab_estimator.search.bounds import Objective
from pirlab_estimator.search.evaluate import Figures, Shape

from ..lib.protocols import place, protocol_name
from ..lib.units import has, human_bytes, human_seconds, shape_text

Serving = dict[tuple[str, Shape], list[dict[str, Any]]]
Text = Callable[[list[dict[str, Any]], Shape], str]
Answers = Mapping[tuple[str, int, int], tuple[float, str]]
"""Median seconds of an answer and the id of its record, by set, records and bits of a record."""
COMMAND = "`pirlab run params/SET.toml --records N --record-bits W --out r.json` measures a cell again."
MEASURED = "Of the committed sets that no other one of the protocol undercuts by prediction, the fastest measured."


def serving(sweep: Path) -> tuple[list[Shape], Serving]:
    """The databases of a sweep of committed sets, smallest first, and each protocol's sets at each, fastest first."""
    frame = pd.read_csv(sweep)
    frame = frame[frame["kind"] == "committed"]
    shapes = {Shape(int(records), int(bits)) for records, bits in zip(frame["records"], frame["record_bits"])}
    found: Serving = {}
    for line in frame[frame["refused"].isna()].to_dict("records"):
        shape = Shape(int(line["records"]), int(line["record_bits"]))
        numbers = {key: line[key] for key in ("upload", "download", "hint_bytes", "seconds", "client_seconds")}
        serves = int(line["hint_serves"]) if has(line["hint_serves"]) else None
        line["score"] = Objective("seconds", shape)(Figures(**numbers, hint_serves=serves))
        found.setdefault((line["protocol"], shape), []).append(line)
    for lines in found.values():
        lines.sort(key=lambda line: line["score"])
    return sorted(shapes, key=lambda shape: (shape.records * shape.record_bits, shape.record_bits)), found


def page(sweep: Path, measured: Mapping[str, Answers]) -> str:
    """Tables of an answer's seconds, predicted and measured on each machine, and of the bytes of query and answer, with
    their sets or records."""
    shapes, found = serving(sweep)

    def fastest(of: Answers, lines: list[dict[str, Any]], shape: Shape) -> tuple[float, str, str] | None:
        """Seconds, set and record."""
        places = ((line["name"], (line["name"], shape.records, shape.record_bits)) for line in lines)
        return min(((of[place][0], name, of[place][1]) for name, place in places if place in of), default=None)

    def measured_cell(of: Answers, written: Callable[[float, str, str], str]) -> Text:
        def text(lines: list[dict[str, Any]], shape: Shape) -> str:
            known = fastest(of, lines, shape)
            return written(*known) if known else ""

        return text

    parts = [
        "## Time of an answer, predicted\n\nOne thread, by the committed "
        "[unit costs](../../estimator/cost/unit_costs.json), which name their machine.",
        _table(shapes, found, lambda lines, _: human_seconds(lines[0]["seconds"], 2)),
        f"The sets of this table and of the bytes below. {COMMAND}",
        _list(shapes, found, lambda lines, _: f"`{lines[0]['name']}`"),
    ]
    for name, of in measured.items():
        parts += [
            f"## Time of an answer, measured on {name}\n\nOne thread. {MEASURED}",
            _table(shapes, found, measured_cell(of, lambda seconds, *_: human_seconds(seconds, 2))),
            f"The records of this table. {COMMAND}",
            _list(shapes, found, measured_cell(of, lambda _, name, record: f"`{name}`, record `{record}`")),
        ]
    parts += [
        "## Bytes of query and answer\n\nHints and keys, which are sent beforehand, are not in it.",
        _table(shapes, found, lambda lines, _: human_bytes(lines[0]["upload"] + lines[0]["download"], 2)),
    ]
    return "\n\n".join(parts)


def _protocols(found: Serving) -> list[str]:
    return sorted({name for name, _ in found}, key=lambda name: (place(name), name))


def _list(shapes: list[Shape], found: Serving, text: Text) -> str:
    """A line a protocol: each text and the databases that it stands for."""
    lines = []
    for name in _protocols(found):
        said: dict[str, list[str]] = {}
        for shape in (shape for shape in shapes if (name, shape) in found):
            said.setdefault(text(found[name, shape], shape), []).append(shape_text(shape.records, shape.record_bits))
        parts = [f"{each} ({', '.join(databases)})" for each, databases in said.items() if each]
        lines += [f"- {protocol_name(name)}: {'; '.join(parts)}"] if parts else []
    return "\n".join(lines)


def _table(shapes: list[Shape], found: Serving, text: Text) -> str:
    head = [f"| protocol | {' | '.join(shape_text(shape.records, shape.record_bits) for shape in shapes)} |"]
    head += ["|---|" + "---:|" * len(shapes)]
    cells: Mapping[str, list[str]] = {
        name: [text(found[name, shape], shape) if (name, shape) in found else "" for shape in shapes]
        for name in _protocols(found)
    }
    return "\n".join([*head, *(f"| {protocol_name(name)} | {' | '.join(of)} |" for name, of in cells.items())])
