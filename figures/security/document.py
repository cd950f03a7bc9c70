"""The audit (`pirlab/audit/1`): security of published sets and of ours, as the estimator/ wing writes it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from pirlab_estimator.inputs import InputError, read_text
from pirlab_estimator.security.attacks import BROKEN_BELOW

SCHEMA = "pirlab/audit/1"


@dataclass(frozen=True)
class Audit:
    """Rows of sets, cells of the largest log2 q, curves in ring degrees, curves of sets in other dimensions."""

    target: float
    model: str
    shape: str
    sets: list[dict[str, Any]]
    refused: list[dict[str, Any]]
    limits: list[dict[str, Any]]
    curves: list[dict[str, Any]]
    through: list[dict[str, Any]]

    def drawn(self) -> list[dict[str, Any]]:
        """The sets that figures show: those with a label and a figure, and without one, each once, what searches
        found in the ring degrees of the tables."""
        known = [row for row in self.sets if row["bits"] is not None]
        named = [row for row in known if row["label"]]
        taken = {_place(row) for row in named}
        found = [row for row in known if row["kind"] == "searched" and row["dimension"] in self.degrees()]
        return named + list({_place(row): row for row in reversed(found) if _place(row) not in taken}.values())

    def degrees(self) -> list[int]:
        """The ring degrees, in order."""
        return sorted({int(cell["dimension"]) for cell in self.limits})


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    """Where a set stands in the figures."""
    return row["dimension"], row["log2_modulus"], secret_text(row["secret"]), row["error_stddev"]


def load_audit(path: Path | None) -> Audit:
    """Read the document."""
    if path is None:
        raise InputError("--audit", None, "this table or figure needs the audit", "Give --audit FILE")
    if not path.is_file():
        raise InputError(path, None, "no such file", "Run `make reproduce ONLY=security/audit`")
    try:
        document = json.loads(read_text(path))
    except ValueError as error:
        raise InputError(path, None, f"is not JSON ({error})", "Delete it and run `make reproduce`") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise InputError(path, "schema", f"is not `{SCHEMA}`", "Delete it and run `make reproduce`")
    keys = ("target", "model", "shape", "sets", "refused", "limits", "curves", "through")
    return Audit(**{key: document[key] for key in keys})


def load_references(folder: Path | None) -> pd.DataFrame:
    """Largest log2 q printed elsewhere, experiments/expected/security-limits.csv."""
    if folder is None or not (folder / "security-limits.csv").is_file():
        problem = "the table of the largest log2 q stands beside printed ones"
        raise InputError(folder or "--expected", "security-limits.csv", problem, "Give --expected experiments/expected")
    return pd.read_csv(folder / "security-limits.csv")


def secret_text(secret: dict[str, Any]) -> str:
    """A secret as tables name it."""
    match secret["kind"]:
        case "fixed_weight":
            return f"fixed weight {secret['plus']}+{secret['minus']}"
        case "uniform_range":
            return f"uniform {secret['low']}..{secret['high']}"
        case "gaussian":
            return "Gaussian"
        case kind:
            return str(kind)


def verdict(bits: float | None, target: float) -> str:
    """How the bits compare with the target, in words."""
    if bits is None:
        return "unknown"
    if bits >= target:
        return "reached"
    gap = target - bits
    return "broken" if bits < BROKEN_BELOW else f"missed by {gap:.1f}" if gap >= 0.1 else f"missed by {gap:.2f}"


def claim_text(row: dict[str, Any]) -> str:
    """The claimed bits and whether the findings confirm them; empty without a claim."""
    claimed, bits = row["claimed_bits"], row["bits"]
    if claimed is None:
        return ""
    if bits is None:
        return f"{claimed:g}, unknown"
    return f"{claimed:g}, {'met' if bits >= claimed else 'not met'}"
