"""The facts about protocols for figures: `protocols.toml`, read once. No other file of figures/ names a protocol."""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DOCUMENT = tomllib.loads(Path(__file__).with_name("protocols.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Protocol:
    """An entry of the file, which says what each field means."""

    id: str
    name: str
    printed: str = ""
    macros: tuple[str, ...] = ()
    tex: str = ""
    html: str = ""
    colour: str = "#6e6e6e"
    marker: str = "*"
    line: Any = "-"
    shape: str = "circle"
    layout_marker: str = "o"
    printed_marker: str = "o"
    sized: bool = False
    published_series: bool = False
    layout: tuple[str, ...] = ()
    layouts: bool = False
    layout_of_bytes: bool = False

    @property
    def in_print(self) -> str:
        """Its name in the tables of experiments/expected."""
        return self.printed or self.name


@dataclass(frozen=True)
class Steps:
    """The steps of an answer that one table shows."""

    table: str
    title: str
    protocols: tuple[str, ...]
    steps: list[str]
    once: list[str] = field(default_factory=list)
    first: list[str] = field(default_factory=list)
    name: str = ""
    said: str = ""


PROTOCOLS = {key: Protocol(key, **entry) for key, entry in DOCUMENT["protocols"].items()}
PAPERS: dict[str, dict[str, Any]] = DOCUMENT["papers"]
STEPS = {key: Steps(key, **entry) for key, entry in DOCUMENT["steps"].items()}
MACROS = [macro for protocol in PROTOCOLS.values() for macro in protocol.macros]
IDS = {protocol.in_print: protocol.id for protocol in PROTOCOLS.values()}
"""Ids by printed name."""


def protocol(name: str) -> Protocol:
    """The entry of an id; a protocol without one is called by its id."""
    return PROTOCOLS.get(name) or Protocol(name, name)


def protocol_name(name: str) -> str:
    """The display name of an id."""
    return protocol(name).name


def paper_name(name: str) -> str:
    """The display name of a printed one."""
    return protocol_name(IDS[name]) if name in IDS else name


def place(name: str) -> int:
    """Where tables list a protocol; unknown ones come last."""
    return list(PROTOCOLS).index(name) if name in PROTOCOLS else 99


def set_short(name: str) -> str:
    """A set's name without its folder, `usenix23`; of one that a search found, what for: `found for 2^20x1`."""
    folder, *_ = rest = name.split("/", 1)[-1].split("/")
    return f"found for {folder}" if len(rest) > 1 else folder


def series_name(name: str, of_set: str) -> str:
    """Display names of a protocol and its parameter set, as tables and legends show them."""
    return f"{protocol_name(name)} {set_short(of_set)}"


def mathtext(text: str) -> str:
    """A name with its super- and subscripts for matplotlib: `Pirouette^H` becomes `Pirouette$^H$`."""
    found = re.match(r"([^^_]*)([\^_])(\S*)(.*)", text)
    return f"{found[1]}${found[2]}{{{found[3]}}}${found[4]}" if found else text
