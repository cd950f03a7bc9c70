"""The data of a folder: its specs.toml, read once."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

HOUSE = Path(__file__).resolve().parents[1]


@cache
def data(folder: str) -> dict[str, Any]:
    """What figures/<folder>/specs.toml says."""
    return tomllib.loads((HOUSE / folder / "specs.toml").read_text(encoding="utf-8"))
