"""Observed against predicted failure rates of decisions on phases, with errors made so large that they fail."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from pirlab_estimator.compare import UNSURE
from scipy.special import betaincinv

from ..lib.cells import verdict
from ..lib.primitive import Primitive, notes
from ..lib.spec import spec
from ..lib.table import Cell, Row, Table
from ..lib.units import power_text, significant

DECISIONS = {"rgsw": "LWE to RGSW", "floor": "Floor", "digit": "Digits", "bits": "Bits of a digit"}
"""Display names of what is decided, in the order of an answer's first phase from its last step back."""
CONFIDENCE = 0.95


def interval(failures: int, trials: int) -> tuple[float, float]:
    """Clopper and Pearson's interval of a rate."""
    tail = (1 - CONFIDENCE) / 2
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
            predicted, twin = record.predicted_noise(stage), record.twins().get(f"failure rate {stage}")
            low, high = interval(count["failures"], count["trials"])
            noise = record.noise("input")
            rate = count["failures"] / count["trials"]
            expected = 2.0 ** predicted["log2_failure"] if predicted else None
            row = {key: record.settings[key] for key in ("decision", "n", "dimension", "form")} | {"stage": stage}
            row |= {"trials": count["trials"], "failures": count["failures"], "rate": rate}
            row |= {"rate_low": low, "rate_high": high, "trial_s": record.seconds("trial"), "record_id": record.id}
            if noise:
                row |= {"stddev": noise["variance"] ** 0.5, "keys": noise["keys"]}
            if predicted:
                row |= {"limit": predicted["threshold"], "predicted": expected, "margin": predicted["margin"]}
                row |= {"ratio": rate / expected if expected else None}
            row |= {key: getattr(twin, key) if twin else "" for key in ("verdict", "tolerance", "note")}
            rows.append(row)
    frame = pd.DataFrame(rows, columns=SPEC.keys)
    order = {decision: place for place, decision in enumerate(DECISIONS)}
    places = frame["decision"].map(order)
    return (
        frame.assign(place=places)
        .sort_values(["place", "stage", "n", "predicted"], ascending=[True, True, True, False], kind="stable")
        .drop(columns="place")
        .reset_index(drop=True)
    )


def answer(data: pd.DataFrame) -> str:
    """How many rates agree, and how far the observed ones are from the predicted."""
    judged = data[data["verdict"] != ""]
    if judged.empty:
        return "No failure rate was measured."
    seen = judged[(judged["note"] == "") & (judged["failures"] > 0)]
    text = f"{len(judged)} rates held against their prediction, {(judged['verdict'] == 'DIFFERS').sum()} differ, "
    text += f"{(judged['verdict'] == UNSURE).sum()} are {UNSURE}"
    if not seen.empty:
        low, high = seen["ratio"].min(), seen["ratio"].max()
        text += f"; observed over predicted from {significant(low, 3)} to {significant(high, 3)}"
        text += f" for predictions from {power_text(seen['predicted'].min())} to {power_text(seen['predicted'].max())}"
    return text + "."


def _interval(entry: dict[str, Any]) -> Cell:
    low = power_text(entry["rate_low"]) if entry["failures"] else "0"
    return Cell(f"{low} to {power_text(entry['rate_high'])}", sort=entry["rate_high"])


def _rate(entry: dict[str, Any]) -> Cell:
    return Cell(power_text(entry["rate"]) if entry["failures"] else "0", sort=entry["rate"])


SPEC = spec(
    "pirouette/failure",
    decision=lambda entry: Cell(_name(entry["decision"]), entry["marks"]),
    rate=_rate,
    interval=_interval,
    verdict=verdict,
)
CAPTION = spec("pirouette/failure-caption")


def _name(decision: str) -> str:
    return DECISIONS.get(decision, decision)


def table(records: Sequence[Primitive]) -> Table:
    """A row a decision, stage and margin."""
    shown = [record for record in records if relevant(record)]
    data = build(records)
    marks_of = {record.id: record.marks() for record in shown}
    rows = []
    for entry in data.to_dict("records"):
        rows.append(SPEC.row(entry | {"marks": marks_of[entry["record_id"]]}, entry["record_id"]))
    for record in shown:
        if not record.ok:
            rows.append(Row({"decision": Cell(_name(record.settings["decision"]))}, record.id, record.status()))
    marks, origin = notes(shown)
    return SPEC.table(rows, data, marks, answer=answer(data), origin=origin)
