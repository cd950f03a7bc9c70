"""Drawing of Figure 4: a grid of panels, metrics down, record sizes across, one legend above."""

import math
import statistics
from collections.abc import Iterable
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter

from ..lib import style
from ..lib.marks import PREDICTED, SYMBOLS, predicted, superscripts, unknown
from ..lib.protocols import IDS, mathtext, paper_name, protocol, series_name
from ..lib.units import GIB, count_tex, record_text
from .figure4 import METRICS, PAPER_SERIES, Figure4, Metric, build, shapes
from .figure4_caption import caption

DODGE, SPREAD = 0.4, 1.6
"""Sideways shift between neighbouring series, and between the first and the last at most, in octaves of the number of
records."""
HEIGHT = 6.4
LINE = 0.17
"""Inches: the whole figure, a line of the legend."""
LEGEND_LEFT, COLUMNS = 1.13, 4
"""Inches from the left edge to the legends' entries, and how many stand in a line."""


def make(rows: Iterable[dict[str, Any]], expected: pd.DataFrame) -> style.Drawing:
    """The figure."""
    data = build(rows, expected)
    return style.Drawing(draw(data), data.points, caption(data))


def draw(data: Figure4) -> Figure:
    """The figure."""
    sizes, counts = shapes(data)
    figure, grid = style.sheet(HEIGHT, len(METRICS), len(sizes), sharex=True, sharey="row")
    looks = style.looks(data.series)
    for row, metric in enumerate(METRICS):
        for column, bits in enumerate(sizes):
            axes = grid[row][column]
            _panel(axes, data, metric, bits, looks)
            if metric.key == "throughput":
                _bandwidth(axes, data, labelled=column == 0)
            if row == 0:
                axes.set_title(f"{record_text(bits).replace(' bit', '-bit')} records")
        grid[row][0].set_ylabel(f"{metric.title}\n({metric.unit})")
        _limits(grid[row][0], data, metric)
    _ticks(grid, counts)
    for axes in grid[:, 1:].flat:
        axes.tick_params(axis="y", which="both", length=0)
    for axes in grid[:-1].flat:
        axes.tick_params(axis="x", length=0)
    figure.text(0.53, 0.04 / HEIGHT, "Number of records", ha="center", va="bottom", fontsize=8.5)
    figure.align_ylabels(grid[:, 0])
    lines = _legends(figure, data, looks)
    figure.tight_layout(rect=(0, 0.17 / HEIGHT, 1, 1 - (LINE * lines + 0.06) / HEIGHT), pad=0.5, h_pad=0.6, w_pad=0.4)
    return figure


def _panel(axes: Axes, data: Figure4, metric: Metric, bits: int, looks: dict[str, style.Look]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    middle = (len(data.series) - 1) / 2
    dodge = min(DODGE, SPREAD / max(len(data.series) - 1, 1))
    ours = data.ours()
    ours = ours[(ours["metric"] == metric.key) & (ours["record_bits"] == bits)]
    paper = data.paper()
    paper = paper[(paper["metric"] == metric.key) & (paper["record_bits"] == bits)]
    for name in PAPER_SERIES:
        points = paper[paper["set"] == name].sort_values("records")
        axes.plot(points["records"], points["value"], zorder=3, **_printed(name))
    for index, (_, name, _) in enumerate(data.series):
        points = ours[ours["set"] == name].sort_values("records")
        if points.empty:
            continue
        places = points["records"] * 2.0 ** (dodge * (index - middle))
        _series(axes, places, points, metric, looks[name])


def _printed(name: str) -> dict[str, Any]:
    """How the paper's numbers are drawn: hollow, grey and dotted."""
    look = style.Look(style.GREY, protocol(IDS[name]).printed_marker, style.DOTS)
    return look.drawn(linewidth=0.8, markerfacecolor="white", markeredgewidth=0.8, markersize=4.6)


def _series(axes: Axes, places: pd.Series, points: pd.DataFrame, metric: Metric, look: style.Look) -> None:
    """One series of ours; throughput with whiskers over the quartiles; stale points crossed out with a plus."""
    axes.plot(places, points["value"], **look.drawn(marker=None, zorder=5))
    for source, own in points.groupby("source"):
        face = style.face(look.colour, source) | {"linestyle": "none", "zorder": 6}
        face |= {"markersize": 4.0} if source == PREDICTED else {}
        axes.plot(places[own.index], own["value"], **look.drawn(**face))
    if metric.key == "throughput":
        spread = [points["value"] - points["q1"], points["q3"] - points["value"]]
        axes.errorbar(places, points["value"], yerr=spread, fmt="none", ecolor=style.INK, elinewidth=0.6, zorder=7)
    stale = points["stale"].notna()
    if stale.any():
        axes.plot(places[stale], points["value"][stale], linestyle="none", marker="+", color=style.INK, zorder=7)


def _probed(data: Figure4) -> float | None:
    """Median read bandwidth of one core over the measured records, bytes a second."""
    probes = [r["read_bandwidth"] for r in data.records if r["status"] == "ok" and pd.notna(r["read_bandwidth"])]
    return statistics.median(probes) if probes else None


def _bandwidth(axes: Axes, data: Figure4, labelled: bool) -> None:
    """The machine's probed read bandwidth: what one core can reach on a database beyond its caches."""
    probed = _probed(data)
    if probed is None:
        return
    axes.axhline(probed / GIB, color=style.GREY, linewidth=0.7, linestyle=(0, (6, 2)), zorder=2)
    if labelled:
        place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "va": "bottom"}
        place |= {"fontsize": 6.5, "color": style.GREY}
        axes.annotate("read bandwidth, one core", xy=(0.02, probed / GIB), xytext=(0, 2), **place)


def _limits(axes: Axes, data: Figure4, metric: Metric) -> None:
    values = data.points.loc[data.points["metric"] == metric.key, "value"].dropna()
    if values.empty:
        axes.set_ylim(1, 10)
        return
    low, high = math.log10(values.min()), math.log10(values.max())
    room = 0.08
    if metric.key == "throughput" and (probed := _probed(data)):
        high, room = max(high, math.log10(probed / GIB)), 0.17
    span = max(high - low, 1.0)
    axes.set_ylim(10 ** (low - 0.08 * span), 10 ** (high + room * span))
    axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5) if high - low < 1.3 else (1,), numticks=9))
    axes.yaxis.set_major_formatter(FuncFormatter(_plain))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(which="minor", length=0)


def _plain(value: float, _: Any = None) -> str:
    """Powers of ten up to 1000 written out, larger and much smaller ones as powers."""
    if 0.01 <= value <= 10_000:
        return f"{value:g}"
    return f"$10^{{{round(math.log10(value))}}}$"


def _ticks(grid: Any, counts: list[int]) -> None:
    for axes in grid.flat:
        axes.xaxis.set_major_locator(FixedLocator(counts))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: count_tex(round(value))))
        axes.xaxis.set_minor_locator(FixedLocator([]))
        axes.set_xlim(counts[0] * 2**-1.1, counts[-1] * 2**1.1)


def _legends(figure: Figure, data: Figure4, looks: dict[str, style.Look]) -> int:
    """What is measured and what is printed, as two legends above the panels; returns their number of lines."""
    width, lines = figure.get_figwidth(), 0
    for heading, entries in zip(("Ours", "From the paper"), _entries(data, looks)):
        if entries:
            top = 1 - (LINE * lines + 0.03) / HEIGHT
            font: dict[str, Any] = {"fontsize": 8, "fontweight": "bold", "ha": "left", "va": "top"}
            figure.text(0.08 / width, top - 0.005 / HEIGHT, heading, **font)
            spacing = {"ncols": COLUMNS, "columnspacing": 1.1, "handlelength": 2.3, "handletextpad": 0.4}
            style.legend(figure, entries, "upper left", (LEGEND_LEFT / width, top), **spacing)
            lines += -(-len(entries) // COLUMNS)
    return lines


def _entries(data: Figure4, looks: dict[str, style.Look]) -> tuple[style.Entries, style.Entries]:
    """Handles and labels of our series, and of the paper's."""
    ours: style.Entries = []
    drawn = set(data.ours()["set"])
    unsure = {record["series"] for record in data.records if unknown(record)}
    for owner, name, below in data.series:
        if name not in drawn:
            continue
        look = looks[name]
        line = style.handle(look, markeredgecolor="white", markeredgewidth=0.4)
        mark = (SYMBOLS["insecure"] if below else "") + (SYMBOLS["unknown"] if name in unsure else "")
        ours.append((line, mathtext(series_name(owner, name)) + mark))
    if any(predicted(record) for record in data.records):
        pale = style.face(style.GREY, PREDICTED)
        ours.append((style.handle(style.Look(style.GREY, "o", "none"), **pale), PREDICTED + superscripts([PREDICTED])))
    present = set(data.paper()["set"])
    paper: style.Entries = []
    for name in PAPER_SERIES:
        if name in present:
            paper.append((Line2D([], [], **_printed(name)), mathtext(paper_name(name))))
    return ours, paper
