"""Labels of points that overlap neither each other nor a point, placed one after the other; nothing random."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.transforms import Bbox

RADII = (0.5, 4, 9, 15, 22, 30, 40, 52, 66, 82)
"""Distances of a label's nearest edge from its point, in points (1/72 inch)."""
ANGLES = 24
LEADER = 5.0
"""Labels farther from their point than this are tied to it by a line."""
HARD, CROSSED, COVERED = 1e4, 200.0, 3.0
"""What it costs, in points of distance, that a label lies on another one or a marker, or reaches out of the axes; that
a leader goes through one, or through another leader; and that a label covers a sample of a line."""


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
    """Finds a box for each label (x, y in data units) inside the axes, those in a crowd first; `obstacles` are points
    that lines go through."""
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
    inside, half = axes.get_window_extent(renderer), marker / 2 * pixels
    points = {id(a): Bbox.from_extents(a.x - half, a.y - half, a.x + half, a.y + half) for a in labels}
    # Boxes of points and of placed labels, and their corners: a box computes its corners whenever it is asked.
    taken = list(points.values())
    corners = [_corners(box) for box in taken]
    crowd = {id(a): sum(math.hypot(a.x - b.x, a.y - b.y) < 60 * pixels for b in labels) for a in labels}

    leaders: list[Path] = []
    left, bottom, right, top = _corners(inside)

    def cost(label: Label, box: Bbox, least: float) -> float:
        near = anchor(label, box)
        length = math.hypot(near[0] - label.x, near[1] - label.y) / pixels
        known = length + 0.012 * length**2
        if known >= least:
            return math.inf
        own = _corners(box)
        within = left <= own[0] and own[2] <= right and bottom <= own[1] and own[3] <= top
        known += HARD * ((not within) + sum(overlap(own, each) for each in corners))
        # What follows takes longest, and only adds.
        if known >= least:
            return math.inf
        leader = Path([(label.x, label.y), near])
        others = [each for each in taken if each is not points[id(label)]]
        crossed = sum(leader.intersects_bbox(each) for each in others)
        crossed += sum(each.intersects_bbox(box) or each.intersects_path(leader) for each in leaders)
        covered = box.count_contains(lines) if len(lines) else 0
        return known + CROSSED * crossed + COVERED * covered

    for label in sorted(labels, key=lambda label: -crowd[id(label)]):
        places = [_box(label, radius * pixels + half, angle) for radius, angle in product(RADII, range(ANGLES))]
        best, least = places[0], math.inf
        for box in places:
            if (value := cost(label, box, least)) < least:
                best, least = box, value
        label.box = best
        taken.append(best)
        corners.append(_corners(best))
        leaders.append(Path([(label.x, label.y), anchor(label, best)]))


def _box(label: Label, distance: float, angle: int) -> Bbox:
    """The label's box with its nearest edge about `distance` from the point, in one of the directions."""
    turn = 2 * math.pi * angle / ANGLES
    left = label.x + math.cos(turn) * (distance + label.width / 2) - label.width / 2
    bottom = label.y + math.sin(turn) * (distance + label.height / 2) - label.height / 2
    return Bbox.from_bounds(left, bottom, label.width, label.height)


def _corners(box: Bbox) -> list[float]:
    """Left, bottom, right, top."""
    return [float(each) for each in box.extents]


def overlap(a: Sequence[float], b: Sequence[float]) -> bool:
    """Whether two boxes with these corners share an area."""
    return min(a[2], b[2]) > max(a[0], b[0]) and min(a[3], b[3]) > max(a[1], b[1])


def anchor(label: Label, box: Bbox) -> tuple[float, float]:
    """Where a leader meets the box: its point nearest to the label's."""
    return min(max(label.x, box.x0), box.x1), min(max(label.y, box.y0), box.y1)


def draw(axes: Axes, labels: list[Label], size: float, colour: str, line: str) -> None:
    """Writes the placed labels, with a leader where a label stands away from its point."""
    figure = axes.figure
    assert isinstance(figure, Figure)
    to_data = axes.transData.inverted()
    halo: dict[str, Any] = {"path_effects": [patheffects.withStroke(linewidth=1.6, foreground="white")], "zorder": 8}
    for label in labels:
        assert label.box is not None, "place() comes first"
        x, y = to_data.transform(((label.box.x0 + label.box.x1) / 2, (label.box.y0 + label.box.y1) / 2))
        axes.text(float(x), float(y), label.text, fontsize=size, color=colour, ha="center", va="center", **halo)
        end = anchor(label, label.box)
        if math.hypot(end[0] - label.x, end[1] - label.y) > LEADER * figure.dpi / 72:
            points = to_data.transform([(label.x, label.y), end])
            axes.plot(points[:, 0], points[:, 1], color=line, linewidth=0.5, zorder=6, scalex=False, scaley=False)
