"""The InsPIRe paper's Table 1: its lattice parameters, and those of our sets with security and failure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from ..lib.marks import DEFAULT_SECURITY_TARGET, SYMBOLS, failing, symbols
from ..lib.output import words
from ..lib.paper import ORDER, Measured, Printed, printed
from ..lib.protocols import protocol_name, set_short
from ..lib.table import Cell, Column, Row, Table, footnotes_of, texts
from . import errata

COLUMNS = [
    *texts(protocol="Protocol", layer="Instance", source="Source"),
    Column("d", "d"),
    Column("log2_q", "log2 q"),
    Column("sigma_chi", "Error", "sigma"),
    Column("secret", "Secret", text=True),
    Column("p", "p"),
    Column("ell_ks", "ℓ keys"),
    Column("z_ks", "z keys"),
    Column("ell_gsw", "ℓ RGSW"),
    Column("z_gsw", "z RGSW"),
    Column("security", "Security", "bit"),
    Column("failure", "Failure bound", "log2, worst"),
]
PARAMETERS = words("d log2_q sigma_chi p ell_ks ell_gsw z_ks z_gsw")
DATA_COLUMNS = words(
    "protocol instance source d log2_q sigma_chi secret p ell_ks z_ks ell_gsw z_gsw security_bits security_source "
    "failure_log2 sets"
)
SHOWN = 3
"""Sets of equal parameters are named up to this number; of more only their number is given."""


def power_text(value: float) -> str:
    """A power of two above 2^9 as such, any other number in full."""
    log2 = math.log2(value)
    return f"2^{log2:.0f}" if log2 >= 10 and log2 == int(log2) else f"{value:.10g}"


def secret_text(secret: dict[str, Any]) -> str:
    """A secret's distribution in words."""
    kind = secret["kind"]
    if kind == "gaussian":
        return f"Gaussian, sigma {secret['stddev']:g}"
    if kind == "fixed_weight":
        return f"{secret['plus']} ones, {secret['minus']} minus ones"
    return str(kind).replace("_", " ")


def _gadget(layout: dict[str, Any], key: str, name: str) -> dict[str, Any]:
    """Length and base of a gadget of the layout."""
    gadget = layout.get(key)
    if not gadget:
        return {}
    return {f"ell_{name}": gadget["digits"], f"z_{name}": float(2 ** gadget["base_log2"])}


def lattice_parameters(description: dict[str, Any]) -> list[dict[str, Any]]:
    """The parameters of each instance that a description names."""
    layout, found = description["layout"], []
    for instance in description["instances"]:
        first_layer = instance["modulus"] == "2^32"
        p = layout["plain_modulus"] if first_layer or "digit_bits" not in layout else 2 ** layout["digit_bits"]
        entry = {
            "instance": instance["name"],
            "d": instance["dimension"],
            "log2_q": instance["log2_modulus"],
            "sigma_chi": instance["error_stddev"],
            "secret": secret_text(instance["secret"]),
            "p": p,
        }
        if not first_layer:
            entry |= _gadget(layout, "packing_gadget", "ks") | _gadget(layout, "rgsw_gadget", "gsw")
        found.append(entry)
    return found


def _security(row: dict[str, Any], instance: str) -> tuple[float | None, str | None]:
    """Bits of an instance and where the figure is from."""
    found = row.get("security")
    entries: list[dict[str, Any]] = found if isinstance(found, list) else []
    hit: dict[str, Any] = next((entry for entry in entries if entry.get("instance") == instance), {})
    return hit.get("bits"), hit.get("source")


def ours(found: Sequence[Measured]) -> list[dict[str, Any]]:
    """One entry for each protocol, instance and choice of parameters; sets that share it together."""
    entries: dict[tuple[Any, ...], dict[str, Any]] = {}
    for each in found:
        row = each.row
        for parameters in lattice_parameters(row["description"]) if row["description"] else []:
            bits, source = _security(row, parameters["instance"])
            key = (row["protocol"], *parameters.values())
            entry = entries.setdefault(
                key, {"protocol": row["protocol"], **parameters, "sets": [], "failure_log2": None, "row": row}
            )
            if row["set"] not in entry["sets"]:
                entry["sets"].append(row["set"])
            if bits is not None and (entry.get("security_bits") is None or bits < entry["security_bits"]):
                entry |= {"security_bits": bits, "security_source": source}
            failure = row["failure_log2"]
            worse = entry["failure_log2"] is None or failure > entry["failure_log2"]
            if pd.notna(failure) and worse:
                entry |= {"failure_log2": failure, "row": row}
    return sorted(entries.values(), key=lambda entry: ORDER.index(entry["protocol"]))


def _cells(entry: dict[str, Any]) -> dict[str, Cell]:
    cells = {}
    for key in PARAMETERS:
        value = entry.get(key)
        if value is not None:
            text = f"{value:.1f}" if key == "log2_q" else f"{value:g}" if key == "sigma_chi" else power_text(value)
            cells[key] = Cell(text, sort=float(value))
    bits, failure = entry.get("security_bits"), entry["failure_log2"]
    if bits is None:
        cells["security"] = Cell("unknown", symbols(["unknown"]))
    else:
        keys = ["insecure"] * (bits < DEFAULT_SECURITY_TARGET)
        keys += ["unconfirmed"] * (entry["security_source"] == "fast_only")
        cells["security"] = Cell(f"{bits:.1f}", symbols(keys), bits)
    if failure is not None:
        cells["failure"] = Cell(f"{failure:.0f}", symbols(["failing"] * failing(entry["row"])), failure)
    return cells


def _paper_cells(column: Printed) -> dict[str, Cell]:
    cells = {}
    for key in PARAMETERS:
        if key in column.values:
            marks = SYMBOLS["contradicted"] if errata.contradicted(column, key) else ""
            value = column.values[key]
            text = f"{value:g}" if key in ("sigma_chi", "log2_q") else power_text(value)
            cells[key] = Cell(text, marks, value)
    return cells


def _sets_text(names: Sequence[str]) -> str:
    if len(names) > SHOWN:
        return f"here, {len(names)} sets"
    return "here, " + ", ".join(map(set_short, names))


def build(found: Sequence[Measured], expected: pd.DataFrame, contradictions: pd.DataFrame) -> Table:
    """Table 1 from our rows (`paper.rows`), which need descriptions, and the paper's parameters."""
    columns, entries = printed(expected, "1"), ours(found)
    rows, data = [], []
    for protocol in ORDER:
        for column in (c for c in columns if c.protocol == protocol):
            layer = f"layer {column.config['layer']}" if "layer" in column.config else ""
            place = {"protocol": Cell(protocol_name(protocol)), "layer": Cell(layer)}
            rows.append(Row(place | {"source": Cell("paper, Table 1")} | _paper_cells(column)))
            data.append({"protocol": protocol, "instance": layer, "source": "paper"} | column.values)
        for entry in (e for e in entries if e["protocol"] == protocol):
            place = {
                "protocol": Cell(protocol_name(protocol)),
                "layer": Cell(entry["instance"].replace("_", " ")),
                "source": Cell(_sets_text(entry["sets"])),
                "secret": Cell(entry["secret"]),
            }
            rows.append(Row(place | _cells(entry)))
            data.append(entry | {"source": "here", "sets": " ".join(entry["sets"])})
    notes = [
        "The paper calls 6.4 (11 in YPIR's first layer) sigma_chi without saying whether it is a width or a standard "
        "deviation; in its authors' code it is the standard deviation, and so it is here. Its secrets are drawn like "
        "errors, those of its code have 256 ones and 256 minus ones. Security is that of the weakest attack on the "
        "instance, the failure bound that of the worst of the sets' databases in this run.",
        *errata.notes(contradictions, "1"),
    ]
    marked = footnotes_of(rows)
    title = "InsPIRe, Table 1: lattice parameters, the paper's and ours, with security and failure"
    frame = pd.DataFrame(data).reindex(columns=DATA_COLUMNS)
    return Table(title, COLUMNS, rows, frame, marked, notes)
