"""The InsPIRe paper's Table 1: its lattice parameters, and those of our sets with security and failure."""

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from ..lib.cells import security
from ..lib.marks import SYMBOLS, failing, symbols
from ..lib.output import words
from ..lib.paper import ORDER, Measured, printed
from ..lib.protocols import protocol_name, set_short
from ..lib.spec import spec
from ..lib.table import Cell, Maker, Table
from . import errata

PARAMETERS = words("d log2_q sigma_chi p ell_ks ell_gsw z_ks z_gsw")
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
        if "digit_bits" in layout and not first_layer:
            p = 2 ** layout["digit_bits"]
        else:
            p = layout["plain_modulus"] if "plain_modulus" in layout else layout["slot_moduli"][0]
        entry = {"instance": instance["name"], "d": instance["dimension"], "log2_q": instance["log2_modulus"]}
        entry |= {"sigma_chi": instance["error_stddev"], "secret": secret_text(instance["secret"]), "p": p}
        if not first_layer:
            entry |= _gadget(layout, "packing_gadget", "ks") | _gadget(layout, "rgsw_gadget", "gsw")
        found.append(entry)
    return found


def _security(row: dict[str, Any], instance: str) -> tuple[float | None, str | None]:
    """Bits of an instance and where the figure is from."""
    entries: list[dict[str, Any]] = row.get("security") or []
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


def _number(key: str) -> Maker:
    """Makes cells of a parameter: of ours, or of a printed one with its mark."""

    def cell(entry: dict[str, Any]) -> Cell:
        value = entry.get(key)
        if value is None:
            return Cell()
        column = entry.get("printed")
        plain = key == "sigma_chi" or (column and key == "log2_q")
        text = f"{value:g}" if plain else f"{value:.1f}" if key == "log2_q" else power_text(value)
        marks = SYMBOLS["contradicted"] if column and errata.contradicted(column, key) else ""
        return Cell(text, marks, float(value))

    return cell


def _security_cell(entry: dict[str, Any]) -> Cell:
    unsure = [{"source": entry.get("security_source")}]
    return (
        Cell() if entry.get("printed") else security({"security_bits": entry.get("security_bits"), "security": unsure})
    )


def _failure_cell(entry: dict[str, Any]) -> Cell:
    bound = entry.get("failure_log2")
    return Cell() if bound is None else Cell(f"{bound:.0f}", symbols(["failing"] * failing(entry["row"])), bound)


SPEC = spec(
    "inspire/table1",
    protocol=lambda entry: Cell(protocol_name(entry["protocol"])),
    security=_security_cell,
    failure=_failure_cell,
    **{key: _number(key) for key in PARAMETERS},
)


def build(found: Sequence[Measured], expected: pd.DataFrame, contradictions: pd.DataFrame) -> Table:
    """Table 1 from our rows (`paper.rows`), which need descriptions, and the paper's parameters."""
    columns, entries = printed(expected, "1"), ours(found)
    data: list[dict[str, Any]] = []
    for protocol in ORDER:
        for column in (c for c in columns if c.protocol == protocol):
            layer = f"layer {column.config['layer']}" if "layer" in column.config else ""
            line = {"protocol": protocol, "instance": layer, "source": "paper", "shown": "paper, Table 1"}
            data.append(line | column.values | {"printed": column})
        for entry in (e for e in entries if e["protocol"] == protocol):
            names = entry["sets"]
            shown = f"{len(names)} sets" if len(names) > SHOWN else ", ".join(map(set_short, names))
            data.append(entry | {"source": "here", "shown": f"here, {shown}", "sets": " ".join(names)})
    rows = [SPEC.row(entry) for entry in data]
    return SPEC.table(rows, data, errata=errata.notes(contradictions, "1"))
