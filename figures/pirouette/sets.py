"""The described sets of the Pirouette paper's protocols."""

from typing import Any

import pandas as pd

from ..lib.frame import Described, dicts
from ..lib.protocols import PAPERS

PAPER = "pirouette"
OURS = PAPERS[PAPER]["own"]


def rows(predictions: pd.DataFrame, described: Described) -> list[dict[str, Any]]:
    """Predictions of these sets with their descriptions, by protocol and size of the database."""
    found = []
    for row in dicts(predictions[predictions["protocol"].isin(OURS)]):
        description = described.get((row["sha256"], row["records"], row["record_bits"]))
        if description is not None:
            found.append(row | {"description": description, "status": "ok"})
    return sorted(found, key=lambda row: (OURS.index(row["protocol"]), row["records"], row["record_bits"], row["set"]))
