"""The DEPIR paper's Table 1: asymptotic costs of the kinds of single-server PIR, as text."""

from pathlib import Path
from typing import Any

import pandas as pd
from pirlab_estimator.records import InputError

from ..lib.inputs import Inputs
from ..lib.spec import spec
from ..lib.table import Table

SPEC = spec("depir/table1")
FILE = "depir-table1.csv"


def make(inputs: Inputs) -> Table:
    """The table; its formulas are not numbers, so they are read as text."""
    return build(inputs.folder / FILE)


def build(path: Path) -> Table:
    """A line a kind of scheme: its costs by phase, and the paper's examples; a dash where there is no such phase."""
    if not path.is_file():
        raise InputError(path, None, "no such file", "Restore it from the repository")
    lines: dict[str, dict[str, Any]] = {}
    for row in pd.read_csv(path, dtype=str, keep_default_na=False).to_dict("records"):
        line = lines.setdefault(row["protocol"], {"scheme": row["protocol"].replace("-", " ")})
        line[row["metric"]] = row["value"] or "–"
        line["examples"] = row["note"].partition("[")[2].partition("]")[0]
    data = list(lines.values())
    return SPEC.table([SPEC.row(line) for line in data], data)
