"""Display names of protocols and parameter sets, and the names the papers use for them."""

from __future__ import annotations

import re

PROTOCOLS = {
    "simplepir": "SimplePIR",
    "doublepir": "DoublePIR",
    "pirouette": "Pirouette",
    "pirouette_h": "Pirouette^H",
    "respire": "Respire",
    "spiral": "Spiral",
    "ypir": "YPIR",
    "simpleypir": "SimpleYPIR",
    "inspire0": "InsPIRe_0",
    "inspire2": "InsPIRe^(2)",
    "inspire": "InsPIRe",
    "kspir": "KSPIR",
    "hintlesspir": "HintlessPIR",
}
PAPER_PROTOCOLS = {"PirouetteH": "Pirouette^H"}


def protocol_name(protocol: str) -> str:
    """`simplepir` -> `SimplePIR`; an unknown protocol keeps its own name."""
    return PROTOCOLS.get(protocol, protocol)


def paper_name(name: str) -> str:
    """A series name of experiments/expected as the paper prints it."""
    return PAPER_PROTOCOLS.get(name, name)


def set_short(name: str) -> str:
    """`simplepir/usenix23` -> `usenix23`."""
    return name.split("/", 1)[-1]


def series_name(protocol: str, name: str) -> str:
    """Protocol and parameter set, e.g. `SimplePIR usenix23`."""
    return f"{protocol_name(protocol)} {set_short(name)}"


def mathtext(text: str) -> str:
    """Super- and subscripts of series names for matplotlib: `Pirouette^H` -> `Pirouette$^H$`."""
    found = re.match(r"([^^_]*)([\^_])(\S*)(.*)", text)
    return f"{found[1]}${found[2]}{{{found[3]}}}${found[4]}" if found else text


def words(text: str) -> list[str]:
    """The words of a text: long lists of column names stay readable."""
    return text.split()
