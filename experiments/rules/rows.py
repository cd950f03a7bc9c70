"""Rows of experiments of protocols: one parameter set at one database shape, and how it is run."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

#: Of a series: what its rows are run with instead of what the experiment or the profile says.
OWN_OPTIONS = ("threads", "repetitions", "noise_seconds", "streamed")
#: Databases of one bit all over, by what an experiment calls them; others are random.
CONSTANTS = {"zeros": "constant:00", "ones": "constant:ff"}


@dataclass(frozen=True)
class Row:
    """One parameter set at one database shape; `own`: options that other rows of its group do not have."""

    id: str
    parameters: str
    records: int
    record_bits: int
    own: dict[str, Any] = field(default_factory=dict)

    @property
    def database_bytes(self) -> int:
        return -(-self.records * self.record_bits // 8)

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        """What a group file has for it."""
        return self.asked() | options | self.own

    def request(self, options: dict[str, Any]) -> dict[str, Any]:
        """What `pirlab describe --batch` is asked."""
        run = self.run(options)
        return self.asked() | {key: run[key] for key in ("queries", "updates", "streamed") if key in run}

    def asked(self) -> dict[str, Any]:
        """What tells this row from others in a group file."""
        return {"parameters": self.parameters, "records": self.records, "record_bits": self.record_bits}


def own_options(series: dict[str, Any]) -> dict[str, Any]:
    """The options of a series: threads = "machine": all that this process may use; what streams has no updates."""
    own = {key: series[key] for key in OWN_OPTIONS if key in series}
    if own.get("threads") == "machine":
        own["threads"] = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return own | ({"updates": 0} if own.get("streamed") else {})


def series_rows(series: dict[str, Any], shape: tuple[int, int], contents: Iterable[str]) -> list[Row]:
    """The rows of a series at a shape, one for each content of the database."""
    options, file = own_options(series), f"params/{series['parameters']}.toml"
    return [
        Row(f"{series['id']}-{content}", file, *shape, options | {"database": CONSTANTS[content]})
        if content in CONSTANTS
        else Row(series["id"], file, *shape, options)
        for content in contents
    ]
