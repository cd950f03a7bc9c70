"""How close the parts of an answer come to memory's speed: the bytes that a part must read, as its description counts
them, over its median time, as a share of the read bandwidth probed with the record."""

from __future__ import annotations

import pandas as pd

from ..lib.marks import symbols
from ..lib.paper import PHASES, Measured
from ..lib.table import Cell

COUNTS = ("bytes_read", "table_bytes")
"""Operations of a description that read memory: stored database or digits, and packing tables."""
NOTE = (
    "Of bandwidth: the bytes that this part of the answer must read (the stored database of a product, the tables of a "
    "packing, as the descriptions count them) over its median time, as a share of the single-core read bandwidth "
    "probed before and after the record's group (their mean); what fits into a cache can exceed it. Lines without a "
    "probe or without a measured time have none."
)
DRIFT = 0.10
"""A share is marked where two probes differ by more than this part of the larger one."""


def read_bytes(ours: Measured, metric: str) -> int | None:
    """Bytes that the part of an answer which `metric` times must read; None where the description counts none."""
    steps = ours.row["description"].get("operations", {}).get("answer", {})
    step = steps.get(PHASES.get(metric, "").removeprefix("answer_"))
    counts = [step[name] for name in COUNTS if name in step] if isinstance(step, dict) else []
    return int(sum(counts)) or None


def share(ours: Measured, metric: str) -> float | None:
    """Its share of the probed bandwidth; None where bytes, time or probe are missing."""
    read, seconds, bandwidth = read_bytes(ours, metric), ours.values.get(metric), ours.row.get("read_bandwidth")
    if not read or not seconds or bandwidth is None or pd.isna(bandwidth):
        return None
    return float(read / seconds / bandwidth)


def cell(ours: Measured, metric: str) -> Cell:
    """The share in per cent, marked where the machine's two probes disagree."""
    found = share(ours, metric)
    return Cell() if found is None else Cell(f"{100 * found:.0f}", symbols(["probe"] * drifted(ours)), found)


def drifted(ours: Measured) -> bool:
    """Whether the bandwidth changed between the probes before and after the record."""
    machine = (ours.row.get("document") or {}).get("machine") or {}
    probes = [machine[key] for key in ("read_bandwidth_before", "read_bandwidth_after") if machine.get(key)]
    return bool(probes) and max(probes) - min(probes) > DRIFT * max(probes)
