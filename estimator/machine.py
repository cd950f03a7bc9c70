"""What a machine is called, the same words wherever its numbers stand beside those of another, and how fast it read."""

from collections.abc import Mapping
from typing import Any

#: Keys of the read bandwidths that are probed before and after a row.
PROBES = ("read_bandwidth_before", "read_bandwidth_after")


def machine_name(document: Mapping[str, Any]) -> str:
    """Processor, cores, memory and kernel of a record or a calibration: what tells its machine from others."""
    machine, kernel = document["machine"], document.get("build", document)["kernel"]
    return f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_bytes'] / 2**30:.1f} GiB, {kernel}"


def probes(machine: Mapping[str, Any]) -> list[float]:
    """The read bandwidths that are known of a machine as it ran."""
    return [machine[key] for key in PROBES if machine.get(key)]


def mean_probe(machine: Mapping[str, Any]) -> float | None:
    """Their mean; None where nothing was probed."""
    found = probes(machine)
    return sum(found) / len(found) if found else None
