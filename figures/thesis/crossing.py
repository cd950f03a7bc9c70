"""The thesis' Figure 5.1: ciphertexts of a query of both protocols, by its formula and by the layouts' own.

The thesis has PIRANA's codewords as long as the number of records asks for. They name columns, of which there are fewer
by the number of slots: the printed crossings are too late by about that factor.
"""

from collections.abc import Iterator
from math import comb, sqrt
from typing import Any

import pandas as pd

from ..lib import style
from ..lib.paper import config, printed_rows
from ..lib.protocols import PAPERS, mathtext, protocol_name
from ..lib.spec import spec
from ..lib.units import count_text
from .tables import PAPER

SPEC = spec("thesis/crossing")
KINDS: dict[str, str] = PAPERS[PAPER]["crossing"]
"""Our protocols by what their queries are made of."""
SLOTS = [1 << power for power in range(7)]
SHOWN = 16
"""Slots of the curves that are drawn."""
POWERS = range(4, 21)


def published(records: int, slots: int) -> tuple[float, float]:
    """Ciphertexts of PIRANA and of a one-hot query, by the thesis: sqrt(2 n) + 2 and 1 + n / s^2."""
    return sqrt(2 * records) + 2, 1 + records / slots**2


def counted(records: int, slots: int) -> tuple[int, int]:
    """The same of ceil(n / s) columns: the shortest codeword of weight two; one, and one for every s columns."""
    columns = -(-records // slots)
    bits = next(bits for bits in range(2, columns + 3) if comb(bits, 2) >= columns)
    return bits, 1 + -(-columns // slots)


def crossing(slots: int) -> int:
    """The number of records from which on PIRANA's query is the shorter one.

    One-hot queries grow at multiples of s^2 records and PIRANA's at multiples of s: no step of s hides a change."""
    shorter = [codeword < unit for codeword, unit in (counted(c * slots, slots) for c in range(1, 4 * slots**2 + 8))]
    last = max(c for c, is_shorter in enumerate(shorter, 1) if not is_shorter)
    return last * slots + 1


def data(expected: pd.DataFrame) -> pd.DataFrame:
    """The curves, and the crossings: printed, by the thesis' formula, and counted."""
    rows = printed_rows(expected, PAPER, "fig5.1")
    said = {(row["metric"], int(config(row["config"])["slots"])): row["value"] for row in rows}
    return pd.DataFrame(_lines(said), columns=SPEC.keys)


def _lines(said: dict[tuple[str, int], float]) -> Iterator[dict[str, Any]]:
    for power in POWERS:
        records = 1 << power
        codeword, unit = published(records, SHOWN)
        line = {"slots": SHOWN, "records": records, "codeword_published": codeword, "unit_published": unit}
        yield line | dict(zip(KINDS, counted(records, SHOWN)))
    for slots in SLOTS:
        yield {
            "slots": slots,
            "printed": said.get(("intersection_n", slots)),
            "formula": said.get(("intersection_n_derived", slots)),
            "counted": crossing(slots),
        }


def drawing(expected: pd.DataFrame) -> style.Drawing:
    """The figure with its data."""
    frame = data(expected)
    height = 2.9
    figure, grid = style.sheet(height, 1, 2)
    left, right = grid[0]
    curves, crossings = frame[frame["records"].notna()], frame[frame["records"].isna()]
    looks = {kind: style.look(name) for kind, name in KINDS.items()}
    for kind, look in looks.items():
        left.plot(curves["records"], curves[kind], **look.drawn(linestyle="-", markersize=3.6))
        left.plot(curves["records"], curves[f"{kind}_published"], color=look.colour, linestyle=style.DASHES)
    left.set_xlabel("Records")
    left.set_ylabel(f"Ciphertexts of a query, {SHOWN} slots")
    right.plot(crossings["slots"], crossings["counted"], **looks["codeword"].drawn(linestyle="-", markersize=3.6))
    right.plot(crossings["slots"], crossings["formula"], color=looks["codeword"].colour, linestyle=style.DASHES)
    right.set_xlabel("Slots")
    right.set_ylabel("Records at the crossing")
    for axes in (left, right):
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
    entries: style.Entries = [
        (style.handle(looks[kind]), mathtext(protocol_name(name))) for kind, name in KINDS.items()
    ]
    style.legend(figure, entries, "upper center", (0.5, 1 - 0.03 / height), ncols=2)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.24 / height), pad=0.4, w_pad=1.2)
    at = crossings[crossings["slots"] == SHOWN].iloc[0]
    words = {"slots": SHOWN, "printed": count_text(int(at["printed"])), "counted": count_text(int(at["counted"]))}
    return style.Drawing(figure, frame, SPEC.caption(**words))
