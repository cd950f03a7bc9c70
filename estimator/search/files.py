"""Parameter files: a set as TOML, as the files of params/ are written."""

import json
from collections.abc import Mapping
from typing import Any

#: The keys before the tables in every file.
FIRST = ("protocol", "title")


def toml(literal: Mapping[str, Any], schema: str | None = None) -> str:
    """The set as TOML: scalars, then `[source]`, then the other tables, then lists of tables."""
    lines = [f"#:schema {schema}"] if schema else []
    scalars = {k: v for k, v in literal.items() if not isinstance(v, Mapping) and not _rows(v)}
    for key in sorted(scalars, key=lambda k: FIRST.index(k) if k in FIRST else len(FIRST)):
        lines.append(f"{key} = {_value(scalars[key])}")
    named = sorted((k for k, v in literal.items() if isinstance(v, Mapping)), key=lambda k: k != "source")
    for key in named:
        lines += ["", f"[{key}]", *(f"{k} = {_value(v)}" for k, v in literal[key].items())]
    for key, rows in literal.items():
        if _rows(rows):
            for row in rows:
                lines += ["", f"[[{key}]]", *(f"{k} = {_value(v)}" for k, v in row.items())]
    return "\n".join(lines) + "\n"


def _rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{k} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_value(v) for v in value) + "]"
    return repr(value)
