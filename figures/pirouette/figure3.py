"""The Pirouette paper's Figure 3: what phase 0 is made of, its bars and those measured here.

The paper's bars were read off its vector graphic (experiments/expected/pirouette-figure3.csv).
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from pirlab_estimator.sets import AS_PUBLISHED

from ..lib import style
from ..lib.marks import PREDICTED, footnotes, mark_notes, marks_of, provenance, superscripts, symbols
from ..lib.protocols import mathtext, protocol_name, series_name
from ..lib.spec import spec
from ..lib.table import Cell, Table
from ..lib.units import count_tex, count_text, significant
from .sets import PAPER as PIROUETTE
from .steps import PIROUETTE as STEPS
from .steps import shown, steps

PHASE0 = STEPS.first
LOOKS: dict[str, tuple[str, str]] = spec("pirouette/phase0").words
PAPER = "paper"


def bars(rows: Sequence[dict[str, Any]], expected: pd.DataFrame) -> list[dict[str, Any]]:
    """A line a bar: the paper's and ours, by database, the paper's first; each step's seconds."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    printed = expected[(expected["paper"] == PIROUETTE) & (expected["table"] == "figure3")]
    for row in printed.to_dict("records"):
        threads = int(row["config"].removeprefix("threads="))
        base = {"source": PAPER, "protocol": PIROUETTE, "set": None, "records": int(row["num_records"])}
        base |= {"record_bits": int(row["record_bits"]), "threads": threads, "row": None, "status": "printed"}
        found.setdefault((base["records"], threads), base)[row["metric"]] = row["seconds"]
    own: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in shown(rows, predictions=True):
        if row.get("source_kind") in AS_PUBLISHED:  # Table 7 has them: their bars would bear the same names
            continue
        line = {key: row[key] for key in ("protocol", "set", "records", "record_bits", "threads", "status")}
        line |= {step: seconds for step, seconds in steps(row).items() if step in PHASE0}
        key = (row["records"], row["record_bits"], row["set"], row["sha256"], row["threads"])
        own.setdefault(key, line | {"source": "here", "row": row})  # of several, that with the fewest repetitions
    lines = [*found.values(), *own.values()]
    for line in lines:
        line["total_s"] = sum(line.get(step) or 0.0 for step in PHASE0)
    single = {_whose(line): line["total_s"] for line in lines if line["threads"] == 1}
    for line in lines:
        alone = single.get(_whose(line))
        line["speedup"] = alone / line["total_s"] if alone and line["total_s"] and line["threads"] > 1 else None
    return sorted(lines, key=lambda line: (line["records"], line["record_bits"], line["source"] != PAPER))


def _whose(line: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(line[key] for key in ("source", "protocol", "set", "records", "record_bits"))


def draw(lines: Sequence[dict[str, Any]]) -> Figure:
    """Seconds at the left, shares of phase 0 at the right; a group of bars a database."""
    height = 0.95 + 0.19 * len(lines) + 0.3 * len({line["records"] for line in lines})
    figure, [(left, right)] = style.sheet(height, 1, 2, sharey=True, gridspec_kw={"width_ratios": (3, 2)})
    at, previous, labels = 0.0, None, []
    longest = max((line["total_s"] for line in lines), default=1.0)
    for line in lines:
        if line["records"] != previous:
            at += 1.5 if previous is not None else 1.0
            title = f"{count_tex(line['records'])} records of {line['record_bits'] // 8} bytes"
            left.text(0.006 * longest, at - 0.78, title, fontsize=8, va="center", ha="left")
            previous = line["records"]
        labels.append((at, _label(line)))
        _bar(left, at, line, 1.0)
        _bar(right, at, line, 100 / line["total_s"] if line["total_s"] else 0.0)
        total = f"{significant(line['total_s'], 3)} s" + superscripts(marks_of(line["row"]) if line["row"] else [])
        left.text(line["total_s"] + 0.012 * longest, at, total, fontsize=7, va="center", ha="left")
        at += 1.0
    left.set_yticks([place for place, _ in labels], [text for _, text in labels])
    left.set_ylim(at - 0.2, -0.4)
    left.set_xlim(0, longest * 1.13)
    right.set_xlim(0, 100)
    left.set_xlabel("Seconds")
    right.set_xlabel("Share of phase 0 (%)")
    for axes in (left, right):
        axes.grid(False, axis="y")
        axes.tick_params(axis="y", length=0)
    _legend(figure, height)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.26 / height), pad=0.4, w_pad=1.2)
    return figure


def _label(line: dict[str, Any]) -> str:
    threads = "1 thread" if line["threads"] == 1 else f"{line['threads']} threads"
    name = "Paper" if line["source"] == PAPER else mathtext(protocol_name(line["protocol"]))
    return f"{name}, {threads}"


def _bar(axes: Axes, at: float, line: dict[str, Any], factor: float) -> None:
    start = 0.0
    for step, (_, colour) in LOOKS.items():
        if value := (line.get(step) or 0.0) * factor:
            axes.barh(at, value, 0.72, start, zorder=3, **style.bar(colour, line["status"]))
            start += value


def _legend(figure: Figure, height: float) -> None:
    entries: style.Entries = [(Patch(facecolor=colour), name) for name, colour in LOOKS.values()]
    entries += style.bars("#9a9a9a", {"printed": "paper", "ok": "measured here", PREDICTED: PREDICTED})
    spacing = {"handlelength": 1.4, "columnspacing": 1.4, "handletextpad": 0.5}
    style.legend(figure, entries, "upper center", (0.5, 1 - 0.03 / height), **spacing)


def frame(lines: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """What is drawn, a line a bar, in seconds."""
    rows = [
        line | ({"marks": " ".join(marks_of(line["row"])), "record_id": line["row"]["id"]} if line["row"] else {})
        for line in lines
    ]
    return pd.DataFrame(rows, columns=SPEC.keys)


SPEC = spec("pirouette/figure3", series=lambda line: Cell(line["name"], line["symbols"]))
CAPTION = spec("pirouette/figure3-caption")


def table(every: Sequence[dict[str, Any]], expected: pd.DataFrame) -> Table:
    """The bars as numbers."""
    lines, rows = bars(every, expected), []
    for line in lines:
        name = series_name(line["protocol"], line["set"]) if line["set"] else "paper, Figure 3"
        shown_of = {"name": name, "symbols": symbols(marks_of(line["row"])) if line["row"] else ""}
        rows.append(SPEC.row(line | shown_of, (line["row"] or {}).get("id") or ""))
    own = [line["row"] for line in lines if line["row"]]
    return SPEC.table(rows, frame(lines), footnotes(own), provenance=provenance(own), reading=_reading(lines))


def _reading(lines: Sequence[dict[str, Any]]) -> str:
    missing = sorted({line["records"] for line in lines} - {line["records"] for line in lines if line["row"]})
    missed = f" Without bars of ours: {' and '.join(map(count_text, missing))} records." if missing else ""
    return f"{SPEC.words['reading']}{missed}"


def caption(lines: Sequence[dict[str, Any]]) -> str:
    """What is seen and where it is from."""
    own = [line["row"] for line in lines if line["row"]]
    return CAPTION.caption(provenance=provenance(own), marks=mark_notes(own), reading=_reading(lines))


def drawing(rows: Sequence[dict[str, Any]], expected: pd.DataFrame) -> style.Drawing:
    """The figure."""
    lines = bars(rows, expected)
    return style.Drawing(draw(lines), frame(lines), caption(lines))
