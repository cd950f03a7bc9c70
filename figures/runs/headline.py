"""The papers' headline claims, each beside what our tables say of it.

experiments/expected/headline.csv has what a paper claims; `claims` of specs.toml which cells of which drawn table, its
CSV, say the same of ours, and what is made of them. A cell is the first row with a value that a query finds.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..lib.data import data
from ..lib.marks import EVERY, MISSED, PREDICTED, symbols
from ..lib.spec import spec
from ..lib.table import Cell, Row, Table
from ..lib.units import significant

SPEC = spec("runs/headline")
CLAIMS: list[dict[str, Any]] = data("runs")["claims"]
UNANSWERED: dict[str, str] = data("runs")["unanswered"]
"""Where the other claims are answered, by their ids."""
REMARKS: dict[str, str] = data("runs")["remarks"]
"""What a reader must know about our numbers, by the ids of claims."""
COSTED = "the paper's form, costed"


def _cell(frame: pd.DataFrame, query: str, columns: str) -> tuple[float, list[str]] | None:
    """The first value of the rows that a query finds, and the marks of its row. Measured rows come before predicted
    ones; among either, rows that reach their targets come first."""

    def doubt(row: dict[str, Any]) -> tuple[bool, bool]:
        return row.get("status") == PREDICTED, not MISSED.isdisjoint(str(row.get("marks", "")).split())

    for row in sorted(frame.query(query).to_dict("records"), key=doubt):
        for name in columns.split():
            if row.get(name):
                return float(row[name]), row.get("marks", "").split()
    return None


def found(claim: dict[str, Any], frame: pd.DataFrame) -> tuple[list[float], list[str]]:
    """The values that a table gives for a claim, and the keys of all marks at their cells. Sizes are exact."""
    values: list[float] = []
    marks: set[str] = set()
    for each in claim.get("over", [""]):
        queries = {name: claim[name].format(each=each) for name in ("own", "other") if name in claim}
        cells = {name: _cell(frame, query, claim["value"]) for name, query in queries.items()}
        known = {name: cell for name, cell in cells.items() if cell is not None}
        if len(known) == len(cells):
            numbers = {name: value for name, (value, _) in known.items()}
            values.append(float(pd.eval(claim.get("shown", "own"), engine="python", local_dict=numbers)))
            marks |= {key for _, keys in known.values() for key in keys}
    marks -= {PREDICTED} if claim.get("exact") else set()
    return values, [mark.key for mark in EVERY if mark.key in marks]


def _entries() -> Iterator[dict[str, Any]]:
    """The claims. A claim that is also costed in the paper's form is followed by that form of it."""
    for claim in CLAIMS:
        yield claim
        if "costed" in claim:
            yield claim | {"own": claim["costed"], "of": COSTED}


def values_text(low: float, high: float, unit: str) -> str:
    """The least and the largest value in a claim's unit: large counts as powers of ten, as the papers print them."""
    texts = [f"{value:.2e}".replace("e+", "e") if unit == "count" else significant(value) for value in (low, high)]
    return f"{' to '.join(dict.fromkeys(texts))} {unit.removesuffix('count')}".rstrip()


def ratio_text(low: float, high: float) -> str:
    """The ratios of the least and the largest value to the nearest end of what the paper prints."""
    texts = ["reversed" if ratio < 0 else significant(ratio, 2) for ratio in (low, high)]
    return " to ".join(dict.fromkeys(texts))


def build(folders: Sequence[Path], expected: Path) -> Table:
    """The table. folders: folders of drawn tables; if several have the same table, the last one counts."""
    papers = pd.read_csv(expected / "headline.csv", dtype=str, keep_default_na=False).set_index("id")
    rows: list[Row] = []
    lines: list[dict[str, Any]] = []
    for claim in _entries():
        printed = dict(papers.loc[claim["id"]])
        files = [path for folder in folders if (path := folder / f"{claim['table']}.csv").is_file()]
        frame = pd.read_csv(files[-1], dtype=str, keep_default_na=False) if files else None
        values, marks = ([], []) if frame is None else found(claim, frame)
        if not values and claim.get("of") == COSTED:
            continue
        line = printed | {key: claim.get(key, "") for key in ("id", "table", "of")} | {"marks": " ".join(marks)}
        unit = printed["unit"].removesuffix("count")
        said = printed["claim"] + (f": {claim['of']}" if "of" in claim else "")
        cells = {"claim": Cell(said), "printed": Cell(f"{printed['value']} {unit}".rstrip())}
        cells["table"] = Cell(claim["table"].replace("/table-", ", "))
        if values:
            low, high = min(values), max(values)
            ends = [float(printed[key]) for key in ("value_low", "value_high") if printed[key]]
            ratios = [value / min(max(value, ends[0]), ends[-1]) for value in (low, high)]
            cells["here"] = Cell(values_text(low, high, printed["unit"]), symbols(marks), low)
            cells["ratio"] = Cell(ratio_text(*ratios), sort=ratios[0])
            line |= {"here_low": low, "here_high": high, "ratio_low": ratios[0], "ratio_high": ratios[1]}
        rows.append(Row(cells, "", None if values else "no row of this run has it"))
        lines.append(line)
    return SPEC.table(rows, lines, left=len(UNANSWERED), remarks=[*REMARKS.values()])
