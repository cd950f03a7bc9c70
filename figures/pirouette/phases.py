"""Keys and steps of an answer with their predicted seconds and a bound.

Counts are those of `pirlab describe`. The bound of a step is its number of transforms times the calibrated seconds of
one, or the bytes of the preprocessed database that it reads over the probed bandwidth, whichever is longer, over the
threads: what no implementation with these transforms and this layout can beat.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
from pirlab_estimator.cost.units import UnitCosts
from pirlab_estimator.records import InputError

from ..lib.cells import series
from ..lib.inputs import Inputs
from ..lib.marks import provenance
from ..lib.protocols import STEPS, Steps
from ..lib.spec import spec
from ..lib.table import Row, Table
from ..lib.units import human_seconds, total
from .steps import PIROUETTE, Document, phase, shown, steps, transforms

NAMES: dict[str, str] = spec("pirouette/steps").words


def make(inputs: Inputs, which: str) -> Table:
    """The table of that name, with the unit costs of the machine: those named, else this machine's or the committed."""
    costs = inputs.arguments.costs
    try:
        return table(inputs.rows, UnitCosts.load(costs), STEPS[which])
    except (OSError, ValueError) as error:
        raise InputError(costs or "--costs", None, str(error), "Run `make calibrate`") from None


def _lines(row: Document, costs: UnitCosts, of: Steps) -> Iterator[dict[str, Any]]:
    """The steps of an answer; a prediction exists for one thread only."""
    predicted = row["prediction"]["seconds"] if row.get("prediction") and row["threads"] == 1 else {}
    bandwidth = row.get("read_bandwidth")
    for step, seconds in steps(row, [*of.once, *of.steps]).items():
        counts, threads = transforms(row["description"], step), 1 if step in PIROUETTE.once else row["threads"]
        bound = sum((float(costs.total(name, count)) for name, count in counts.items()), 0.0)
        if bandwidth is not None and not pd.isna(bandwidth):
            counted = row["description"]["operations"].get("answer", {}).get(step, {})
            bound = max(bound, counted.get("poly_matrix_bytes", 0) / bandwidth)
        bound /= threads
        line = {key: row[key] for key in ("set", "records", "record_bits", "threads")} | {"record_id": row["id"]}
        line |= {"step": step, "ntts": sum(counts.values()), "bound_s": bound, "measured_s": seconds}
        line |= {"predicted_s": predicted.get(phase(step))}
        yield line | {"measured_over_bound": seconds / bound if bound else None}


def table(every: Sequence[dict[str, Any]], costs: UnitCosts, of: Steps = PIROUETTE) -> Table:
    """A line a step of each measured answer, below those of its keys."""
    rows = shown(every, of.protocols)
    lines: list[Row] = []
    data: list[dict[str, Any]] = []
    for row in rows:
        found = list(_lines(row, costs, of))
        data += found
        answer = [line for line in found if line["step"] not in PIROUETTE.once]
        named = [(NAMES.get(line["step"], line["step"]), line) for line in found]
        if of.first:
            named.append((of.name, _together([line for line in answer if line["step"] in of.first])))
        named.append(("answer", _together(answer) | {"measured_s": row["answer_s"]}))
        for name, line in named:
            seconds, bound = line["measured_s"], line["bound_s"] or None
            # The share of a step in the seconds of all steps, without the keys.
            share = None if line.get("step") in PIROUETTE.once else seconds / row["answer_s"]
            own = {"name": name, "bound": bound, "ratio": seconds / bound if bound else None, "share": share}
            lines.append(SPEC.row(row | line | own, row["id"]))
    others = sorted({str(row["cpu"]) for row in rows} - {costs.machine})
    where = f"CAUTION: measured on {' and '.join(others)}, where a transform may take longer or shorter."
    said: dict[str, Any] = {"protocol": of.title, "keys": "keys and " if of.once else "", "machine": costs.machine}
    said |= {"provenance": provenance(rows), "transform": human_seconds(float(costs.total("ntt_2048_28", 1.0)))}
    said |= {"first": f" {of.said}" if of.said else ""}
    said |= {"once": SPEC.words["once"] if of.once else "", "caution": where if others else ""}
    return SPEC.table(lines, data, **said)


def _together(found: Sequence[Document]) -> dict[str, Any]:
    """The sum of some steps; its prediction is None where a step has none."""
    sums: dict[str, Any] = {key: sum(line[key] for line in found) for key in ("ntts", "bound_s", "measured_s")}
    return sums | {"predicted_s": total(line["predicted_s"] for line in found)}


SPEC = spec("pirouette/phases", series=series)
