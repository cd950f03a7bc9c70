"""Experiments of primitives: combinations of settings, as the rows of one group.

Every combination of [grid] with one of [series], or of each of several [[series]], is a row.
"""

import itertools
import json
from typing import Any

from .files import PlanError

# These keys of [row] say how a row is run; every other key is a setting of the primitive.
RUN_KEYS = ("primitive", "repetitions", "kernel", "seed")


def options(experiment: dict[str, Any], profile: dict[str, Any]) -> dict[str, Any]:
    """The options of every row of the experiment."""
    own = {key: value for key, value in experiment["row"].items() if key in RUN_KEYS and key != "primitive"}
    return {"kernel": "auto", "repetitions": profile["repetitions"]} | own


def product(table: dict[str, Any]) -> list[dict[str, Any]]:
    """Every combination of a table whose values may be lists."""
    lists = [value if isinstance(value, list) else [value] for value in table.values()]
    return [dict(zip(table, values, strict=True)) for values in itertools.product(*lists)]


def text(value: Any) -> str:
    """A setting's value in a file name."""
    plain = value if isinstance(value, str) else json.dumps(value)
    return "".join(c if c.isalnum() or c in ".^-" else "-" for c in plain).strip("-").lower()


def left_out(settings: dict[str, Any], tables: list[dict[str, Any]]) -> bool:
    """Whether a table of [[except]] has all its keys in these settings, each with that value or one of these values."""
    return any(
        all(key in settings and settings[key] in (v if isinstance(v, list) else [v]) for key, v in table.items())
        for table in tables
    )


def combinations(experiment: dict[str, Any], source: str) -> dict[str, dict[str, Any]]:
    """The binary's requests by row; PlanError if two rows have one name."""
    primitive = experiment["row"]["primitive"]
    common = {key: value for key, value in experiment["row"].items() if key not in RUN_KEYS}
    series = experiment.get("series", [{}])
    tables = series if isinstance(series, list) else [series]
    rows: dict[str, dict[str, Any]] = {}
    for place, table in itertools.product(product(experiment.get("grid", {})), tables):
        own = {key: value for key, value in table.items() if key != "id"}
        for settings in product(own):
            asked = common | place | settings
            if left_out(asked, experiment.get("except", [])):
                continue
            parts = [f"{text(key)}-{text(value)}" for key, value in place.items()]
            parts += [table["id"]] if "id" in table else []
            parts += [text(value) for key, value in settings.items() if "id" not in table or isinstance(own[key], list)]
            id = "-".join(parts) or "all"
            if id in rows:
                raise PlanError(f'{source}: key "series" names two rows "{id}". Add an `id` to one [[series]].')
            rows[id] = {"primitive": primitive, "settings": asked}
    return rows
