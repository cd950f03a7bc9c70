"""Cost against database size: the best found set of each protocol, with the records of runs as points."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ..lib import style
from ..lib.frame import load_records
from ..lib.protocols import mathtext, protocol_name
from ..lib.spec import spec
from ..lib.units import KIB, human_bytes
from .data import load

QUANTITIES = {"traffic": "Query and answer (KiB)", "answer": "Answer, one core (s)"}
#: The objective whose best sets a row of panels shows.
OBJECTIVES = {"traffic": "bytes", "answer": "seconds"}


def measured(folders: Sequence[Path]) -> pd.DataFrame:
    """Traffic and answer seconds of every good record of one query."""
    frames = [load_records(folder) for folder in folders]
    data = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    if data.empty:
        return data
    data = data[(data["status"] == "ok") & (data["queries"] == 1)]
    traffic = (data["upload_bytes"] + data["download_bytes"]) / KIB
    return data.assign(traffic=traffic, answer=data["answer_s"])


def found(path: Path) -> pd.DataFrame:
    data = load(path, "best")
    data = data[data["name"] == "found"]
    return data.assign(traffic=(data["upload"] + data["download"]) / KIB, answer=data["seconds"])


def draw(data: pd.DataFrame, runs: pd.DataFrame) -> Figure:
    """A column a record size, a row a quantity."""
    sizes = sorted(set(data["record_bits"]))
    figure, panels = style.sheet(0.62 * style.WIDE, 2, len(sizes), sharex=True, sharey="row", layout="constrained")
    for column, bits in enumerate(sizes):
        for row, quantity in enumerate(QUANTITIES):
            chosen = data[(data["record_bits"] == bits) & (data["objective"] == OBJECTIVES[quantity])]
            of_size = runs[runs["record_bits"] == bits] if not runs.empty else runs
            _panel(panels[row][column], chosen, of_size, quantity)
        panels[0][column].set_title(f"records of {'1 bit' if bits == 1 else human_bytes(bits / 8, 2)}")
        panels[1][column].set_xlabel("Records")
    for row, label in enumerate(QUANTITIES.values()):
        panels[row][0].set_ylabel(label)
    # All panels share their ticks: where the sweep has databases.
    panels[0][0].set_xticks(sorted(set(data["records"])), minor=False)
    names = sorted(set(data["protocol"]))
    handles = [style.handle(style.look(name), markersize=4) for name in names]
    labels = [mathtext(protocol_name(n)) for n in names]
    if not runs.empty and set(runs["record_bits"]) & set(sizes):
        handles.append(Line2D([], [], color=style.GREY, marker="o", linestyle="none", markerfacecolor="none"))
        labels.append("measured, any set")
    figure.legend(handles, labels, loc="outside upper center", ncols=6)
    return figure


def _panel(axes: Axes, chosen: pd.DataFrame, runs: pd.DataFrame, quantity: str) -> None:
    style.lines(axes, chosen.sort_values("records"), "records", quantity, markersize=3)
    if not runs.empty:
        hollow = {"linestyle": "none", "markersize": 5, "markerfacecolor": "none", "markeredgewidth": 0.7}
        style.lines(axes, runs, "records", quantity, **hollow)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")


def drawing(path: Path, folders: Sequence[Path]) -> style.Drawing:
    """The figure of a sweep, with the runs that are named."""
    data, runs = found(path), measured(folders)
    points = runs[["protocol", "set", "records", "record_bits", "traffic", "answer", "id"]] if not runs.empty else runs
    lines = data[["protocol", "objective", "records", "record_bits", "traffic", "answer", "bits", "log2_failure"]]
    both = pd.concat([lines.assign(source="predicted"), points.assign(source="measured")], ignore_index=True)
    return style.Drawing(draw(data, runs), both, spec("search/sizes").caption())
