"""The operations that descriptions count, and to which of a step's three times each adds."""

import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

Part = Literal["arithmetic", "traffic", "serial"]


class Operation(NamedTuple):
    """An entry of operations.toml."""

    part: Part
    meaning: str
    like: str | None = None
    share: float = 1.0
    read_as: str | None = None


OPERATIONS = {
    name: Operation(**entry)
    for name, entry in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
}

#: The operation as which `bytes_read` is charged in a step with such a product.
READ_BY = {name: found.read_as for name, found in OPERATIONS.items() if found.read_as}

_TRANSFORM = re.compile(r"^ntt_(\d+)_(\d+)$")


class Transform(NamedTuple):
    """A negacyclic transform of n points modulo a prime of `bits` bits: operation `ntt_<n>_<bits>`."""

    n: int
    bits: int


def transform(name: str) -> Transform | None:
    """The transform named `ntt_<n>_<bits>`; None for any other name."""
    match = _TRANSFORM.match(name)
    return Transform(int(match[1]), int(match[2])) if match else None


@lru_cache(maxsize=4096)
def operation(name: str) -> Operation | None:
    """The operation of that name, if there is one."""
    found = transform(name)
    if found:
        return Operation("arithmetic", f"a transform of {found.n} points modulo a prime of {found.bits} bits")
    return OPERATIONS.get(name)
