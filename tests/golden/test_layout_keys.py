"""docs/layout.md has every key of a description's layout, and no other; every layout is of its protocol's schema."""

from __future__ import annotations

import json
import re

import golden
import jsonschema
import pytest
from pirlab_estimator.paths import ROOT


@pytest.fixture(scope="module")
def described() -> list[dict]:
    """Descriptions of every set that was not refused."""
    return [document for document in golden.read("descriptions") if "error" not in document]


def test_every_key_of_a_layout_is_in_the_glossary(described) -> None:
    keys = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/layout.md").read_text(), re.M)
    assert keys == sorted(set(keys))
    found = {key for description in described for key in description["layout"]}
    assert set(keys) == found


def test_every_layout_is_of_its_protocol_s_schema(described) -> None:
    schema = json.loads((ROOT / "impl/cli/schemas/description.schema.json").read_text())
    layouts = {layout["title"]: layout for layout in schema["properties"]["layout"]["anyOf"]}
    validators = {name: jsonschema.Draft202012Validator(layout) for name, layout in layouts.items()}
    for description in described:
        layout, name = description["layout"], description["protocol"]
        validators[name].validate(layout)
        assert set(layout) <= set(layouts[name]["properties"]), description["id"]
