"""The accuracy figure: measured over predicted against the prediction, one panel a kind, tolerance as a band."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogFormatterMathtext, LogLocator, MaxNLocator, NullFormatter
from pirlab_estimator.compare import ANSWER_TOLERANCE, MEMORY_TOLERANCE, VARIANCE_TOLERANCE

from ..lib import style
from ..lib.frame import dicts
from ..lib.output import write
from ..lib.series import order
from ..lib.spec import spec
from ..lib.table import Table
from ..lib.units import human_bytes
from .accuracy import KINDS, build, table

CAPTION = spec("runs/accuracy-caption")
BANDS = {
    "seconds": (1 - ANSWER_TOLERANCE, 1 + ANSWER_TOLERANCE),
    "memory": (1 - MEMORY_TOLERANCE, 1 + MEMORY_TOLERANCE),
    "noise": ((1 - VARIANCE_TOLERANCE) ** 0.5, (1 + VARIANCE_TOLERANCE) ** 0.5),
}
DECADE_RATIOS = (0.001, 0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 100, 1000)
Points = Iterable[tuple[pd.DataFrame, style.Look, bool]]
"""Rows that look alike, and whether their faces are filled."""


@dataclass(frozen=True)
class Accuracy:
    """The figure and the table, which are written together."""

    figure: Figure
    table: Table

    def write(self, prefix: Path) -> list[Path]:
        """Write the table's files, the figure's, and a caption for both."""
        written = [*self.table.write(prefix), *style.save(self.figure, prefix)]
        return [*written, write(prefix, ".caption.rst", CAPTION.caption(notes=self.table.notes))]


def accuracy(joined: pd.DataFrame) -> Accuracy:
    """The figure and the table of all twins of the records."""
    frame = build(joined)
    return Accuracy(draw(frame, order(dicts(joined))), table(frame, joined))


def draw(frame: pd.DataFrame, series: list[tuple[str, str, bool]]) -> Figure:
    """The figure; `series` as `order` has them. Answers are filled: of times only they are judged."""
    frame = frame[frame["ratio"] > 0]
    looks, height = style.looks(series), 4.6
    figure, grid = style.sheet(height, 2, 2)
    for axes, kind in zip(grid.flat, KINDS, strict=True):
        rows = frame[frame["kind"] == kind]
        answers = rows["quantity"] == "answer"
        split = [(name, filled) for name in looks for filled in (False, True)]
        points = [(rows[(rows["set"] == name) & (answers == filled)], looks[name], filled) for name, filled in split]
        panel(axes, CAPTION.words["panels"][kind], rows, points, BANDS.get(kind), kind == "seconds")
        if not rows.empty:
            _scale(axes, kind, rows)
    labels = dict(zip(frame["set"], frame["series"], strict=True))
    entries = [
        (style.handle(look, linestyle="none", markerfacecolor="none"), labels[name])
        for name, look in looks.items()
        if name in labels
    ]
    if entries:
        figure.legend(*zip(*entries), loc="upper center", ncols=min(4, len(entries)), handletextpad=0.1)
    lines = -(-len(entries) // 4)
    figure.tight_layout(rect=(0, 0, 1, 1 - (0.18 * lines + 0.04) / height), h_pad=1.0, w_pad=1.4)
    return figure


def panel(
    axes: Axes,
    titles: tuple[str, str],
    rows: pd.DataFrame,
    points: Points,
    band: tuple[float, float] | None,
    wide: bool = False,
) -> None:
    """Measured over predicted against predicted; the axis of ratios is linear about 1 where all are near it and near
    the band, else (or if `wide`) logarithmic. titles: of the panel and of its predictions."""
    axes.set_title(titles[0])
    axes.set_xlabel(titles[1])
    axes.set_ylabel("measured / predicted")
    axes.set_xscale("log")
    if band:
        axes.axhspan(*band, color="#ececec", linewidth=0, zorder=1)
    axes.axhline(1, color=style.INK, linewidth=0.6, zorder=2)
    if rows.empty:
        text = "nothing measured has a prediction"
        axes.text(0.5, 0.7, text, ha="center", transform=axes.transAxes, color=style.GREY)
        axes.set_ylim(0.8, 1.2)
        return
    for part, look, filled in points:
        face = {"markerfacecolor": look.colour if filled else "none", "markeredgewidth": 0.8, "zorder": 4}
        axes.plot(part["predicted"], part["ratio"], **look.drawn(linestyle="none", markersize=4, **face))
    low, high = rows["ratio"].min(), rows["ratio"].max()
    if wide or high > 2 or low < 0.5:
        axes.set_yscale("log")
        axes.set_ylim(min(low / 1.3, 0.45), max(high * 1.3, 2.2))
        axes.yaxis.set_major_locator(FixedLocator(DECADE_RATIOS))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        reach = max(abs(low - 1), abs(high - 1), *(abs(b - 1) for b in band or (1.04,))) * 1.35
        axes.set_ylim(1 - reach, 1 + reach)
        axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.set_xlim(rows["predicted"].min() / 2.5, rows["predicted"].max() * 2.5)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(which="minor", length=0)


def _scale(axes: Axes, kind: str, rows: pd.DataFrame) -> None:
    """Ticks of the predictions: powers of two of bytes, powers of ten of all else that spans few of them."""
    left, right = axes.get_xlim()
    if kind in ("bytes", "memory"):
        axes.set_xscale("log", base=2)
        axes.set_xlim(left, right)
        inside = [k for k in range(60) if left <= 2**k <= right]
        step = next(s for s in (1, 2, 5, 10, 20) if len(inside) / s <= 6)
        axes.xaxis.set_major_locator(FixedLocator([2**k for k in inside if k % step == 0]))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: human_bytes(value, 1)))
        axes.xaxis.set_minor_formatter(NullFormatter())
    elif rows["predicted"].max() / rows["predicted"].min() < 200:
        axes.xaxis.set_major_locator(LogLocator(numticks=9))
        axes.xaxis.set_major_formatter(LogFormatterMathtext())
