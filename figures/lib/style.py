"""The one style of all figures: sizes of the publishers' columns, type, and a palette for colour-blind and grey eyes.

Colours are Okabe and Ito's; every series also has its own marker, and broken lines mark sets below the security target,
so a figure printed in grey loses nothing. Fonts are matplotlib's own STIX (the same everywhere), embedded as type 42.
"""

import io
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import matplotlib
import pandas as pd

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from .data import data
from .marks import PREDICTED
from .output import csv_text, write
from .protocols import protocol

WIDE, TEXT = 7.00, 4.80
"""Widths in inches: both columns of ACM's pages, and the text of LNCS's."""

INK = "#222222"
GREY = "#6e6e6e"
LIGHT = "#d9d9d9"
FURTHER = ("s", "P", "*", "v", "D")
"""The markers of further sets of a protocol, in turn."""
DOTS = (0, (1, 1.6))
"""The line of numbers that a paper prints."""
DASHES = (0, (3, 1.5))
"""The line of predicted numbers, where broken lines say nothing else."""

Line = Literal["-", "none"] | tuple[float, tuple[float, ...]]
"""A line's style: solid, or an offset and lengths of dashes and gaps."""


@dataclass(frozen=True)
class Look:
    """How a series is drawn."""

    colour: str
    marker: str
    line: Line

    def drawn(self, **options: Any) -> dict[str, Any]:
        """The arguments with which matplotlib draws such a line."""
        return {"color": self.colour, "marker": self.marker, "linestyle": self.line} | options


def line(line: Any) -> Line:
    """A line as data have it."""
    return "-" if line == "-" else (line[0], tuple(line[1]))


SAMPLERS = {
    name: Look(each["colour"], each["marker"], line(each.get("line", "-")))
    for name, each in data("lib")["samplers"].items()
}
"""Looks of the digit decompositions."""


def apply() -> None:
    """Set the style; every figure calls it first."""
    pyplot.rcdefaults()
    pyplot.style.use(Path(__file__).with_name("pirlab.mplstyle"))


def sheet(height: float, rows: int = 1, columns: int = 1, width: float = WIDE, **options: Any) -> tuple[Figure, Any]:
    """A figure of that height and width in inches in the one style, and its axes by row and column."""
    apply()
    return pyplot.subplots(rows, columns, figsize=(width, height), squeeze=False, **options)


def look(name: str) -> Look:
    """The look of a protocol where each has one."""
    found = protocol(name)
    return Look(found.colour, found.marker, line(found.line))


def looks(series: Iterable[tuple[str, str, bool]]) -> dict[str, Look]:
    """Looks by set name, of (protocol, set, below target): its protocol's; further sets have other markers."""
    chosen: dict[str, Look] = {}
    seen: Counter[str] = Counter()
    for name, of_set, below in series:
        own = look(name)
        markers = (own.marker, *(marker for marker in FURTHER if marker != own.marker))
        own = replace(own, marker=markers[seen[name] % len(markers)])
        chosen[of_set] = replace(own, line=(0, (4, 1.5))) if below else own
        seen[name] += 1
    return chosen


def lines(axes: Axes, data: pd.DataFrame, x: str, y: str, **options: Any) -> None:
    """A line a protocol, in the looks of protocols."""
    for name, rows in data.groupby("protocol"):
        axes.plot(rows[x], rows[y], **look(str(name)).drawn(**options))


def handle(look: Look, **options: Any) -> Line2D:
    """A line of a legend."""
    return Line2D([], [], **look.drawn(**options))


Entries = list[tuple[Artist, str]]
"""Handles and labels of a legend."""


def pale(colour: str) -> tuple[float, ...]:
    """The colour of predicted numbers of a series."""
    return tuple(0.3 * part + 0.7 for part in to_rgb(colour))


def face(colour: str, status: str) -> dict[str, Any]:
    """The markers of numbers: hollow of printed ones, pale of predicted ones, full of measured ones."""
    if status not in ("printed", PREDICTED):
        return {"markerfacecolor": colour, "markeredgecolor": "white", "markeredgewidth": 0.4}
    inside = "white" if status == "printed" else pale(colour)
    return {"markerfacecolor": inside, "markeredgecolor": colour, "markeredgewidth": 0.9}


def bar(colour: str, status: str) -> dict[str, Any]:
    """Bars of numbers: hatched of printed ones, pale with a dashed edge of predicted ones, full of measured ones."""
    if status == PREDICTED:
        return {"facecolor": pale(colour), "edgecolor": colour, "linewidth": 0.7, "linestyle": DASHES}
    hatch = {"hatch": "/////", "edgecolor": "white"} if status == "printed" else {}
    return {"facecolor": colour, "linewidth": 0} | hatch


def bars(grey: str, labels: Mapping[str, str]) -> Entries:
    """What a legend says of bars by the status of their numbers."""
    return [(Patch(**bar(grey, status)), text) for status, text in labels.items()]


def legend(figure: Figure, entries: Entries, loc: str, at: tuple[float, float], **options: Any) -> None:
    """A legend, in one line unless `ncols` says otherwise, whose corner is at a place of the figure."""
    handles, labels = [handle for handle, _ in entries], [label for _, label in entries]
    place: dict[str, Any] = {"loc": loc, "bbox_to_anchor": at, "ncols": max(len(entries), 1)}
    figure.legend(handles, labels, **place | {"borderaxespad": 0, "borderpad": 0} | options)


IMAGES: dict[str, dict[str, None]] = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}, ".png": {}}
"""The files of a figure, without dates, so that equal data give equal bytes. A program that needs fewer replaces it."""


def save(figure: Figure, prefix: Path) -> list[Path]:
    """Write `prefix` .pdf .svg .png, and close the figure."""
    written = []
    # The layout is made: an engine would have the figure drawn twice for each file.
    figure.set_layout_engine(None)
    for suffix, metadata in IMAGES.items():
        buffer = io.BytesIO()
        figure.savefig(buffer, format=suffix[1:], metadata=metadata)
        written.append(write(prefix, suffix, buffer.getvalue()))
    pyplot.close(figure)
    return written


@dataclass(frozen=True)
class Drawing:
    """A figure ready to be written, with its data, a row a number, and its caption as reStructuredText."""

    figure: Figure
    data: pd.DataFrame
    caption: str

    def write(self, prefix: Path) -> list[Path]:
        """Write `prefix` .pdf .svg .png .csv .caption.rst and return the paths."""
        written = save(self.figure, prefix)
        written.append(write(prefix, ".csv", csv_text(self.data)))
        return [*written, write(prefix, ".caption.rst", self.caption)]
