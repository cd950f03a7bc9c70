"""What fits an application, and what it costs: a table for each application of a sweep, in one Markdown page."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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

Measured = Mapping[tuple[str, int, int], tuple[float, str, str]]
"""Median seconds of an answer, the machine and the record's id, by set, records and bits of a record."""
PREDICTED = SYMBOLS["predicted"]


def _seconds(key: str) -> Any:
    return lambda row: Cell(significant(row[key]), PREDICTED, row[key]) if has(row.get(key)) else Cell()


SPEC = spec(
    "search/applications",
    protocol=lambda row: Cell(protocol_name(row["protocol"])),
    set=lambda row: Cell(row["name"] if has(row["name"]) else ""),
    answer=_seconds("seconds"),
    total=_seconds("score"),
    price=_seconds("price"),
    update=_seconds("update_seconds"),
    ready=lambda row: Cell(row["ready"]),
    measured=lambda row: Cell(significant(row["measured"]), sort=row["measured"]) if has(row["measured"]) else Cell(),
)


@dataclass(frozen=True)
class Page:
    """The tables of all applications."""

    tables: list[Table]

    def markdown(self) -> str:
        return "\n".join(f"## {table.title}\n\n{table.markdown().split(chr(10), 2)[2]}" for table in self.tables)


def page(sweep: Path, measured: Measured) -> Page:
    """The page of a sweep's CSV and of what was measured of its sets and databases."""
    frame = pd.read_csv(sweep)
    frame = frame[frame["kind"] == "application"]
    return Page([_table(part, measured) for _, part in frame.groupby("part", sort=False)])


def _table(part: pd.DataFrame, measured: Measured) -> Table:
    asked = json.loads(part["varied"].iloc[0])
    lines = list(_lines(part, asked, measured))
    lines.sort(key=lambda line: (not has(line["score"]), line["score"], line["place"]))
    rows = [SPEC.row(line, status=line["refused"] if has(line["refused"]) else None) for line in lines]
    network, prices = Network.read(asked["network"]), Prices.load()
    machines = sorted({line["machine"] for line in lines if line["machine"]})
    records = ", ".join(f"{line['name']} `{line['id']}`" for line in lines if line["id"])
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
        measured=SPEC.words["by"].format(machines=" and ".join(machines), records=records)
        if machines
        else SPEC.words["by_none"],
        meanings={"predicted": SPEC.words["predicted"]},
    )


def _lines(part: pd.DataFrame, asked: Mapping[str, Any], measured: Measured) -> Iterator[dict[str, Any]]:
    updates = Updates.read(asked["updates"]) if "updates" in asked else None
    network = Network.read(asked["network"])
    network = Network(network.round_trip, network.bandwidth, count(asked["hint_queries"]))
    for line in part.to_dict("records"):
        shape = Shape(int(line["records"]), int(line["record_bits"]))
        line |= dict.fromkeys(("price", "measured", "machine", "id"))
        line |= {"place": place(line["protocol"]), "ready": ""}
        if not has(line["refused"]):
            serves = int(line["hint_serves"]) if has(line["hint_serves"]) else None
            numbers = {key: line[key] for key in ("download", "upload", "hint_bytes", "seconds", "update_bytes")}
            line["price"] = 1e6 * Objective("dollars", shape, network)(Figures(**numbers, hint_serves=serves))
            if updates is not None:
                line["ready"] = "yes" if line["update_seconds"] <= updates.seconds else "no"
            known = measured.get((line["name"], shape.records, shape.record_bits))
            line |= dict(zip(("measured", "machine", "id"), known)) if known else {}
        yield line
