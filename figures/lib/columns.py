"""Which rows stand for which printed columns, as the experiments say.

A row is a parameter set at a shape. Its experiment lists the ids of the columns that it stands for, each of which is
one of the row's protocol: nothing is concluded from layouts, bytes or names.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from pathlib import Path

from pirlab_estimator.paths import ROOT
from pirlab_estimator.search.text import count
from pirlab_estimator.sets import labelled

Declared = dict[tuple[str, int, int], frozenset[str]]
"""Ids of columns by (set, records, record bits)."""


def declared(folder: Path = ROOT / "experiments") -> Declared:
    """The columns of the rows of all experiments below a folder."""
    found: defaultdict[tuple[str, int, int], set[str]] = defaultdict(set)
    for path in sorted(folder.glob("*/*.toml")):
        experiment = tomllib.loads(path.read_text())
        series = experiment.get("series", []) if "kind" not in experiment else []
        for each in series:
            for shape in each.get("shapes", experiment.get("shapes", [])):
                if "columns" in shape:
                    records, bits = count(str(shape["records"])), count(str(shape["record_bits"]))
                    found[labelled(each["parameters"], each.get("with", {})), records, bits] |= set(shape["columns"])
    return {place: frozenset(columns) for place, columns in found.items()}
