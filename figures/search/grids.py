"""The cost of other gadget bases and moduli by database size: a panel a protocol, a line a number of records."""

import json
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator
from pirlab_estimator.modulus import parse_modulus

from ..lib import style
from ..lib.data import data as entries
from ..lib.output import csv_text, write
from ..lib.protocols import mathtext, place, protocol_name
from ..lib.spec import spec
from ..lib.units import human_bytes
from .data import TARGET_BITS, TARGET_FAILURE, load

MARKERS = ("o", "^", "s", "D", "v", "P", "X")
COLUMNS = 5
#: Of a line, how far above its lowest point the axis goes; what costs more is cut off.
MOST = 2.0
TICKS = (1, 1.25, 1.5, 2)
AXES: dict[str, str] = entries("search")["axes"]
SPEC = spec("search/grids")


def frame(path: Path) -> pd.DataFrame:
    """Rows of grids that are right and secure, the best of each base and of each modulus (column `key`, `value`), with
    `least`, the cost of the cheapest at that database."""
    data = load(path, "grid")
    data = data[(data["log2_failure"] <= TARGET_FAILURE) & (data["bits"] >= TARGET_BITS)]
    data = data.assign(least=data.groupby(["part", "records", "record_bits"])["score"].transform("min"))
    changes = [json.loads(text) for text in data["varied"]]
    rows = [
        row | {"axis": axis, "key": key, "value": _number(key, value)}
        for row, change in zip(data.to_dict("records"), changes)
        for axis, (key, value) in enumerate(list(change.items())[:2])
    ]
    varied = pd.DataFrame(rows).sort_values("score", kind="stable")
    best = varied.drop_duplicates(["part", "records", "record_bits", "axis", "value"])
    return best.sort_values(["part", "axis", "record_bits", "records", "value"], kind="stable").reset_index(drop=True)


def _number(key: str, value: Any) -> float:
    """Bases and moduli by their logarithm, as some keys have them already; of a table, its modulus or base, in bits."""
    if isinstance(value, dict):
        value = value.get("modulus", value.get("base"))
    if key in ("ring", "ring.modulus", "ring.plaintext"):
        return round(log2(parse_modulus(value)))
    return log2(value) if key in ("bases.selector", "plain_modulus", "chunk_factor") else float(value)


def draw(data: pd.DataFrame) -> Figure:
    """The panels of one record size: bases above, moduli below."""
    names = sorted(set(data["protocol"]), key=lambda name: (place(name), name))
    rows = -(-len(names) // COLUMNS)
    columns = min(COLUMNS, len(names))
    figure, panels = style.sheet(1.35 * 2 * rows + 0.4, 2 * rows, columns, layout="constrained", sharey=True)
    sizes = sorted(set(data["records"]))
    for at, name in enumerate(names):
        for axis in range(2):
            axes = panels[rows * axis + at // COLUMNS][at % COLUMNS]
            _panel(axes, data[(data["protocol"] == name) & (data["axis"] == axis)], sizes)
            axes.set_title(mathtext(protocol_name(name)))
    for axis in range(2):
        for at in range(len(names), rows * columns):
            panels[rows * axis + at // COLUMNS][at % COLUMNS].set_axis_off()
    for row in panels:
        row[0].set_ylabel("cost / least")
    handles, labels = max((axes.get_legend_handles_labels() for axes in panels.flat), key=lambda found: len(found[0]))
    figure.legend(handles, labels, loc="outside upper center", ncols=len(sizes))
    return figure


def _panel(axes: Axes, data: pd.DataFrame, sizes: list[int]) -> None:
    shades = colormaps["viridis"](np.linspace(0, 0.9, len(sizes)))
    for at, records in enumerate(sizes):
        rows = data[data["records"] == records]
        axes.plot(
            rows["value"],
            rows["score"] / rows["least"],
            color=shades[at],
            marker=MARKERS[at % len(MARKERS)],
            markersize=2.6,
            linewidth=0.9,
            label=rf"$2^{{{log2(records):.0f}}}$ records",
        )
    axes.set_yscale("log", base=2)
    axes.set_ylim(0.97, MOST)
    axes.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axes.yaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    keys = list(dict.fromkeys(data["key"]))
    axes.set_xlabel(AXES.get(keys[0], keys[0]) if keys else "")


@dataclass(frozen=True)
class Grids:
    """A figure for each size of a record, and the numbers of all of them."""

    data: pd.DataFrame

    def write(self, prefix: Path) -> list[Path]:
        """Write `prefix`-<bits> .pdf .svg .png .caption.rst for each size, and `prefix` .csv."""
        files = []
        for bits, of_size in self.data.groupby("record_bits"):
            named = prefix.with_name(f"{prefix.name}-{bits}")
            files += style.save(draw(of_size), named)
            files.append(write(named, ".caption.rst", caption(int(str(bits)))))
        return [*files, write(prefix, ".csv", csv_text(self.data[SPEC.keys]))]


def caption(bits: int) -> str:
    """The caption."""
    return SPEC.caption(size="1 bit" if bits == 1 else human_bytes(bits / 8, 2), most=MOST)


def grids(path: Path) -> Grids:
    """The figures of a sweep."""
    return Grids(frame(path))
