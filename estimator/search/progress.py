"""How a search gets on, and the time that is left."""

import sys
import time
from typing import Self, TextIO

from rich import progress
from rich.console import Console

#: Seconds between lines where there is no terminal.
_QUIET = 5.0


class Progress:
    """Learns how much there is to do, what is done, and when less is left than it seemed. This one shows nothing."""

    def stage(self, name: str, total: int) -> None: ...

    def advance(self, count: int) -> None: ...

    def revise(self, total: int) -> None: ...


class Bars(Progress):
    """Progress on a terminal, else a line now and then; both with the time left of the present stage."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._bars: progress.Progress | None = None
        self._task: progress.TaskID | None = None
        self._name, self._total, self._done, self._began, self._reported = "", 0, 0, 0.0, 0.0

    def __enter__(self) -> Self:
        if self._stream.isatty():
            columns = (
                progress.TextColumn("{task.description}"),
                progress.BarColumn(),
                progress.MofNCompleteColumn(),
                progress.TimeRemainingColumn(),
            )
            self._bars = progress.Progress(*columns, console=Console(file=self._stream), transient=True)
            self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def stage(self, name: str, total: int) -> None:
        self._name, self._total, self._done = name, total, 0
        self._began = self._reported = time.monotonic()
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
        if self._done and now - self._reported > _QUIET:
            left = (now - self._began) / self._done * max(0, self._total - self._done)
            print(f"{self._name}: {self._done} of {self._total}, {left:.0f} s left", file=self._stream, flush=True)
            self._reported = now
