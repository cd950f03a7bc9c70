"""The glossary of layouts is complete: docs/layout.md has every key that a description has, and no other."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_key_of_a_layout_is_in_the_glossary() -> None:
    keys = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/layout.md").read_text(), re.M)
    assert keys == sorted(set(keys))
    with gzip.open(ROOT / "tests/golden/descriptions.jsonl.gz", "rt") as lines:
        described = [json.loads(line) for line in lines]
    found = {key for description in described for key in description.get("layout", {})}
    assert set(keys) == found
