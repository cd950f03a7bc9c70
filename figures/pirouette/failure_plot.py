"""Drawing of the failure experiment: observed over predicted rates, with their intervals, against predicted ones."""

from collections.abc import Sequence
from math import ceil, floor, log2
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MultipleLocator
from pirlab_estimator.compare import VARIANCE_TOLERANCE
from scipy.special import log_ndtr, ndtri_exp

from ..lib import style
from ..lib.primitive import Primitive, notes
from .failure import CAPTION, DECISIONS, SPEC, answer, build, relevant

LOOKS = {"rgsw": ("#0072B2", "o"), "floor": ("#D55E00", "^"), "digit": ("#009E73", "s"), "bits": ("#CC79A7", "D")}
RATIOS = {-4: "1/16", -3: "1/8", -2: "1/4", -1: "1/2", 0: "1", 1: "2", 2: "4", 3: "8", 4: "16"}
DODGE = 0.45
"""Sideways shift, in bits, between rates of one decision whose predictions are about equal."""
ALIKE = 0.3
"""Predictions that differ by less than this number of bits are about equal."""


def draw(data: pd.DataFrame) -> Figure:
    """A panel a decision, agreement a level line; filled markers: the smallest ring, open ones: larger rings."""
    shown = data.dropna(subset=["predicted"])
    decisions = [d for d in DECISIONS if d in set(shown["decision"])]
    rows, columns = max(1, (len(decisions) + 1) // 2), min(2, max(1, len(decisions)))
    height = 0.45 + 1.75 * rows
    figure, grid = style.sheet(height, rows, columns, style.TEXT, sharex=True, sharey=True)
    if shown.empty:
        axes = grid[0][0]
        axes.text(0.5, 0.5, "no failure rate was measured", ha="center", va="center", transform=axes.transAxes)
        return figure
    bits = shown["predicted"].map(log2)
    low, high = floor(bits.min()) - 1, min(0, ceil(bits.max()) + 1)
    smallest = shown["n"].min()
    furthest = max((abs(log2(rate / p)) for rate, p in zip(shown["rate"], shown["predicted"]) if rate), default=1.0)
    reach = min(4, max(2, ceil(furthest + 0.3)))
    for decision, axes in zip(decisions, grid.flat):
        _band(axes, low, high)
        _points(axes, shown[shown["decision"] == decision], decision, smallest)
        axes.set_title(DECISIONS[decision], loc="left", pad=3)
        axes.set_xlim(low, high)
        axes.set_ylim(-reach, reach)
        axes.xaxis.set_major_locator(MultipleLocator(2))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"$2^{{{value:g}}}$"))
        axes.set_yticks(range(-reach, reach + 1), [RATIOS[bits] for bits in range(-reach, reach + 1)])
    for axes in list(grid.flat)[len(decisions) :]:
        axes.set_visible(False)
    figure.supxlabel("Predicted failure rate", fontsize=8.5, y=0.01)
    figure.supylabel("Observed / predicted", fontsize=8.5, x=0.01)
    _legend(figure, sorted(set(shown["n"])), height)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.2 / height), pad=0.5)
    return figure


def _band(axes: Axes, low: float, high: float) -> None:
    """Agreement, and what a variance within 1/16 of the formula's gives."""
    axes.axhline(0, color=style.GREY, linewidth=0.8, zorder=1)
    line = np.linspace(low, min(high, -0.01), 200)
    margins = -ndtri_exp((line - 1) * np.log(2.0))
    edges = [1 + log_ndtr(-margins / (1 + sign * VARIANCE_TOLERANCE) ** 0.5) / np.log(2.0) - line for sign in (-1, 1)]
    axes.fill_between(line, *edges, color=style.LIGHT, linewidth=0, zorder=0)


def _shifts(predicted: Sequence[float]) -> list[float]:
    """Sideways shifts of rates in order: those of about equal prediction stand side by side."""
    groups: list[list[float]] = []
    for bits in predicted:
        if groups and abs(groups[-1][0] - bits) < ALIKE:
            groups[-1].append(bits)
        else:
            groups.append([bits])
    return [(place - (len(group) - 1) / 2) * DODGE for group in groups for place in range(len(group))]


def _points(axes: Axes, rows: pd.DataFrame, decision: str, smallest: int) -> None:
    """Rates with their intervals; of about equal predictions the larger rings last."""
    colour, marker = LOOKS.get(decision, (style.INK, "x"))
    rows = rows.assign(bits=rows["predicted"].map(log2), bin=(rows["predicted"].map(log2) / ALIKE).round())
    rows = rows.sort_values(["bin", "n", "trials"])
    for row, shift in zip(rows.to_dict("records"), _shifts(rows["bits"].tolist()), strict=True):
        x, level = row["bits"] + shift, row["bits"]
        face = colour if row["n"] == smallest else "white"
        top = log2(row["rate_high"]) - level
        bottom = log2(row["rate_low"]) - level if row["rate_low"] > 0 else -20.0
        axes.plot([x, x], [bottom, top], color=colour, linewidth=0.9, zorder=3)
        if row["failures"]:
            y = log2(row["rate"]) - level
            axes.plot(x, y, marker=marker, color=colour, markerfacecolor=face, markersize=4, zorder=4)
        else:
            axes.plot(x, top, marker="_", color=colour, markersize=7, zorder=4)


def _legend(figure: Figure, rings: list[int], height: float) -> None:
    """What lines and faces say; decisions are named by their panels."""
    plain: dict[str, Any] = {"linestyle": "none", "marker": "o", "color": style.INK, "markersize": 4}
    entries: style.Entries = [
        (Line2D([], [], color=style.GREY, linewidth=0.8), "agreement"),
        (Patch(color=style.LIGHT), "variance within 1/16"),
    ]
    if len(rings) > 1:
        entries.append((Line2D([], [], **plain), f"ring degree {rings[0]}"))
        larger = ", ".join(str(n) for n in rings[1:])
        entries.append((Line2D([], [], markerfacecolor="white", **plain), f"ring degree {larger}"))
    style.legend(figure, entries, "upper center", (0.5, 1 - 0.03 / height), handletextpad=0.4, columnspacing=1.2)


def caption(data: pd.DataFrame, records: Sequence[Primitive]) -> str:
    """What is seen, what it answers, and where it comes from."""
    _, origin = notes([r for r in records if relevant(r)])
    rings = sorted(set(data["n"]))
    filled = f" Filled markers: ring degree {rings[0]}, open ones: {rings[-1]}." if len(rings) > 1 else ""
    return CAPTION.caption(rings=filled, reading=SPEC.words["reading"], answer=answer(data), origin=origin)


def drawing(records: Sequence[Primitive]) -> style.Drawing:
    """The figure with its data and caption."""
    data = build(records)
    return style.Drawing(draw(data), data, caption(data, records))
