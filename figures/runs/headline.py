"""The papers' headline claims, each beside what our tables say of it.

experiments/expected/headline.csv has what a paper claims, `claims` of specs.toml which cells of which drawn table (its
CSV) say the same of ours. A cell is the first row with a value that its entry describes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from ..lib.data import data
from ..lib.marks import EVERY, PREDICTED, symbols
from ..lib.spec import spec
from ..lib.table import Cell, Row, Table
from ..lib.units import significant

SPEC = spec("runs/headline")
SHOWN: dict[str, Callable[[float, float], float]] = {
    "value": lambda own, _: own,
    "ratio": lambda own, other: own / other,
    "less": lambda own, other: 100 * (1 - own / other),
    "more": lambda own, other: 100 * (own / other - 1),
    "difference": lambda own, other: own - other,
}
"""What is made of two cells; per cent of `less` and `more`."""
Place = Mapping[str, Any]
"""Columns of a CSV with the texts that a row must have there; `value`: the columns of which the first value counts."""


@dataclass(frozen=True)
class Claim:
    """An entry of `claims`, which says there what the fields mean."""

    id: str
    table: str
    own: Place
    other: Place | None = None
    shown: str = "value"
    scale: float = 1.0
    exact: bool = False
    over: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def found(self, frame: pd.DataFrame) -> tuple[list[float], list[str]]:
        """The values, and the keys of all marks at their cells."""
        values: list[float] = []
        marks: set[str] = set()
        for place in [{key: text} for key, texts in self.over.items() for text in texts] or [{}]:
            cells = [_cell(frame, {**each, **place}) for each in (self.own, self.other) if each is not None]
            known = [cell for cell in cells if cell is not None]
            if len(known) == len(cells):
                values.append(SHOWN[self.shown](known[0][0], known[-1][0]) / self.scale)
                marks |= {key for _, keys in known for key in keys}
        marks -= {PREDICTED} if self.exact else set()
        return values, [mark.key for mark in EVERY if mark.key in marks]


def _cell(frame: pd.DataFrame, place: Place) -> tuple[float, list[str]] | None:
    """The value of the first row that is described, and the marks of its row; None where there is none."""
    wanted = {key: texts if isinstance(texts, list) else [texts] for key, texts in place.items()}
    columns = [name for name in wanted.pop("value") if name in frame.columns]
    for key, texts in wanted.items():
        frame = frame[frame[key].isin(texts)] if key in frame.columns else frame[:0]
    for row in frame.to_dict("records"):
        for name in columns:
            if row[name]:
                return float(row[name]), row.get("marks", "").split()
    return None


CLAIMS = [Claim(**entry) for entry in data("runs")["claims"]]


def _ratio(low: float, high: float) -> str:
    """The ratios of the least and the largest value to the nearest end of what the paper prints."""
    texts = ["reversed" if ratio < 0 else significant(ratio, 2) for ratio in (low, high)]
    return " to ".join(dict.fromkeys(texts))


def build(folders: Sequence[Path], expected: Path) -> Table:
    """The table. folders: of drawn tables; of several that have a table the last one counts."""
    papers = pd.read_csv(expected / "headline.csv", dtype=str, keep_default_na=False).set_index("id")
    rows: list[Row] = []
    lines: list[dict[str, Any]] = []
    for claim in CLAIMS:
        printed = papers.loc[claim.id]
        files = [path for folder in folders if (path := folder / f"{claim.table}.csv").is_file()]
        frame = pd.read_csv(files[-1], dtype=str, keep_default_na=False) if files else None
        values, marks = claim.found(frame) if frame is not None else ([], [])
        cells = {"claim": Cell(printed["claim"]), "printed": Cell(f"{printed['value']} {printed['unit']}")}
        line = dict(printed) | {"id": claim.id, "table": claim.table, "marks": " ".join(marks)}
        if values:
            low, high = min(values), max(values)
            text = significant(low) if low == high else f"{significant(low)} to {significant(high)}"
            bounds = [float(printed[key]) for key in ("value_low", "value_high") if printed[key]]
            ratios = [value / min(max(value, bounds[0]), bounds[-1]) for value in (low, high)]
            line |= {"here_low": low, "here_high": high, "ratio_low": ratios[0], "ratio_high": ratios[1]}
            cells["here"] = Cell(f"{text} {printed['unit']}", symbols(marks), low)
            cells["ratio"] = Cell(_ratio(*ratios), sort=ratios[0])
        cells["table"] = Cell(claim.table.replace("/table-", ", "))
        rows.append(Row(cells, "", None if values else "no row of this run has it"))
        lines.append(line)
    return SPEC.table(rows, lines, left=len(papers) - len(CLAIMS))
