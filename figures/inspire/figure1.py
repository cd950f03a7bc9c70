"""The InsPIRe paper's Figure 1: communication against the server's time for one query to a database of 1 GB."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from ..lib import style
from ..lib.marks import MARKS, PREDICTED, mark_notes, marks_of, provenance, superscripts
from ..lib.paper import DATABASES, ORDER, Measured, Printed, matches, printed
from ..lib.protocols import mathtext, protocol, protocol_name
from ..lib.spec import spec
from ..lib.units import KIB, human_bytes
from . import errata
from .beside import NOT_PLANNED

T = TypeVar("T")
DATABASE = "1GB"
ENTRIES = {"2": ("1-bit entries", "#D55E00"), "4": ("32 KB entries", "#0072B2")}
"""The paper's tables whose 1 GB parts the figure is, with their colours (the paper's are red and blue)."""
SPEC = spec("inspire/figure1")
LINES: dict[str, style.Line] = {"printed": style.DOTS, PREDICTED: style.DASHES}
"""Lines through points that were not measured."""
HERE_SOURCE = "here"
HERE = {"ok": "measured here", PREDICTED: PREDICTED}
"""How legends call our numbers, by the status of their rows."""


def build(found: Sequence[Measured], expected: pd.DataFrame) -> pd.DataFrame:
    """One line a point, the paper's and ours; a configuration without a number of ours says why. Sets that a search
    found would cross the line through those of the paper: tables have them."""
    rest = [ours for ours in found if ours.row["source_kind"] != "searched"]
    lines = [
        {"entries": table} | line | _point(values)
        for table in ENTRIES
        for column in printed(expected, table)
        for line, values in beside(column, matches(column, rest))
    ]
    lines += [
        {"entries": table} | line | _point(values)
        for table, ours in smaller(
            rest, {column.record_bits: table for table in ENTRIES for column in printed(expected, table)}
        )
        for line, values in [of_ours(ours)]
    ]
    return numbered(pd.DataFrame(lines, columns=[*SPEC.keys, "row"]), "total_comm_bytes", "server_s")


def smaller(found: Sequence[Measured], sizes: Mapping[int, T]) -> list[tuple[T, Measured]]:
    """Measured rows of smaller databases of records of these sizes, with what stands at the size. They stand in where
    nothing of the paper's database was measured."""
    measured = [ours for ours in found if ours.ok and ours.row["record_bits"] in sizes]
    if any(ours.database_bits == DATABASES[DATABASE] for ours in measured):
        return []
    return [(sizes[ours.row["record_bits"]], ours) for ours in measured if ours.database_bits < DATABASES[DATABASE]]


def of_ours(ours: Measured) -> tuple[dict[str, Any], dict[str, float]]:
    """The line of the figures' data for a row of ours, and its values. The line's source names the database if it is
    not the paper's."""
    row, bits = ours.row, ours.database_bits
    other = "" if bits == DATABASES[DATABASE] else f", {human_bytes(bits / 8, 2)}"
    line = {"protocol": row["protocol"], "layout": ours.layout.text(), "source": f"{HERE_SOURCE}{other}"}
    line |= {"marks": " ".join(marks_of(row)), "record_id": row["id"], "row": row}
    return line | {key: row[key] for key in ("set", "status", "reason")}, ours.known


def beside(column: Printed, hits: Sequence[Measured]) -> Iterator[tuple[dict[str, Any], dict[str, float]]]:
    """The lines of the figures' data, with values, for a printed column and for each row of ours that stands for it."""
    if column.database != DATABASE:
        return
    base = {"protocol": column.protocol, "layout": column.layout.text()}
    yield base | {"source": "paper", "status": "printed"}, column.values
    for line, values in map(of_ours, hits):
        yield line | base, values
    if not hits:
        yield base | {"source": HERE_SOURCE, "status": "not measured", "reason": NOT_PLANNED}, {}


def numbered(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """The frame with numbers in these columns, also where none of its lines has one."""
    return frame.assign(**{name: pd.to_numeric(frame[name]) for name in columns})


def _point(values: dict[str, float]) -> dict[str, float | None]:
    return {"total_comm_bytes": values.get("total_comm"), "server_s": values.get("server_time")}


def draw(data: pd.DataFrame) -> Figure:
    """Both axes logarithmic; the paper's points hollow, ours solid or, predicted, pale; configurations of a protocol
    joined by a line."""
    figure, [[axes]] = style.sheet(3.6)
    numbers = data[data["total_comm_bytes"].notna() & data["server_s"].notna()]
    for (table, status, name), points in numbers.groupby(["entries", "status", "protocol"], sort=False):
        look = style.Look(ENTRIES[table][1], protocol(name).layout_marker, LINES.get(status, "-"))
        points = points.sort_values("total_comm_bytes")
        face = style.face(look.colour, status) | {"markersize": 5.0 if status == "printed" else 5.6}
        face |= {"linewidth": 0.8 if status == "printed" else 1.0, "zorder": 3 if status == "printed" else 5}
        axes.plot(points["total_comm_bytes"] / KIB, points["server_s"] * 1e3, **look.drawn(**face))
        stale = points["marks"].fillna("").str.contains("stale")
        old = points[stale]
        axes.plot(old["total_comm_bytes"] / KIB, old["server_s"] * 1e3, "+", color=style.INK, zorder=7)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5), numticks=12))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    axes.tick_params(which="minor", length=0)
    axes.set_xlabel("Total communication of one query (KiB)")
    axes.set_ylabel("Server's time (ms)")
    _legends(figure, set(numbers["protocol"]), here_labels(numbers))
    figure.tight_layout(rect=(0, 0, 0.79, 1), pad=0.4)
    return figure


def here_labels(data: pd.DataFrame) -> dict[str, str]:
    """What the legend says of our numbers by their status, with other databases than the paper's and the symbols of all
    their marks."""
    found = {}
    for status, text in HERE.items():
        ours = data[data["source"].str.startswith(HERE_SOURCE) & (data["status"] == status)]
        others = {source.removeprefix(HERE_SOURCE) for source in ours["source"]}
        text += "".join(sorted(others))
        used = {key for marks in ours["marks"].dropna() for key in marks.split()}
        if not ours.empty:
            found[status] = text + superscripts(mark.key for mark in MARKS if mark.key in used)
    return found


def _legends(figure: Figure, protocols: set[str], here: dict[str, str]) -> None:
    """Three short legends to the right: protocol, entries, whose number."""
    grey, ink = style.Look(style.GREY, "o", "none"), style.Look(style.INK, "o", "-")
    listed = [each for each in map(protocol, ORDER) if each.id in protocols]
    shapes = [(style.handle(grey, marker=each.layout_marker), mathtext(each.name)) for each in listed]
    colours = [(style.handle(grey, color=colour), text) for text, colour in ENTRIES.values()]
    whose = [
        (
            style.handle(ink, linestyle=LINES.get(status, "-"), **style.face(style.INK, status)),
            text.replace(", ", ",\n"),
        )
        for status, text in ({"printed": "paper"} | here).items()
    ]
    top = 0.97
    for heading, entries in (("Protocol", shapes), ("Records", colours), ("Source", whose)):
        place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0.80, top), "borderaxespad": 0}
        legend = figure.legend(*zip(*entries), title=heading, alignment="left", labelspacing=0.35, **place)
        legend.get_title().set_fontweight("bold")
        top -= 0.047 * (len(entries) + 1) + 0.035


def missing_text(data: pd.DataFrame) -> str:
    """Which configurations have no number of ours, by reason; a protocol that lacks all of them by its name."""
    ours = data[data["source"] == HERE_SOURCE]
    absent = ours[ours["server_s"].isna()]
    if absent.empty:
        return ""
    parts = []
    for reason, rows in absent.groupby(absent["reason"].fillna("no reason given"), sort=False):
        names = []
        for name, own in rows.groupby("protocol", sort=False):
            layouts = [layout for layout in dict.fromkeys(own["layout"]) if layout]
            whole = len(own) == (ours["protocol"] == name).sum()
            few = "" if whole or not layouts else f" at {'; '.join(layouts)}"
            names.append(protocol_name(str(name)) + few)
        parts.append(f"{', '.join(names)} ({reason})")
    return "Without a number of ours: " + "; ".join(parts) + "."


def shown(data: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of ours that a figure draws, each once."""
    return list({id(row): row for row in data["row"].dropna()}.values())


def drawing(found: Sequence[Measured], expected: pd.DataFrame, contradictions: pd.DataFrame) -> style.Drawing:
    """The figure, with the contradictions of the tables whose numbers it draws."""
    data = build(found, expected)
    rows = shown(data)
    said = {"missing": missing_text(data), "errata": errata.notes_of(contradictions, ENTRIES)}
    marks = mark_notes(rows, "; their points are crossed with a plus")
    return style.Drawing(draw(data), data[SPEC.keys], SPEC.caption(provenance=provenance(rows), marks=marks, **said))
