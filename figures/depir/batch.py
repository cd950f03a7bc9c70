"""Amortised seconds and bytes against the size of a batch, of schemes that answer many indices in one query and others.

A row answers its own number of queries in one request; a larger batch takes as many requests as it needs, a smaller one
all of a request. What a client fetches before is shared over the queries that it serves: the whole batch, or as many as
its message says.
"""

from collections.abc import Iterable, Iterator
from statistics import median
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..lib import style
from ..lib.frame import ONLINE
from ..lib.marks import PREDICTED, mark_notes, marks_of, provenance
from ..lib.protocols import mathtext, place, protocol_name, set_short
from ..lib.spec import spec
from ..lib.units import KIB, shape_text

BATCHES = [1 << power for power in range(17)]
QUANTITIES = {"seconds": 1e-3, "bytes": KIB}
"""With the sizes of their units."""
SPEC = spec("depir/batch")
NAMES: dict[str, str] = SPEC.words["names"]


def seconds(row: dict[str, Any], batch: int) -> float:
    """A query's share of the requests that a batch takes, client and server."""
    phases = row["phases"] or []
    request = sum(median(p["seconds"]) for p in phases if p["name"] in ONLINE and p["seconds"])
    return float(request) * -(-batch // int(row["queries"])) / batch


def sent(row: dict[str, Any], batch: int) -> float:
    """Bytes of a query, all that a client sends and fetches for the batch shared over it."""
    messages = [m for m in row["transcript"] or [] if m["phase"] != "update"]
    return float(sum(m["payload_bytes"] * -(-batch // int(m["queries_served"] or batch)) for m in messages)) / batch


def lines(rows: Iterable[dict[str, Any]], shapes: Iterable[tuple[int, int]]) -> Iterator[dict[str, Any]]:
    """A line a batch of every row at the shapes that has numbers."""
    for row in sorted(rows, key=lambda row: (row["records"], place(row["protocol"]), row["set"])):
        if row["status"] not in ("ok", PREDICTED) or (row["records"], row["record_bits"]) not in shapes:
            continue
        if row["threads"] != 1:
            continue
        line = {"database": shape_text(row["records"], row["record_bits"]), "protocol": row["protocol"]}
        line |= {"set": row["set"], "status": row["status"], "queries": row["queries"]}
        line |= {"marks": " ".join(marks_of(row)), "record_id": row["id"]}
        for batch in BATCHES:
            yield line | {"batch": batch, "seconds": seconds(row, batch), "bytes": sent(row, batch)}


def draw(data: pd.DataFrame) -> Figure:
    """A column a database: milliseconds above, KiB below."""
    databases = list(dict.fromkeys(data["database"])) or [""]
    height = 5.6
    figure, grid = style.sheet(height, 2, len(databases), sharex=True, sharey="row")
    named = data.drop_duplicates("set")
    looks = style.looks((row["protocol"], row["set"], False) for row in named.to_dict("records"))
    for column, database in enumerate(databases):
        for row, (quantity, unit) in enumerate(QUANTITIES.items()):
            axes = grid[row][column]
            for name, each in data[data["database"] == database].groupby("set", sort=False):
                _curve(axes, each, each[quantity] / unit, looks[str(name)])
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            if column == 0:
                axes.set_ylabel(NAMES[quantity])
        grid[0][column].set_title(database, loc="left", pad=3)
        grid[1][column].set_xlabel("Queries in a batch")
    entries: style.Entries = [
        (style.handle(looks[row["set"]]), f"{mathtext(protocol_name(row['protocol']))} {set_short(row['set'])}")
        for row in named.to_dict("records")
    ]
    rows = -(-len(entries) // 4)
    spacing = {"columnspacing": 1.2, "handletextpad": 0.5, "fontsize": 7}
    style.legend(figure, entries, "upper center", (0.5, 1 - 0.03 / height), ncols=4, **spacing)
    figure.tight_layout(rect=(0, 0, 1, 1 - (0.1 + 0.14 * rows) / height), pad=0.4, w_pad=1.2)
    return figure


def _curve(axes: Axes, each: pd.DataFrame, values: pd.Series, look: style.Look) -> None:
    """A line, broken where the numbers are predicted."""
    status = str(each["status"].iloc[0])
    line = style.DASHES if status == PREDICTED else "-"
    face = style.face(look.colour, status)
    axes.plot(each["batch"], values, **look.drawn(linestyle=line, markevery=4, markersize=3.6, **face))


def drawing(rows: Iterable[dict[str, Any]]) -> style.Drawing:
    """The figure with its data, at the databases that its words name."""
    every = list(rows)
    shapes = {(records, bits) for records, bits in SPEC.words["shapes"]}
    data = pd.DataFrame(lines(every, shapes), columns=SPEC.keys)
    shown = [row for row in every if (row["records"], row["record_bits"]) in shapes]
    caption = SPEC.caption(provenance=provenance(shown), marks=mark_notes(shown))
    return style.Drawing(draw(data), data, caption)
