"""Failure against a gadget's base and length, a panel a grid of the sweep; lines are what else was varied."""

import json
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from pirlab_estimator.noise import FAILURE_TARGET

from ..lib import style
from ..lib.protocols import mathtext, protocol_name
from ..lib.spec import spec
from .data import load

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222222", "#8C8C8C", "#5B4A8A")
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "<", ">")
WORDS = {"dropped": ("{} dropped", "digits dropped"), "log2_modulus": ("q of {} bits", "modulus")}
"""By the key in which lines differ: what a line is called, and what a panel varies next to the base."""


def frame(path: Path) -> pd.DataFrame:
    """Rows with what was varied as columns `base` and `line`, and the words of the line."""
    data = load(path, "grid")
    varied = [json.loads(text) for text in data["varied"]]
    data["base"] = [next(v for k, v in each.items() if k.endswith("base_log2")) for each in varied]
    others = [next(((k.split(".")[-1], v) for k, v in each.items() if not k.endswith("base_log2"))) for each in varied]
    data["line"] = [value for _, value in others]
    data["line_words"] = [_words(key)[0].format(value) for key, value in others]
    data["about"] = [_words(key)[1] for key, _ in others]
    return data


def _words(key: str) -> tuple[str, str]:
    return WORDS.get(key, (f"{key} {{}}", key))


def draw(data: pd.DataFrame) -> Figure:
    names = list(dict.fromkeys(data["part"]))
    figure, panels = style.sheet(0.48 * style.WIDE, 1, len(names), layout="constrained")
    for axes, name in zip(panels[0], names):
        _panel(axes, data[data["part"] == name])
    panels[0][0].set_ylabel("log2 of the failure probability")
    return figure


def _panel(axes: Axes, data: pd.DataFrame) -> None:
    for place, (words, rows) in enumerate(data.groupby("line_words", sort=False)):
        rows = rows.sort_values("base")
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        axes.plot(rows["base"], rows["log2_failure"], color=colour, marker=marker, markersize=3, label=words)
        _length(axes, rows, colour, place)
    axes.axhline(FAILURE_TARGET, color=style.GREY, linewidth=0.8, linestyle=(0, (4, 2)))
    axes.set_yscale("symlog", linthresh=10)
    axes.set_ylim(data["log2_failure"].min() * 1.6, 0)
    axes.set_xlabel("log2 of the base")
    first = data.iloc[0]
    axes.set_title(f"{mathtext(protocol_name(first['protocol']))}, {_gadget(first)}: {first['about']}")
    axes.legend(fontsize=6.5, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, columnspacing=1.0)


def _gadget(row: pd.Series) -> str:
    key = next(k for k in json.loads(row["varied"]) if k.endswith("base_log2"))
    return str(key).split(".")[0]


def _length(axes: Axes, rows: pd.DataFrame, colour: str, place: int) -> None:
    """The number of digits in the largest base that reaches the target, lines in turn on either side."""
    reached = rows[rows["log2_failure"] <= FAILURE_TARGET]
    if reached.empty or len(reached) == len(rows):
        return
    last = reached.iloc[-1]
    axes.annotate(
        f"{last['gadget_length']:.0f}",
        (last["base"], last["log2_failure"]),
        xytext=((4, -7) if place % 2 else (-7, 3)),
        textcoords="offset points",
        fontsize=7,
        color=colour,
        path_effects=[withStroke(linewidth=1.5, foreground="white")],
        zorder=5,
    )


def drawing(path: Path) -> style.Drawing:
    """The figure of a sweep."""
    data = frame(path)
    return style.Drawing(draw(data), data, spec("search/gadgets").caption())
