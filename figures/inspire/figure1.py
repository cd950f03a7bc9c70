"""The InsPIRe paper's Figure 1: communication against the server's time for one query to a database of 1 GB."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from ..lib import style
from ..lib.marks import MARKS, mark_notes, marks_of, provenance, superscripts
from ..lib.paper import ORDER, PAPER_ONLY, Measured, matches, printed
from ..lib.protocols import mathtext, protocol, protocol_name
from ..lib.spec import spec
from ..lib.units import KIB
from . import errata
from .beside import NOT_PLANNED

DATABASE = "1GB"
ENTRIES = {"2": ("1-bit entries", "#D55E00"), "4": ("32 KB entries", "#0072B2")}
"""The paper's tables whose 1 GB parts the figure is, with their colours (the paper's are red and blue)."""
SPEC = spec("inspire/figure1")


def build(found: Sequence[Measured], expected: pd.DataFrame) -> pd.DataFrame:
    """One line a point, the paper's and ours; a configuration without a number of ours says why. Sets that a search
    found would cross the line through those of the paper: tables have them."""
    lines: list[dict[str, Any]] = []
    for table in ENTRIES:
        for column in printed(expected, table):
            if column.database != DATABASE:
                continue
            base = {"entries": table, "protocol": column.protocol, "layout": column.layout.text()}
            lines.append(base | {"source": "paper", "status": "printed"} | _point(column.values))
            if column.protocol in PAPER_ONLY:
                continue
            hits = [ours for ours in matches(column, found) if ours.row["source_kind"] != "searched"]
            for ours in hits:
                lines.append(base | {"source": "here"} | of_row(ours.row) | _point(ours.values))
            if not hits:
                lines.append(base | {"source": "here", "status": "not measured", "reason": NOT_PLANNED})
    frame = pd.DataFrame(lines, columns=SPEC.keys)
    for name in ("total_comm_bytes", "server_s"):
        frame[name] = pd.to_numeric(frame[name])
    return frame


def of_row(row: dict[str, Any]) -> dict[str, Any]:
    """What the data of figures say of a row of ours."""
    shown = {key: row[key] for key in ("set", "status", "reason")}
    return shown | {"marks": " ".join(marks_of(row)), "record_id": row["id"]}


def _point(values: dict[str, float]) -> dict[str, float | None]:
    return {"total_comm_bytes": values.get("total_comm"), "server_s": values.get("server_time")}


def draw(data: pd.DataFrame) -> Figure:
    """Both axes logarithmic; the paper's points hollow, ours solid, configurations of a protocol joined by a line."""
    figure, [[axes]] = style.sheet(3.6)
    numbers = data[data["total_comm_bytes"].notna() & data["server_s"].notna()]
    for (table, source, name), points in numbers.groupby(["entries", "source", "protocol"], sort=False):
        colour, ours = ENTRIES[table][1], source == "here"
        points = points.sort_values("total_comm_bytes")
        look = style.Look(colour, protocol(name).layout_marker, "-" if ours else style.DOTS)
        face = {"markerfacecolor": colour, "markeredgecolor": "white", "markeredgewidth": 0.4, "markersize": 5.6}
        if not ours:
            face = {"markerfacecolor": "white", "markeredgecolor": colour, "markeredgewidth": 0.9, "markersize": 5.0}
        face |= {"linewidth": 1.0 if ours else 0.8, "zorder": 5 if ours else 3}
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
    _legends(figure, set(numbers["protocol"]), here_label(numbers, "measured here"))
    figure.tight_layout(rect=(0, 0, 0.79, 1), pad=0.4)
    return figure


def here_label(data: pd.DataFrame, text: str) -> str | None:
    """What the legend says of our numbers, with the symbols of all their marks; None without such numbers."""
    ours = data[data["source"] == "here"]
    used = {key for marks in ours["marks"].dropna() for key in marks.split()}
    return None if ours.empty else text + superscripts(mark.key for mark in MARKS if mark.key in used)


def _legends(figure: Figure, protocols: set[str], here: str | None) -> None:
    """Three short legends to the right: protocol, entries, whose number."""
    grey, ink = style.Look(style.GREY, "o", "none"), style.Look(style.INK, "o", "-")
    listed = [each for each in map(protocol, ORDER) if each.id in protocols]
    shapes = [(style.handle(grey, marker=each.layout_marker), mathtext(each.name)) for each in listed]
    colours = [(style.handle(grey, color=colour), text) for text, colour in ENTRIES.values()]
    whose = [(style.handle(ink, markerfacecolor="white", linestyle=style.DOTS), "paper")]
    whose += [(style.handle(ink), here)] if here else []
    top = 0.97
    for heading, entries in (("Protocol", shapes), ("Records", colours), ("Source", whose)):
        place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0.80, top), "borderaxespad": 0}
        legend = figure.legend(*zip(*entries), title=heading, alignment="left", labelspacing=0.35, **place)
        legend.get_title().set_fontweight("bold")
        top -= 0.047 * (len(entries) + 1) + 0.035


def missing_text(data: pd.DataFrame) -> str:
    """Which configurations have no number of ours, by reason; a protocol that lacks all of them by its name."""
    ours = data[data["source"] == "here"]
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


def shown(data: pd.DataFrame, found: Sequence[Measured]) -> list[dict[str, Any]]:
    """The rows of ours that a figure draws."""
    drawn = set(data["record_id"].dropna())
    return [ours.row for ours in found if ours.row["id"] in drawn]


def drawing(found: Sequence[Measured], expected: pd.DataFrame, contradictions: pd.DataFrame) -> style.Drawing:
    """The figure, with the contradictions of the tables whose numbers it draws."""
    data = build(found, expected)
    rows = shown(data, found)
    said = {"missing": missing_text(data), "errata": errata.notes_of(contradictions, ENTRIES)}
    marks = mark_notes(rows, "; their points are crossed with a plus")
    return style.Drawing(draw(data), data, SPEC.caption(provenance=provenance(rows), marks=marks, **said))
