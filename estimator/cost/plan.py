"""What a sweep will do before it does it: jobs, predicted seconds and memory, what will be skipped and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import psutil

# As in the runner: seconds of preprocessing repeated at most, least keys of the noise, changed records asked for.
PREPROCESS_SECONDS = 5.0
NOISE_KEYS = 20
CHANGES_ASKED = 16


@dataclass
class PlanRow:
    """One row of a group. Seconds are for all repetitions and an online warm-up; bytes are the process's peak.

    subject: the protocol or the primitive. about: parameter set and shape, or settings.
    """

    group: str
    id: str
    subject: str
    about: dict
    repetitions: int
    seconds: float
    peak_bytes: int
    action: str  # run | skipped_memory | skipped_time
    reason: str | None


@dataclass
class PlanGroup:
    """One job. Its rows run interleaved when they fit in memory together, else one after the other."""

    group: str
    mode: str  # interleaved | in_turn | nothing_to_run
    seconds: float
    peak_bytes: int
    rows: list[PlanRow]

    def mapping(self) -> dict:
        return asdict(self)


def free_memory_bytes() -> int:
    """What could be allocated now without swapping."""
    return psutil.virtual_memory().available


def plan(predictions: Mapping[str, dict], groups: Sequence[dict], free_memory: int | None = None) -> list[PlanGroup]:
    """The plan of `groups`, in their order.

    predictions: prediction records by row id. groups: {"group", "rows": [{"id", "repetitions",
    "time_limit_seconds", ...}]} as `pirlab run --group` takes them. free_memory: bytes; the machine's by default.
    """
    free = free_memory_bytes() if free_memory is None else free_memory
    return [_plan_group(group, predictions, free) for group in groups]


def row_seconds(prediction: dict, repetitions: int, updates: int = 0) -> float:
    """Least seconds of a row's own work, as the runner does it (impl/pir/src/core/runner.rs).

    Preprocessing is repeated until it has taken PREPROCESS_SECONDS, updates too; exchanges are the warm-up and the
    repetitions, at least as many as the noise needs keys, and after each repetition of an update the changed records
    and another.
    Noise that is not yet known after these keys takes more of them, for up to 20 s, which nobody foresees.
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
    """What is repeated until it has taken PREPROCESS_SECONDS."""
    return seconds * (min(repetitions, int(PREPROCESS_SECONDS / seconds) + 1) if seconds > 0 else repetitions)


def _plan_group(group: dict, predictions: Mapping[str, dict], free: int) -> PlanGroup:
    rows = [_plan_row(group["group"], row, predictions[row["id"]], free) for row in group["rows"]]
    running = [row for row in rows if row.action == "run"]
    together = sum(row.peak_bytes for row in running)
    mode = "nothing_to_run" if not running else "interleaved" if together <= free else "in_turn"
    peak = together if mode == "interleaved" else max((row.peak_bytes for row in running), default=0)
    return PlanGroup(group["group"], mode, sum(row.seconds for row in running), peak, rows)


def _plan_row(group: str, row: dict, prediction: dict, free: int) -> PlanRow:
    repetitions = int(row.get("repetitions", 5))
    total = row_seconds(prediction, repetitions, int(row.get("updates", 0)))
    peak, limit = int(prediction["peak_bytes"]), row.get("time_limit_seconds")
    action, reason = "run", None
    if peak > free:
        action, reason = "skipped_memory", f"needs {format_bytes(peak)}; {format_bytes(free)} free"
    elif limit is not None and total > limit:
        action, reason = "skipped_time", f"would take about {total:.0f} s; the limit is {limit:g} s"
    return PlanRow(
        group=group,
        id=row["id"],
        subject=prediction.get("protocol") or prediction["primitive"],
        about=prediction["settings"]
        if "primitive" in prediction
        else {"parameters": prediction["parameters"]["name"]} | prediction["shape"],
        repetitions=repetitions,
        seconds=total,
        peak_bytes=peak,
        action=action,
        reason=reason,
    )


def summary(groups: Sequence[PlanGroup]) -> dict:
    """Totals of a plan: jobs, rows to run and to skip, seconds, largest memory."""
    rows = [row for group in groups for row in group.rows]
    skipped = [row for row in rows if row.action != "run"]
    return {
        "jobs": sum(group.mode != "nothing_to_run" for group in groups),
        "rows": len(rows) - len(skipped),
        "skipped": [{"id": row.id, "action": row.action, "reason": row.reason} for row in skipped],
        "seconds": sum(group.seconds for group in groups),
        "peak_bytes": max((group.peak_bytes for group in groups), default=0),
    }


def format_bytes(count: float) -> str:
    """Bytes with a binary unit: 131 GiB."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.0f} {unit}" if count >= 10 or unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    raise AssertionError("unreachable")
