"""Numbers as people write them on a command line, tables as they read them, and progress with the time left."""

from __future__ import annotations

import re
import sys
import time
from argparse import ArgumentTypeError
from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

_UNITS = {"": 1, "B": 1}
_UNITS |= {f"{letter}{end}": 1024**power for power, letter in enumerate("KMGT", 1) for end in ("", "B", "iB")}
_COUNT = re.compile(r"^(\d+)(?:\^(\d+))?$")
_BYTES = re.compile(r"^(-?\d+(?:\.\d+)?)\s*([A-Za-z]*)$")
#: Seconds between lines where there is no terminal.
_QUIET = 5.0


def count(text: str) -> int:
    """1048576, 1_000_000 or 2^20; at least 1."""
    match = _COUNT.match(text.replace("_", "").strip())
    value = int(match[1]) ** int(match[2] or 1) if match and len(match[2] or "") < 3 else 0
    if not 1 <= value < 1 << 63:
        raise ArgumentTypeError(f"{text!r} is no count from 1 to 2^63: write 1048576, 1_000_000 or 2^20")
    return value


def size(text: str) -> float:
    """Bytes: 4096, 96KB, 1.5GiB; units are binary, as the papers count. Signs are judged later."""
    match = _BYTES.match(text.replace("_", "").strip())
    if not match or match[2] not in _UNITS:
        raise ArgumentTypeError(f"{text!r} is no number of bytes: write 4096, 96KB or 1.5GB (binary units)")
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


class Bars:
    """Progress on a terminal, else a line now and then; both with the time left of the present stage."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._bars: Progress | None = None
        self._task: TaskID | None = None
        self._name, self._total, self._done, self._began, self._told = "", 0, 0, 0.0, 0.0

    def __enter__(self) -> Bars:
        if self._stream.isatty():
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._bars = Progress(*columns, console=Console(file=self._stream), transient=True)
            self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def stage(self, name: str, total: int) -> None:
        self._name, self._total, self._done = name, total, 0
        self._began = self._told = time.monotonic()
        if self._bars is not None:
            if self._task is not None:
                self._bars.remove_task(self._task)
            self._task = self._bars.add_task(name, total=total)

    def revise(self, total: int) -> None:
        self._total = total
        if self._bars is not None and self._task is not None:
            self._bars.update(self._task, total=total)

    def advance(self, count: int) -> None:
        self._done += count
        if self._bars is not None and self._task is not None:
            self._bars.advance(self._task, count)
            return
        now = time.monotonic()
        if self._done and now - self._told > _QUIET:
            left = (now - self._began) / self._done * max(0, self._total - self._done)
            print(f"{self._name}: {self._done} of {self._total}, {left:.0f} s left", file=self._stream, flush=True)
            self._told = now
