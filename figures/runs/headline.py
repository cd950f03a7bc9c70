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
from ..lib.marks import EVERY, SYMBOLS
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
KINDS = ("described", "predicted")
"""Columns of values that were not measured."""
Place = Mapping[str, Any]
"""Columns of a CSV with the texts that a row must have there; `value`: the columns of which the first value counts."""


@dataclass(frozen=True)
class Claim:
    """An entry of `claims`. over: a column and the texts for which the claim is computed in turn."""

    id: str
    table: str
    own: Place
    other: Place | None = None
    shown: str = "value"
    scale: float = 1.0
    over: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def found(self, frame: pd.DataFrame) -> tuple[list[float], list[str]]:
        """The values, and the keys of all marks at their cells."""
        values, marks = [], set()
        for place in [{key: text} for key, texts in self.over.items() for text in texts] or [{}]:
            cells = [_cell(frame, {**each, **place}) for each in (self.own, self.other) if each is not None]
            if None not in cells:
                known = [cell for cell in cells if cell is not None]
                values.append(SHOWN[self.shown](known[0][0], known[-1][0]) / self.scale)
                marks |= {key for _, keys in known for key in keys}
        return values, [mark.key for mark in EVERY if mark.key in marks]


def _cell(frame: pd.DataFrame, place: Place) -> tuple[float, list[str]] | None:
    """The value of the first row that is described, and the marks of its row; None where there is none."""
    wanted = {key: texts if isinstance(texts, list) else [texts] for key, texts in place.items()}
    columns = [name for name in wanted.pop("value") if name in frame.columns]
    for key, texts in wanted.items():
        frame = frame[frame[key].isin(texts)]
    for row in frame.to_dict("records"):
        for name in columns:
            if row[name]:
                return float(row[name]), [*_marks(row), *({name} & set(KINDS))]
    return None


def _marks(row: Mapping[str, str]) -> list[str]:
    """The marks of a row that say something of each of its values: those of its seconds stand at their own column."""
    return [key for key in row.get("marks", "").split() if key != "predicted" or "predicted" not in row]


CLAIMS = [Claim(**entry) for entry in data("runs")["claims"]]


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
            nearest = min(max(low, bounds[0]), bounds[-1])
            line |= {"here_low": low, "here_high": high, "ratio": low / nearest}
            cells["here"] = Cell(f"{text} {printed['unit']}", "".join(SYMBOLS[key] for key in marks), low)
            cells["ratio"] = Cell(significant(low / nearest, 2), sort=low / nearest)
        cells["table"] = Cell(claim.table.replace("/table-", ", "))
        rows.append(Row(cells, "", None if values else "no row of this run has it"))
        lines.append(line)
    return SPEC.table(rows, lines, left=len(papers) - len(CLAIMS))
