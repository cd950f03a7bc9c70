"""The one style of all figures: sizes of the publishers' columns, type, and a palette for colour-blind and grey eyes.

Colours are Okabe and Ito's; every series also has its own marker, and broken lines mark sets below the security target,
so a figure printed in grey loses nothing. Fonts are matplotlib's own STIX (the same everywhere), embedded as type 42.
"""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import matplotlib
import pandas as pd

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from .data import data
from .output import csv_text, write
from .protocols import protocol

WIDE, TEXT = 7.00, 4.80
"""Widths in inches: both columns of ACM's pages, and the text of LNCS's."""

INK = "#222222"
GREY = "#6e6e6e"
LIGHT = "#d9d9d9"
OTHER = {"colours": ["#009E73", "#CC79A7", "#5B4A8A", "#8C8C8C"], "markers": ["P", "X", "p", "h"]}
"""Colours and markers of the sets of all protocols that have none of their own (`protocols.toml`)."""
DOTS = (0, (1, 1.6))
"""The line of numbers that a paper prints."""

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


def looks(series: list[tuple[str, str, bool]]) -> dict[str, Look]:
    """Looks by set name, of (protocol, set, below target): a set has the next colour and marker of its protocol."""
    place: dict[str, int] = {}
    chosen = {}
    for name, of_set, below in series:
        family = protocol(name).family
        owner = name if family else ""
        index = place[owner] = place.get(owner, -1) + 1
        colour, marker = ((family or OTHER)[key][index % 4] for key in ("colours", "markers"))
        chosen[of_set] = Look(colour, marker, (0, (4, 1.5)) if below else "-")
    return chosen


def handle(look: Look, **options: Any) -> Line2D:
    """A line of a legend."""
    return Line2D([], [], **look.drawn(**options))


Entries = list[tuple[Artist, str]]
"""Handles and labels of a legend."""
PRINTED_BAR: dict[str, Any] = {"hatch": "/////", "edgecolor": "white"}
"""How bars of printed numbers differ from measured ones."""


def bars(grey: str, printed: str, measured: str | None) -> Entries:
    """What a legend says of hatched and of solid bars."""
    entries: Entries = [(Patch(facecolor=grey, linewidth=0, **PRINTED_BAR), printed)]
    return entries + ([(Patch(facecolor=grey), measured)] if measured else [])


def legend(figure: Figure, entries: Entries, loc: str, at: tuple[float, float], **options: Any) -> None:
    """A legend, in one line unless `ncols` says otherwise, whose corner is at a place of the figure."""
    handles, labels = [handle for handle, _ in entries], [label for _, label in entries]
    place: dict[str, Any] = {"loc": loc, "bbox_to_anchor": at, "ncols": max(len(entries), 1)}
    figure.legend(handles, labels, **place | {"borderaxespad": 0, "borderpad": 0} | options)


def save(figure: Figure, prefix: Path) -> list[Path]:
    """Write `prefix` .pdf .svg .png without dates, so that equal data give equal bytes, and close the figure."""
    written = []
    for suffix, metadata in ((".pdf", {"CreationDate": None}), (".svg", {"Date": None}), (".png", {})):
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
