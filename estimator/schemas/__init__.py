"""JSON schemas of what the Python side writes."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import jsonschema
from referencing import Registry, Resource

#: Schemas that others refer to by their file's name.
PARTS = ("noise-stage", "prediction")


@lru_cache(maxsize=8)
def load(name: str) -> dict[str, Any]:
    """A schema by name, such as `prediction`."""
    return json.loads(Path(__file__).with_name(f"{name}.schema.json").read_text())


def validate(document: dict, name: str) -> None:
    """Raises jsonschema.ValidationError naming the place."""
    parts = [(f"{part}.schema.json", Resource.from_contents(load(part))) for part in PARTS]
    registry: Registry[Any] = Registry().with_resources(parts)
    jsonschema.Draft202012Validator(load(name), registry=registry).validate(document)
