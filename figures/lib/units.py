"""Units: base units inside (bytes, seconds, bits), explicit conversion at the edges.

Records and predictions hold bytes and seconds. The papers print KB, MB and GB; in Pirouette and InsPIRe these are
binary (1 KB = 1024 B; experiments/expected/README.md), and what we print ourselves says so: KiB, MiB, GiB.
"""

import math
from collections.abc import Iterable
from typing import Any

KIB = 1024
MIB = 1024**2
GIB = 1024**3

SCALES = {"KiB": KIB, "MiB": MIB, "GiB": GIB, "MiB/s": MIB, "GiB/s": GIB, "MB": 1e6, "ms": 1e-3, "µs": 1e-6}
"""Sizes of the units that tables show, in base units; the size of every other unit is 1."""
BINARY = {"B": 1, "KB": KIB, "MB": MIB, "GB": GIB, "TB": 1024**4, "PB": 1024**5}
DECIMAL = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15}
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "h": 3600.0}
DECIMAL_TABLES = {("pirana-gbfv", "2.1")}
"""Tables whose MB are decimal; every other byte count of the papers read here is binary."""


def has(value: Any) -> bool:
    """Whether there is a value: neither None nor NaN, which does not equal itself."""
    return value is not None and value == value


def total(values: Iterable[float | None]) -> float | None:
    """The sum; None where a value is missing."""
    known = list(values)
    return None if None in known else sum(value for value in known if value is not None)


def paper_bytes(paper: str, table: str, unit: str) -> int | None:
    """Bytes (or bytes a second, for a unit such as MB/s) of a printed unit; None if it is not a unit of bytes."""
    return (DECIMAL if (paper, table) in DECIMAL_TABLES else BINARY).get(unit.removesuffix("/s"))


def significant(value: float | None, digits: int = 3) -> str:
    """`value` with `digits` significant digits, never in exponent notation; integers above keep all their digits."""
    if value is None or math.isnan(value):
        return ""
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    text = f"{value:.{max(decimals, 0)}f}"
    # Rounding up may have added a digit (9.999 -> 10.00): print it once more with one decimal fewer.
    rounded = float(text)
    if rounded and math.floor(math.log10(abs(rounded))) > math.floor(math.log10(abs(value))) and decimals > 0:
        text = f"{value:.{decimals - 1}f}"
    return text


def human_bytes(value: float, digits: int = 4) -> str:
    """A byte count in the binary unit that suits it, e.g. `120.7 KiB`."""
    for unit, factor in (("GiB", GIB), ("MiB", MIB), ("KiB", KIB)):
        if value >= factor:
            return f"{significant(value / factor, digits)} {unit}"
    return f"{value:.0f} B"


def human_seconds(value: float, digits: int = 3) -> str:
    """A time in the unit that suits it, e.g. `71.2 ms`."""
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= factor:
            return f"{significant(value / factor, digits)} {unit}"
    return f"{significant(value * 1e9, digits)} ns"


def power_text(value: float) -> str:
    """A rate as a power of two."""
    return f"2^{math.log2(value):.1f}"


def power_of_two(value: int) -> int | None:
    """log2 of `value` if it is a power of two."""
    return value.bit_length() - 1 if value > 0 and value & (value - 1) == 0 else None


def count_text(value: int) -> str:
    """A record count: `2^22` for powers of two from 1024 up, else the number itself."""
    log2 = power_of_two(value)
    return f"2^{log2}" if log2 is not None and log2 >= 10 else str(value)


def count_tex(value: int) -> str:
    """As `count_text`, for LaTeX and for matplotlib's mathtext."""
    log2 = power_of_two(value)
    return f"$2^{{{log2}}}$" if log2 is not None and log2 >= 10 else str(value)


def record_text(bits: int) -> str:
    """A record size: bits up to 2048, then bytes where they come out even."""
    if bits <= 2048 or bits % 8:
        return f"{bits} bit"
    size = bits // 8
    return f"{size // KIB} KiB" if size % KIB == 0 else f"{size} B"


def shape_text(records: int, record_bits: int) -> str:
    """A database shape, e.g. `2^22 x 256 bit`."""
    return f"{count_text(records)} x {record_text(record_bits)}"
