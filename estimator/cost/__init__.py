"""Seconds from the described operation counts and unit costs, array-valued over descriptions.

A phase takes the longer of its arithmetic and of its memory traffic, which overlap, and then what does not overlap:
the random generator, the error sampler and digit conversions. Unit costs come from results/calibration.json, which
`pirlab calibrate` measures on this machine, else from the committed defaults.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..paths import RESULTS

DEFAULTS = Path(__file__).with_name("unit_costs.json")
CALIBRATION = RESULTS / "calibration.json"

ARITHMETIC = ("multiply_adds_packed", "matrix_multiply_adds", "multiply_adds_u32")
MEMORY = ("bytes_read", "matvec_bytes", "bytes_written")
SERIAL = ("prg_bytes", "gaussian_samples", "digit_conversions")
OPERATIONS = ARITHMETIC + MEMORY + SERIAL

#: Phases of a prediction, named as the description counts them and as a run times them.
PHASES = ("encode", "hint", "query", "answer", "extract")


@dataclass(frozen=True)
class UnitCosts:
    """Seconds per operation, single thread, and the machine they hold for."""

    seconds: dict[str, float]
    machine: str

    @classmethod
    def load(cls, path: Path | None = None) -> UnitCosts:
        """From `path`, else from this machine's calibration, else the defaults; what a file lacks is defaulted."""
        defaults = json.loads(DEFAULTS.read_text())["unit_seconds"]
        chosen = path or (CALIBRATION if CALIBRATION.is_file() else DEFAULTS)
        try:
            own = json.loads(chosen.read_text())
        except ValueError as error:
            raise ValueError(
                f"{chosen} is not JSON ({error}); write it with `pirlab calibrate --out {chosen}`"
            ) from None
        if not isinstance(own, dict) or "unit_seconds" not in own:
            raise ValueError(f"{chosen} has no `unit_seconds`; write it with `pirlab calibrate --out {chosen}`")
        machine = own.get("machine", "unknown")
        name = machine if isinstance(machine, str) else str(machine.get("cpu", "unknown"))
        measured = {k: float(v) for k, v in own["unit_seconds"].items() if v is not None}
        return cls({**defaults, **measured}, name)


def operation_counts(descriptions: Sequence[dict]) -> np.ndarray:
    """Counts, shape (descriptions, phases, operations), in the order of PHASES and OPERATIONS."""
    counts = np.zeros((len(descriptions), len(PHASES), len(OPERATIONS)))
    for i, description in enumerate(descriptions):
        for j, phase in enumerate(PHASES):
            phase_operations = description["operations"].get(phase, {})
            for name, value in phase_operations.items():
                if name == "bytes_read" and "multiply_adds_packed" in phase_operations:
                    name = "matvec_bytes"  # read by the matrix-vector kernel, which is slower than reading alone
                if name not in OPERATIONS:
                    raise ValueError(f"{description['protocol']}: no unit cost for operation {name!r} of phase {phase}")
                counts[i, j, OPERATIONS.index(name)] = value
    return counts


def predict_seconds(descriptions: Sequence[dict], unit_costs: UnitCosts | None = None) -> list[dict[str, float]]:
    """Seconds of each phase and their total, for one run of all the description's queries on one thread."""
    if not descriptions:
        return []
    units = (unit_costs or UnitCosts.load()).seconds
    cost = operation_counts(descriptions) * np.array([units[name] for name in OPERATIONS])
    memory_at, serial_at = len(ARITHMETIC), len(ARITHMETIC) + len(MEMORY)
    arithmetic = cost[:, :, :memory_at].sum(axis=2)
    traffic = cost[:, :, memory_at:serial_at].sum(axis=2)
    seconds = np.maximum(arithmetic, traffic) + cost[:, :, serial_at:].sum(axis=2)
    return [{**dict(zip(PHASES, row.tolist())), "total": float(row.sum())} for row in seconds]
