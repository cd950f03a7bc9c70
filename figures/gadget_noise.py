"""The experiment beyond the gadget paper: noise of products and of long chains under each decomposition, and its price.

Every measured standard deviation stands beside its formula. Bits are log2 of a standard deviation in units of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import Any

import pandas as pd
from pirlab_estimator.compare import UNSURE, Comparison, compare

from .gadget import FAMILIES, base_text
from .names import words
from .primitives import Primitive, notes
from .table import Cell, Column, Row, Table
from .units import significant

OPERATION = "external-product"
PRODUCT_STAGE = "added"
CHAIN = "cmux-chain"
CHAINS = {
    ("rotate", "fresh"): "blind rotation",
    ("rotate", "one"): "blind rotation, one selector",
    ("constant", "fresh"): "fixed input",
    ("constant", "one"): "fixed input, one selector",
}
COLUMNS = words(
    "what input selectors n modulus family base dropped length steps samples keys stddev stddev_predicted kind "
    "variance_ratio verdict tolerance note bits bits_over_balanced max time_s record_id"
)
READING = (
    "Standard deviations in bits (log2). Product: what one external product adds to its input's noise, uniform input, "
    "message 1. Blind rotation: CMUXes that turn the accumulator by random powers of X, a fresh selector each step. "
    "Fixed input: the same ciphertext, all coefficients equal, selected again and again; with one selector the errors "
    "of deterministic digits add coherently, length^2 in the variance, those of digits centred for every input do not."
)


def _stages(record: Primitive) -> list[tuple[str, int]]:
    """The stages shown of a record, with the steps they come after."""
    if record.name == CHAIN:
        return [(f"after-{steps}", steps) for steps in record.settings["lengths"]]
    return [(PRODUCT_STAGE, 1)]


def relevant(record: Primitive) -> bool:
    """Whether the record is of a chain or of an external product."""
    return record.name == CHAIN or (record.name == "noise" and record.settings.get("operation") == OPERATION)


def build(records: Sequence[Primitive]) -> pd.DataFrame:
    """One row a record and stage: measured and predicted, and bits above balanced digits of the same base."""
    rows = []
    for record in filter(relevant, records):
        settings = record.settings
        for stage, steps in _stages(record):
            noise, predicted = record.noise(stage), record.predicted_noise(stage)
            if noise is None or noise["variance"] <= 0:
                continue
            stddev = noise["variance"] ** 0.5
            twin = _twin(record, stage)
            rows.append(
                {
                    "what": "chain" if record.name == CHAIN else "product",
                    "input": settings.get("input", "uniform"),
                    "selectors": settings.get("selectors", "fresh"),
                    "n": settings["n"],
                    "modulus": settings.get("modulus"),
                    "family": settings["family"],
                    "base": settings["base"],
                    "dropped": settings.get("dropped", 0),
                    "length": settings.get("length"),
                    "steps": steps,
                    "samples": noise["samples"],
                    "keys": noise["keys"],
                    "stddev": stddev,
                    "stddev_predicted": predicted["stddev"] if predicted else None,
                    "kind": predicted["kind"] if predicted else None,
                    "variance_ratio": noise["variance"] / predicted["variance"] if predicted else None,
                    "verdict": "" if twin is None else twin.verdict,
                    "tolerance": "" if twin is None else twin.tolerance.removeprefix("variance "),
                    "note": "" if twin is None else twin.note,
                    "bits": log2(stddev),
                    "bits_over_balanced": None,
                    "max": noise["max"],
                    "time_s": record.seconds("operation"),
                    "record_id": record.id,
                }
            )
    frame = pd.DataFrame(rows, columns=COLUMNS)
    place = ["what", "input", "selectors", "n", "modulus", "base", "dropped", "steps"]
    balanced = frame[frame["family"] == "balanced"].set_index(place)["bits"].to_dict()
    frame["bits_over_balanced"] = pd.Series(
        [
            row["bits"] - balanced[key] if (key := tuple(row[k] for k in place)) in balanced else None
            for row in frame.to_dict("records")
        ],
        dtype=float,
    )
    return frame


def _twin(record: Primitive, stage: str) -> Comparison | None:
    """What the estimator's comparison makes of formula and measurement; nothing without a prediction."""
    twins = compare(record.prediction, record.document) if record.prediction else []
    return next((twin for twin in twins if twin.quantity == f"noise stddev {stage}"), None)


def table(records: Sequence[Primitive]) -> Table:
    """A row a chain or product, base and decomposition, and number of steps."""
    columns = [
        Column("what", "What", text=True),
        Column("steps", "Steps"),
        Column("base", "Base"),
        Column("length", "k"),
        Column("family", "Digits", text=True),
        Column("bits", "Measured", "bits"),
        Column("bits_predicted", "Formula", "bits"),
        Column("variance_ratio", "Variance, measured / formula"),
        Column("kind", "Formula is", text=True),
        Column("tolerance", "Tolerance of the variance", text=True),
        Column("verdict", "Verdict", text=True),
        Column("bits_over_balanced", "Over balanced", "bits"),
        Column("time", "Time of one", "µs"),
    ]
    data = build(records)
    order = {family: place for place, family in enumerate(FAMILIES)}
    shown = data.assign(order=data["family"].map(order)).sort_values(
        ["what", "input", "selectors", "base", "steps", "order"], ascending=[False, False, True, True, True, True]
    )
    by_id = {record.id: record for record in records}
    rows = [Row(_cells(entry, by_id[entry["record_id"]]), entry["record_id"]) for entry in shown.to_dict("records")]
    lost = [r for r in records if relevant(r) and not r.ok]
    for record in lost:
        place = {"what": Cell(_what(record.name == CHAIN, record.settings)), "family": Cell(record.settings["family"])}
        rows.append(Row(place, record.id, record.status()))
    marks, origin = notes([r for r in records if relevant(r)])
    title = "Noise of products and chains under each decomposition"
    judged = data[data["verdict"] != ""]
    wide = judged["tolerance"].str.contains("sampling").sum()
    verdict = f"{len(judged)} stages held against their formulas, {(judged['verdict'] == 'DIFFERS').sum()} differ."
    verdict += f" {wide} of them have too few samples or keys for 1/16: their tolerance adds the sampling error."
    verdict += f" Of {(judged['verdict'] == UNSURE).sum()} that error is larger than 1/16: {UNSURE}."
    return Table(title, columns, rows, data, marks, [READING, answer(data), verdict, origin], "gadget-noise", "bits")


def _what(chain: bool, settings: dict[str, Any]) -> str:
    if not chain:
        return "product"
    return CHAINS.get((settings["input"], settings["selectors"]), f"{settings['input']}, {settings['selectors']}")


def _cells(entry: dict[str, Any], record: Primitive) -> dict[str, Cell]:
    def number(value: float | None, digits: int = 3) -> Cell:
        return Cell("" if value is None or pd.isna(value) else significant(value, digits), sort=value)

    predicted = entry["stddev_predicted"]
    over = entry["bits_over_balanced"]
    return {
        "what": Cell(_what(entry["what"] == "chain", entry)),
        "steps": Cell(str(entry["steps"])),
        "base": Cell(base_text(entry["base"]), sort=float(entry["base"])),
        "length": Cell(str(entry["length"])),
        "family": Cell(FAMILIES[entry["family"]], record.marks()),
        "bits": number(entry["bits"], 4),
        "bits_predicted": number(log2(predicted) if predicted and not pd.isna(predicted) else None, 4),
        "variance_ratio": number(entry["variance_ratio"]),
        "kind": Cell(entry["kind"] or ""),
        "tolerance": Cell(entry["tolerance"]),
        "verdict": Cell(f"{entry['verdict']} ({entry['note']})" if entry["note"] else entry["verdict"]),
        "bits_over_balanced": Cell("" if pd.isna(over) else f"{over:+.2f}", sort=over),
        "time": number(None if entry["time_s"] is None or pd.isna(entry["time_s"]) else 1e6 * entry["time_s"]),
    }


def answer(data: pd.DataFrame) -> str:
    """Whether randomisation bought anything, in the measured numbers."""
    parts = []
    product = data[(data["what"] == "product") & (data["family"] != "balanced")].dropna(subset=["bits_over_balanced"])
    if not product.empty:
        spans = product.groupby("family")["bits_over_balanced"].agg(["min", "max"])
        texts = [f"{FAMILIES[f]} {_span(spans.loc[f])}" for f in FAMILIES if f in spans.index]
        parts.append(f"Against balanced digits a product's noise grows by (bits): {', '.join(texts)}.")
    for (chain, selectors), title in CHAINS.items():
        rows = data[(data["what"] == "chain") & (data["input"] == chain) & (data["selectors"] == selectors)]
        rows = rows[rows["steps"] == rows["steps"].max()].dropna(subset=["bits_over_balanced"])
        rows = rows[rows["family"] != "balanced"]
        if rows.empty:
            continue
        spans = rows.groupby("family")["bits_over_balanced"].agg(["min", "max"])
        texts = [f"{FAMILIES[f]} {_span(spans.loc[f])}" for f in FAMILIES if f in spans.index]
        parts.append(f"After {rows['steps'].max()} steps of the chain '{title}': {', '.join(texts)}.")
    return " ".join(parts) or "No product or chain under balanced digits was measured."


def _span(row: pd.Series) -> str:
    low, high = f"{row['min']:+.2f}", f"{row['max']:+.2f}"
    return low if low == high else f"{low} to {high}"
