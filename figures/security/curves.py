"""Security against log2 q: a panel a ring degree, curves by secret and error, the papers' sets as labelled points."""

import math
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pandas as pd
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from pirlab_estimator.security.attacks import BROKEN_BELOW

from ..lib import labels, style
from ..lib.data import data
from ..lib.inputs import Inputs
from ..lib.spec import spec
from ..lib.units import power_of_two
from .document import Audit, load_audit, secret_text
from .instances import SOURCES_NOTE

SIZE = (7.0, 8.5)
TEXT = 6.5
MARKER = 4.2
ROWS = ((9, 10), (11,), (12, 13), (14, 15, 16), ())
"""Panels: log2 of the degrees of each row; the last row holds all other dimensions."""
HEIGHTS = (1.55, 2.3, 1.35, 1.1, 1.7)
CURVES: list[tuple[str, float, str, style.Line]] = [
    (name, stddev, colour, style.line(line)) for name, stddev, colour, line in data("security")["drawn"]["curves"]
]
KINDS: dict[str, dict[str, str]] = data("security")["kinds"]
MARKERS = {kind: each["marker"] for kind, each in KINDS.items() if "marker" in each}
FLOOR_LINE: style.Line = (0, (1.2, 1.8))
REACHED, MISSED, THROUGH = style.INK, "#D55E00", "#9DBAD3"
SPEC = spec("security/curves")


@dataclass(frozen=True)
class Panel:
    """The contents of one panel."""

    title: str
    points: list[dict[str, Any]]
    curves: list[dict[str, Any]]


def panels(audit: Audit) -> list[list[Panel]]:
    """Rows of panels; a panel without a set keeps its curves."""
    drawn = audit.drawn()

    def panel(log2: int) -> Panel:
        points, curves = ([each for each in of if each["dimension"] == 1 << log2] for of in (drawn, audit.curves))
        return Panel(rf"$n = 2^{{{log2}}}$", points, curves)

    others = [point for point in drawn if point["dimension"] not in {1 << log2 for row in ROWS for log2 in row}]
    return [*([panel(log2) for log2 in row] for row in ROWS[:-1]), [Panel("other dimensions", others, audit.through)]]


def draw(audit: Audit) -> Figure:
    """The figure, a page wide and high."""
    style.apply()
    figure = pyplot.figure(figsize=SIZE)
    grid = figure.add_gridspec(len(ROWS), 6, height_ratios=HEIGHTS)
    places = []
    for at, row in enumerate(panels(audit)):
        width = 6 // len(row)
        for column, panel in enumerate(row):
            axes = figure.add_subplot(grid[at, column * width : (column + 1) * width])
            _panel(axes, panel, audit.target)
            if column == 0:
                axes.set_ylabel("Security (bit)")
            if at == len(ROWS) - 1:
                axes.set_xlabel(r"$\log_2 q$")
            places.append((axes, panel))
    top = _legend(figure, audit.target)
    figure.tight_layout(rect=(0, 0, 1, top), pad=0.4, h_pad=0.7, w_pad=0.8)
    figure.canvas.draw()
    for axes, panel in places:
        _label(axes, panel, audit.target)
    return figure


def _window(panel: Panel, target: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Limits of the axes: all points of the panel and the border, with room for labels."""
    if not panel.points:
        near = [q for c in panel.curves for q, b in zip(c["log2_modulus"], c["bits"]) if b and abs(b - target) < 25]
        return (min(near, default=1), max(near, default=2)), (target - 25, target + 25)
    moduli = [p["log2_modulus"] for p in panel.points]
    bits = [p["bits"] for p in panel.points] + [target]
    wide = max(max(moduli) - min(moduli), 0.1 * max(moduli))
    high = max(max(bits) - min(bits), 25.0)
    return ((min(moduli) - 0.16 * wide, max(moduli) + 0.16 * wide), (min(bits) - 0.18 * high, max(bits) + 0.18 * high))


def _panel(axes: Axes, panel: Panel, target: float) -> None:
    limits_x, limits_y = _window(panel, target)
    axes.set_xlim(*limits_x)
    axes.set_ylim(*limits_y)
    axes.axhspan(limits_y[0], target, color="#D55E00", alpha=0.06, linewidth=0, zorder=0)
    axes.axhline(target, color=MISSED, linewidth=0.8, zorder=2)
    for curve in panel.curves:
        points = [(q, b) for q, b in zip(curve["log2_modulus"], curve["bits"], strict=True) if b is not None]
        look = _look(curve)
        if panel.title.startswith("other"):
            _draw_curve(axes, points, THROUGH, "-", 1.4)
        elif look is not None:
            _draw_curve(axes, points, *look, 0.9)
    for point in panel.points:
        reached = point["bits"] >= target
        face: dict[str, Any] = {"markerfacecolor": REACHED if reached else "white", "markeredgewidth": 0.8, "zorder": 7}
        face |= {
            "marker": MARKERS[KINDS[point["kind"]].get("like", point["kind"])],
            "markersize": MARKER,
            "linestyle": "none",
        }
        axes.plot(point["log2_modulus"], point["bits"], color=REACHED if reached else MISSED, **face)
    axes.set_title(panel.title, loc="left", pad=2, fontsize=8)
    axes.xaxis.set_major_locator(MaxNLocator(7, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))


def _draw_curve(axes: Axes, points: list[tuple[float, float]], colour: str, line: style.Line, width: float) -> None:
    """A curve, dashed where the least block size tried decides and the instance is weaker than it shows."""
    above = [at for at in points if at[1] >= BROKEN_BELOW]
    floor = [*above[-1:], *(at for at in points if at[1] < BROKEN_BELOW)]
    for part, dashes in ((above, line), (floor if len(floor) > 1 else [], FLOOR_LINE)):
        if part:
            axes.plot(*zip(*part), color=colour, linestyle=dashes, linewidth=width, zorder=3)


def _look(curve: dict[str, Any]) -> tuple[str, style.Line] | None:
    name = secret_text(curve["secret"])
    return next((c[2:] for c in CURVES if c[0] == name and abs(c[1] - curve["stddev"]) < 0.02), None)


def _label(axes: Axes, panel: Panel, target: float) -> None:
    """Labels of the panel's points, clear of each other."""
    named = [labels.Label(_subscript(p["label"]), p["log2_modulus"], p["bits"]) for p in panel.points if p["label"]]
    labels.place(axes, named, _samples(axes, panel, target), TEXT, MARKER + 1.5)
    labels.draw(axes, named, TEXT, style.INK, style.GREY)


def _subscript(text: str) -> str:
    """`InsPIRe_0` for matplotlib."""
    return re.sub(r"(?<=[A-Za-z])_(\d)\b", r"$_\1$", text)


def _samples(axes: Axes, panel: Panel, target: float) -> list[tuple[float, float]]:
    """Points along the curves and the border, close enough that no label lies on a line unseen."""
    low, high = axes.get_xlim()
    found = [(low + (high - low) * i / 150, target) for i in range(151)]
    for curve in panel.curves:
        points = [(q, b) for q, b in zip(curve["log2_modulus"], curve["bits"], strict=True) if b is not None]
        for (q0, b0), (q1, b1) in pairwise(points):
            steps = max(1, math.ceil(150 * (q1 - q0) / (high - low)))
            found += [(q0 + (q1 - q0) * i / steps, b0 + (b1 - b0) * i / steps) for i in range(steps)]
    return found


def _legend(figure: Figure, target: float) -> float:
    """Two lines above the panels; returns where the panels may begin, as a share of the height."""
    curves: style.Entries = [
        (Line2D([], [], color=colour, linestyle=line), rf"{name}, $\sigma$ = {stddev:g}")
        for name, stddev, colour, line in CURVES
    ]
    curves.append((Line2D([], [], color=MISSED, linewidth=0.8), f"{target:g} bit"))
    points: style.Entries = [
        (Line2D([], [], marker=marker, color=style.INK, linestyle="none", markersize=MARKER), KINDS[kind]["meaning"])
        for kind, marker in MARKERS.items()
    ]
    hollow = Line2D([], [], marker="o", color=MISSED, markerfacecolor="white", linestyle="none", markersize=MARKER)
    points.append((hollow, f"below {target:g} bit"))
    for line, entries in enumerate((curves, points)):
        spacing = {"columnspacing": 1.1, "handletextpad": 0.4, "handlelength": 2.0, "fontsize": 7.2}
        style.legend(figure, entries, "upper left", (0.05, 1 - (0.03 + 0.17 * line) / SIZE[1]), **spacing)
    return 1 - 0.4 / SIZE[1]


def points(audit: Audit) -> pd.DataFrame:
    """All drawn points: those of sets and those of curves."""
    rows = [
        {"what": "set", "degree": p["dimension"], "secret": secret_text(p["secret"])}
        | {key: p[key] for key in ("log2_modulus", "bits", "error_stddev", "id", "label", "kind", "source")}
        for p in audit.drawn()
    ]
    for curve in [*audit.curves, *audit.through]:
        facts = {"what": "curve", "degree": curve["dimension"], "secret": secret_text(curve["secret"])}
        facts |= {"error_stddev": curve["stddev"], "source": "fast_only"}
        rows += [facts | {"log2_modulus": q, "bits": b} for q, b in zip(curve["log2_modulus"], curve["bits"])]
    return pd.DataFrame(rows, columns=SPEC.keys)


def caption(audit: Audit) -> str:
    """The caption: what is shown, its sources, and what is not drawn."""
    drawn = audit.drawn()
    below = sum(p["bits"] < audit.target for p in drawn)
    powers = ", ".join(f"2^{power_of_two(n)}" for n in audit.degrees())
    said = {"model": audit.model, "shape": audit.shape, "target": audit.target, "broken": BROKEN_BELOW}
    return SPEC.caption(powers=powers, drawn=len(drawn), below=below, sources=SOURCES_NOTE, **said)


def make(inputs: Inputs) -> style.Drawing:
    """The figure of the audit."""
    audit = load_audit(inputs.arguments.audit)
    return style.Drawing(draw(audit), points(audit), caption(audit))
