"""Keys and steps of an answer with their predicted seconds and a bound.

Counts are those of `pirlab describe`. The bound of a step is its number of transforms times the calibrated seconds of
one, or the bytes of the preprocessed database that it reads over the probed bandwidth, whichever is longer, over the
threads: what no implementation with these transforms and this layout can beat.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
from pirlab_estimator.cost.units import UnitCosts
from pirlab_estimator.records import InputError

from ..lib.cells import database, series
from ..lib.inputs import Inputs
from ..lib.marks import provenance
from ..lib.output import words
from ..lib.protocols import STEPS, Steps
from ..lib.table import Cell, Column, Row, Table, footnotes_of, texts
from ..lib.units import human_seconds, significant
from .steps import PIROUETTE, Document, phase, shown, steps, transforms

NAMES = {
    "key_expansion": "key expansion",
    "rgsw": "LWE to RGSW",
    "conversion": "digits, bits, LWE to RGSW",
    "first_dimension": "first dimension",
}
COLUMNS = words(
    "set records record_bits threads step ntts bound_s predicted_s measured_s measured_over_bound record_id"
)


def make(inputs: Inputs, which: str) -> Table:
    """The table of that name, with the unit costs of the machine: those named, else this machine's or the committed."""
    costs = inputs.arguments.costs
    try:
        return table(inputs.joined, UnitCosts.load(costs), STEPS[which])
    except (OSError, ValueError) as error:
        raise InputError(costs or "--costs", None, str(error), "Run `make calibrate`") from None


def matrix_bytes(description: Document, step: str) -> int:
    """Bytes of the preprocessed database that a step reads."""
    return int(description["operations"].get("answer", {}).get(step, {}).get("poly_matrix_bytes", 0))


def _lines(row: Document, costs: UnitCosts, of: Steps) -> Iterator[dict[str, Any]]:
    """The steps of an answer; a prediction exists for one thread only."""
    predicted = row["prediction"]["seconds"] if row.get("prediction") and row["threads"] == 1 else {}
    bandwidth = row.get("read_bandwidth")
    for step, seconds in steps(row, [*of.once, *of.steps]).items():
        counts, threads = transforms(row["description"], step), 1 if step in PIROUETTE.once else row["threads"]
        bound = sum((float(costs.total(name, count)) for name, count in counts.items()), 0.0)
        if bandwidth is not None and not pd.isna(bandwidth):
            bound = max(bound, matrix_bytes(row["description"], step) / bandwidth)
        bound /= threads
        line = {key: row[key] for key in ("set", "records", "record_bits", "threads")} | {"record_id": row["id"]}
        line |= {"step": step, "ntts": sum(counts.values()), "bound_s": bound, "measured_s": seconds}
        line |= {"predicted_s": predicted.get(phase(step))}
        yield line | {"measured_over_bound": seconds / bound if bound else None}


def table(joined: pd.DataFrame, costs: UnitCosts, of: Steps = PIROUETTE) -> Table:
    """A line a step of each measured answer, below those of its keys."""
    columns = [
        *texts(database="Database", series="Set"),
        Column("threads", "Threads"),
        *texts(step="Step"),
        Column("ntts", "Transforms"),
        Column("bound", "Bound"),
        Column("predicted", "Predicted"),
        Column("measured", "Measured"),
        Column("ratio", "Measured / bound"),
        Column("share", "Of the answer", "%"),
    ]
    rows, data = shown(joined, of), []
    lines = []
    for row in rows:
        head = {"database": database(row), "series": series(row), "threads": Cell(str(row["threads"]))}
        found = list(_lines(row, costs, of))
        data += found
        answer = [line for line in found if line["step"] not in PIROUETTE.once]
        named = [(NAMES.get(line["step"], line["step"]), line) for line in found]
        if of.first:
            named.append(("phase 0", _together([line for line in answer if line["step"] in of.first])))
        named.append(("answer", _together(answer) | {"measured_s": row["answer_s"]}))
        for name, line in named:
            lines.append(Row(head | _cells(name, line, row["answer_s"]), row["id"]))
    notes = [
        provenance(rows),
        f"Transforms: as the descriptions count them, of 2048 points modulo one prime of 28 bits; one alone takes "
        f"{human_seconds(float(costs.total('ntt_2048_28', 1.0)))} (unit costs of {costs.machine}). Bound: the "
        "transforms alone or, where that takes longer, one read of the preprocessed database at the probed bandwidth; "
        "on several threads that over their number. Products with keys and digits come on top."
        + (" Phase 0 is digits, bits, LWE to RGSW and selector." if of.first else ""),
        "Predicted: all operations of the step by the unit costs, on one thread.",
    ]
    if of.once:
        notes[-1] += (
            " Keys are made and expanded once a client and timed once, in memory that is new to the process: where the "
            "host of a virtual machine has taken free memory back, that alone takes longer than all the rest. The "
            "prediction of keys is a lower bound."
        )
    others = sorted({str(row["cpu"]) for row in rows} - {costs.machine})
    if others:
        notes.append(f"CAUTION: measured on {' and '.join(others)}, where a transform may take longer or shorter.")
    title = f"{of.title}: {'keys and ' if of.once else ''}each step of an answer, beside its bound"
    footnotes = footnotes_of(lines)
    return Table(title, columns, lines, pd.DataFrame(data, columns=COLUMNS), footnotes, notes)


def _together(found: Sequence[Document]) -> dict[str, Any]:
    """The sum of some steps; its prediction is None where a step has none."""
    sums: dict[str, Any] = {key: sum(line[key] for line in found) for key in ("ntts", "bound_s", "measured_s")}
    predicted = [line["predicted_s"] for line in found]
    return sums | {"predicted_s": None if None in predicted else sum(predicted)}


def _cells(name: str, line: Document, answer: float) -> dict[str, Cell]:
    """The cells of a step; answer: the seconds of all steps, without the keys."""
    bound, predicted, measured = line["bound_s"], line["predicted_s"], line["measured_s"]
    cells = {
        "step": Cell(name),
        "ntts": Cell(str(line["ntts"]), sort=float(line["ntts"])),
        "bound": Cell(human_seconds(bound) if bound else "–", sort=bound),
        "predicted": Cell("–" if predicted is None else human_seconds(predicted), sort=predicted),
        "measured": Cell(human_seconds(measured), sort=measured),
        "ratio": Cell(significant(measured / bound, 3) if bound else "–"),
    }
    share = None if line.get("step") in PIROUETTE.once else measured / answer
    return cells | {"share": Cell("–" if share is None else significant(100 * share, 2), sort=share)}
