"""Which set of params/ stands for which printed column of the InsPIRe paper.

A set stands for a column where a row of experiments/inspire/ has the column's layout, and its bytes where the paper
names no layout. `tests/test_printed_columns.py` holds each set's `source.location` against this.
"""

import sys
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log2
from pathlib import Path
from typing import Any

import pandas as pd
from pirlab_estimator.describe import describe
from pirlab_figures.inspire.table1 import PARAMETERS, lattice_parameters
from pirlab_figures.lib import frame as loader
from pirlab_figures.lib import paper as inspire_paper
from pirlab_figures.lib.paper import EXACT_TABLES, FAMILY, WITH_LAYOUTS, Measured, Printed

sys.path.insert(0, str(Path(__file__).parent / "rules"))
import primitives
from rows import Row
from sweep import ROOT, all_experiments, expand, read_profile

#: Those that print databases. Table 1 prints lattice parameters, Table 5 packings, which are no sets of params/.
TABLES = ("2", "3", "4", "6", "7", "8", "9")
APPLICATIONS = ("6", "7")
STANDING = ("published", "repaired")
ENTRIES = {1: "1 bit", 256: "32 B", 512: "64 B", 1024: "128 B", 262144: "32 KB"}


@dataclass(frozen=True)
class Line:
    """A printed column and a row whose set stands for it."""

    column: Printed
    ours: Measured

    @property
    def name(self) -> str:
        """Of the set."""
        return str(self.ours.row["set"])


class Index:
    """The paper's columns, and the sets of its protocols in params/, by name."""

    def __init__(self) -> None:
        files = sorted(path for name in FAMILY for path in (ROOT / "params" / name).glob("*.toml"))
        self.sets = {f"{path.parent.name}/{path.stem}": tomllib.loads(path.read_text()) for path in files}
        self.expected = loader.load_expected(ROOT / "experiments/expected")
        self.columns = [column for table in TABLES for column in self.printed(table) if column.protocol in FAMILY]

    def printed(self, table: str) -> list[Printed]:
        """The columns of one table."""
        return inspire_paper.printed(self.expected, table)

    @cached_property
    def rows(self) -> list[Measured]:
        """The rows of experiments/inspire/ with one query and one of these sets, as the binary describes them."""
        names = [name for name in all_experiments() if name.startswith("inspire/")]
        asked = [
            row.request(group.options) | {"parameters": str(ROOT / row.parameters)}
            for name in names
            for group in expand(name, read_profile("paper"))
            for row in group.rows
            if isinstance(row, Row) and group.options["queries"] == 1
        ]
        described, keys = {}, []
        for told in describe([{"id": str(place)} | row for place, row in enumerate(asked)]):
            own, shape = told["parameters"], told["shape"]
            if own["name"] in self.sets:
                key = own["sha256"], shape["records"], shape["record_bits"]
                described[key] = told
                keys.append((own["name"], *key, told["protocol"]))
        none = loader.load_predictions(None)
        planned = pd.DataFrame([*dict.fromkeys(keys)], columns=[*loader.SHAPE_KEYS, "protocol"])
        joined = loader.join(loader.load_records(ROOT / "none"), none, {})
        return inspire_paper.rows(joined, planned.reindex(columns=none.columns), described)

    @cached_property
    def lines(self) -> list[Line]:
        """Each column with each set that stands for it: none of those with the secrets of the authors' code, which are
        not the paper's Gaussian ones."""
        rows = [ours for ours in self.rows if self.kind(ours.row["set"]) in STANDING and _gaussian(ours)]
        return [
            Line(column, ours)
            for column in self.columns
            for ours in inspire_paper.matches(column, rows)
            if _stands(column, ours)
        ]

    def missing(self) -> list[Printed]:
        """Columns that no set stands for."""
        return [column for column in self.columns if not any(line.column is column for line in self.lines)]

    def kind(self, name: str) -> str:
        """Of a set, as its file says."""
        return str(self.sets[name]["source"]["kind"])

    def location(self, name: str) -> str:
        """Tables and databases of a set's columns, as its `source.location` names them; empty without a column."""
        texts: dict[str, list[str]] = {}
        for table in TABLES:
            own = [line.column for line in self.lines if line.name == name and line.column.table == table]
            if own:
                texts.setdefault(_places(own), []).append(table)
        return "; ".join(f"Table{'s' * (len(tables) > 1)} {listed(tables)}{text}" for text, tables in texts.items())

    def described(self, name: str) -> dict[str, Any]:
        """What the binary says of a set at one of its rows."""
        return next(dict(ours.row["description"]) for ours in self.rows if ours.row["set"] == name)

    def differences(self, name: str) -> dict[str, tuple[float, float]]:
        """A set's lattice parameters that are not Table 1's, each with the printed one."""
        described, found = self.described(name), {}
        columns = [column for column in self.printed("1") if column.protocol == described["protocol"]]
        for column, own in zip(columns, lattice_parameters(described), strict=bool(columns)):
            for key in (key for key in PARAMETERS if key in column.values):
                value = round(own[key]) if key == "log2_q" else own[key]
                if value != column.values[key]:
                    found[key] = (value, column.values[key])
        return found

    def packings(self) -> list[tuple[Printed, list[primitives.Row]]]:
        """The columns of Table 5, and the rows of experiments/inspire/table5.toml that are as printed."""
        [group] = expand("inspire/table5", read_profile("paper"))
        rows = [row for row in group.rows if isinstance(row, primitives.Row)]
        return [(column, [row for row in rows if _packs(column, row.settings)]) for column in self.printed("5")]


def _gaussian(ours: Measured) -> bool:
    return all(each["secret"]["kind"] == "gaussian" for each in ours.row["description"]["instances"])


def _stands(column: Printed, ours: Measured) -> bool:
    """Whether a matching row is the column's own: by layout, by ring or, where the paper has neither, by its bytes."""
    if column.protocol in WITH_LAYOUTS and column.layout.first:
        return True
    if "d" in column.config:
        return bool(ours.row["description"]["layout"]["ring_degree"] == int(column.config["d"]))
    return not any(column.unequal(key, size) for key, size in ours.described.items() if key in column.values)


def _packs(column: Printed, settings: dict[str, Any]) -> bool:
    """Whether settings pack as a column does: its method, ring, plaintexts, digits and count."""
    own = {"log2d": settings["n"], "log2p": settings["plain_modulus"], "z": settings["base"]}
    same = all(float(column.config[key].removeprefix("2^")) == log2(own[key]) for key in own if key in column.config)
    plain = settings["family"] == "unsigned" and settings["gamma"] == settings["n"]
    more = settings.keys() & {"dropped", "clients"}
    method = settings["method"].split("-")[0] == column.protocol.lower()
    return same and plain and not more and method and settings["ciphertexts"] == column.records


def listed(parts: Sequence[str]) -> str:
    """Parts as words list them."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def gigabytes(columns: Iterable[Printed]) -> list[str]:
    """The sizes of databases, each once."""
    return list(dict.fromkeys(column.database.removesuffix("GB") for column in columns))


def entries(columns: Iterable[Printed]) -> str:
    """The sizes of records, each once."""
    return ", ".join(dict.fromkeys(ENTRIES[column.record_bits] for column in columns))


def _places(columns: Sequence[Printed]) -> str:
    """Where in their table columns are."""
    [table] = {column.table for column in columns}
    if table in APPLICATIONS:
        steps = [column.config["step"].replace("_", " ") for column in columns if "step" in column.config]
        return f", {listed(steps)}" if steps else ""
    if table not in EXACT_TABLES:
        return f": {listed(gigabytes(columns))} GB"
    sizes: dict[str, list[str]] = {}
    for size in gigabytes(columns):
        sizes.setdefault(entries(column for column in columns if column.database == f"{size}GB"), []).append(size)
    return ": " + ", ".join(f"{listed(own)} GB ({records})" for records, own in sizes.items())
