"""The cost of other gadget bases and moduli by database size: a panel a protocol, a line a number of records."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from ..lib import style
from ..lib.output import csv_text, write
from ..lib.protocols import mathtext, place, protocol_name
from ..lib.spec import spec
from . import sweep
from .data import along

COLUMNS = 5
#: Of a line, how far above its lowest point the axis goes; what costs more is cut off.
MOST = 2.0
TICKS = (1, 1.25, 1.5, 2)
SPEC = spec("search/grids")


def frame(path: Path) -> pd.DataFrame:
    """What reaches both targets of the first two keys of each protocol: bases and moduli."""
    data = along(path)
    return data[(data["missed"] == "") & (data["axis"] < 2)].reset_index(drop=True)


def draw(data: pd.DataFrame) -> Figure:
    """The panels of one record size: bases above, moduli below."""
    names = sorted(set(data["protocol"]), key=lambda name: (place(name), name))
    rows = -(-len(names) // COLUMNS)
    columns = min(COLUMNS, len(names))
    figure, panels = style.sheet(1.35 * 2 * rows + 0.4, 2 * rows, columns, layout="constrained", sharey=True)
    sizes = sorted(set(data["records"]))
    for at, name in enumerate(names):
        for axis in range(2):
            axes = panels[rows * axis + at // COLUMNS][at % COLUMNS]
            _panel(axes, data[(data["protocol"] == name) & (data["axis"] == axis)], sizes)
            axes.set_title(mathtext(protocol_name(name)))
    for axis in range(2):
        for at in range(len(names), rows * columns):
            panels[rows * axis + at // COLUMNS][at % COLUMNS].set_axis_off()
    for row in panels:
        row[0].set_ylabel("cost / least")
    handles, labels = max((axes.get_legend_handles_labels() for axes in panels.flat), key=lambda found: len(found[0]))
    figure.legend(handles, labels, loc="outside upper center", ncols=len(sizes))
    return figure


def _panel(axes: Axes, data: pd.DataFrame, sizes: list[int]) -> None:
    for records, look in sweep.looks(sizes).items():
        rows = data[data["records"] == records]
        label = sweep.records_words(records)
        axes.plot(
            rows["value"], rows["score"] / rows["least"], **look.drawn(markersize=2.6, linewidth=0.9, label=label)
        )
    axes.set_yscale("log", base=2)
    axes.set_ylim(0.97, MOST)
    axes.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axes.yaxis.set_minor_locator(NullLocator())
    sweep.along_values(axes, data)


@dataclass(frozen=True)
class Grids:
    """A figure for each size of a record, and one for each protocol."""

    path: Path

    def write(self, prefix: Path) -> list[Path]:
        """Write `prefix`-<bits> for each size and `prefix`-<protocol>, each as .pdf .svg .png .caption.rst, and
        `prefix` .csv."""
        files = [write(prefix, ".csv", csv_text(along(self.path)))]
        for bits, of_size in frame(self.path).groupby("record_bits"):
            named = prefix.with_name(f"{prefix.name}-{bits}")
            files += style.save(draw(of_size), named)
            files.append(write(named, ".caption.rst", caption(int(str(bits)))))
        for name, of_protocol in sweep.shown(self.path).items():
            named = prefix.with_name(f"{prefix.name}-{name}")
            files += style.save(sweep.draw(of_protocol), named)
            files.append(write(named, ".caption.rst", sweep.caption(of_protocol)))
        return files


def caption(bits: int) -> str:
    """The caption."""
    return SPEC.caption(size=sweep.size_words(bits), most=MOST)


def grids(path: Path) -> Grids:
    """The figures of a sweep."""
    return Grids(path)
