"""Numbers as people write them on a command line, and tables as they read them."""

import csv
import re
from argparse import ArgumentTypeError
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Any

_UNITS = {"": 1, "B": 1}
_UNITS |= {f"{letter}{end}": 1024**power for power, letter in enumerate("KMGT", 1) for end in ("", "B", "iB")}
_COUNT = re.compile(r"^(\d+)(?:\^(\d+))?$")
_BYTES = re.compile(r"^(-?\d+(?:\.\d+)?)\s*([A-Za-z]*)$")


def count(text: str | int) -> int:
    """1048576, 1_000_000 or 2^20; at least 1."""
    match = _COUNT.match(str(text).replace("_", "").strip())
    value = int(match[1]) ** int(match[2] or 1) if match and len(match[2] or "") < 3 else 0
    if not 1 <= value < 1 << 63:
        raise ArgumentTypeError(f"{text!r} is not a count from 1 to 2^63: write 1048576, 1_000_000 or 2^20")
    return value


def size(text: str) -> float:
    """Bytes: 4096, 96KB, 1.5GiB; units are binary, as the papers count. Signs are judged later."""
    match = _BYTES.match(text.replace("_", "").strip())
    if not match or match[2] not in _UNITS:
        raise ArgumentTypeError(f"{text!r} is not a number of bytes: write 4096, 96KB or 1.5GB (binary units)")
    return float(match[1]) * _UNITS[match[2]]


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """A table of text: the first column to the left, the others to the right, the header first."""
    widths = [max(len(row[i]) for row in rows if row[i:] != [""] * len(row[i:])) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        if row[2:] and not any(row[2:]):
            lines.append(f"  {row[0].ljust(widths[0])}  {row[1]}")
        else:
            lines.append(
                "  " + "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths)))
            )
    return "\n".join(line.rstrip() for line in lines) + "\n"


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as CSV with a header; what a row lacks is empty."""
    text = StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
