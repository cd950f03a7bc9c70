"""The Pirouette paper's Tables 3 to 6: each printed number, and below it what our sets have.

Tables 3 to 5 are parameters: a line the paper's, a line a described set, with security and failure beside it. Table 6
is keys: the paper's formula at the set's parameters, both halves of every ciphertext, beside the bytes that travel; of
all keys together the paper prints a total, in Table 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log2
from pathlib import Path
from typing import Any

import pandas as pd
from pirlab_estimator.security.audit import printed_security

from . import series
from .inspire_paper import Described
from .inspire_tables import cell_footnotes, mark_footnotes
from .loader import dicts
from .marks import ASSUMED
from .table import Cell, Column, Row, Table
from .units import shape_text, significant

PAPER = "pirouette"
PRINTED = {"Pirouette": "pirouette", "PirouetteH": "pirouette_h"}
"""The paper's names and ours."""
OURS = tuple(PRINTED.values())
TABLES = tuple(f"pirouette-table{number}" for number in range(3, 7))

Document = dict[str, Any]
#: A parameter: the paper's symbol, header, and what a description has for it (None: nothing).
Parameter = tuple[str, str, Callable[[Document], float | None]]


def _instance(description: Document, name: str) -> Document | None:
    return next((i for i in description["instances"] if i["name"] == name), None)


def _of(name: str, key: str) -> Callable[[Document], float | None]:
    """A number of the instance of that name."""

    def read(description: Document) -> float | None:
        found = _instance(description, name)
        return None if found is None else float(found[key])

    return read


def _base(gadget: str) -> Callable[[Document], float | None]:
    def read(description: Document) -> float | None:
        found = description["layout"].get(f"{gadget}_gadget")
        return None if found is None else float(2 ** found["base_log2"])

    return read


def _digits(gadget: str) -> Callable[[Document], float | None]:
    def read(description: Document) -> float | None:
        found = description["layout"].get(f"{gadget}_gadget")
        return None if found is None else float(found["digits"])

    return read


def _layout(key: str) -> Callable[[Document], float | None]:
    return lambda description: float(description["layout"][key])


def _small(description: Document) -> float | None:
    """The dimension of the blind-rotation key."""
    return float(description["layout"]["lwe_dimension"])


def _switched(description: Document) -> float | None:
    """log2 of 2N, what every rotation reads."""
    return log2(2 * description["layout"]["degree"])


def _variance(name: str) -> Callable[[Document], float | None]:
    stddev = _of(name, "error_stddev")
    return lambda description: None if (sigma := stddev(description)) is None else sigma**2


PARAMETERS: dict[str, tuple[Parameter, ...]] = {
    "3": (
        ("n_in", "n in", _of("query", "dimension")),
        ("n_out", "n out", _small),
        ("N", "N", _layout("degree")),
        ("log2_q_in", "log2 q in", _of("query", "log2_modulus")),
        ("log2_q_out", "log2 q out", _switched),
        ("log2_Q", "log2 Q", _of("ring", "log2_modulus")),
        ("log2_Q_ksk", "log2 Q ksk", _of("key_switching", "log2_modulus")),
        ("B", "B", _base("rotation")),
        ("B_ksk", "B ksk", _base("switching")),
        ("sigma_squared", "σ² ring", _variance("ring")),
        ("sigma_squared_ksk", "σ² ksk", _variance("key_switching")),
    ),
    "4": (
        ("n", "n", _small),
        ("N", "N", _layout("degree")),
        ("log2_q", "log2 q", _switched),
        ("log2_Q", "log2 Q", _of("ring", "log2_modulus")),
        ("B", "B", _base("rotation")),
        ("B_automorphism", "B aut", _base("automorphism")),
        ("B_squaring", "B sq", _base("squaring")),
        ("B_rgsw", "B RGSW", _base("rgsw")),
        ("ell_rgsw", "ℓ RGSW", _digits("rgsw")),
        ("sigma_squared", "σ²", _variance("ring")),
    ),
    "5": (
        ("N_1", "N1", _of("response", "dimension")),
        ("log2_Q_1", "log2 Q1", _of("response", "log2_modulus")),
        ("v_1", "v1", _layout("first_bits")),
        ("v_2", "v2", _layout("fold_bits")),
        ("v_3", "v3", _layout("rotation_bits")),
        ("p", "p", _layout("plain_modulus")),
        ("sigma_squared_response", "σ² response", _variance("response")),
    ),
}
TITLES = {
    "3": "parameters of digit and bit decomposition",
    "4": "parameters of LWE to RGSW",
    "5": "parameters of database and response",
    "6": "key sizes",
}
KEYS: dict[str, tuple[str, Callable[[Document], float | None]]] = {
    "blind_rotation_key": ("4 n ℓ N log2 Q", lambda d: 4 * _rotated_bits(d) * _ring_row(d, "rotation")),
    "key_switching_key": ("N ℓ (n + 1) log2 Q", lambda d: _switching_bits(d)),
    "squaring_key": ("2 N ℓ log2 Q", lambda d: 2 * _ring_row(d, "squaring")),
    "automorphism_keys": (
        "log2 N · 2 N ℓ log2 Q",
        lambda d: log2(d["layout"]["degree"]) * 2 * _ring_row(d, "automorphism"),
    ),
    "ring_switching_key": ("2 N ℓ log2 Q", lambda d: _response_bits(d)),
}
"""Keys by the name of their message: the paper's formula and its bits; n is 3 n / 2 where steps take two key bits."""
ALL = "all_keys"


def _ring_row(description: Document, gadget: str) -> float:
    """Bits of one half of a gadget's rows."""
    ring = _instance(description, "ring")
    assert ring is not None
    digits = description["layout"][f"{gadget}_gadget"]["digits"]
    return float(digits * ring["dimension"] * ring["log2_modulus"])


def _rotated_bits(description: Document) -> float:
    """RGSW ciphertexts of the blind-rotation key."""
    layout = description["layout"]
    return float(layout["lwe_dimension"]) * (1.5 if layout["bits_per_step"] == 2 else 1.0)


def _switching_bits(description: Document) -> float | None:
    key = _instance(description, "key_switching")
    if key is None:
        return None
    rows = description["layout"]["degree"] * description["layout"]["switching_gadget"]["digits"]
    return float(rows * (key["dimension"] + 1) * key["log2_modulus"])


def _response_bits(description: Document) -> float:
    response = _instance(description, "response")
    assert response is not None
    digits = description["layout"]["response_gadget"]["digits"]
    return float(2 * description["layout"]["degree"] * digits * response["log2_modulus"])


def rows(predictions: pd.DataFrame, described: Described) -> list[dict[str, Any]]:
    """Predictions of Pirouette's sets with their descriptions, by protocol and size of the database."""
    found = []
    for row in dicts(predictions[predictions["protocol"].isin(OURS)]):
        description = described.get((row["sha256"], row["records"], row["record_bits"]))
        if description is not None:
            found.append(row | {"description": description, "status": "ok"})
    return sorted(found, key=lambda row: (OURS.index(row["protocol"]), row["records"], row["record_bits"], row["set"]))


def _number(value: float | None) -> Cell:
    if value is None:
        return Cell("–")
    log = log2(value) if value > 0 else 0.0
    text = f"2^{log:.0f}" if value >= 1024 and log == int(log) else f"{value:.6g}"
    return Cell(text, sort=float(value))


def printed(expected: pd.DataFrame, table: str) -> list[dict[str, Any]]:
    return dicts(expected[(expected["paper"] == PAPER) & (expected["table"].astype(str) == table)])


def parameters(
    found: Sequence[Mapping[str, Any]], expected: pd.DataFrame, table: str, instances: Sequence[Mapping[str, Any]]
) -> Table:
    """Table 3, 4 or 5. instances: what the printed table exposes, with figures (`printed_security`)."""
    listed = PARAMETERS[table]
    columns = [Column("series", "Set", text=True), Column("database", "Database", text=True)]
    columns += [Column(key, header) for key, header, _ in listed]
    columns += [Column("security", "Security", "bit"), Column("failure", "Failure bound", "log2")]
    values = _paper_values(expected, table)
    lines, data = [], []
    least = min((row["bits"] for row in instances if row["kind"] == "printed"), default=None)
    for database, printed in values.items():
        cells = {key: _number(printed.get(key)) for key, _, _ in listed}
        security = series.security({"security_bits": least, "security": instances})
        lines.append(
            Row(cells | {"series": Cell(f"paper, Table {table}"), "database": Cell(database), "security": security})
        )
        told = {"source": "paper", "database": database, "security_bits": least}
        data.append(told | {key: printed.get(key) for key, _, _ in listed})
    for row in found:
        own = {key: read(row["description"]) for key, _, read in listed}
        place = shape_text(int(row["records"]), int(row["record_bits"]))
        cells = {key: _number(value) for key, value in own.items()} | series.cells(dict(row))
        cells |= {"database": Cell(place, sort=float(row["records"])), "failure": series.failure(dict(row))}
        lines.append(Row(cells))
        bounds = {"security_bits": row["security_bits"], "failure_log2": row["failure_log2"]}
        data.append({"source": row["set"], "database": place} | own | bounds)
    names = [key for key, _, _ in listed]
    frame = pd.DataFrame(data, columns=["source", "database", *names, "security_bits", "failure_log2"])
    notes = [
        "Lines 'paper' are the printed parameters; what they miss, and why, is in docs/errata.md. Security is the "
        "least over all keys and ciphertexts that the server sees, the failure bound that of a whole query for any "
        f"database ({ASSUMED}). A dash: the paper does not print it, or the protocol has no such key.",
        f"Instances of the printed table, in bits: {_listed(instances, 'printed')}; read into it, where it leaves open "
        f"what a key has: {_listed(instances, 'reading') or 'none'}.",
    ]
    return Table(
        f"Pirouette, Table {table}: {TITLES[table]}, the paper's and ours",
        columns,
        lines,
        frame,
        mark_footnotes(lines) + cell_footnotes(lines),
        notes,
        f"pirouette-table{table}",
    )


def _listed(instances: Sequence[Mapping[str, Any]], kind: str) -> str:
    return ", ".join(f"{row['instance']} {row['bits']:.1f}" for row in instances if row["kind"] == kind)


def _paper_values(expected: pd.DataFrame, table: str) -> dict[str, dict[str, float]]:
    """The printed numbers by database; those of every database under a name of their own where none is told apart."""
    every: dict[str, float] = {}
    of: dict[str, dict[str, float]] = {}
    for row in printed(expected, table):
        key, value = row["metric"], float(row["value"])
        if key == "Q_1":
            key, value = "log2_Q_1", log2(value)
        (of.setdefault(row["database"], {}) if row["database"] else every)[key] = value
    return {database: every | own for database, own in of.items()} if of else {"all": every}


def _paper_totals(expected: pd.DataFrame) -> dict[str, float]:
    """Bytes of all keys by our name of the protocol: one number a protocol, the same for every database."""
    rows = [row for row in printed(expected, "7") if row["metric"] == "offline_comm"]
    return {PRINTED[row["protocol"]]: float(row["bytes"]) for row in rows if row["protocol"] in PRINTED}


def keys(found: Sequence[Mapping[str, Any]], joined: pd.DataFrame, expected: pd.DataFrame) -> Table:
    """Table 6."""
    columns = [
        Column("series", "Set", text=True),
        Column("key", "Key", text=True),
        Column("formula", "Paper's formula", text=True),
        Column("both", "Both halves", "MB"),
        Column("described", "Sent, foretold", "MB"),
        Column("measured", "Sent, measured", "MB"),
        Column("paper", "Paper's total", "MB"),
    ]
    totals = _paper_totals(expected)
    measured = {
        (row["sha256"], row["records"], row["record_bits"]): {m["name"]: m["payload_bytes"] for m in row["transcript"]}
        for row in dicts(joined)
    }
    lines, data, seen = [], [], set()
    for row in found:
        if row["set"] in seen:
            continue
        seen.add(row["set"])
        sent = {m["name"]: m["payload_bytes"] for m in row["description"]["messages"] if m["phase"] == "offline"}
        got = measured.get((row["sha256"], row["records"], row["record_bits"]), {})
        own = []
        for name, (formula, bits) in KEYS.items():
            if (full := bits(row["description"])) is not None:
                numbers = {"both": full / 8, "described": sent.get(name), "measured": got.get(name), "paper": None}
                own.append({"set": row["set"], "key": name, "formula": formula} | numbers)
        total = {key: _sum(line[key] for line in own) for key in ("both", "described", "measured")}
        own.append({"set": row["set"], "key": ALL, "formula": "sum"} | total | {"paper": totals.get(row["protocol"])})
        for line in own:
            head = {"series": series.cells(dict(row))["series"], "key": Cell(line["key"].replace("_", " "))}
            sizes = {key: megabytes(line[key]) for key in ("both", "described", "measured", "paper")}
            lines.append(Row(head | {"formula": Cell(line["formula"])} | sizes))
        data += own
    frame = pd.DataFrame(data, columns=["set", "key", "formula", "both", "described", "measured", "paper"])
    notes = [
        "The paper's formulas at each set's parameters; n is 3/2 of the dimension where rotations take two key bits a "
        "step. Sent are bodies alone: masks expand from a seed. MB are 10^6 bytes.",
        "The paper prints formulas for single keys; its total is the offline communication of its Table 7, 1.2 GB and "
        "650 MB in powers of two, the same for every database. It counts both halves, and has blind-rotation keys of "
        "their own for the decomposition and for LWE to RGSW, where we have one; its formulas at its parameters do "
        "not give that total (docs/errata.md).",
    ]
    title = f"Pirouette, Table 6: {TITLES['6']}, formulas and bytes"
    footnotes = mark_footnotes(lines) + cell_footnotes(lines)
    return Table(title, columns, lines, frame, footnotes, notes, "pirouette-table6")


def _sum(values: Iterable[float | None]) -> float | None:
    """None where any is missing."""
    known = list(values)
    return None if None in known else sum(value for value in known if value is not None)


def megabytes(value: float | None) -> Cell:
    return Cell("–") if value is None else Cell(significant(value / 1e6, 3), sort=float(value))


def table(
    which: str,
    joined: pd.DataFrame,
    predictions: pd.DataFrame,
    described: Described,
    expected: pd.DataFrame,
    folder: Path,
) -> Table:
    """One of TABLES. folder: of the papers' numbers."""
    number = which.removeprefix("pirouette-table")
    found = rows(predictions, described)
    if number == "6":
        return keys(found, joined, expected)
    instances = printed_security(folder / "security-sets.csv", "Pirouette", number)
    return parameters(found, expected, number, instances)
