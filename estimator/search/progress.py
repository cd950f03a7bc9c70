"""The progress of a search, and the remaining time."""

import sys
import time
from typing import Self, TextIO

from rich import progress
from rich.console import Console

#: Seconds between lines without a terminal.
_QUIET = 5.0


class Progress:
    """Receives the amount of work, the work done, and reductions of the rest. This class shows nothing."""

    def stage(self, name: str, total: int) -> None: ...

    def advance(self, count: int) -> None: ...

    def revise(self, total: int) -> None: ...


class Bars(Progress):
    """Progress on a terminal, else a line now and then; both with the time left of the present stage."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        columns = (
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeRemainingColumn(),
        )
        console = Console(file=self._stream, get_time=time.monotonic)
        self._bars = progress.Progress(*columns, console=console, transient=True, disable=not self._stream.isatty())
        self._reported = time.monotonic()

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def stage(self, name: str, total: int) -> None:
        for task in self._bars.task_ids:
            self._bars.remove_task(task)
        self._bars.add_task(name, total=total)
        self._reported = time.monotonic()

    def revise(self, total: int) -> None:
        self._bars.update(self._bars.task_ids[0], total=total)

    def advance(self, count: int) -> None:
        self._bars.advance(self._bars.task_ids[0], count)
        [task], now = self._bars.tasks, time.monotonic()
        if self._bars.disable and task.completed and now - self._reported > _QUIET:
            left = (task.elapsed or 0.0) / task.completed * max(0, (task.total or 0) - task.completed)
            line = f"{task.description}: {task.completed:.0f} of {task.total:.0f}, {left:.0f} s left"
            print(line, file=self._stream, flush=True)
            self._reported = now
