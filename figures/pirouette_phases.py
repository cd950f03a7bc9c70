"""Keys and steps of an answer of Pirouette or Respire beside their predicted seconds and a bound, and how many blind
rotations Pirouette has.

Counts are those of `pirlab describe`. The bound of a step is its number of transforms times the calibrated seconds of
one, or the bytes of the preprocessed database that it reads over the probed bandwidth, whichever is longer, over the
threads: what no implementation with these transforms and this layout can beat.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pirlab_estimator.cost.operations import transform
from pirlab_estimator.cost.units import UnitCosts

from . import series
from .inspire_tables import cell_footnotes, mark_footnotes
from .loader import dicts, quartiles
from .marks import marks_of, provenance, symbols
from .names import series_name, words
from .table import Cell, Column, Row, Table
from .units import human_seconds, shape_text, significant

PROTOCOLS = ("pirouette", "pirouette_h")
STEPS = words("digits bits rgsw conversion selector first_dimension folding rotation compression")
OFFLINE = words("keys key_expansion")
"""What client and server do once, on one thread."""
OVERLAPPED = {"conversion": words("digits bits rgsw")}
"""Steps of several threads that are one phase, since they run beside each other."""
NAMES = {
    "key_expansion": "key expansion",
    "rgsw": "LWE to RGSW",
    "conversion": "digits, bits, LWE to RGSW",
    "first_dimension": "first dimension",
}
PHASE0 = STEPS[:5]


@dataclass(frozen=True)
class Shown:
    """Whose steps a table shows."""

    table: str
    title: str
    protocols: tuple[str, ...]
    offline: list[str]
    steps: list[str]
    phase0: list[str]


PIROUETTE = Shown("pirouette-phases", "Pirouette", PROTOCOLS, OFFLINE, STEPS, PHASE0)
RESPIRE_STEPS = words("leaves selectors first_dimension folding rotation projection response")
RESPIRE = Shown("respire-phases", "Respire", ("respire",), [], RESPIRE_STEPS, [])
COLUMNS = words(
    "set records record_bits threads step ntts bound_s predicted_s measured_s measured_over_bound record_id"
)
Document = Mapping[str, Any]


def transforms(description: Document, step: str) -> dict[str, int]:
    """Transforms of a step by size and prime."""
    found: dict[str, int] = {}
    operations = description["operations"] if step in OFFLINE else description["operations"]["answer"]
    for part in OVERLAPPED.get(step, [step]):
        for name, count in operations.get(part, {}).items():
            if transform(name):
                found[name] = found.get(name, 0) + count
    return found


def answer_transforms(description: Document) -> int:
    """Transforms of a whole answer."""
    steps = description["operations"]["answer"].values()
    return sum(count for step in steps for name, count in step.items() if transform(name))


def matrix_bytes(description: Document, step: str) -> int:
    """Bytes of the preprocessed database that a step reads."""
    return int(description["operations"].get("answer", {}).get(step, {}).get("poly_matrix_bytes", 0))


def shown(joined: pd.DataFrame, protocols: Sequence[str] = PROTOCOLS) -> list[dict[str, Any]]:
    """Answers with their steps, by database, protocol and threads."""
    found = [row for row in dicts(joined) if row["protocol"] in protocols and row["status"] == "ok"]
    key = words("records record_bits protocol set threads repetitions")
    return sorted(found, key=lambda row: [row[name] for name in key])


def phase(step: str) -> str:
    """Its name in records and predictions."""
    return step if step in OFFLINE else f"answer_{step}"


def steps(row: Mapping[str, Any], wanted: Sequence[str] = STEPS) -> dict[str, float]:
    """Median seconds of the steps that there are."""
    measured = {each["name"]: each["seconds"] for each in row["phases"]}
    return {step: quartiles(measured[phase(step)])[1] for step in wanted if measured.get(phase(step))}


def _lines(row: Mapping[str, Any], costs: UnitCosts, of: Shown) -> Iterator[dict[str, Any]]:
    """Predictions are for one thread."""
    predicted = row["prediction"]["seconds"] if row.get("prediction") and row["threads"] == 1 else {}
    bandwidth = row.get("read_bandwidth")
    for step, seconds in steps(row, [*of.offline, *of.steps]).items():
        counts, threads = transforms(row["description"], step), 1 if step in OFFLINE else row["threads"]
        bound = sum((float(costs.total(name, count)) for name, count in counts.items()), 0.0)
        if bandwidth is not None and not pd.isna(bandwidth):
            bound = max(bound, matrix_bytes(row["description"], step) / bandwidth)
        bound /= threads
        told = {key: row[key] for key in ("set", "records", "record_bits", "threads")} | {"record_id": row["id"]}
        told |= {"step": step, "ntts": sum(counts.values()), "bound_s": bound, "measured_s": seconds}
        told |= {"predicted_s": predicted.get(phase(step))}
        yield told | {"measured_over_bound": seconds / bound if bound else None}


def table(joined: pd.DataFrame, costs: UnitCosts, of: Shown = PIROUETTE) -> Table:
    """A line a step of each measured answer, below those of its keys."""
    columns = [
        Column("database", "Database", text=True),
        Column("series", "Set", text=True),
        Column("threads", "Threads"),
        Column("step", "Step", text=True),
        Column("ntts", "Transforms"),
        Column("bound", "Bound"),
        Column("predicted", "Predicted"),
        Column("measured", "Measured"),
        Column("ratio", "Measured / bound"),
        Column("share", "Of the answer", "%"),
    ]
    rows, data = shown(joined, of.protocols), []
    lines = []
    for row in rows:
        head = {
            "database": Cell(shape_text(row["records"], row["record_bits"]), sort=float(row["records"])),
            "series": series.cells(row)["series"],
            "threads": Cell(str(row["threads"])),
        }
        found = list(_lines(row, costs, of))
        data += found
        answer = [told for told in found if told["step"] not in OFFLINE]
        named = [(NAMES.get(told["step"], told["step"]), told) for told in found]
        if of.phase0:
            named.append(("phase 0", _together([told for told in answer if told["step"] in of.phase0])))
        named.append(("answer", _together(answer) | {"measured_s": row["answer_s"]}))
        for name, told in named:
            lines.append(Row(head | _cells(name, told, row["answer_s"]), row["id"]))
    notes = [
        provenance(rows),
        f"Transforms: as the descriptions count them, of 2048 points modulo one prime of 28 bits; one alone takes "
        f"{human_seconds(float(costs.total('ntt_2048_28', 1.0)))} (unit costs of {costs.machine}). Bound: the "
        "transforms alone or, where that takes longer, one read of the preprocessed database at the probed bandwidth; "
        "on several threads that over their number. Products with keys and digits come on top."
        + (" Phase 0 is digits, bits, LWE to RGSW and selector." if of.phase0 else ""),
        "Predicted: all operations of the step by the unit costs, on one thread.",
    ]
    if of.offline:
        notes[-1] += (
            " Keys are made and expanded once a client and timed once, in memory that is new to the process: where the "
            "host of a virtual machine has taken free memory back, that alone takes longer than all the rest. The "
            "prediction of keys is a lower bound."
        )
    others = sorted({str(row["cpu"]) for row in rows} - {costs.machine})
    if others:
        notes.append(f"CAUTION: measured on {' and '.join(others)}, where a transform may take longer or shorter.")
    title = f"{of.title}: {'keys and ' if of.offline else ''}each step of an answer, beside its bound"
    footnotes = mark_footnotes(lines) + cell_footnotes(lines)
    return Table(title, columns, lines, pd.DataFrame(data, columns=COLUMNS), footnotes, notes, of.table)


def _together(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The sum of some steps; their prediction is None where one has none."""
    sums: dict[str, Any] = {key: sum(told[key] for told in found) for key in ("ntts", "bound_s", "measured_s")}
    predicted = [told["predicted_s"] for told in found]
    return sums | {"predicted_s": None if None in predicted else sum(predicted)}


def _cells(name: str, told: Mapping[str, Any], answer: float) -> dict[str, Cell]:
    """A line but for its head; answer: seconds of all of it, of which the keys are no part."""
    bound, predicted, measured = told["bound_s"], told["predicted_s"], told["measured_s"]
    cells = {
        "step": Cell(name),
        "ntts": Cell(str(told["ntts"]), sort=float(told["ntts"])),
        "bound": Cell(human_seconds(bound) if bound else "–", sort=bound),
        "predicted": Cell("–" if predicted is None else human_seconds(predicted), sort=predicted),
        "measured": Cell(human_seconds(measured), sort=measured),
        "ratio": Cell(significant(measured / bound, 3) if bound else "–"),
    }
    share = None if told.get("step") in OFFLINE else measured / answer
    return cells | {"share": Cell("–" if share is None else significant(100 * share, 2), sort=share)}


def rotation_transforms(layout: Document) -> int:
    """Transforms of one blind rotation: 2 l forward and 2 inverse ones a step and prime."""
    key_steps = layout["lwe_dimension"] // layout["bits_per_step"]
    return int(key_steps * (2 * layout["rotation_gadget"]["digits"] + 2) * _primes(layout))


def conversion_transforms(layout: Document) -> int:
    """Transforms of one conversion of LWE to RGSW beside its rotation: automorphisms and squaring key."""
    rows = layout["rgsw_gadget"]["digits"]
    places = [row * layout["rgsw_window"] for row in range(rows)]
    levels = int(layout["degree"]).bit_length() - 1
    automorphisms = sum(len({place % (1 << level) for place in places}) for level in range(levels))
    digits = {name: layout[f"{name}_gadget"]["digits"] for name in ("automorphism", "squaring")}
    forward = automorphisms * digits["automorphism"] + rows * (digits["squaring"] + 2)
    return int((forward + 2 * automorphisms) * _primes(layout))


def _primes(layout: Document) -> int:
    return len(re.findall(r"\d+", str(layout["ring_modulus"])))


def rotations(description: Document) -> dict[str, int]:
    """Blind rotations of an answer by step, counted from its transforms."""
    layout, one = description["layout"], rotation_transforms(description["layout"])
    count = {step: sum(transforms(description, step).values()) for step in ("digits", "bits", "rgsw")}
    whole = {"rgsw": one + conversion_transforms(layout)}
    return {step: number // whole.get(step, one) for step, number in count.items()}


def rotation_table(found: Sequence[Mapping[str, Any]]) -> Table:
    """Rotations of described sets (rows of `pirouette_tables.rows`) beside the paper's formulas."""
    columns = [
        Column("series", "Set", text=True),
        Column("database", "Database", text=True),
        Column("k", "Index bits", "k"),
        Column("digits", "Digits", "D"),
        Column("one_bit", "One-bit base", "2 k"),
        Column("paper", "Paper", "3 k / 5"),
        Column("floors", "Floors", "counted"),
        Column("bits", "Bits", "counted"),
        Column("decomposition", "Decomposition", "counted"),
        Column("formula", "Ours", "3 D - 2"),
        Column("rgsw", "LWE to RGSW", "counted"),
        Column("all", "All", "counted"),
    ]
    lines, data = [], []
    for row in found:
        layout, counted = row["description"]["layout"], rotations(row["description"])
        k, digits = int(layout["index_bits"]), int(layout["digits"])
        own = counted["digits"] + counted["bits"]
        numbers = {
            "k": k,
            "digits": digits,
            "one_bit": 2 * k if digits else 0,
            "paper": 3 * -(-k // 5) if digits else 0,
        }
        numbers |= {"floors": counted["digits"], "bits": counted["bits"], "decomposition": own}
        numbers |= {"formula": 3 * digits - 2 if digits else 0, "rgsw": counted["rgsw"], "all": own + counted["rgsw"]}
        place = shape_text(int(row["records"]), int(row["record_bits"]))
        cells = {key: Cell(str(value), sort=float(value)) for key, value in numbers.items()}
        name = Cell(series_name(row["protocol"], row["set"]), symbols(marks_of(dict(row))))
        lines.append(Row(cells | {"series": name, "database": Cell(place, sort=float(row["records"]))}))
        data.append({"set": row["set"], "records": row["records"], "record_bits": row["record_bits"]} | numbers)
    notes = [
        "Counted: transforms of the step in `pirlab describe` over those of one blind rotation (of one rotation with "
        "its conversion, for LWE to RGSW). The paper says about 3 k / 5 for the decomposition of k bits, rounded up "
        "to whole digits of 5 bits, against 2 k of a base of one bit (section 3.1). The last digit needs no floor: "
        "3 D - 2. Pirouette^H decomposes nothing.",
    ]
    frame = pd.DataFrame(data, columns=["set", "records", "record_bits", *(c.key for c in columns[2:])])
    title = "Pirouette: blind rotations of an answer, counted, beside the paper's formula"
    footnotes = mark_footnotes(lines) + cell_footnotes(lines)
    return Table(title, columns, lines, frame, footnotes, notes, "pirouette-rotations")
