"""Unit costs: the seconds of one operation of each kind, from `pirlab calibrate`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..inputs import read_text
from ..machine import machine_name, read_bandwidth
from ..paths import RESULTS
from .operations import Transform, operation, transform

DEFAULTS = Path(__file__).with_name("unit_costs.json")
CALIBRATION = RESULTS / "calibration.json"
REMEDY = "name a file that `pirlab calibrate` wrote"

#: The seconds of one operation for every size; or pairs (bytes of the table, seconds of one), by size.
UnitCost = float | tuple[tuple[float, float], ...]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class UnitCosts:
    """Seconds per operation, single thread, and the machine they hold for.

    machine: its processor. read_bandwidth: probed when they were measured, bytes a second; None if it was not. name:
    all that tells the machine from others, for readers.
    """

    seconds: Mapping[str, UnitCost]
    machine: str
    read_bandwidth: float | None = None
    name: str = ""

    @classmethod
    def load(cls, path: Path | None = None) -> "UnitCosts":
        """From `path`, else from this machine's calibration, else the defaults, which also fill gaps of a file."""
        defaults = _read(DEFAULTS)
        chosen = path or (CALIBRATION if CALIBRATION.is_file() else DEFAULTS)
        own = _read(chosen)
        costs = {**_costs(defaults["unit_seconds"]), **_costs(own["unit_seconds"])}
        try:
            machine = own["machine"]
            if isinstance(machine, str):
                # Behind the colon the defaults say how they came about.
                return cls(costs, machine, name=machine.split(":")[0])
            return cls(costs, machine["cpu"], read_bandwidth(machine), machine_name(own))
        except KeyError as error:
            raise ValueError(f"{chosen} has no {error} of its machine; {REMEDY}") from None

    def slowness(self) -> float:
        """How much longer an operation takes here than by the committed defaults: the median of all that both have."""
        defaults = _costs(_read(DEFAULTS)["unit_seconds"])
        both = ((cost, defaults.get(name)) for name, cost in self.seconds.items())
        return float(np.median([a / b for a, b in both if isinstance(a, float) and isinstance(b, float) and b > 0]))

    def origin(self) -> dict[str, str | float | None]:
        """The machine that they hold for, as the prediction record names it."""
        return {"machine": self.machine, "read_bandwidth": self.read_bandwidth}

    def total(self, name: str, counts: ArrayLike) -> Array:
        """The seconds of each of `counts` operations; by size, a count is the table's size."""
        counts = np.asarray(counts, dtype=float)
        cost = self.seconds.get(name)
        known = operation(name)
        if cost is None and known and known.like:
            return known.share * self.total(known.like, counts)
        if cost is None:
            cost = self._transform(name)
        if isinstance(cost, float):
            return np.asarray(counts * cost)
        sizes, seconds = (np.array(column) for column in zip(*cost))
        # Between sizes the cost is interpolated over the logarithm of the size; outside it is constant.
        return np.asarray(counts * np.interp(np.log2(np.maximum(counts, 1.0)), np.log2(sizes), seconds))

    def _transform(self, name: str) -> float:
        """An uncalibrated transform: the nearest calibrated size, by N log N, of the next wider (else widest) prime."""
        wanted = transform(name)
        if wanted is None:
            raise KeyError(f"no unit cost for operation {name!r}")
        known = {t: cost for n, cost in self.seconds.items() if isinstance(cost, float) and (t := transform(n))}
        widths = sorted({t.bits for t in known})
        if not widths:
            raise KeyError(f"no transform is calibrated, so {name!r} has no unit cost")
        bits = next((b for b in widths if b >= wanted.bits), widths[-1])
        nearest = min((t for t in known if t.bits == bits), key=lambda t: abs(log2(t.n / wanted.n)))
        return known[nearest] * _work(wanted) / _work(nearest)


def _work(t: Transform) -> float:
    return t.n * log2(t.n)


def _costs(entries: Mapping[str, Any]) -> dict[str, UnitCost]:
    costs: dict[str, UnitCost] = {}
    for name, cost in entries.items():
        if operation(name) is None:
            raise ValueError(f"unit_seconds names {name!r}, which is not in estimator/cost/operations.toml")
        if isinstance(cost, Sequence):
            costs[name] = tuple(sorted((float(at["bytes"]), float(at["seconds"])) for at in cost))
        elif cost is not None:
            costs[name] = float(cost)
    return costs


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(read_text(path))
    except ValueError as error:
        raise ValueError(f"{path} is not JSON ({error}); {REMEDY}") from None
    if not isinstance(content, dict) or "unit_seconds" not in content:
        raise ValueError(f"{path} has no `unit_seconds`; {REMEDY}")
    return content
