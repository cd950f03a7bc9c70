"""The rows of the InsPIRe paper's tables, and the records that measure the same configuration; all printed numbers.

A row stands for the columns that its experiment names (`columns`). The paper's Tables 2 to 4 are Pareto fronts over
runs with entries of several sizes: a row may stand for a column of other records than its own, and is marked then.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from pirlab_estimator.paths import ROOT
from pirlab_estimator.records import InputError
from pirlab_estimator.search.text import count
from pirlab_estimator.sets import AS_PUBLISHED, labelled, series

from .data import data
from .frame import dicts, quartiles
from .marks import PREDICTED, SYMBOLS, predicted
from .output import words
from .protocols import IDS, PAPERS, PROTOCOLS, protocol, set_short
from .units import KIB, has

PAPER = "inspire"
ORDER: tuple[str, ...] = tuple(PAPERS[PAPER]["compared"])
"""The protocols of its tables, in the order of its columns."""
WITH_LAYOUTS = tuple(name for name in ORDER if PROTOCOLS[name].layouts)
"""Protocols of which the paper has several layouts of one database."""
CONTRADICTION = words("id paper where kind printed recomputed comment")
"""Columns of the papers' contradictions."""
DATABASES = {"1GB": 2**33, "8GB": 2**36, "32GB": 2**38}
"""Bits of the paper's databases."""
EXACT_TABLES = ("8", "9")
"""Tables whose columns differ in the size of the records."""
ANSWER_BYTES = 12 * KIB
"""A full answer ciphertext, 28 bits a coefficient of a and 20 of b."""
QUERY_BYTES = 7
"""A coefficient of a query modulo the 56-bit q."""
Declared = dict[tuple[str, int, int], frozenset[str]]
"""Ids of columns by (set, records, record bits)."""


@dataclass(frozen=True)
class Layout:
    """The layout of a database. None: the protocol has no such number.

    first: length of the query vector, N/t (rows of SimpleYPIR). degree: the interpolation degree, or the number of
    columns t of InsPIRe^(2). answers: answer ciphertexts. gammas: LWE ciphertexts in one packed ciphertext, by stage.
    """

    first: int | None = None
    degree: int | None = None
    answers: int | None = None
    gammas: tuple[int, ...] | None = None

    def text(self) -> str:
        """As the tables print it."""
        parts = []
        if self.gammas:
            parts.append(f"γ = {'/'.join(map(str, self.gammas))}")
        if self.first:
            parts.append(f"N/t = {self.first}")
        if self.degree:
            parts.append(f"t = {self.degree}")
        if self.answers and not self.gammas:
            parts.append(f"{self.answers} answer{'s' if self.answers > 1 else ''}")
        return ", ".join(parts)


@dataclass
class Printed:
    """A column of one of the paper's tables: `values` in bytes, seconds or bytes a second, by metric.

    rounding: bytes by which a size may be off the printed one, half a unit of its last digit.
    """

    table: str
    protocol: str
    database: str
    records: int
    record_bits: int
    config: dict[str, str]
    layout: Layout
    values: dict[str, float]
    rounding: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def id(self) -> str:
        """How the rows of experiments/ name it, each for its protocol: table, database or step, and what tells it from
        other columns there."""
        parts = ("entry", "N/t") if self.table in EXACT_TABLES else ("column",)
        own = [self.config[part] for part in parts if part in self.config]
        return "/".join([self.table, self.config.get("step", self.database), *own])

    def unequal(self, metric: str, size: float) -> bool:
        """Whether a size differs from the printed one by more than its rounding."""
        return abs(self.values[metric] - size) > self.rounding[metric]

    @property
    def database_bits(self) -> int:
        return DATABASES.get(self.database, self.records * self.record_bits)

    @property
    def entry_bits(self) -> int:
        """Size of the records the paper ran: not the table's, where the column is of a run with larger ones."""
        return entry_bits(self.config["entry"]) if "entry" in self.config else self.record_bits


@dataclass
class Measured:
    """A row of ours (`frame.rows`), with its layout, and values by the paper's metrics.

    values: measured, none if the row's status is not `ok`. described: sizes that its description predicts. predicted:
    times of a row that was not measured. columns: ids of the printed columns that it stands for.
    """

    row: dict[str, Any]
    layout: Layout
    values: dict[str, float]
    described: dict[str, float]
    predicted: dict[str, float] = field(default_factory=dict)
    columns: frozenset[str] = frozenset()

    @property
    def ok(self) -> bool:
        return bool(self.row["status"] == "ok")

    @property
    def name(self) -> str:
        """The set's display name; "(ours)" if no paper published the set."""
        return set_short(self.row["set"]) + (" (ours)" if self.row["source_kind"] == "own" else "")

    @property
    def database_bits(self) -> int:
        return int(self.row["records"]) * int(self.row["record_bits"])

    @property
    def published(self) -> bool:
        """Whether its messages are those of a set that a paper or its authors' code has: also InsPIRe's sets modulo
        65537, our own but for that as published modulo 65535."""
        if self.row["source_kind"] in AS_PUBLISHED:
            return True
        layout = (self.row.get("description") or {}).get("layout") or {}
        gadgets = [layout.get(key) or {} for key in ("packing_gadget", "rgsw_gadget")]
        whole = layout.get("body_coefficients") == layout.get("ring_degree") and layout.get("point_sent")
        plain = all(not gadget.get("dropped", 1) and not gadget.get("signed", True) for gadget in gadgets)
        return bool(layout.get("plain_modulus") == 65537 and whole and plain)

    @property
    def known(self) -> dict[str, float]:
        """Measured values, and where nothing was measured sizes as described and predicted times."""
        return self.described | self.predicted | self.values

    def mark(self, metric: str) -> str:
        """The symbol at a value that was not measured."""
        kinds = [kind for kind in ("values", "described", PREDICTED) if metric in getattr(self, kind)]
        return SYMBOLS.get(kinds[0], "") if kinds else ""


def entry_bits(text: str) -> int:
    """`1bit`, `64B` and `32KB` in bits."""
    for suffix, factor in (("bit", 1), ("KB", 8 * KIB), ("B", 8)):
        if text.endswith(suffix):
            return int(text.removesuffix(suffix)) * factor
    raise ValueError(f"{text!r} is not the size of an entry")


def config(text: Any) -> dict[str, str]:
    """The configuration of a printed number, such as `log2q=60;b=2^1`, by key."""
    return dict(part.split("=", 1) for part in str(text).split(";") if "=" in part)


def _printed_layout(owner: str, config: dict[str, str], values: dict[str, float]) -> Layout:
    """The layout that a column names, or that follows from its bytes."""
    if protocol(owner).layout_of_bytes and {"upload_query", "download"} <= set(values):
        rows, answers = values["upload_query"] / QUERY_BYTES, values["download"] / ANSWER_BYTES
        return Layout(first=round(rows), answers=round(answers))
    number = {key: int(config[key]) for key in ("N/t", "t", "interp_degree", "response_cts") if key in config}
    gammas = tuple(int(config[key]) for key in ("gamma0", "gamma1", "gamma2") if key in config)
    degree = number.get("interp_degree", number.get("t"))
    return Layout(number.get("N/t"), degree, number.get("response_cts"), gammas or None)


def printed(expected: pd.DataFrame, table: str) -> list[Printed]:
    """The columns of a table of the paper, in its order, without those that the paper leaves blank."""
    frame = expected[(expected["paper"] == PAPER) & (expected["table"] == table)]
    keys = ["protocol", "database", "num_records", "record_bits", "config"]
    found = []
    for (name, database, records, bits, settings), rows in frame.groupby(keys, sort=False, dropna=False):
        values, rounding = {}, {}
        for row in rows.to_dict("records"):
            values[row["metric"]] = float(in_base_units(row))
            if pd.notna(row["rounding"]):
                rounding[row["metric"]] = float(row["rounding"])
        parts = config(settings)
        owner = IDS.get(name, name)
        count, size = (0 if pd.isna(number) else int(number) for number in (records, bits))
        layout = _printed_layout(owner, parts, values)
        notes = sorted({str(note) for note in rows["note"] if note})
        found.append(Printed(table, owner, database, count, size, parts, layout, values, rounding, notes))
    return found


def rows(every: Iterable[dict[str, Any]], columns: Declared | None = None) -> list[Measured]:
    """The rows (`frame.rows`) of the paper's protocols that answer one query at a time with one thread. columns: what
    they stand for; as experiments/ says by default."""
    columns = declared() if columns is None else columns
    found = []
    for row in every:
        if row["protocol"] not in ORDER or row["queries"] != 1 or row["threads"] != 1:
            continue
        row = row | {"description": row["description"] or {}}
        sizes = query_sizes(row["description"].get("messages", []), with_keys=True)
        own = columns.get((row["set"], int(row["records"]), int(row["record_bits"])), frozenset())
        times = _times(row) if predicted(row) else {}
        values = query_sizes(row["transcript"], with_keys=True) | _times(row) if row["status"] == "ok" else {}
        found.append(Measured(row, _layout(row), values, sizes, times, own))
    return found


def declared(folder: Path = ROOT / "experiments") -> Declared:
    """The columns that rows stand for, as the experiments below a folder list them: nothing is concluded from layouts,
    bytes or names."""
    found: defaultdict[tuple[str, int, int], set[str]] = defaultdict(set)
    for experiment, each in series(folder):
        for shape in each.get("shapes", experiment.get("shapes", [])):
            place = count(shape["records"]), count(shape["record_bits"])
            if "columns" in shape:
                found[labelled(each["parameters"], each.get("with", {})), *place] |= set(shape["columns"])
    return {place: frozenset(columns) for place, columns in found.items()}


LAYOUT_KEYS: dict[str, list[str]] = data("lib")["layout_keys"]
"""Keys of a description's layout, the first that is there."""


def _layout(row: dict[str, Any]) -> Layout:
    """The layout of a record's description, with what distinguishes configurations of its protocol."""
    described = row["description"].get("layout", {})
    parts: dict[str, Any] = {}
    for name in protocol(row["protocol"]).layout:
        parts[name] = next((described[key] for key in LAYOUT_KEYS[name] if key in described), None)
    if "gammas" in parts:
        parts["gammas"] = tuple(parts["gammas"] or ()) or None
    return Layout(**parts)


def query_sizes(messages: list[dict[str, Any]], with_keys: bool = False) -> dict[str, float]:
    """Keys, the rest of the upload, the answer and all of them, of one query.

    with_keys: keys that serve all queries of a client count as a query's, as InsPIRe's tables count those of KSPIR.
    """
    sent = [m for m in messages if m["phase"] in EXCHANGED]
    if not sent:
        return {}
    uploads = [m for m in messages if m["direction"] == "upload" and (m in sent or (with_keys and m["name"] == "keys"))]
    keys = sum(m["payload_bytes"] for m in uploads if "key" in m["name"])
    uploaded = sum(m["payload_bytes"] for m in uploads)
    downloaded = sum(m["payload_bytes"] for m in sent if m["direction"] == "download")
    return {
        "upload_keys": keys,
        "upload_query": uploaded - keys,
        "download": downloaded,
        "total_comm": uploaded + downloaded,
    }


EXCHANGED = ("query", "online", "answer")
"""Phases whose messages one query needs. A seed of 16 bytes that a client fetches once is not among them."""


def _times(row: dict[str, Any]) -> dict[str, float]:
    """Times by the paper's metrics: phases of the answer by their names."""
    times = {
        "server_time": row["answer_s"],
        "throughput": row["throughput_bytes_per_s"],
        "offline_time": row["preprocess_s"],
    }
    for metric, name in PHASES.items():
        samples = [p["seconds"] for p in row["phases"] if p["group"] == "online" and p["name"] == name]
        if samples:
            times[metric] = sum(quartiles(each)[1] for each in samples)
    return {k: float(v) for k, v in times.items() if has(v)}


PHASES: dict[str, str] = data("lib")["phases"]
"""The parts of an answer in Tables 8 and 9, and the phases of a record that they are."""


def stands_for(ours: Measured, column: Printed) -> bool:
    """Whether a row reproduces a column."""
    return bool(ours.row["protocol"] == column.protocol and column.id in ours.columns)


def matches(column: Printed, found: Sequence[Measured]) -> list[Measured]:
    """The rows that stand for a column, one a parameter set: published sets before found ones, measured rows before all
    others, and then records of the column's own size."""

    def rank(ours: Measured) -> tuple[Any, ...]:
        bits = int(ours.row["record_bits"])
        other = (bits != column.record_bits) + (bits not in (column.record_bits, column.entry_bits))
        return (not ours.published, not ours.ok, other, ours.row["set"])

    best: dict[str, Measured] = {}
    for ours in sorted((m for m in found if stands_for(m, column)), key=rank):
        best.setdefault(ours.row["set"], ours)
    if column.protocol not in WITH_LAYOUTS:
        return list(best.values())
    own = [m for m in best.values() if m.row["record_bits"] == column.record_bits]
    measured = [m for m in best.values() if m.ok]
    # A record of another size shows the layout as well, so that one is enough.
    if measured and not any(m.ok for m in own):
        return measured[:1]
    return own or list(best.values())[:1]


def unmatched(columns: Iterable[Printed], found: Sequence[Measured]) -> list[Measured]:
    """Rows of the columns' protocols that stand for none of them, small databases first."""
    columns = list(columns)
    protocols = {column.protocol for column in columns}
    rest = [m for m in found if m.row["protocol"] in protocols and not any(stands_for(m, c) for c in columns)]
    return sorted(rest, key=lambda m: (m.database_bits, ORDER.index(m.row["protocol"]), m.row["set"]))


PRINTED_TOTALS = ("offline_comm", "query_size", "response_size", "server_time")
Key = tuple[int, int, str]
"""Records, record bits, the printed name of a protocol."""


def printed_totals(expected: pd.DataFrame, of_paper: str, table: str) -> dict[Key, dict[str, dict[str, float]]]:
    """Bytes and seconds of a table by database and protocol, then by configuration, in the paper's order."""
    found: dict[Key, dict[str, dict[str, float]]] = {}
    for row in printed_rows(expected, of_paper, table):
        if row["metric"] in PRINTED_TOTALS:
            key = (int(row["num_records"]), int(row["record_bits"]), row["protocol"])
            value = row["seconds"] if row["metric"] == "server_time" else row["bytes"]
            found.setdefault(key, {}).setdefault(row["config"], {})[row["metric"]] = float(value)
    return dict(sorted(found.items(), key=lambda item: item[0][:2]))


def printed_rows(expected: pd.DataFrame, of_paper: str, table: str) -> list[dict[str, Any]]:
    """The numbers of one table of a paper."""
    return dicts(expected[(expected["paper"] == of_paper) & (expected["table"].astype(str) == table)])


def in_base_units(row: Mapping[str, Any]) -> Any:
    """A printed number in bytes or seconds, or as it is printed where it is neither."""
    return next((row[unit] for unit in ("bytes", "seconds") if has(row[unit])), row["value"])


def load_contradictions(folder: Path) -> pd.DataFrame:
    """The paper's contradictions, experiments/expected/inconsistencies.csv."""
    path = folder / "inconsistencies.csv"
    if not path.is_file():
        raise InputError(path, None, "no such file", "Restore it from the repository")
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    missing = [name for name in CONTRADICTION if name not in frame.columns]
    if missing:
        raise InputError(path, ", ".join(missing), "column is missing", "Restore the file from the repository")
    return frame[frame["paper"] == PAPER].reset_index(drop=True)
