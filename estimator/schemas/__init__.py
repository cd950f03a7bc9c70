"""JSON schemas of what the Python side writes."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import jsonschema


@lru_cache(maxsize=8)
def load(name: str) -> dict:
    """A schema by name, such as `prediction`."""
    return json.loads(Path(__file__).with_name(f"{name}.schema.json").read_text())


def validate(document: dict, name: str) -> None:
    """Raises jsonschema.ValidationError naming the place."""
    jsonschema.validate(document, load(name), cls=jsonschema.Draft202012Validator)
