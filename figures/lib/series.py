"""Series of sets: the sets that make one line of a figure, and the order in which figures draw and list them."""

from collections.abc import Iterable
from typing import Any

from pirlab_estimator.sets import AS_PUBLISHED

from .marks import insecure
from .protocols import place, protocol


def series_id(owner: str, of_set: str, kind: str | None) -> str:
    """The series of a set: its own name, or of protocols with a set for each size of a database, those of a kind."""
    if not protocol(owner).sized:
        return of_set
    return f"{owner}/{'published' if kind in AS_PUBLISHED else 'secure'}"


def order(records: Iterable[dict[str, Any]]) -> list[tuple[str, str, bool]]:
    """(protocol, series, below the security target) of records, in the order in which figures draw them."""
    found: dict[str, tuple[Any, ...]] = {}
    for record in records:
        owner, series = record["protocol"], record.get("series") or record["set"]
        below = found.get(series, (None,) * 5)[-1] or insecure(record)
        found[series] = (place(owner), record["source_kind"] not in AS_PUBLISHED, series, owner, below)
    return [(owner, series, below) for _, _, series, owner, below in sorted(found.values(), key=lambda f: f[:3])]
