"""What a machine is called, the same words wherever its numbers stand beside those of another, and how fast it read."""

import statistics
from collections.abc import Mapping
from typing import Any


def machine_name(document: Mapping[str, Any]) -> str:
    """Processor, cores, memory and kernel of a record or a calibration: what tells its machine from others."""
    machine, kernel = document["machine"], document.get("build", document)["kernel"]
    return f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_bytes'] / 2**30:.1f} GiB, {kernel}"


def read_bandwidth(machine: Mapping[str, Any]) -> float | None:
    """The median of the rates at which a machine read memory; None where nothing was probed."""
    return statistics.median(machine["read_bandwidth"]) if machine["read_bandwidth"] else None
