"""The audit's first table: every published parameter set and every set of params/, claimed and found security."""

from collections import Counter
from typing import Any

import pandas as pd
from pirlab_estimator.security.attacks import entry_text

from ..lib.data import data
from ..lib.inputs import Inputs
from ..lib.marks import MEANINGS, SYMBOLS, without_symbols, without_text
from ..lib.spec import spec
from ..lib.table import Cell, Table
from .document import Audit, claim_text, load_audit, secret_text, verdict
from .instances import ATTACKS, SOURCES_NOTE, attack_columns, bits_symbols, failed_text

KINDS: dict[str, dict[str, str]] = data("security")["kinds"]
"""Where the numbers of a row are from, by `kind`."""


def _bits(row: dict[str, Any]) -> Cell:
    return Cell(entry_text(row, row["target"]), _mark(row, row["target"]) + without_symbols(row), row["bits"])


WORDS = ("secret", "verdict", "claim")
SPEC = spec(
    "security/sets",
    kind=lambda row: Cell(KINDS[row["kind"]]["name"]),
    bits=_bits,
)


def make(inputs: Inputs) -> Table:
    """The table of the audit."""
    return build(load_audit(inputs.arguments.audit))


def build(audit: Audit) -> Table:
    """A row an instance, papers in the order of their table, our own sets last."""
    order = {paper: place for place, paper in enumerate(dict.fromkeys(row["paper"] for row in audit.sets))}
    entries = [row | {"target": audit.target} for row in sorted(audit.sets, key=lambda row: order[row["paper"]])]
    attacks = [name for name in ATTACKS if any(name in row["attacks"] for row in entries)]
    shown = SPEC.wider("samples", attack_columns(attacks))
    data = [_data(row, audit.target) | {f"{a}_bits": row["attacks"].get(a) for a in attacks} for row in entries]
    rows = [shown.row(row | {key: line[key] for key in WORDS}) for row, line in zip(entries, data)]
    frame = pd.DataFrame(data, columns=[*SPEC.keys, *(f"{a}_bits" for a in attacks)])
    return shown.table(rows, frame, meanings=_meanings(audit), **_said(audit))


def _mark(row: dict[str, Any], target: float) -> str:
    """The marks of a row."""
    unconfirmed = row["source"] if row["bits"] is not None else None
    return bits_symbols(row["bits"], target, unconfirmed)


def _data(row: dict[str, Any], target: float) -> dict[str, Any]:
    failed = "; ".join(f"{f['attack']} under {f['model']}: {f['reason']}" for f in row["failed_attacks"])
    extra = {"secret": secret_text(row["secret"]), "failed_attacks": failed}
    extra |= {"verdict": verdict(row["bits"], target), "claim": claim_text(row)}
    return {key: row.get(key) for key in SPEC.keys} | extra


def _meanings(audit: Audit) -> dict[str, str]:
    """The meanings of marks, each with the number of its rows."""
    counts = Counter(symbol for row in audit.sets for symbol in _mark(row, audit.target))
    meanings = MEANINGS | {"insecure": f"below {audit.target:g} bits"}
    return {key: f"{text} ({counts[SYMBOLS[key]]} of {len(audit.sets)} rows)" for key, text in meanings.items()}


def _said(audit: Audit) -> dict[str, Any]:
    """The words of the table's header and notes."""
    commits = sorted({str(r["estimator_commit"])[:10] for r in audit.sets if r["estimator_commit"]})
    claimed = [r for r in audit.sets if r["claimed_bits"] is not None and r["set"] is None and r["bits"] is not None]
    distinct = {r["call"]: r for r in claimed if r["kind"] in ("printed", "code")}.values()
    failed = [f"{r['id']}: {_data(r, audit.target)['failed_attacks']}" for r in audit.sets if r["failed_attacks"]]
    remarks = "; ".join(f"{row['id']}: {remark}" for row in audit.sets for remark in row.get("remarks", []))
    refused = "; ".join(f"{row['set']}: {row['reason']}" for row in audit.refused)
    return {
        "target": audit.target,
        "model": audit.model,
        "shape": audit.shape,
        "commits": ", ".join(commits) or "none",
        "sources": SOURCES_NOTE,
        "claimed": len(distinct),
        "missed": sum(r["bits"] < r["claimed_bits"] for r in distinct),
        "refused": f"Not described, so not in the table: {refused}." if refused else "",
        "without": without_text({attack for row in audit.sets for attack in row.get("without", ())}),
        "remarks": f"Remarks: {remarks}." if remarks else "",
        "failed": failed_text(failed),
    }
