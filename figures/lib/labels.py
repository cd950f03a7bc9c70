"""Labels of points that overlap neither each other nor a point, placed greedily and then improved; nothing random."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

RADII = (0.5, 4, 9, 15, 22, 30, 40, 52, 66, 82)
"""Distances of a label's nearest edge from its point, in points (1/72 inch)."""
ANGLES = 24
PASSES = 6
LEADER = 5.0
"""Labels farther from their point than this are tied to it by a line."""
_HARD = 1e4


@dataclass
class Label:
    """A text to be placed near a point of some axes, both in display units once the figure is laid out."""

    text: str
    x: float
    y: float
    width: float = 0.0
    height: float = 0.0
    box: Bbox | None = None


def place(axes: Axes, labels: list[Label], obstacles: list[tuple[float, float]], size: float, marker: float) -> None:
    """Finds a box for each label (x, y in data units) inside the axes; `obstacles` are points that lines go through.

    Overlaps with labels, markers and the axes' edge are forbidden where possible; crossing lines, long leaders and
    leaders through other labels cost.
    """
    figure = axes.figure
    assert isinstance(figure, Figure)
    pixels = figure.dpi / 72
    renderer: Any = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    for label in labels:
        artist = axes.text(0, 0, label.text, fontsize=size)
        extent = artist.get_window_extent(renderer)
        artist.remove()
        label.width, label.height = extent.width + pixels, extent.height
        label.x, label.y = (float(v) for v in axes.transData.transform((label.x, label.y)))
    lines = axes.transData.transform(obstacles) if obstacles else np.empty((0, 2))
    inside = axes.get_window_extent(renderer)
    half = marker / 2 * pixels
    crowd = {id(a): sum(math.hypot(a.x - b.x, a.y - b.y) < 60 * pixels for b in labels) for a in labels}
    order = sorted(labels, key=lambda label: -crowd[id(label)])
    choices = {id(label): _choices(label, labels, lines, inside, half, pixels) for label in labels}
    for turn in range(PASSES):
        moved = False
        for label in order:
            best = _best(choices[id(label)], label, [other for other in labels if other is not label])
            moved |= best is not label.box
            label.box = best
        if turn and not moved:
            break


Choice = tuple[float, int, Bbox]
"""What a place costs whatever the other labels do, its number, and the place."""


def _choices(
    label: Label, labels: list[Label], lines: npt.NDArray[np.float64], inside: Bbox, half: float, pixels: float
) -> list[Choice]:
    """All places for a label, the best first, if there were no other labels, only their points."""
    found: list[Choice] = []
    for radius in RADII:
        for angle in range(ANGLES):
            box = _box(label, radius * pixels + half, angle)
            near = anchor(label, box)
            length = math.hypot(near[0] - label.x, near[1] - label.y) / pixels
            cost = length + 0.012 * length**2
            fits = inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
            cost += _HARD * (not fits)
            for other in labels:
                point = Bbox.from_extents(other.x - half, other.y - half, other.x + half, other.y + half)
                cost += _HARD * overlap(box, point)
                if other is not label:
                    cost += 60 * _through(point, (label.x, label.y), near)
            x, y = lines[:, 0], lines[:, 1]
            cost += 3.0 * int(((x > box.x0) & (x < box.x1) & (y > box.y0) & (y < box.y1)).sum())
            found.append((cost, len(found), box))
    return sorted(found)


def _best(choices: list[Choice], label: Label, others: list[Label]) -> Bbox:
    """The cheapest place, given where the others are now."""
    best, least = choices[0][2], math.inf
    for cost, _, box in choices:
        if cost >= least:
            break
        total = cost + sum(_clash(label, box, other) for other in others if other.box is not None)
        if total < least:
            best, least = box, total
    return best


def _clash(label: Label, box: Bbox, other: Label) -> float:
    """What a place costs next to another label: overlap, leaders through labels, crossing leaders."""
    assert other.box is not None
    near, there = anchor(label, box), anchor(other, other.box)
    cost = _HARD * overlap(box, other.box)
    cost += 40 * _crosses((label.x, label.y), near, (other.x, other.y), there)
    return cost + 300 * _through(other.box, (label.x, label.y), near) + 300 * _through(box, (other.x, other.y), there)


def _box(label: Label, distance: float, angle: int) -> Bbox:
    """The label's box with its nearest edge about `distance` from the point, in one of the directions."""
    turn = 2 * math.pi * angle / ANGLES
    dx, dy = math.cos(turn), math.sin(turn)
    centre_x = label.x + dx * (distance + label.width / 2)
    centre_y = label.y + dy * (distance + label.height / 2)
    left, bottom = centre_x - label.width / 2, centre_y - label.height / 2
    return Bbox.from_bounds(left, bottom, label.width, label.height)


def overlap(a: Bbox, b: Bbox) -> bool:
    """Whether two boxes share an area."""
    return bool(min(a.x1, b.x1) > max(a.x0, b.x0) and min(a.y1, b.y1) > max(a.y0, b.y0))


def anchor(label: Label, box: Bbox) -> tuple[float, float]:
    """Where a leader meets the box: its point nearest to the label's."""
    return min(max(label.x, box.x0), box.x1), min(max(label.y, box.y0), box.y1)


def _through(box: Bbox, start: tuple[float, float], end: tuple[float, float]) -> bool:
    """Whether a segment enters a box, looked at along its length."""
    for step in range(1, 12):
        x = start[0] + (end[0] - start[0]) * step / 12
        y = start[1] + (end[1] - start[1]) * step / 12
        if box.x0 < x < box.x1 and box.y0 < y < box.y1:
            return True
    return False


def _crosses(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float], d: tuple[float, float]) -> bool:
    """Whether two segments cross."""

    def side(p: tuple[float, float], q: tuple[float, float], r: tuple[float, float]) -> float:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0


def draw(axes: Axes, labels: list[Label], size: float, colour: str, line: str) -> None:
    """Writes the placed labels, with a leader where a label stands away from its point."""
    figure = axes.figure
    assert isinstance(figure, Figure)
    pixels = figure.dpi / 72
    to_data = axes.transData.inverted()
    for label in labels:
        assert label.box is not None, "place() comes first"
        centre = to_data.transform(((label.box.x0 + label.box.x1) / 2, (label.box.y0 + label.box.y1) / 2))
        halo = [patheffects.withStroke(linewidth=1.6, foreground="white")]
        axes.text(
            float(centre[0]),
            float(centre[1]),
            label.text,
            fontsize=size,
            color=colour,
            ha="center",
            va="center",
            zorder=8,
            path_effects=halo,
        )
        end = anchor(label, label.box)
        if math.hypot(end[0] - label.x, end[1] - label.y) > LEADER * pixels:
            points = to_data.transform([(label.x, label.y), end])
            axes.plot(points[:, 0], points[:, 1], color=line, linewidth=0.5, zorder=6, scalex=False, scaley=False)
