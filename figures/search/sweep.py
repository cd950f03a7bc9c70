"""A protocol's sweep: security, failure, bytes and seconds against each value that its grid varies."""

from dataclasses import dataclass
from math import ceil, floor, log2, log10
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator
from pirlab_estimator.noise import FAILURE_TARGET
from pirlab_estimator.security.attacks import SECURITY_TARGET

from ..lib import style
from ..lib.data import data as entries
from ..lib.output import csv_text, write
from ..lib.protocols import place, protocol_name
from ..lib.spec import spec
from ..lib.units import human_bytes, human_seconds
from .data import along

MARKERS = ("o", "^", "s", "D", "v", "P", "X")
AXES: dict[str, str] = entries("search")["axes"]
SPEC = spec("search/sweep")
RAREST: float = SPEC.words["rarest"]
"""log2 of the rarest failure that has a place of its own on the axis."""
WIDE_RANGE = 8
"""An axis is logarithmic where its greatest value is at least this multiple of its least."""
LEAST_HINT = 1024
"""Bytes of a hint or keys that are worth a row: seeds are fewer."""
#: The column that each row of panels shows, with the label of its axis.
ROWS = {
    "bits": "security, bits",
    "log2_failure": "log2 failure",
    "traffic": "query + answer",
    "hint_bytes": "hint or keys",
    "seconds": "answer time",
}


def shown(path: Path) -> dict[str, pd.DataFrame]:
    """What is drawn of each protocol: its lines at one size of records (`_size`)."""
    data = along(path)
    data["traffic"] = data["upload"] + data["download"]
    names = sorted(set(data["protocol"]), key=lambda name: (place(name), name))
    found = {}
    for name in names:
        own = data[data["protocol"] == name]
        found[name] = own[own["record_bits"] == _size(own)]
    return found


def _size(data: pd.DataFrame) -> int:
    """The middle one of the record sizes, or the nearest to it at which the first key changes the cost."""
    sizes = sorted(set(data["record_bits"]))
    first = data[(data["axis"] == 0) & (data["missed"] == "")]
    costs = first.groupby(["record_bits", "records"])["score"].nunique().groupby("record_bits").max()
    middle = len(sizes) // 2
    nearest = sorted(sizes, key=lambda size: abs(sizes.index(size) - middle))
    return int(next((size for size in nearest if costs.get(size, 0) > 1), sizes[middle]))


def looks(sizes: list[int]) -> dict[int, style.Look]:
    """The look of each number of records: the more records, the brighter the line."""
    shades = [to_hex(shade) for shade in colormaps["viridis"](np.linspace(0, 0.9, len(sizes)))]
    return {size: style.Look(shades[at], MARKERS[at % len(MARKERS)], "-") for at, size in enumerate(sizes)}


def size_words(bits: int) -> str:
    """The size of a record."""
    return human_bytes(bits / 8, 2) if bits % 8 == 0 else f"{bits} bit{'s' if bits > 1 else ''}"


def along_values(axes: Axes, data: pd.DataFrame) -> None:
    """The axis of the values and its name."""
    keys = list(dict.fromkeys(data["key"]))
    axes.set_xlabel(AXES.get(keys[0], keys[0]) if keys else "")
    # Values that are logarithms already, as the name of the axis says, keep a linear axis.
    if not axes.get_xlabel().startswith("log2") and 0 < WIDE_RANGE * data["value"].min() <= data["value"].max():
        axes.set_xscale("log", base=2)
        axes.xaxis.set_minor_locator(NullLocator())
    else:
        axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))


def draw(data: pd.DataFrame) -> Figure:
    """A column a key, a row a quantity, a line a number of records; hollow points miss a target."""
    quantities = [key for key in ROWS if key != "hint_bytes" or data[key].max() >= LEAST_HINT]
    columns, sizes = sorted(set(data["axis"])), sorted(set(data["records"]))
    height = 1.05 * len(quantities) + 0.75
    options: dict[str, Any] = {"sharex": "col", "sharey": "row", "layout": "constrained"}
    figure, panels = style.sheet(height, len(quantities), len(columns), **options)
    for row, quantity in enumerate(quantities):
        for column, axis in enumerate(columns):
            _lines(panels[row][column], data[data["axis"] == axis], quantity, sizes)
        _scale(panels[row][0], data[quantity], quantity)
        panels[row][0].set_ylabel(ROWS[quantity])
    for column, axis in enumerate(columns):
        along_values(panels[-1][column], data[data["axis"] == axis])
    words = {size: rf"$2^{{{log2(size):.0f}}}$ records" for size in sizes}
    entries = [(style.handle(look, markersize=3), words[size]) for size, look in looks(sizes).items()]
    missing = style.Look(style.GREY, "o", "none")
    entries.append((style.handle(missing, markersize=3, markerfacecolor="white"), "misses a target"))
    handles, labels = zip(*entries, strict=True)
    figure.legend(handles, labels, loc="outside upper center", ncols=len(entries), columnspacing=1.0, handletextpad=0.5)
    return figure


def _lines(axes: Axes, data: pd.DataFrame, quantity: str, sizes: list[int]) -> None:
    for records, look in looks(sizes).items():
        rows = data[(data["records"] == records) & data["bits"].notna()]
        heights = rows[quantity].clip(lower=RAREST) if quantity == "log2_failure" else rows[quantity]
        axes.plot(rows["value"], heights, color=look.colour, linewidth=0.8)
        missing = rows["missed"] != ""
        for of, inside in ((~missing, look.colour), (missing, "white")):
            drawn = {"markersize": 2.8, "markerfacecolor": inside, "markeredgewidth": 0.7, "linestyle": "none"}
            axes.plot(rows["value"][of], heights[of], **look.drawn(**drawn))


def _scale(axes: Axes, values: pd.Series, quantity: str) -> None:
    """The vertical axis of a row of panels, from one power of its base to another."""
    target = {"bits": SECURITY_TARGET, "log2_failure": FAILURE_TARGET}.get(quantity)
    if target is not None:
        for each in axes.get_shared_y_axes().get_siblings(axes):
            each.axhline(target, color=style.GREY, linewidth=0.8, linestyle=(0, (4, 2)))
    if quantity == "bits":
        return
    if quantity == "log2_failure":
        axes.set_yscale("symlog", linthresh=10)
        axes.set_ylim(1.6 * max(values.min(), RAREST), 1)
        axes.set_yticks([0, -10, -100, -1000])
        return
    base, log = (10, log10) if quantity == "seconds" else (2, log2)
    some = values[values > 0]
    low, high = floor(log(some.min())), ceil(log(some.max()))
    step = max(1, ceil((high - low) / 4))
    axes.set_yscale("log", base=base)
    axes.set_ylim(base**low, base ** max(high, low + 1))
    ticks = [float(base) ** power for power in range(low, max(high, low + 1) + 1, step)]
    words = human_seconds if quantity == "seconds" else human_bytes
    axes.set_yticks(ticks, [words(tick, 1) for tick in ticks])
    axes.yaxis.set_minor_locator(NullLocator())


def caption(data: pd.DataFrame) -> str:
    """The caption of a protocol's figure."""
    first = data.iloc[0]
    return SPEC.caption(name=protocol_name(first["protocol"]), size=size_words(int(first["record_bits"])))


@dataclass(frozen=True)
class Sweeps:
    """A figure for each protocol of a table of values."""

    path: Path

    def write(self, prefix: Path) -> list[Path]:
        """Write `prefix`-<protocol> .pdf .svg .png .caption.rst for each, and `prefix` .csv."""
        files = [write(prefix, ".csv", csv_text(along(self.path)))]
        for name, data in shown(self.path).items():
            named = prefix.with_name(f"{prefix.name}-{name}")
            files += [*style.save(draw(data), named), write(named, ".caption.rst", caption(data))]
        return files
