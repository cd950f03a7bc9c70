"""The audit: security of every published parameter set and of our own, curves over log2 q, and the largest log2 q.

It is one document (`pirlab/audit/1`), made from an experiment of kind `security`, the table of published sets it names
and the descriptions of the sets in params/. figures/ draws it and computes nothing.
"""

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..sets import AS_PUBLISHED, set_name
from .assess import predict_security
from .attacks import MODEL, SECURITY_TARGET, SHAPE
from .instance import Instance
from .limits import Family, curve, limits, short_curve

SCHEMA = "pirlab/audit/1"
#: Columns of the table of published sets, in this order.
COLUMNS = ["id", "paper", "location", "instance", "dimension", "modulus", "secret", "a", "b", "stddev"]
COLUMNS += ["claimed_bits", "kind", "label", "note"]
KINDS = ("printed", "code", "reading", "assumed", "repaired")


class AuditError(ValueError):
    """A table or an experiment that cannot be used: file, place, value and remedy."""


def published_sets(path: Path) -> list[dict[str, Any]]:
    """Rows of the table of published sets, each with its LWE instance as descriptions have it."""
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames is None or list(reader.fieldnames) != COLUMNS:
            raise AuditError(f"{path}: the columns are {reader.fieldnames}, not {COLUMNS}. Restore the header")
        rows = list(reader)
    found = []
    for number, row in enumerate(rows, 2):
        if row["kind"] not in KINDS:
            raise AuditError(f"{path}, line {number}: kind is {row['kind']!r}; write one of {', '.join(KINDS)}")
        try:
            instance = Instance.of({**row, "secret": secret_of(row), "error_stddev": row["stddev"]})
        except (KeyError, ValueError) as error:
            raise AuditError(f"{path}, line {number} ({row['id']}): {error}. Correct the row") from error
        claim = row["claimed_bits"]
        found.append(
            {key: row[key] for key in ("id", "paper", "location", "kind", "label", "note")}
            | {"claimed_bits": float(claim) if claim else None, "set": None, "samples": None}
            | {"instance": row["instance"], "lwe": instance}
        )
    return found


def secret_of(row: dict[str, str]) -> dict[str, object]:
    """A secret of the tables in experiments/expected: `a` and `b` are stddev, weights or bounds."""
    match row["secret"]:
        case "gaussian":
            return {"kind": "gaussian", "stddev": float(row["a"])}
        case "fixed_weight":
            return {"kind": "fixed_weight", "plus": int(row["a"]), "minus": int(row["b"])}
        case "uniform_range":
            return {"kind": "uniform_range", "low": int(row["a"]), "high": int(row["b"])}
        case "binary" | "ternary":
            return {"kind": row["secret"]}
    raise ValueError(f"secret {row['secret']!r} is not one of gaussian, fixed_weight, uniform_range, binary, ternary")


def own_sets(descriptions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row an instance that a described set exposes; what a set of ours claims is the target."""
    found = []
    for description in descriptions:
        if "error" in description:
            continue
        name = set_name(description["parameters"])
        source = description["parameters"].get("source") or {}
        for mapping in description["instances"]:
            found.append(
                {
                    "id": f"{name} {mapping['name']}",
                    "paper": "params/",
                    "location": name,
                    "instance": f"{mapping['name'].replace('_', ' ')}: {mapping['protects']}",
                    "kind": source.get("kind", "unknown"),
                    "label": "",
                    "note": source.get("note", ""),
                    "claimed_bits": float(SECURITY_TARGET),
                    "set": name,
                    "samples": mapping.get("samples"),
                    "lwe": Instance.of(mapping),
                }
            )
    return found


#: Sets of params/ that figures show, by where they are from: toys and the many that searches found are in tables only.
SHOWN_KINDS = (*AS_PUBLISHED, "repaired", "own")


def label_own(rows: Sequence[dict[str, Any]]) -> None:
    """A paper's set in params/, or its repair, bears its name in figures, unless a published row is the same."""
    drawn = {row["lwe"].unlimited() for row in rows if row["set"] is None}
    for row in rows:
        if row["set"] is not None and row["kind"] in SHOWN_KINDS and row["lwe"].unlimited() not in drawn:
            row["label"] = row["set"]
            drawn.add(row["lwe"].unlimited())


def audited(rows: Sequence[dict[str, Any]], source: str, limit: float | None) -> list[dict[str, Any]]:
    """The rows with their figures: live, recorded or of the fast model, as everywhere."""
    pseudo = [{"instances": [row["lwe"].mapping() | {"name": row["id"]} for row in rows]}]
    [entries] = predict_security(pseudo, source, limit)
    return [_entry(row, entry) for row, entry in zip(rows, entries)]


def _entry(row: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    lwe: Instance = row["lwe"]
    figures = {key: value for key, value in entry.items() if key not in ("instance", "model", "shape")}
    facts = {key: value for key, value in row.items() if key != "lwe"}
    return facts | lwe.unlimited().mapping() | figures


def printed_security(path: Path, paper: str, table: str) -> list[dict[str, Any]]:
    """The instances that a paper's table prints, or leaves to be read off it, with their figures.

    path: the table of published sets. Its `location` names tables of papers: "Table 3" or "Tables 3, 4".
    """
    rows = [r for r in published_sets(path) if r["paper"] == paper and table in re.findall(r"\d+", r["location"])]
    if not rows:
        raise AuditError(f"{path}: no instance of {paper}'s Table {table}. Add the rows, with that location")
    return audited(rows, "recorded", None)


def families(tables: Sequence[dict[str, Any]]) -> list[Family]:
    """Secrets with a stddev of the error, from `{ secret = {...}, stddev = [...] }`."""
    found = []
    for table in tables:
        stddevs = table["stddev"] if isinstance(table["stddev"], list) else [table["stddev"]]
        found += [Family(table["secret"]["kind"], table["secret"], float(stddev)) for stddev in stddevs]
    return found


def audit(
    experiment: dict[str, Any],
    sets: Path,
    descriptions: Sequence[dict[str, Any]],
    source: str,
    limit: float | None,
) -> dict[str, Any]:
    """The document. Curves: of each family in each degree, and through each labelled set of another dimension."""
    listed = [*published_sets(sets), *own_sets(descriptions)]
    label_own(listed)
    rows = audited(listed, source, limit)
    degrees = [degree_of(value) for value in experiment["degrees"]]
    drawn = [
        curve(family, degree)
        for degree in degrees
        for family in families(experiment["curves"])
        if family.exists(degree)
    ]
    others = [row for row in rows if row["label"] and row["dimension"] not in degrees]
    through = [
        short_curve(
            Family(row["secret"]["kind"], row["secret"], row["error_stddev"]), row["dimension"], row["log2_modulus"]
        )
        for row in others
    ]
    return {
        "schema": SCHEMA,
        "target": SECURITY_TARGET,
        "model": MODEL,
        "shape": SHAPE,
        "sets": rows,
        "refused": [{"set": d.get("id"), "reason": d["error"]} for d in descriptions if "error" in d],
        "limits": limits(families(experiment["limits"]), degrees),
        "curves": drawn,
        "through": through,
    }


def degree_of(value: int | str) -> int:
    """A ring degree as experiments write it: 4096 or "2^12"."""
    if isinstance(value, int):
        return value
    match = re.fullmatch(r"2\^(\d+)", value)
    if match is None:
        raise AuditError(f'degree {value!r} is neither a number nor a power such as "2^12"')
    return 1 << int(match[1])
