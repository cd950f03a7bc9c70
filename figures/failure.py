"""Observed against predicted failure rates of decisions on phases, with errors made so large that they fail."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import Any

import pandas as pd
from pirlab_estimator.compare import UNSURE, Comparison, compare
from scipy.special import betaincinv

from .names import words
from .primitives import Primitive, notes
from .table import Cell, Column, Row, Table
from .units import significant

DECISIONS = {"rgsw": "LWE to RGSW", "floor": "Floor", "digit": "Digits", "bits": "Bits of a digit"}
"""Display names of what is decided, in the order of an answer's first phase from its last step back."""
CONFIDENCE = 0.95
COLUMNS = words(
    "decision stage n dimension form limit stddev trials keys failures rate rate_low rate_high predicted margin ratio "
    "verdict tolerance note trial_s record_id"
)
READING = (
    "Errors of the inputs are made so large that decisions fail; predictions are from the formula of their variance, "
    "taken as Gaussian. Intervals are Clopper and Pearson's, 95 %. A verdict allows the variance to be off by 1/16, "
    "and sampling error to a Gaussian's four standard deviations; it is `too few to tell` where sampling alone "
    "allows for more than that 1/16 does."
)


def interval(failures: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Clopper and Pearson's interval of a rate."""
    tail = (1 - confidence) / 2
    low = float(betaincinv(failures, trials - failures + 1, tail)) if failures else 0.0
    high = float(betaincinv(failures + 1, trials - failures, 1 - tail)) if failures < trials else 1.0
    return low, high


def relevant(record: Primitive) -> bool:
    """Whether the record counts failures."""
    return record.name == "failure"


def build(records: Sequence[Primitive]) -> pd.DataFrame:
    """One row a record and deciding stage."""
    rows = []
    for record in filter(relevant, records):
        counted = record.document["measured"].get("failures", {}) if record.ok else {}
        for stage, count in counted.items():
            predicted, twin = record.predicted_noise(stage), _twin(record, stage)
            low, high = interval(count["failures"], count["trials"])
            noise = record.noise("input")
            rate = count["failures"] / count["trials"]
            expected = 2.0 ** predicted["log2_failure"] if predicted else None
            rows.append(
                {
                    "decision": record.settings["decision"],
                    "stage": stage,
                    "n": record.settings["n"],
                    "dimension": record.settings["dimension"],
                    "form": record.settings["form"],
                    "limit": predicted["threshold"] if predicted else None,
                    "stddev": noise["variance"] ** 0.5 if noise else None,
                    "trials": count["trials"],
                    "keys": noise["keys"] if noise else None,
                    "failures": count["failures"],
                    "rate": rate,
                    "rate_low": low,
                    "rate_high": high,
                    "predicted": expected,
                    "margin": predicted["margin"] if predicted else None,
                    "ratio": rate / expected if expected else None,
                    "verdict": "" if twin is None else twin.verdict,
                    "tolerance": "" if twin is None else twin.tolerance,
                    "note": "" if twin is None else twin.note,
                    "trial_s": record.seconds("trial"),
                    "record_id": record.id,
                }
            )
    frame = pd.DataFrame(rows, columns=COLUMNS)
    order = {decision: place for place, decision in enumerate(DECISIONS)}
    places = frame["decision"].map(order)
    return (
        frame.assign(place=places)
        .sort_values(["place", "stage", "n", "predicted"], ascending=[True, True, True, False], kind="stable")
        .drop(columns="place")
        .reset_index(drop=True)
    )


def _twin(record: Primitive, stage: str) -> Comparison | None:
    twins = compare(record.prediction, record.document) if record.prediction else []
    return next((twin for twin in twins if twin.quantity == f"failure rate {stage}"), None)


def answer(data: pd.DataFrame) -> str:
    """How many rates agree, and how far the observed ones are from the predicted."""
    judged = data[data["verdict"] != ""]
    if judged.empty:
        return "No failure rate was measured."
    told = judged[(judged["note"] == "") & (judged["failures"] > 0)]
    text = f"{len(judged)} rates held against their prediction, {(judged['verdict'] == 'DIFFERS').sum()} differ, "
    text += f"{(judged['verdict'] == UNSURE).sum()} are {UNSURE}"
    if not told.empty:
        low, high = told["ratio"].min(), told["ratio"].max()
        text += f"; observed over predicted from {significant(low, 3)} to {significant(high, 3)}"
        text += f" for predictions from {power(told['predicted'].min())} to {power(told['predicted'].max())}"
    return text + "."


def power(rate: float) -> str:
    """A rate as a power of two."""
    return f"2^{log2(rate):.1f}"


def table(records: Sequence[Primitive]) -> Table:
    """A row a decision, stage and margin."""
    columns = [
        Column("decision", "Decision", text=True),
        Column("n", "Ring degree"),
        Column("dimension", "LWE dimension"),
        Column("margin", "Margin", "std. dev."),
        Column("predicted", "Predicted rate"),
        Column("rate", "Observed rate"),
        Column("interval", "95 % interval"),
        Column("failures", "Failures"),
        Column("trials", "Trials"),
        Column("ratio", "Observed / predicted"),
        Column("verdict", "Verdict", text=True),
        Column("trial", "Time of one", "ms"),
    ]
    shown = [record for record in records if relevant(record)]
    data = build(records)
    by_id = {record.id: record for record in shown}
    rows = [Row(_cells(entry, by_id[entry["record_id"]]), entry["record_id"]) for entry in data.to_dict("records")]
    for record in shown:
        if not record.ok:
            place = {"decision": Cell(DECISIONS.get(record.settings["decision"], record.settings["decision"]))}
            rows.append(Row(place, record.id, record.status()))
    marks, origin = notes(shown)
    title = "Failures of decisions: observed and predicted"
    return Table(title, columns, rows, data, marks, [READING, answer(data), origin], "failure", "predicted")


def _cells(entry: dict[str, Any], record: Primitive) -> dict[str, Cell]:
    def number(value: float | None, digits: int = 3) -> Cell:
        return Cell("" if value is None or pd.isna(value) else significant(value, digits), sort=value)

    name = DECISIONS.get(entry["decision"], entry["decision"])
    expected = entry["predicted"]
    return {
        "decision": Cell(name, record.marks()),
        "n": Cell(str(entry["n"])),
        "dimension": Cell(str(entry["dimension"])),
        "margin": number(entry["margin"]),
        "predicted": Cell("" if pd.isna(expected) else power(expected), sort=expected),
        "rate": Cell(power(entry["rate"]) if entry["failures"] else "0", sort=entry["rate"]),
        "interval": Cell(
            f"{power(entry['rate_low']) if entry['failures'] else '0'} to {power(entry['rate_high'])}",
            sort=entry["rate_high"],
        ),
        "failures": Cell(str(entry["failures"])),
        "trials": Cell(str(entry["trials"])),
        "ratio": number(entry["ratio"]),
        "verdict": Cell(f"{entry['verdict']} ({entry['note']})" if entry["note"] else entry["verdict"]),
        "trial": number(None if pd.isna(entry["trial_s"]) else 1e3 * entry["trial_s"]),
    }
