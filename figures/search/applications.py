"""What fits an application, and what it costs: a table for each application of a sweep, in one Markdown page."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from pirlab_estimator.search.bounds import Network, Objective, Prices, Updates
from pirlab_estimator.search.evaluate import Figures, Shape
from pirlab_estimator.search.text import count

from ..lib.marks import SYMBOLS
from ..lib.protocols import place, protocol_name
from ..lib.spec import spec
from ..lib.table import Cell, Table
from ..lib.units import has, significant
from .measured import Measured, fastest

PREDICTED = SYMBOLS["predicted"]


def _seconds(key: str) -> Any:
    return lambda row: Cell(significant(row[key]), PREDICTED, row[key]) if has(row.get(key)) else Cell()


def _answer(row: Mapping[str, Any]) -> Cell:
    """The measured answer, with its set where this is another one than the predicted."""
    known: Measured | None = row["measured"]
    if known is None:
        return Cell()
    other = f" ({known.name})" if known.name != row["name"] else ""
    return Cell(significant(known.seconds) + other, known.marks(), known.seconds)


def _update(row: Mapping[str, Any]) -> Cell:
    """The measured update, with the records that changed where these are others than the application's."""
    known: Measured | None = row["measured"]
    if known is None or known.update_seconds is None:
        return Cell()
    other = f" (of {known.updates})" if known.updates != row["changes"] else ""
    return Cell(significant(known.update_seconds) + other, sort=known.update_seconds)


SPEC = spec(
    "search/applications",
    protocol=lambda row: Cell(protocol_name(row["protocol"])),
    set=lambda row: Cell(row["name"] if has(row["name"]) else ""),
    answer=_seconds("seconds"),
    total=_seconds("score"),
    price=_seconds("price"),
    update=_seconds("update_seconds"),
    ready=lambda row: Cell(row["ready"]),
    measured=_answer,
    updated=_update,
)


def page(sweep: Path, measured: Sequence[Measured]) -> str:
    """The tables of a sweep and of what was measured at its databases, on the machine whose unit costs predict."""
    frame = pd.read_csv(sweep)
    frame = frame[frame["kind"] == "application"]
    tables = [_table(part, measured) for _, part in frame.groupby("part", sort=False)]
    return "\n".join(f"## {table.title}\n\n{table.markdown().split(chr(10), 2)[2]}" for table in tables)


def _table(part: pd.DataFrame, measured: Sequence[Measured]) -> Table:
    asked, machine = json.loads(part["varied"].iloc[0]), part["machine"].iloc[0]
    lines = list(_lines(part, asked, [each for each in measured if each.machine == machine]))
    lines.sort(key=lambda line: (not has(line["score"]), line["score"], line["place"]))
    rows = [SPEC.row(line, status=line["refused"] if has(line["refused"]) else None) for line in lines]
    network, prices = Network.read(asked["network"]), Prices.load()
    records = "; ".join(line["measured"].words() for line in lines if line["measured"])
    period = f"{Updates.read(asked['updates']).seconds:g} s" if "updates" in asked else ""
    return SPEC.table(
        rows,
        [{key: line.get(key) for key in SPEC.keys} for line in lines],
        title=asked["title"],
        round_trip=f"{1000 * network.round_trip:g} ms",
        bandwidth=f"{8e-6 * network.bandwidth:g} Mbit/s",
        hint_queries=asked["hint_queries"],
        memory=asked["memory"].replace("GB", " GiB"),
        core_hour=f"{3600 * prices.core_second:.3g}",
        gigabyte=f"{1e9 * prices.download_byte:.2g}",
        updated=SPEC.words["changes"].format(period=period) if period else "",
        measured=SPEC.words["by"].format(machine=machine, records=records) if records else SPEC.words["by_none"],
        meanings={"predicted": SPEC.words["predicted"].format(machine=machine)},
    )


def _lines(part: pd.DataFrame, asked: Mapping[str, Any], measured: Sequence[Measured]) -> Iterator[dict[str, Any]]:
    updates = Updates.read(asked["updates"]) if "updates" in asked else None
    network = Network.read(asked["network"])
    network = Network(network.round_trip, network.bandwidth, count(asked["hint_queries"]))
    for line in part.to_dict("records"):
        shape = Shape(int(line["records"]), int(line["record_bits"]))
        line |= {"place": place(line["protocol"]), "price": None, "measured": None, "ready": ""}
        if not has(line["refused"]):
            serves = int(line["hint_serves"]) if has(line["hint_serves"]) else None
            numbers = {key: line[key] for key in ("download", "upload", "hint_bytes", "seconds", "update_bytes")}
            line["price"] = 1e6 * Objective("dollars", shape, network)(Figures(**numbers, hint_serves=serves))
            if updates is not None:
                line["ready"] = "yes" if line["update_seconds"] <= updates.seconds else "no"
            here = (each for each in measured if (each.protocol, each.shape) == (line["protocol"], shape))
            line |= {"measured": fastest(here), "changes": updates and updates.records}
        yield line
