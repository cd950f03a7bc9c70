"""The InsPIRe paper's Figures 2 and 3: the parts of communication and time of InsPIRe^(2) and InsPIRe at 1 GB."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ..lib import style
from ..lib.marks import mark_notes, provenance
from ..lib.paper import Measured, matches, printed
from ..lib.protocols import IDS
from ..lib.spec import spec
from ..lib.units import KIB, count_tex, human_bytes
from . import errata
from .figure1 import beside, here_labels, missing_text, numbered, of_ours, shown, smaller

REST = "rest"
SIZES = {"upload_keys": ("Keys", "#0072B2"), "upload_query": ("Query", "#56B4E9"), "download": ("Answer", "#E69F00")}
REST_LOOK = ("not itemised", "#CFCFCF")
SPEC = spec("inspire/breakdown")


def figure_words(which: str) -> Mapping[str, Any]:
    """The words of a figure: its table, its protocol's name, and the parts of its answers."""
    return spec(f"inspire/figure{which}").words


def build(found: Sequence[Measured], expected: pd.DataFrame, which: str) -> pd.DataFrame:
    """One line a part of a bar, in bytes or seconds; a configuration without a number of ours says why."""
    chosen, lines = figure_words(which), []
    for column in printed(expected, chosen["table"]):
        hits = [ours for ours in matches(column, found) if int(ours.row["record_bits"]) == column.record_bits][:1]
        for line, values in beside(column, hits):
            line |= {"record_bits": column.record_bits, "first": column.layout.first}
            lines += _parts(line, values, chosen) or [line]
    own = [ours for ours in found if ours.row["protocol"] == IDS[chosen["name"]]]
    for bits, ours in smaller(own, {line["record_bits"]: line["record_bits"] for line in lines}):
        line, values = of_ours(ours)
        lines += _parts(line | {"record_bits": bits, "first": ours.layout.first}, values, chosen)
    return numbered(pd.DataFrame(lines, columns=[*SPEC.keys, "row"]), "value", "server_s", "first")


def _parts(base: dict[str, Any], values: dict[str, float], chosen: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts that have a number, and what the total time has beyond them."""
    base = base | {"server_s": values.get("server_time")}
    lines = [base | {"part": key, "value": values[key], "unit": "B"} for key in SIZES if key in values]
    timed = [key for key in chosen["times"] if key in values]
    lines += [base | {"part": key, "value": values[key], "unit": "s"} for key in timed]
    if "server_time" in values:
        rest = values["server_time"] - sum(values[key] for key in timed)
        lines.append(base | {"part": REST, "value": max(rest, 0.0), "unit": "s"})
    return lines


def draw(data: pd.DataFrame, which: str) -> Figure:
    """Communication above, time below, a panel a record size; of each pair of bars the paper's is the hatched one."""
    chosen = figure_words(which)
    sizes = sorted(int(bits) for bits in data["record_bits"].unique())
    counts = [data[data["record_bits"] == bits]["first"].nunique() for bits in sizes]
    ratios = {"width_ratios": counts or [1]}
    figure, grid = style.sheet(4.3, 2, max(len(sizes), 1), sharex="col", gridspec_kw=ratios)
    looks = chosen["times"] | {REST: REST_LOOK}
    sources = sorted(data["source"][data["value"].notna()].unique(), key=lambda source: (source != "paper", source))
    shifts = {source: (place + 0.5) * BARS / len(sources) - BARS / 2 for place, source in enumerate(sources)}
    for place, bits in enumerate(sizes):
        own = data[data["record_bits"] == bits]
        upper, lower = grid[0][place], grid[1][place]
        _panel(upper, own[own["unit"] == "B"], SIZES, KIB, shifts)
        _panel(lower, own[own["unit"] == "s"], looks, 1e-3, shifts)
        upper.set_title("1-bit records" if bits == 1 else f"{human_bytes(bits / 8, 2)} records")
        firsts = sorted(own["first"].dropna().unique())
        lower.set_xticks(range(len(firsts)), [count_tex(int(first)) for first in firsts])
        for axes in (upper, lower):
            axes.grid(False, axis="x")
            axes.set_ylim(0, axes.get_ylim()[1] * 1.04)
            axes.tick_params(axis="x", length=0)
    grid[0][0].set_ylabel("Communication (KiB)")
    grid[1][0].set_ylabel("Server's time (ms)")
    figure.align_ylabels(grid[:, 0])
    figure.supxlabel("First dimension N/t", fontsize=8.5, y=0.01)
    used = set(data["part"])
    _legend(figure, "Communication", SIZES, used, 0.995)
    _legend(figure, "Time", looks, used, 0.955)
    whose = style.bars("#9a9a9a", {"printed": "paper"} | here_labels(data[data["value"].notna()]))
    style.legend(figure, whose, "upper right", (0.995, 0.995), **SPACING)
    figure.tight_layout(rect=(0, 0.02, 1, 0.915), pad=0.4, h_pad=0.8, w_pad=0.8)
    return figure


BARS = 0.8
"""Width of the bars of one first dimension together."""
SPACING = {"handlelength": 1.4, "columnspacing": 1.1, "handletextpad": 0.5}


def _legend(figure: Figure, heading: str, looks: dict[str, tuple[str, str]], used: set[str], top: float) -> None:
    entries: style.Entries = [(Patch(facecolor=colour), name) for key, (name, colour) in looks.items() if key in used]
    figure.text(0.012, top, heading, ha="left", va="top", fontsize=8, fontweight="bold")
    style.legend(figure, entries, "upper left", (0.16, top), **SPACING)


def _panel(
    axes: Axes, own: pd.DataFrame, looks: dict[str, tuple[str, str]], factor: float, shifts: dict[str, float]
) -> None:
    """Stacked bars, one for each source. shifts: by how much a source's bars stand aside."""
    firsts = sorted(own["first"].dropna().unique())
    where = {first: place for place, first in enumerate(firsts)}
    for source, shift in shifts.items():
        bars = own[own["source"] == source]
        status_of = dict(zip(bars["first"], bars["status"]))
        statuses = [status_of.get(first, "") for first in firsts]
        floor = np.zeros(len(firsts))
        for key, (_, colour) in looks.items():
            values = np.zeros(len(firsts))
            for first, value in zip(bars["first"][bars["part"] == key], bars["value"][bars["part"] == key]):
                values[where[first]] = value / factor
            for at in np.flatnonzero(values):
                axes.bar(
                    at + shift,
                    values[at],
                    0.9 * BARS / len(shifts),
                    floor[at],
                    zorder=3,
                    **style.bar(colour, statuses[at]),
                )
            floor += values


def drawing(
    found: Sequence[Measured], expected: pd.DataFrame, contradictions: pd.DataFrame, which: str
) -> style.Drawing:
    """The figure of that number."""
    data = build(found, expected, which)
    rows, chosen = shown(data), figure_words(which)
    said = {"figure": which, "name": chosen["name"], "table": chosen["table"], "missing": missing_text(data)}
    said |= {"provenance": provenance(rows), "marks": mark_notes(rows)}
    caption = SPEC.caption(errata=errata.notes_of(contradictions, [chosen["table"]]), **said)
    return style.Drawing(draw(data, which), data[SPEC.keys], caption)
