"""The explorer: one HTML file with every row of some runs and searches, a chart, a table and filters.

It needs no server and no network: the charting library (Vega, Vega-Lite) is in the file.
"""

import json
import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import vl_convert
from pirlab_estimator.cost import UnitCosts
from pirlab_estimator.paths import ROOT
from pirlab_estimator.records import InputError
from pirlab_estimator.search.bounds import SEEDS, Network, Prices

from ..lib.inputs import Inputs
from ..lib.marks import EVERY
from ..lib.output import write
from ..lib.protocols import PROTOCOLS
from ..lib.spec import spec
from ..lib.table import FORMS
from . import rows

SPEC = spec("explorer/page")
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Explorer:
    """The page's data."""

    document: dict[str, Any]

    def write(self, prefix: Path) -> list[Path]:
        """Write `prefix`.html."""
        page = FORMS.get_template("explorer.html.j2").render(
            # In a script no character may begin a tag.
            data=json.dumps(self.document, separators=(",", ":")).replace("<", "\\u003c"),
            library=vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").replace("</script", "<\\/script"),
            program=(HERE / "page.js").read_text(encoding="utf-8"),
            style=(HERE / "page.css").read_text(encoding="utf-8"),
            title=SPEC.title,
        )
        return [write(prefix, ".html", page)]


def _costs(inputs: Inputs) -> dict[str, dict[str, Any]]:
    """By the machine of unit costs: their file, as an option names it, and the seconds in which a byte is read."""
    found: dict[str, dict[str, Any]] = {}
    try:
        for file in [*rows.costs(inputs.arguments.sweeps), *filter(None, [inputs.arguments.costs])]:
            units, name = UnitCosts.load(file), shlex.quote(os.path.relpath(file, ROOT))
            found[units.name] = {"file": name, "read_s": float(units.total("bytes_read", 1))}
    except (OSError, ValueError) as error:
        raise InputError("--costs", None, str(error), "Run `make calibrate`") from None
    return found


def make(inputs: Inputs) -> Explorer:
    """The explorer of records, predictions and a search's fronts."""
    sweeps, unpacked = inputs.arguments.sweeps, inputs.arguments.unpacked
    found = list(rows.shown(inputs.rows, unpacked))
    for sweep in sweeps:
        found += rows.searched(sweep)
    known = {row[0] for row in found}
    prices, network = Prices.load(), Network()
    return Explorer(
        {
            "columns": list(rows.COLUMNS),
            "rows": found,
            "refused": [line for sweep in sweeps for line in rows.refused(sweep)],
            "protocols": [
                {"id": each.id, "name": each.name, "colour": each.colour, "shape": each.shape}
                for each in PROTOCOLS.values()
                if each.id in known
            ],
            "marks": {mark.symbol: mark.meaning for mark in EVERY},
            "metrics": SPEC.words["metrics"],
            "network": {
                "round_trip": 1000 * network.round_trip,
                "bandwidth": 8e-6 * network.bandwidth,
                "hint_queries": network.hint_queries,
            },
            "seeds": SEEDS,
            "costs": _costs(inputs),
            "show": SPEC.words["show"] if unpacked else None,
            "prices": {
                "core_hour": round(3600 * prices.core_second, 6),
                "gigabyte": round(1e9 * prices.download_byte, 6),
            },
        }
    )
