"""Figure 1 of the gadget paper: mean Euclidean norm of the digits against log2 q at b = 2, each sampler."""

from collections.abc import Sequence
from statistics import fmean
from typing import Literal

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ..lib import style
from ..lib.output import caption_text
from ..lib.primitive import Primitive, notes
from ..lib.spec import spec
from .paper import FAMILIES, RANDOM

PRIMITIVE = "decompose-magnitude"
KINDS = {
    "largest": ("A", "largest prime below 2^j"),
    "random": ("R", "random j-bit prime"),
    "smallest": ("C", "smallest prime above 2^(j-1)"),
}
MAIN_KIND = "random"
SIZES = {"unsigned": 10.0, "balanced": 6.5}
FILL: dict[str, Literal["full", "none", "bottom"]] = {"largest": "full", "random": "none", "smallest": "bottom"}
SPEC = spec("gadget/figure1")


def build(records: Sequence[Primitive]) -> pd.DataFrame:
    """One row a sampler and modulus: the mean norm over all runs, and sqrt(E |x|^2) of the closed form."""
    rows = []
    for record in records:
        means = record.values("norm_mean")
        if record.name != PRIMITIVE or not means:
            continue
        settings, square = record.settings, record.count("norm_square_expected")
        row = {key: settings[key] for key in ("family", "modulus_kind", "modulus_bits", "base", "length")}
        row |= {"runs": settings["runs"] * len(means), "norm_mean": fmean(means)}
        row |= {"norm_expected": square**0.5 if square is not None else None}
        row |= {"norm_max": max(record.values("norm_max"), default=None)}
        rows.append(row | {"norm_bound": row["base"] * row["length"] ** 0.5, "record_id": record.id})
    frame = pd.DataFrame(rows, columns=SPEC.keys)
    return frame.sort_values(["family", "modulus_kind", "modulus_bits"]).reset_index(drop=True)


def draw(data: pd.DataFrame) -> Figure:
    """Left the paper's figure; right the same over sqrt(k), with every kind of modulus."""
    figure, [(left, right)] = style.sheet(3.0, 1, 2)
    families = [f for f in FAMILIES if f in set(data["family"])]
    for family in families:
        look = style.SAMPLERS[family]
        own = data[data["family"] == family]
        main = own[own["modulus_kind"] == MAIN_KIND]
        main = main if not main.empty else own[own["modulus_kind"] == own["modulus_kind"].iloc[0]]
        line = {"color": look.colour, "linestyle": look.line, "zorder": 4}
        # Deterministic digits and ZY22 coincide at b = 2: the ones below show around those above.
        large = {"markersize": SIZES.get(family, 4.2), "fillstyle": "none" if family in SIZES else "full"}
        left.plot(main["modulus_bits"], main["norm_mean"], marker=look.marker, **large, **line)
        spread = own.groupby("modulus_bits")["norm_mean"].agg(["min", "max"])
        left.fill_between(spread.index, spread["min"], spread["max"], color=look.colour, alpha=0.15, linewidth=0)
        for kind, rows in own.groupby("modulus_kind"):
            marks = {"marker": look.marker, "fillstyle": FILL.get(str(kind), "none"), "markersize": 3.6}
            scaled = rows["norm_mean"] / rows["length"] ** 0.5
            right.plot(rows["modulus_bits"], scaled, linewidth=0.7, markeredgewidth=0.7, **marks, **line)
    if not data.empty:
        _bound(left, data, divided=False)
        _bound(right, data, divided=True)
    left.set_ylabel("Mean Euclidean norm")
    right.set_ylabel(r"Mean Euclidean norm over $\sqrt{k}$")
    for axes in (left, right):
        axes.set_xlabel(r"$\log_2 q$")
        axes.set_ylim(bottom=0)
    bound = Line2D([], [], color=style.GREY, linestyle=(0, (6, 2)), linewidth=0.8)
    figure.legend(
        [*(style.handle(style.SAMPLERS[f]) for f in families), bound],
        [*(FAMILIES[f] for f in families), r"bound $b\sqrt{k}$"],
        loc="upper center",
        ncols=len(families) + 1,
        columnspacing=1.1,
        handletextpad=0.4,
    )
    kinds = [k for k in KINDS if k in set(data["modulus_kind"])]
    circles = [Line2D([], [], color=style.INK, marker="o", fillstyle=FILL[k], linestyle="none") for k in kinds]
    right.legend(circles, [f"{KINDS[k][0]}: {_power(KINDS[k][1])}" for k in kinds], loc="lower left", fontsize=7)
    figure.tight_layout(rect=(0, 0, 1, 0.92), pad=0.4, w_pad=1.5)
    return figure


def _power(text: str) -> str:
    return text.replace("2^(j-1)", "$2^{j-1}$").replace("2^j", "$2^j$").replace("j-bit", "$j$-bit")


def _bound(axes: Axes, data: pd.DataFrame, divided: bool) -> None:
    bound = data.groupby("modulus_bits")[["norm_bound", "length"]].max()
    values = bound["norm_bound"] / bound["length"] ** 0.5 if divided else bound["norm_bound"]
    axes.plot(bound.index, values, color=style.GREY, linestyle=(0, (6, 2)), linewidth=0.8, zorder=2)


def caption(data: pd.DataFrame, records: Sequence[Primitive]) -> str:
    """The caption: what is shown, and its sources."""
    if data.empty:
        return caption_text(SPEC.title, "Nothing was measured.")
    runs = "/".join(str(n) for n in sorted(set(data["runs"])))
    bases = "/".join(str(b) for b in sorted(set(data["base"])))
    kinds = ", ".join(f"{letter} the {words}" for letter, words in KINDS.values())
    top = data[data["modulus_bits"] == data["modulus_bits"].max()]
    means = top.groupby("family")["norm_mean"].mean()
    order = ", ".join(f"{FAMILIES[f]} {means[f]:.2f}" for f in means.sort_values().index)
    ratio = ""
    if {"balanced", *RANDOM[:1]} <= set(means.index):
        over = {f: means[f] / means["balanced"] for f in RANDOM if f in means.index}
        ratio = " Over balanced digits: " + ", ".join(f"{FAMILIES[f]} {v:.2f} x" for f, v in over.items()) + "."
    _, origin = notes([r for r in records if r.name == PRIMITIVE])
    return SPEC.caption(bases=bases, runs=runs, kinds=kinds, order=order, ratio=ratio, origin=origin)


def drawing(records: Sequence[Primitive]) -> style.Drawing:
    """The figure with its data and caption."""
    data = build(records)
    return style.Drawing(draw(data), data, caption(data, records))
