"""The accuracy figure: measured over predicted against the prediction, one panel a kind, tolerance as a band."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogFormatterMathtext, LogLocator, MaxNLocator, NullFormatter
from pirlab_estimator.compare import ANSWER_TOLERANCE, MEMORY_TOLERANCE, VARIANCE_TOLERANCE

from ..lib import style
from ..lib.frame import dicts
from ..lib.output import write_text
from ..lib.series import order
from ..lib.spec import spec
from ..lib.table import Table
from ..lib.units import GIB, KIB, MIB
from .accuracy import KINDS, build, table

PANELS = {
    "bytes": ("Message payloads", "predicted bytes"),
    "memory": ("Memory: peak, tables", "predicted bytes"),
    "noise": ("Noise, standard deviation", "predicted standard deviation (integers modulo q)"),
    "seconds": ("Time of each phase (answers filled; only they are judged)", "predicted seconds"),
}
BANDS = {
    "seconds": (1 - ANSWER_TOLERANCE, 1 + ANSWER_TOLERANCE),
    "memory": (1 - MEMORY_TOLERANCE, 1 + MEMORY_TOLERANCE),
    "noise": ((1 - VARIANCE_TOLERANCE) ** 0.5, (1 + VARIANCE_TOLERANCE) ** 0.5),
}
CAPTION = spec("runs/accuracy-caption")
DECADE_RATIOS = (0.001, 0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 100, 1000)


@dataclass(frozen=True)
class Accuracy:
    """The figure and the table, which are written together."""

    figure: Figure
    table: Table

    def write(self, prefix: Path) -> list[Path]:
        """Write the table's files, the figure's, and a caption for both."""
        written = [*self.table.write(prefix), *style.save(self.figure, prefix)]
        return [*written, write_text(prefix, ".caption.rst", CAPTION.caption(notes=self.table.notes))]


def accuracy(joined: pd.DataFrame) -> Accuracy:
    """The figure and the table of all twins of the records."""
    frame = build(joined)
    return Accuracy(draw(frame, order(dicts(joined))), table(frame, joined))


def draw(frame: pd.DataFrame, series: list[tuple[str, str, bool]], width: str = "acm-wide") -> Figure:
    """The figure; `series` as `order` has them."""
    style.apply()
    frame = frame[frame["ratio"] > 0]
    looks = style.looks(series)
    height = 4.6
    figure, grid = pyplot.subplots(2, 2, figsize=(style.WIDTHS[width], height), squeeze=False)
    for axes, kind in zip(grid.flat, KINDS, strict=True):
        _panel(axes, kind, frame[frame["kind"] == kind], looks)
    for axes in grid[:, 0]:
        axes.set_ylabel("measured / predicted")
    labels = dict(zip(frame["set"], frame["series"], strict=True))
    handles = [
        style.handle(look, linestyle="none", markerfacecolor="none") for name, look in looks.items() if name in labels
    ]
    names = [labels[name] for name in looks if name in labels]
    if handles:
        figure.legend(handles, names, loc="upper center", ncols=min(4, len(handles)), handletextpad=0.1)
    lines = -(-len(handles) // 4)
    figure.tight_layout(rect=(0, 0, 1, 1 - (0.18 * lines + 0.04) / height), h_pad=1.0, w_pad=1.4)
    return figure


def _panel(axes: Axes, kind: str, rows: pd.DataFrame, looks: dict[str, style.Look]) -> None:
    title, label = PANELS[kind]
    axes.set_title(title)
    axes.set_xlabel(label)
    axes.set_xscale("log")
    if kind in BANDS:
        axes.axhspan(*BANDS[kind], color="#ececec", linewidth=0, zorder=1)
    axes.axhline(1, color=style.INK, linewidth=0.6, zorder=2)
    if rows.empty:
        text = "nothing measured has a prediction"
        axes.text(0.5, 0.7, text, ha="center", transform=axes.transAxes, color=style.GREY)
        axes.set_ylim(0.8, 1.2)
        return
    for name, look in looks.items():
        mine = rows[rows["set"] == name]
        answers = mine["quantity"] == "answer"
        for part, fill in ((mine[~answers], "none"), (mine[answers], look.colour)):
            face = {"markerfacecolor": fill, "markeredgewidth": 0.9, "zorder": 4}
            axes.plot(part["predicted"], part["ratio"], **look.drawn(linestyle="none", **face))
    _scale(axes, kind, rows)


def scale_ratios(axes: Axes, ratios: pd.Series, band: tuple[float, float] | None, wide: bool = False) -> None:
    """The axis of ratios: linear about 1 where all are near it and near the band, else (or if `wide`) logarithmic."""
    low, high = ratios.min(), ratios.max()
    if wide or high > 2 or low < 0.5:
        axes.set_yscale("log")
        axes.set_ylim(min(low / 1.3, 0.45), max(high * 1.3, 2.2))
        axes.yaxis.set_major_locator(FixedLocator(DECADE_RATIOS))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.tick_params(axis="y", which="minor", length=0)
    else:
        reach = max(abs(low - 1), abs(high - 1), *(abs(b - 1) for b in band or (1.04,))) * 1.35
        axes.set_ylim(1 - reach, 1 + reach)
        axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))


def _scale(axes: Axes, kind: str, rows: pd.DataFrame) -> None:
    scale_ratios(axes, rows["ratio"], BANDS.get(kind), kind == "seconds")
    left, right = rows["predicted"].min(), rows["predicted"].max()
    axes.set_xlim(left / 2.5, right * 2.5)
    if kind in ("bytes", "memory"):
        axes.set_xscale("log", base=2)
        inside = [k for k in range(60) if left / 2.5 <= 2**k <= right * 2.5]
        step = next(s for s in (1, 2, 5, 10, 20) if len(inside) / s <= 6)
        axes.xaxis.set_major_locator(FixedLocator([2**k for k in inside if k % step == 0]))
        axes.xaxis.set_major_formatter(FuncFormatter(_byte_tick))
    elif right / left < 200:
        axes.xaxis.set_major_locator(LogLocator(numticks=9))
        axes.xaxis.set_major_formatter(LogFormatterMathtext())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", which="minor", length=0)


def _byte_tick(value: float, _: int) -> str:
    for factor, unit in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if value >= factor:
            return f"{value / factor:g} {unit}"
    return f"{value:g} B"
