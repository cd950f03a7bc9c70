"""The DEPIR paper's Figure 3: reads and entries of Algorithms 2 and 3, by the paper's formulas and counted.

The paper's own points are an image; its curves are drawn from its formulas, at its q, |f| and N.
"""

from collections.abc import Iterator
from math import log
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ..lib import style
from ..lib.spec import spec
from . import counting, propositions
from .counting import Shape

MODULUS = 1 << 20
COEFFICIENT = MODULUS // 2
DEGREES = range(4, 101)
VARIABLES = (3, 4, 5, 6)
ALGORITHMS = ("2", "3")
LOOKS: dict[int, tuple[str, str]] = {3: ("#009E73", "o"), 4: ("#0072B2", "s"), 5: ("#D55E00", "^"), 6: ("#5B4A8A", "D")}
LINES: dict[str, style.Line] = {"counted": "-", "model": style.DASHES, "whole": style.DOTS}
SPEC = spec("depir/figure3")
NAMES: dict[str, str] = SPEC.words["names"]


def lines() -> Iterator[dict[str, Any]]:
    """A line an algorithm, m and D."""
    for variables in VARIABLES:
        for degree in DEGREES:
            shape = Shape(degree, variables, COEFFICIENT)
            exact = counting.one_step(shape, [MODULUS]), counting.two_steps(shape, [MODULUS])
            models = (
                propositions.one_step(degree, variables, log(MODULUS)),
                propositions.two_steps(degree, variables, log(MODULUS), log(COEFFICIENT)),
            )
            for algorithm, counted, model in zip(ALGORITHMS, exact, models):
                yield {
                    "algorithm": algorithm,
                    "m": variables,
                    "D": degree,
                    "reads_counted": counted.reads,
                    "reads_model": model.reads,
                    "entries_counted": counted.entries,
                    "entries_model": model.entries,
                    "entries_whole": model.whole if algorithm == "3" else None,
                }


def draw(data: pd.DataFrame) -> Figure:
    """Reads above, entries below; Algorithm 2 at the left, 3 at the right."""
    height = 4.6
    figure, grid = style.sheet(height, 2, 2, sharex=True, sharey="row")
    for column, algorithm in enumerate(ALGORITHMS):
        own = data[data["algorithm"] == algorithm]
        # Reads hardly depend on m.
        _curves(grid[0][column], own[own["m"].isin((VARIABLES[0], VARIABLES[-1]))], "reads")
        _curves(grid[1][column], own, "entries")
        grid[0][column].set_title(f"Algorithm {algorithm}", loc="left", pad=3)
        grid[1][column].set_xlabel("Total degree $D$")
    for row, quantity in enumerate(("reads", "entries")):
        grid[row][0].set_ylabel(NAMES[quantity])
    entries: style.Entries = [
        (Line2D([], [], color=colour, marker=marker), f"$m = {variables}$")
        for variables, (colour, marker) in LOOKS.items()
    ]
    entries += [(Line2D([], [], color=style.INK, linestyle=line), NAMES[name]) for name, line in LINES.items()]
    style.legend(figure, entries, "upper center", (0.5, 1 - 0.03 / height), columnspacing=1.3, handletextpad=0.5)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.24 / height), pad=0.4, w_pad=1.2)
    return figure


def _curves(axes: Axes, data: pd.DataFrame, quantity: str) -> None:
    """Curves of each m: one a source, with markers at every twentieth degree of those counted."""
    for variables, each in data.groupby("m"):
        colour, marker = LOOKS[variables]
        for source, line in LINES.items():
            if f"{quantity}_{source}" in each and each[f"{quantity}_{source}"].notna().all():
                axes.plot(each["D"], each[f"{quantity}_{source}"], color=colour, linestyle=line)
        shown = each[each["D"] % 20 == 0]
        axes.plot(shown["D"], shown[f"{quantity}_counted"], color=colour, marker=marker, linestyle="none")
    axes.set_yscale("log")


def _shortest(data: pd.DataFrame) -> str:
    """The least and the largest share of the counted primes that the model of Algorithm 2 has, by degree."""
    own = data[data["algorithm"] == "2"]
    share = own["reads_model"] / own["reads_counted"]
    low, high = own["D"].min(), own["D"].max()
    shares = {"at_low": share[own["D"] == low].mean(), "at_high": share[own["D"] == high].mean()}
    return str(SPEC.words["share"].format(low=low, high=high, **shares))


def drawing() -> style.Drawing:
    """The figure with its data."""
    data = pd.DataFrame(lines(), columns=SPEC.keys)
    return style.Drawing(draw(data), data, SPEC.caption(share=_shortest(data)))
