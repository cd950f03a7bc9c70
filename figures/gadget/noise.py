"""The experiment beyond the gadget paper: noise of products and of long chains under each decomposition, and its price.

Every measured standard deviation stands next to its formula's. Bits are log2 of a standard deviation in units of one.
"""

from collections.abc import Sequence
from math import log2
from typing import Any

import pandas as pd
from pirlab_estimator.compare import UNSURE

from ..lib.cells import number, verdict
from ..lib.output import words
from ..lib.primitive import Primitive, notes
from ..lib.spec import spec
from ..lib.table import Cell, Row, Table
from ..lib.units import has
from .paper import FAMILIES, MAKERS

OPERATION = "external-product"
PRODUCT_STAGE = "added"
CHAIN = "cmux-chain"
CHAINS: dict[tuple[str, str], str] = {
    (given, selectors): title for given, selectors, title in spec("gadget/chains").words["titles"]
}
SETTINGS = words("input selectors n modulus family base dropped length")
"""Settings that are columns."""


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
            stddev, twin = noise["variance"] ** 0.5, record.twins().get(f"noise stddev {stage}")
            row: dict[str, Any] = {
                "what": "chain" if record.name == CHAIN else "product",
                "input": "uniform",
                "selectors": "fresh",
            }
            row |= {"dropped": 0} | {key: settings[key] for key in SETTINGS if key in settings}
            row |= {"steps": steps, "samples": noise["samples"], "keys": noise["keys"], "max": noise["max"]}
            row |= {"stddev": stddev, "bits": log2(stddev), "verdict": "", "tolerance": "", "note": ""}
            if predicted:
                row |= {"stddev_predicted": predicted["stddev"], "kind": predicted["kind"]}
                row |= {"variance_ratio": noise["variance"] / predicted["variance"]}
            if twin:
                row |= {"verdict": twin.verdict, "tolerance": twin.tolerance.removeprefix("variance ")}
                row |= {"note": twin.note}
            rows.append(row | {"time_s": record.seconds("operation"), "record_id": record.id})
    frame = pd.DataFrame(rows, columns=SPEC.keys)
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


def _what(chain: bool, settings: dict[str, Any]) -> str:
    if not chain:
        return "product"
    return CHAINS.get((settings["input"], settings["selectors"]), f"{settings['input']}, {settings['selectors']}")


def _predicted(entry: dict[str, Any]) -> Cell:
    predicted = entry["stddev_predicted"]
    return number(log2(predicted) if has(predicted) and predicted else None, digits=4)


SPEC = spec(
    "gadget/noise",
    what=lambda entry: Cell(_what(entry["what"] == "chain", entry)),
    **MAKERS,
    bits_predicted=_predicted,
    verdict=verdict,
)


def table(records: Sequence[Primitive]) -> Table:
    """A row a chain or product, base and decomposition, and number of steps."""
    data = build(records)
    order = {family: place for place, family in enumerate(FAMILIES)}
    shown = data.assign(order=data["family"].map(order)).sort_values(
        ["what", "input", "selectors", "base", "steps", "order"], ascending=[False, False, True, True, True, True]
    )
    marks_of = {record.id: record.marks() for record in records}
    rows = []
    for entry in shown.to_dict("records"):
        rows.append(SPEC.row(entry | {"marks": marks_of[entry["record_id"]]}, entry["record_id"]))
    lost = [r for r in records if relevant(r) and not r.ok]
    for record in lost:
        place = {"what": Cell(_what(record.name == CHAIN, record.settings)), "family": Cell(record.settings["family"])}
        rows.append(Row(place, record.id, record.status()))
    marks, origin = notes([r for r in records if relevant(r)])
    judged = data[data["verdict"] != ""]
    said = {"judged": len(judged), "differ": (judged["verdict"] == "DIFFERS").sum(), "origin": origin, "few": UNSURE}
    said |= {"wide": judged["tolerance"].str.contains("sampling").sum(), "answer": answer(data)}
    return SPEC.table(rows, data, marks, unsure=(judged["verdict"] == UNSURE).sum(), **said)


def answer(data: pd.DataFrame) -> str:
    """Whether randomisation helped, in the measured numbers."""
    product = _spans(data[data["what"] == "product"])
    parts = [f"Against balanced digits a product's noise grows by (bits): {product}."] if product else []
    for (chain, selectors), title in CHAINS.items():
        rows = data[(data["what"] == "chain") & (data["input"] == chain) & (data["selectors"] == selectors)]
        steps = rows["steps"].max()
        if spans := _spans(rows[rows["steps"] == steps]):
            parts.append(f"After {steps} steps of the chain '{title}': {spans}.")
    return " ".join(parts) or "No product or chain under balanced digits was measured."


def _spans(rows: pd.DataFrame) -> str:
    """The least and the most bits of each decomposition over balanced digits; empty where nothing is known."""
    known = rows[rows["family"] != "balanced"].dropna(subset=["bits_over_balanced"])
    spans = known.groupby("family")["bits_over_balanced"].agg(["min", "max"])
    ends = {f: dict.fromkeys(f"{bits:+.2f}" for bits in spans.loc[f]) for f in FAMILIES if f in spans.index}
    return ", ".join(f"{FAMILIES[f]} {' to '.join(texts)}" for f, texts in ends.items())
