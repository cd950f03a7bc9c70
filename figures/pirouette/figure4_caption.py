"""The caption of Figure 4: what is drawn, where it comes from, and everything that is not drawn and why."""

from collections import defaultdict

from ..lib.frame import status_text
from ..lib.marks import mark_notes, provenance
from ..lib.protocols import paper_name, series_name
from ..lib.spec import spec
from ..lib.units import shape_text
from .figure4 import METRICS, PAPER_SERIES, RECORD_COUNTS, RECORD_SIZES, Figure4

NOT_PLANNED = "not part of the experiment"
CAPTION = spec("pirouette/figure4-caption")
GRID = [(count, bits) for count in RECORD_COUNTS for bits in RECORD_SIZES]


def missing_points(data: Figure4) -> dict[str, list[tuple[str, int, int]]]:
    """Reason -> the (set, records, record bits) of the paper's grid, or of our records, that have no number."""
    reasons: dict[tuple[str, int, int], str | None] = {}
    reasons |= {(name, *shape): NOT_PLANNED for _, name, _ in data.series for shape in GRID}
    for record in data.records:
        reasons[record["series"], record["records"], record["record_bits"]] = status_text(record)
    missing: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
    for place, reason in reasons.items():
        if reason:
            missing[reason].append(place)
    return dict(missing)


def _places(data: Figure4, places: list[tuple[str, int, int]]) -> str:
    """Places in words, by series."""
    parts = []
    for protocol, series, _ in data.series:
        own = [shape_text(count, bits) for name, count, bits in sorted(places) if name == series]
        parts += [f"{series_name(protocol, series)} at {', '.join(own)}"] if own else []
    return "; ".join(parts)


def caption(data: Figure4) -> str:
    """The caption as reStructuredText."""
    records = data.records
    other = sorted({(int(r["records"]), int(r["record_bits"])) for r in records} - set(GRID))
    text = provenance(records)
    if other:
        text += f" Scaled, not among the paper's databases: {', '.join(shape_text(*shape) for shape in other)}."
    items = [f"{_places(data, places)} ({reason})" for reason, places in missing_points(data).items()]
    missing = f"Missing points of our series: {'; '.join(items)}." if items else ""
    marks = mark_notes(records, "; their points are crossed with a plus")
    points = data.paper()["set"].value_counts()
    listed = ", ".join(f"{paper_name(name)} {points.get(name, 0)}" for name in PAPER_SERIES)
    present = f"Of the {len(GRID) * len(METRICS)} points of each of its series those exist: {listed}."
    return CAPTION.caption(measured=text, marks=marks, missing=missing, present=present)
