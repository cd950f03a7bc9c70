"""The comparison table: every protocol measured, shape by shape, with the paper's number where one is printed."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from ..lib.cells import series
from ..lib.frame import status_text
from ..lib.marks import footnotes, marks_of, of_value, provenance
from ..lib.protocols import IDS, place, protocol_name
from ..lib.spec import spec
from ..lib.table import Cell, Table
from ..lib.units import has, human_bytes, human_seconds, shape_text, significant

PAPER_METRICS = {
    "server_time": ("answer", "answer_s", "seconds", human_seconds),
    "query_size": ("query", "upload_bytes", "bytes", human_bytes),
    "response_size": ("response", "download_bytes", "bytes", human_bytes),
    "offline_comm": ("offline", "offline_bytes", "bytes", human_bytes),
}


def paper_numbers(row: dict[str, Any], expected: pd.DataFrame) -> dict[str, tuple[float, str]]:
    """Metric -> (value in base units, reference): a paper's numbers for the protocol and shape of `row`, one thread.

    Numbers that belong to one layout of several (`N/t`) are left to the tables that match layouts.
    """
    same = (expected["num_records"] == row["records"]) & (expected["record_bits"] == row["record_bits"])
    same &= expected["protocol"].map(IDS) == row["protocol"]
    found: dict[str, tuple[float, str]] = {}
    for printed in expected[same].to_dict("records"):
        if printed["metric"] not in PAPER_METRICS or "N/t=" in str(printed["config"]):
            continue
        threads = [part for part in str(printed["config"]).split(";") if part.startswith("threads=")]
        if threads and threads != ["threads=1"]:
            continue
        value = printed[PAPER_METRICS[printed["metric"]][2]]
        number = str(printed["table"])
        table = f"figure {number[6:]}" if number.startswith("figure") else f"table {number}"
        table = number if number == "text" else table
        if has(value):
            found.setdefault(printed["metric"], (value, f"{printed['paper']} {table}"))
    return found


def _enrich(row: dict[str, Any], expected: pd.DataFrame) -> dict[str, Any]:
    """The CSV's row: base units, and the paper's numbers as columns."""
    printed = paper_numbers(row, expected)
    row = row | {
        "record_id": row["id"],
        "marks": " ".join(marks_of(row)),
        "bandwidth_share": row["answer_read_bytes_per_s"] / row["read_bandwidth"]
        if has(row["read_bandwidth"])
        else None,
        "paper_reference": "; ".join(sorted({reference for _, reference in printed.values()})),
        "printed": printed,
    }
    for metric, (value, _) in printed.items():
        name, _, kind, _ = PAPER_METRICS[metric]
        row[f"paper_{name}_{'s' if kind == 'seconds' else 'bytes'}"] = value
    return row


def _paper(row: dict[str, Any]) -> Cell:
    parts = []
    for metric, (value, reference) in row["printed"].items():
        name, column, _, text = PAPER_METRICS[metric]
        mark = of_value(row, size=column.endswith("_bytes"))
        ratio = f" ({significant(row[column] / value, 2)}{mark})" if has(row[column]) and value else ""
        parts.append(f"{name} {text(value, 3)}{ratio}, {reference}")
    return Cell("; ".join(parts))


def _series(row: dict[str, Any]) -> Cell:
    return series(row, f", {row['queries']:.0f} queries" if row["queries"] > 1 else "")


SPEC = spec("runs/comparison", series=_series, paper=_paper)


def absent(rows: Iterable[dict[str, Any]]) -> str:
    """Which of the protocols have no row at which databases; where fewer have one, it names these."""
    names: dict[str, set[str]] = {}
    for row in rows:
        names.setdefault(shape_text(row["records"], row["record_bits"]), set()).add(protocol_name(row["protocol"]))
    every = set().union(*names.values())
    shapes: dict[str, list[str]] = {}
    for shape, shown in names.items():
        lost = every - shown
        few = f"all but {', '.join(sorted(shown))}" if len(shown) < len(lost) else ", ".join(sorted(lost))
        if lost:
            shapes.setdefault(few, []).append(shape)
    parts = [f"{lost} at {', '.join(places)}" for lost, places in shapes.items()]
    return f"Without a row, since the experiment has none there: {'; '.join(parts)}." if parts else ""


def _protocol(row: dict[str, Any]) -> tuple[int, str]:
    return place(row["protocol"]), row["set"]


def build(rows: Iterable[dict[str, Any]], expected: pd.DataFrame) -> Table:
    """The table: a block a database, and in it protocols in the order of the house."""
    source = sorted(rows, key=lambda row: (row["records"] * row["record_bits"], row["record_bits"], *_protocol(row)))
    data = [_enrich(row, expected) for row in source]
    lines = [SPEC.row(row, row["id"] or "", status_text(row)) for row in data]
    names = ", ".join(sorted({protocol_name(row["protocol"]) for row in source})) or "protocols (no record found)"
    said: dict[str, Any] = {"protocols": names, "provenance": provenance(source), "absent": absent(source)}
    return SPEC.table(lines, data, footnotes(source), **said)
