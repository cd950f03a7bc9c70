"""Drawing of the noise experiment: one product by base, and chains by length, measured points on their formulas."""

from collections.abc import Sequence
from math import log2

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from ..lib import style
from ..lib.primitive import Primitive, notes
from ..lib.spec import spec
from ..lib.units import has
from .noise import CHAINS, SPEC, answer, build, relevant
from .paper import FAMILIES

CAPTION = spec("gadget/noise-caption")
DODGE = 0.11
"""Sideways shift between neighbouring decompositions, in places of the base axis."""


def chains(data: pd.DataFrame) -> list[tuple[str, str]]:
    """The kinds of chain, in order."""
    present = set(zip(data["input"], data["selectors"], strict=True)) if not data.empty else set()
    measured = {key for key in present if key[0] != "uniform"}
    return [key for key in CHAINS if key in measured]


def draw(data: pd.DataFrame) -> Figure:
    """The product's noise over balanced digits, then one panel a kind of chain."""
    kinds = chains(data[data["what"] == "chain"])
    families = [f for f in FAMILIES if f in set(data["family"])]
    figure, grid = style.sheet(2.9, 1, 1 + len(kinds))
    _product(grid[0][0], data[data["what"] == "product"], families)
    for axes, kind in zip(grid[0][1:], kinds, strict=True):
        rows = data[(data["what"] == "chain") & (data["input"] == kind[0]) & (data["selectors"] == kind[1])]
        _chain(axes, rows, families, CHAINS[kind])
    handles = [style.handle(style.SAMPLERS[f]) for f in families]
    labels = [FAMILIES[f] for f in families]
    figure.legend(handles, labels, loc="upper center", ncols=len(labels), columnspacing=1.2, handletextpad=0.4)
    figure.tight_layout(rect=(0, 0, 1, 0.92), pad=0.4, w_pad=1.2)
    return figure


def _product(axes: Axes, rows: pd.DataFrame, families: list[str]) -> None:
    bases = sorted(set(rows["base"]))
    middle = (len(families) - 1) / 2
    reference = {r["base"]: r["bits"] for r in rows[rows["family"] == "balanced"].to_dict("records")}
    for index, family in enumerate(families):
        look = style.SAMPLERS[family]
        for row in rows[rows["family"] == family].to_dict("records"):
            if row["base"] not in reference:
                continue
            place = bases.index(row["base"]) + DODGE * (index - middle)
            if row["stddev_predicted"] and has(row["stddev_predicted"]):
                formula = log2(row["stddev_predicted"]) - reference[row["base"]]
                axes.plot([place - 0.055, place + 0.055], [formula] * 2, color=style.INK, linewidth=0.9, zorder=6)
            axes.plot(place, row["bits_over_balanced"], marker=look.marker, color=look.colour, markersize=4.6, zorder=5)
    axes.axhline(0, color=style.GREY, linewidth=0.7, zorder=1)
    axes.set_xticks(range(len(bases)), [_base(b) for b in bases])
    axes.set_xlabel("Base")
    axes.set_ylabel("Noise over balanced digits (bits)")
    axes.set_title("One external product")
    axes.grid(axis="x", visible=False)


def _base(base: int) -> str:
    return f"$2^{{{base.bit_length() - 1}}}$" if base & (base - 1) == 0 else str(base)


def _chain(axes: Axes, rows: pd.DataFrame, families: list[str], title: str) -> None:
    base = rows["base"].min()
    rows = rows[rows["base"] == base]
    for family in families:
        look = style.SAMPLERS[family]
        own = rows[rows["family"] == family].sort_values("steps")
        formula = own.dropna(subset=["stddev_predicted"])
        axes.plot(
            formula["steps"], [log2(v) for v in formula["stddev_predicted"]], color=look.colour, linestyle=look.line
        )
        axes.plot(own["steps"], own["bits"], linestyle="none", marker=look.marker, color=look.colour, zorder=5)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.tick_params(axis="x", which="minor", length=0)
    axes.set_xlabel("CMUXes")
    axes.set_ylabel("Standard deviation (bits)")
    axes.set_title(f"{title[0].upper()}{title[1:]}, base {_base(int(base))}")


def caption(data: pd.DataFrame, records: Sequence[Primitive]) -> str:
    """The caption: what is shown, the answer, and its sources."""
    _, origin = notes([r for r in records if relevant(r)])
    return CAPTION.caption(reading=SPEC.words["reading"], answer=answer(data), origin=origin)


def drawing(records: Sequence[Primitive]) -> style.Drawing:
    """The figure with its data and caption."""
    data = build(records)
    return style.Drawing(draw(data), data, caption(data, records))
