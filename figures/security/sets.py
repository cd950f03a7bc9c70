"""The audit's first table: every published parameter set and every set of params/, claimed and found security."""

from __future__ import annotations

from typing import Any

import pandas as pd
from pirlab_estimator.security.attacks import bits_text

from ..lib.inputs import Inputs
from ..lib.marks import MARKS, without_symbols, without_text
from ..lib.output import words
from ..lib.table import Cell, Column, Maker, Row, Table, label, make_cells
from .document import Audit, claim_text, load_audit, secret_text, verdict
from .instances import ATTACKS, SOURCES_NOTE, TAIL, attack_columns, bits_symbols

KINDS = {
    "printed": "printed",
    "code": "code",
    "reading": "a reading",
    "assumed": "assumed",
    "published": "params",
    "repaired": "repaired",
    "own": "ours",
    "searched": "searched",
    "toy": "toy",
}
"""Where the numbers of a row are from, by `kind`."""
DATA_COLUMNS = words(
    "id paper location instance kind set dimension modulus log2_modulus secret error_stddev samples claimed_bits bits "
    "attack core_svp_bits verdict claim source estimator_commit failed_attacks call note"
)


def _format(key: str, form: str) -> Maker:
    return lambda row: Cell(form.format(row[key]), sort=float(row[key]))


def _bits(row: dict[str, Any]) -> Cell:
    return Cell(bits_text(row["bits"], row["target"]), _mark(row, row["target"]) + without_symbols(row), row["bits"])


HEAD = [
    label("paper", "Paper"),
    label("location", "Where"),
    label("instance", "Instance"),
    label("kind", "Numbers", cell=lambda row: Cell(KINDS.get(row["kind"], row["kind"]))),
    Column("n", "n", cell=_format("dimension", "{}")),
    Column("q", "log2 q", cell=_format("log2_modulus", "{:.5g}")),
    label("secret", "Secret", cell=lambda row: Cell(secret_text(row["secret"]))),
    Column("stddev", "Error", "stddev", cell=_format("error_stddev", "{:.4g}")),
    Column("samples", "Samples", cell=lambda row: Cell("any" if row["samples"] is None else str(row["samples"]))),
]
BITS = [
    Column("bits", "Least", "bit", cell=_bits),
    *TAIL[1:],
]
CLAIM = [label("claim", "Claimed", "bit", lambda row: Cell(claim_text(row))), label("note", "Note")]


def make(inputs: Inputs) -> Table:
    """The table of the audit."""
    return build(load_audit(inputs.arguments.audit))


def build(audit: Audit) -> Table:
    """A row an instance, papers in the order of their table, our own sets last."""
    order = {paper: place for place, paper in enumerate(dict.fromkeys(row["paper"] for row in audit.sets))}
    entries = [row | {"target": audit.target} for row in sorted(audit.sets, key=lambda row: order[row["paper"]])]
    attacks = [name for name in ATTACKS if any(name in row["attacks"] for row in entries)]
    reached = label("verdict", f"{audit.target:g} bit", cell=lambda row: Cell(verdict(row["bits"], row["target"])))
    columns = [*HEAD, *attack_columns(attacks), *BITS, reached, *CLAIM]
    rows = [Row(make_cells(columns, row)) for row in entries]
    data = [_data(row, audit.target) | {f"{a}_bits": row["attacks"].get(a) for a in attacks} for row in entries]
    frame = pd.DataFrame(data, columns=[*DATA_COLUMNS, *(f"{a}_bits" for a in attacks)])
    title = "Security audit: published parameter sets and ours"
    return Table(title, columns, rows, frame, _footnotes(audit), _notes(audit))


def _mark(row: dict[str, Any], target: float) -> str:
    """The marks of a row."""
    unconfirmed = row["source"] if row["bits"] is not None else None
    return bits_symbols(row["bits"], target, unconfirmed)


def _data(row: dict[str, Any], target: float) -> dict[str, Any]:
    failed = "; ".join(f"{f['attack']} under {f['model']}: {f['reason']}" for f in row["failed_attacks"])
    extra = {"secret": secret_text(row["secret"]), "failed_attacks": failed}
    extra |= {"verdict": verdict(row["bits"], target), "claim": claim_text(row)}
    return {key: row.get(key) for key in DATA_COLUMNS} | extra


def _footnotes(audit: Audit) -> list[tuple[Any, str]]:
    found = []
    for mark in MARKS:
        count = sum(mark.symbol in _mark(row, audit.target) for row in audit.sets)
        meaning = f"below {audit.target:g} bits" if mark.key == "insecure" else mark.meaning
        if count:
            found.append((mark, f"{meaning} ({count} of {len(audit.sets)} rows)"))
    return found


def _notes(audit: Audit) -> list[str]:
    commits = sorted({str(r["estimator_commit"])[:10] for r in audit.sets if r["estimator_commit"]})
    claimed = [r for r in audit.sets if r["claimed_bits"] is not None and r["set"] is None and r["bits"] is not None]
    distinct = {r["call"]: r for r in claimed if r["kind"] in ("printed", "code")}.values()
    missed = sum(r["bits"] < r["claimed_bits"] for r in distinct)
    notes = [
        f"Bits: log2 of ring operations, {audit.model}, {audit.shape}; lattice estimator commit "
        f"{', '.join(commits) or 'none'}. {SOURCES_NOTE}",
        "Numbers: printed = in the paper, code = from the authors' implementation, a reading = the paper leaves open "
        "which, assumed = partly not published, repaired = our repair of a published set, params = a file of params/. "
        "Samples: what an observer can collect under one key, any = without bound; coded-BKW counts with them, the "
        "other attacks with any number. A secret uniform modulo q is stated in normal form, as Gaussian with the "
        "error's stddev.",
        f"Of {len(distinct)} printed or implemented instances that claim a level, {missed} are found below it.",
    ]
    failed = [
        f"{row['id']}: {_data(row, audit.target)['failed_attacks']}" for row in audit.sets if row["failed_attacks"]
    ]
    remarks = [f"{row['id']}: {remark}" for row in audit.sets for remark in row.get("remarks", [])]
    if audit.refused:
        refused = "; ".join(f"{row['set']}: {row['reason']}" for row in audit.refused)
        notes.append(f"Not described, so not in the table: {refused}.")
    notes += filter(None, [without_text({attack for row in audit.sets for attack in row.get("without", ())})])
    if remarks:
        notes.append("Remarks: " + "; ".join(remarks) + ".")
    if failed:
        notes.append("Attacks that gave no figure: " + "; ".join(failed) + ".")
    return notes
