"""Measured over predicted quantities of primitives: a panel for each kind, agreement is a level line."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from ..lib import style
from ..lib.primitive import Primitive, notes
from ..lib.spec import spec
from .accuracy_plot import BANDS, panel
from .primitives import SPEC, TWINS

CAPTION = spec("runs/primitives-caption")
PANELS: dict[str, tuple[str, str]] = CAPTION.words["panels"]
BOUND = "below its bound, as demanded"
LOOKS = {"agrees": ("#0072B2", "o"), "shown": (style.GREY, "o"), BOUND: ("#009E73", "v"), "DIFFERS": ("#D55E00", "X")}
"""Colour and marker of each verdict; all others look like `agrees` with an open face."""


def _look(verdict: str) -> style.Look:
    colour, marker = LOOKS.get(verdict, LOOKS["agrees"])
    return style.Look(colour, marker, "none")


def build(records: Sequence[Primitive]) -> pd.DataFrame:
    """A row a quantity that has a predicted twin."""
    rows: list[dict[str, Any]] = []
    for record in records:
        place = {"group": record.document["group"], "row": record.document["row"], "record_id": record.id}
        for twin in record.twins().values():
            kind = next((kind for kind, name in TWINS.items() if twin.quantity.startswith(name)), None)
            if kind:
                row = place | {key: getattr(twin, key) for key in ("predicted", "measured", "ratio", "verdict")}
                row |= {"kind": kind, "quantity": twin.quantity.removeprefix(TWINS[kind]).strip()}
                bounded = "bound" in twin.tolerance and twin.verdict == "agrees"
                rows.append(row | ({"verdict": BOUND} if bounded else {}))
    columns = ["kind", "group", "row", "quantity", "predicted", "measured", "ratio", "verdict", "record_id"]
    return pd.DataFrame(rows, columns=columns)


def draw(data: pd.DataFrame) -> Figure:
    """A panel for each kind that has points; the grey band of noise is its tolerance."""
    data = data[(data["ratio"] > 0) & (data["predicted"] > 0)]
    kinds = [kind for kind in PANELS if kind in set(data["kind"])]
    height = 0.4 + 1.8 * max(1, len(kinds))
    figure, grid = style.sheet(height, max(1, len(kinds)), width=style.TEXT)
    if not kinds:
        axes = grid[0][0]
        axes.text(0.5, 0.5, "nothing measured has a prediction", ha="center", va="center", transform=axes.transAxes)
        return figure
    for kind, axes in zip(kinds, grid[:, 0], strict=True):
        rows = data[data["kind"] == kind]
        points = [(part, _look(str(verdict)), verdict in LOOKS) for verdict, part in rows.groupby("verdict")]
        panel(axes, PANELS[kind], rows, points, BANDS["noise"] if kind == "noise" else None)
    handles = [
        style.handle(_look(v), markersize=4, label=v, markerfacecolor=None if v in LOOKS else "none")
        for v in dict.fromkeys(data["verdict"])
    ]
    figure.legend(handles=handles, loc="upper right", ncols=len(handles), handletextpad=0.2, borderpad=0)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.12 / height), pad=0.5)
    return figure


def drawing(records: Sequence[Primitive]) -> style.Drawing:
    """The figure with its data and caption."""
    data = build(records)
    caption = CAPTION.caption(rules=SPEC.words["rules"], origin=notes(records)[1])
    return style.Drawing(draw(data), data, caption)
