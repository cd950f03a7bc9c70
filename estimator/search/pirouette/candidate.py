"""One set of Pirouette or Pirouette^H, as a parameter file (set.toml.j2): the binary describes it."""

from dataclasses import dataclass
from pathlib import Path

from ...outputs import template
from .space import Ring, SmallKey, Space

Table = dict[str, int]


@dataclass(frozen=True)
class Choice:
    """A choice of everything, for databases of 2^index_bits records of one polynomial's response.

    switching is None for Pirouette^H, whose small key is the query's. spacing: between the rows of the accumulator
    that becomes an RGSW ciphertext.
    """

    space: Space
    index_bits: int
    ring: Ring
    small: SmallKey
    switching: Table | None
    rotation: Table
    joint: bool
    automorphism: Table
    squaring: Table
    rgsw: Table
    spacing: int
    first_bits: int
    moduli: int

    @property
    def protocol(self) -> str:
        return "pirouette_h" if self.switching is None else "pirouette"

    def toml(self, title: str = "", command: str = "", note: str = "") -> str:
        """The parameter file."""
        about = {"protocol": self.protocol, "title": title, "command": command, "note": note}
        words = {"gadget": _gadget, "short": lambda number: f"{number:g}"}
        return template(Path(__file__).with_name("set.toml.j2")).render(about | words | vars(self))


@dataclass(frozen=True)
class Candidate(Choice):
    """A choice that was found. seconds: of an answer, by step. offline_bytes: of keys, as the limits count them."""

    seconds: dict[str, float]
    offline_bytes: float
    log2_failure: float
    margin: float

    @property
    def total(self) -> float:
        return sum(self.seconds.values())


def _gadget(table: Table) -> str:
    return "".join(f"{name} = {value}\n" for name, value in table.items() if name != "dropped" or value)
