"""Which rows stand for which printed columns, as the experiments say.

A row is a parameter set at a shape. Its experiment lists the ids of the columns that it stands for, each of which is
one of the row's protocol: nothing is concluded from layouts, bytes or names.
"""

from collections import defaultdict
from pathlib import Path

from pirlab_estimator.paths import ROOT
from pirlab_estimator.search.text import count
from pirlab_estimator.sets import labelled, series

Declared = dict[tuple[str, int, int], frozenset[str]]
"""Ids of columns by (set, records, record bits)."""


def declared(folder: Path = ROOT / "experiments") -> Declared:
    """The columns of the rows of all experiments below a folder."""
    found: defaultdict[tuple[str, int, int], set[str]] = defaultdict(set)
    for experiment, each in series(folder):
        for shape in each.get("shapes", experiment.get("shapes", [])):
            place = count(shape["records"]), count(shape["record_bits"])
            if "columns" in shape:
                found[labelled(each["parameters"], each.get("with", {})), *place] |= set(shape["columns"])
    return {place: frozenset(columns) for place, columns in found.items()}
