"""Drawing of the failure experiment: observed rates with their intervals against predicted ones."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log2
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MultipleLocator
from pirlab_estimator.compare import VARIANCE_TOLERANCE
from scipy.special import log_ndtr, ndtri_exp

from . import style
from .failure import DECISIONS, READING, answer, build, relevant
from .output import rst_escape, write_text
from .primitives import Primitive, notes

LOOKS = {"rgsw": ("#0072B2", "o"), "floor": ("#D55E00", "^"), "digit": ("#009E73", "s"), "bits": ("#CC79A7", "D")}
DODGE = 0.09
"""Sideways shift between decisions of equal prediction, in bits."""


def draw(data: pd.DataFrame, width: str = "acm") -> Figure:
    """Both axes in bits; filled markers: the smallest ring, open ones: larger rings."""
    style.apply()
    figure, axes = pyplot.subplots(figsize=(style.WIDTHS[width], style.WIDTHS[width] * 0.92))
    shown = data.dropna(subset=["predicted"])
    decisions = [d for d in DECISIONS if d in set(shown["decision"])]
    if shown.empty:
        axes.text(0.5, 0.5, "no failure rate was measured", ha="center", va="center", transform=axes.transAxes)
        return figure
    bits = shown["predicted"].map(log2)
    low, high = floor(bits.min()) - 1, min(0, ceil(bits.max()) + 1)
    _band(axes, low, high)
    smallest = shown["n"].min()
    for place, decision in enumerate(decisions):
        rows = shown[shown["decision"] == decision]
        _points(axes, rows, decision, (place - (len(decisions) - 1) / 2) * DODGE, smallest, low)
    axes.set_xlim(low, high)
    axes.set_ylim(low - 1, high)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MultipleLocator(2))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"$2^{{{value:g}}}$"))
    axes.set_xlabel("Predicted failure rate")
    axes.set_ylabel("Observed failure rate")
    _legend(axes, decisions, sorted(set(shown["n"])))
    figure.tight_layout(pad=0.4)
    return figure


def _band(axes: Axes, low: float, high: float) -> None:
    """Agreement, and what a variance within 1/16 of the formula's gives."""
    line = np.linspace(low, high, 200)
    axes.plot(line, line, color=style.GREY, linewidth=0.8, zorder=1)
    inside = line[line < -0.01]
    margins = -ndtri_exp((inside - 1) * np.log(2.0))
    edges = [1 + log_ndtr(-margins / (1 + sign * VARIANCE_TOLERANCE) ** 0.5) / np.log(2.0) for sign in (-1, 1)]
    axes.fill_between(inside, *edges, color=style.LIGHT, linewidth=0, zorder=0)


def _points(axes: Axes, rows: pd.DataFrame, decision: str, shift: float, smallest: int, low: float) -> None:
    colour, marker = LOOKS.get(decision, (style.INK, "x"))
    for row in rows.to_dict("records"):
        x = log2(row["predicted"]) + shift
        face = colour if row["n"] == smallest else "white"
        top = log2(row["rate_high"])
        bottom = log2(row["rate_low"]) if row["rate_low"] > 0 else low - 2
        axes.plot([x, x], [bottom, top], color=colour, linewidth=0.9, zorder=3)
        if row["failures"]:
            axes.plot(x, log2(row["rate"]), marker=marker, color=colour, markerfacecolor=face, markersize=4.4, zorder=4)
        else:
            axes.plot(x, top, marker="_", color=colour, markersize=7, zorder=4)


def _legend(axes: Axes, decisions: list[str], rings: list[int]) -> None:
    handles: list[Artist] = [
        Line2D([], [], linestyle="none", marker=LOOKS[d][1], color=LOOKS[d][0], label=DECISIONS[d]) for d in decisions
    ]
    if len(rings) > 1:
        larger = ", ".join(str(n) for n in rings[1:])
        handles.append(
            Line2D(
                [], [], linestyle="none", marker="o", color=style.INK, markerfacecolor="white", label=f"N = {larger}"
            )
        )
    handles.append(Line2D([], [], color=style.GREY, linewidth=0.8, label="agreement"))
    handles.append(Patch(color=style.LIGHT, label="variance within 1/16"))
    axes.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, handletextpad=0.4)


def caption(data: pd.DataFrame, records: Sequence[Primitive]) -> str:
    """What is seen, what it answers, and where it comes from."""
    _, origin = notes([r for r in records if relevant(r)])
    rings = sorted(set(data["n"]))
    filled = f" Filled markers: ring degree {rings[0]}, open ones: {rings[-1]}." if len(rings) > 1 else ""
    text = f"Points are observed, bars their 95 % intervals; a dash: no failure, the interval's end.{filled} "
    text = f"{text}{READING} {answer(data)} {origin}"
    return f"**Do decisions fail as often as predicted?** {rst_escape(text)}\n"


def write(records: Sequence[Primitive], prefix: Path) -> list[Path]:
    """Writes `prefix` .pdf .svg .png .csv .caption.rst."""
    data = build(records)
    written = style.save(draw(data), prefix)
    written.append(write_text(prefix, ".csv", data.to_csv(index=False, lineterminator="\n")))
    return [*written, write_text(prefix, ".caption.rst", caption(data, records))]
