"""All systems over a dozen databases: of each the committed set that is soonest there, its answer time and bytes."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from pirlab_estimator.search.bounds import Objective
from pirlab_estimator.search.evaluate import Figures, Shape

from ..lib.protocols import place, protocol_name
from ..lib.units import has, human_bytes, human_seconds, shape_text

Best = dict[tuple[str, Shape], dict[str, Any]]
Text = Callable[[dict[str, Any], Shape], str]
Answers = Mapping[tuple[str, int, int], float]
"""Median seconds of an answer by set, records and bits of a record."""


def soonest(sweep: Path) -> tuple[list[Shape], Best]:
    """The databases of a sweep of committed sets, the smallest first, and each protocol's soonest set at each."""
    frame = pd.read_csv(sweep)
    frame = frame[frame["kind"] == "committed"]
    shapes = {Shape(int(records), int(bits)) for records, bits in zip(frame["records"], frame["record_bits"])}
    best: Best = {}
    for line in frame[frame["refused"].isna()].to_dict("records"):
        shape = Shape(int(line["records"]), int(line["record_bits"]))
        numbers = {key: line[key] for key in ("upload", "download", "hint_bytes", "seconds", "client_seconds")}
        serves = int(line["hint_serves"]) if has(line["hint_serves"]) else None
        line["score"] = Objective("seconds", shape)(Figures(**numbers, hint_serves=serves))
        known = best.setdefault((line["protocol"], shape), line)
        if line["score"] < known["score"]:
            best[line["protocol"], shape] = line
    return sorted(shapes, key=lambda shape: (shape.records * shape.record_bits, shape.record_bits)), best


def page(sweep: Path, measured: Mapping[str, Answers]) -> str:
    """Tables of an answer's seconds, predicted and measured on each machine, and of the bytes of query and answer."""
    shapes, best = soonest(sweep)

    def answers(of: Answers) -> Text:
        def text(line: dict[str, Any], shape: Shape) -> str:
            known = of.get((line["name"], shape.records, shape.record_bits))
            return "" if known is None else human_seconds(known, 2)

        return text

    parts = [
        "## Time of an answer, predicted\n\nOne thread, by the committed "
        "[unit costs](../../estimator/cost/unit_costs.json), which name their machine.",
        _table(shapes, best, lambda line, _: human_seconds(line["seconds"], 2)),
    ]
    for name, of in measured.items():
        parts += [f"## Time of an answer, measured on {name}\n\nOne thread.", _table(shapes, best, answers(of))]
    parts += [
        "## Bytes of query and answer\n\nHints and keys, which are sent beforehand, are not in it.",
        _table(shapes, best, lambda line, _: human_bytes(line["upload"] + line["download"], 2)),
    ]
    return "\n\n".join(parts)


def _table(shapes: list[Shape], best: Best, text: Text) -> str:
    names = sorted({name for name, _ in best}, key=lambda name: (place(name), name))
    head = [f"| protocol | {' | '.join(shape_text(shape.records, shape.record_bits) for shape in shapes)} |"]
    head += ["|---|" + "---:|" * len(shapes)]
    cells: Mapping[str, list[str]] = {
        name: [text(best[name, shape], shape) if (name, shape) in best else "" for shape in shapes] for name in names
    }
    return "\n".join([*head, *(f"| {protocol_name(name)} | {' | '.join(of)} |" for name, of in cells.items())])
