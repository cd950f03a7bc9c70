"""Every table and figure by name, as drawings.toml lists them.

The functions are named there, not imported: a table is then drawn without loading what other papers and figures need.
"""

import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from .lib.inputs import Inputs


class Drawn(Protocol):
    """A table or a figure."""

    def write(self, prefix: Path) -> list[Path]:
        """Write its files, whose names begin with the prefix."""


LISTED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
TABLES: dict[str, str] = LISTED["tables"]
FIGURES: dict[str, tuple[str, str]] = LISTED["figures"]
SWEEPS: dict[str, str] = LISTED["sweeps"]


def find(place: str) -> Any:
    """The function `folder.module:function`."""
    module, name = place.split(":")
    return getattr(import_module(f".{module}", __package__), name)


def make(words: str, inputs: Inputs) -> Drawn:
    """Make the objects that the words of an entry name."""
    place, *names = words.split()
    found: Drawn = find(place)(*(name[1:] if name.startswith("=") else getattr(inputs, name) for name in names))
    return found
