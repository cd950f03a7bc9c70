"""What a machine is called: the same words wherever its numbers stand beside those of another."""

from collections.abc import Mapping
from typing import Any


def machine_name(document: Mapping[str, Any]) -> str:
    """Processor, cores, memory and kernel of a record or a calibration: what tells its machine from others."""
    machine, kernel = document["machine"], document.get("build", document)["kernel"]
    return f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_bytes'] / 2**30:.1f} GiB, {kernel}"
