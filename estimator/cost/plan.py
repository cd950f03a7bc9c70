"""The seconds and memory that a row of a sweep will take, and why it will be skipped."""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import psutil

# As in the runner: seconds of preprocessing repeated at most, least keys of the noise, changed records asked for.
PREPROCESS_SECONDS = 5.0
NOISE_KEYS = 20
CHANGES_ASKED = 16


class Prospect(NamedTuple):
    """Seconds of all repetitions and an online warm-up, bytes of the process at its peak, and why a row is skipped."""

    seconds: float
    peak_bytes: int
    skipped: str | None


def free_memory_bytes() -> int:
    """Bytes that could be allocated now without swapping."""
    return int(psutil.virtual_memory().available)


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def prospect(prediction: Mapping[str, Any], row: Mapping[str, Any], free_memory: int) -> Prospect:
    """The prospect of a row, given its prediction, the row in the form of `pirlab run --group` and the free bytes."""
    seconds = row_seconds(prediction, int(row.get("repetitions", 5)), int(row.get("updates", 0)))
    peak, limit = int(prediction["peak_bytes"]), row.get("time_limit_seconds")
    skipped = None
    if peak > free_memory:
        skipped = f"needs {format_bytes(peak)}; {format_bytes(free_memory)} free"
    elif limit is not None and seconds > limit:
        skipped = f"would take about {seconds:.0f} s; the limit is {limit:g} s"
    return Prospect(seconds, peak, skipped)


def row_seconds(prediction: Mapping[str, Any], repetitions: int, updates: int = 0) -> float:
    """Least seconds of a row's own work, as the runner does it.

    Preprocessing is repeated until it has taken PREPROCESS_SECONDS, updates too; exchanges are the warm-up and the
    repetitions, at least one for each key of the noise, and after each repetition of an update the changed records
    and another. Noise that is not yet known after these keys takes more of them, for up to 20 s: that is not predicted.
    """
    seconds = prediction["seconds"]
    if "repetition" in seconds:  # a primitive, whose first repetition is the warm-up
        return (1 + repetitions) * seconds["repetition"]
    online = seconds["query"] + seconds["answer"] + seconds["extract"]
    preprocess = seconds["total"] - online
    update = seconds.get("update_server", 0.0) + seconds.get("update_client", 0.0) if updates else 0.0
    exchanges = max(1 + repetitions, NOISE_KEYS) + (repetitions * (1 + min(updates, CHANGES_ASKED)) if updates else 0)
    return _repeated(preprocess, repetitions) + _repeated(update, repetitions) + exchanges * online


def _repeated(seconds: float, repetitions: int) -> float:
    """Seconds of work that is repeated until it has taken PREPROCESS_SECONDS."""
    return seconds * (min(repetitions, int(PREPROCESS_SECONDS / seconds) + 1) if seconds > 0 else repetitions)


def format_bytes(count: float) -> str:
    """Bytes with a binary unit, three digits: 131 GiB."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if count >= 100 or unit == "B" else f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.0f} GiB" if count >= 100 else f"{count:.3g} GiB"
