"""The seconds and memory that a row of a sweep will take, and why it will be skipped."""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import psutil

# As in the runner, by the same names: seconds that preprocessing and updates are repeated; seconds and number of the
# warm-up's exchanges; most seconds of an exchange that is made once more before each further repetition; the least
# keys of the noise and its seconds, where a client has a key for each query and where it keeps one; changed records
# that are asked for.
LONG_PHASE_SECONDS = 0.5
WARM_UP_SECONDS, WARM_UPS = 0.2, 10
LONG_EXCHANGE_SECONDS = 5.0
NOISE_KEYS = 20
NOISE_SECONDS, NOISE_LEAST_SECONDS = 2.0, 20.0
CHANGES_ASKED = 16
#: Seconds of writing a byte of memory for the first time, for which the system has to find a page; unit costs are of
#: memory that is there. By what preprocessing took longer than predicted in the reference runs: 1.2 and 1.9 s a GB.
FRESH_BYTE_SECONDS = 1.5e-9


class Prospect(NamedTuple):
    """Seconds of all repetitions and their warm-ups, bytes of the process at its peak, and why a row is skipped."""

    seconds: float
    peak_bytes: int
    skipped: str | None


def free_memory_bytes() -> int:
    """Bytes that could be allocated now without swapping."""
    return int(psutil.virtual_memory().available)


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def prospect(
    prediction: Mapping[str, Any], row: Mapping[str, Any], free_memory: int, limit: float | None = None
) -> Prospect:
    """What a row takes, given its prediction, the row as `pirlab run --group` takes it, the bytes that are free and the
    seconds that a row may be predicted to take."""
    seconds, peak = row_seconds(prediction, row), int(prediction["peak_bytes"])
    skipped = None
    if peak > free_memory:
        skipped = f"needs {format_bytes(peak)}; {format_bytes(free_memory)} free"
    elif limit is not None and seconds > limit:
        skipped = f"would take about {seconds:.0f} s; the limit is {limit:g} s"
    return Prospect(seconds, peak, skipped)


def row_seconds(prediction: Mapping[str, Any], row: Mapping[str, Any]) -> float:
    """Seconds of a row's own work, as the runner does it.

    Preprocessing, which writes fresh memory, is repeated until it has taken LONG_PHASE_SECONDS, and so are updates,
    each with exchanges about the changed records and another. Exchanges are the warm-up, the repetitions, another
    before each but the first of them unless it takes long, and those for the noise, of which the first looks at the
    last repetition; each of a streamed row makes the database again. One repetition alone has no warm-up. A primitive
    makes a repetition a key, where it has keys; else the first is its warm-up.
    """
    seconds, repetitions = prediction["seconds"], int(row.get("repetitions", 5))
    if "repetition" in seconds:
        return float(prediction.get("settings", {}).get("keys", 1 + repetitions) * seconds["repetition"])
    online, updates = seconds["query"] + seconds["answer"] + seconds["extract"], int(row.get("updates", 0))
    keys = sum(seconds.get(phase, 0.0) for phase in KEPT_KEYS)
    fresh = FRESH_BYTE_SECONDS * prediction["peak_bytes"]
    preprocess = _repeated(seconds["total"] - online - keys + fresh, repetitions)
    online += seconds.get("streaming", 0.0)
    again = (repetitions - 1) * online if online <= LONG_EXCHANGE_SECONDS else 0.0
    warm_up = max(online, min(WARM_UP_SECONDS, WARM_UPS * online)) + again if repetitions > 1 else 0.0
    noise = max(online + keys, row.get("noise_seconds", _noise(online, keys)))
    update = seconds.get("update_server", 0.0) + seconds.get("update_client", 0.0)
    update += (1 + min(updates, CHANGES_ASKED)) * online
    updating = _repeated(update, repetitions) if updates else 0.0
    return preprocess + keys + warm_up + repetitions * online + noise + updating


#: Phases in which a client's key that serves all its queries is made and taken in.
KEPT_KEYS = ("keys", "key_expansion")


def _noise(online: float, keys: float) -> float:
    """Seconds until the noise is known, where nothing bounds them: roughly, since it depends on what is measured."""
    wanted = max(NOISE_SECONDS, NOISE_KEYS * (online + keys))
    return min(NOISE_LEAST_SECONDS, wanted) if keys else wanted


def _repeated(seconds: float, repetitions: int) -> float:
    """Seconds of work that is repeated until it has taken LONG_PHASE_SECONDS."""
    return seconds * (min(repetitions, int(LONG_PHASE_SECONDS / seconds) + 1) if seconds > 0 else repetitions)


def format_bytes(count: float) -> str:
    """Bytes with a binary unit, three digits: 131 GiB."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if count >= 100 or unit == "B" else f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.0f} GiB" if count >= 100 else f"{count:.3g} GiB"
