"""Pareto fronts of all protocols at one database: traffic of a query against seconds of its answer."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..lib import style
from ..lib.protocols import mathtext, protocol_name
from ..lib.spec import spec
from ..lib.units import KIB, shape_text
from .data import load


def staircase(data: pd.DataFrame, x: str, y: str) -> pd.DataFrame:
    """The rows that no other undercuts in these two, from left to right."""
    ordered = data.sort_values([x, y])
    least = ordered[y].cummin()
    return ordered[(ordered[y] < least.shift(fill_value=np.inf)) & (ordered[y] == least)]


def draw(data: pd.DataFrame) -> Figure:
    """Left: query and answer; right: with the share of a hint that serves 100 queries, or as many as are counted."""
    figure, [panels] = style.sheet(0.42 * style.WIDE, 1, 2, sharey=True, layout="constrained")
    online = (data["upload"] + data["download"]) / KIB
    share = data["hint_bytes"] / data["hint_serves"].fillna(100)
    shapes = data.assign(online=online, shared=online + share / KIB)
    for axes, column, label in zip(panels, ("online", "shared"), ("Query and answer", "The same, and 1/100 of a hint")):
        _panel(axes, shapes, column)
        axes.set_xlabel(f"{label} (KiB)")
    panels[0].set_ylabel("Answer, one core (ms)")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=5)
    return figure


def _panel(axes: Axes, data: pd.DataFrame, column: str) -> None:
    for protocol, rows in data.groupby("protocol"):
        front, its = staircase(rows, column, "seconds"), style.look(str(protocol))
        axes.plot(
            front[column],
            front["seconds"] * 1e3,
            label=mathtext(protocol_name(str(protocol))),
            **its.drawn(drawstyle="steps-post", markersize=3),
        )
    axes.set_xscale("log")
    axes.set_yscale("log")


def drawing(path: Path) -> style.Drawing:
    """The figure of a sweep."""
    data = load(path, "front")
    shape = shape_text(int(data["records"].iloc[0]), int(data["record_bits"].iloc[0]))
    return style.Drawing(draw(data), data, spec("search/fronts").caption(shape=shape))
