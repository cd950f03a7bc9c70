"""Results of the real lattice estimator that are kept in the repository, recorded.json.

An entry holds for exactly its parameters: dimension, integer modulus, secret and error stddev. The number of samples
is no part of them (see Instance). Look-ups know no tolerance.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from ..outputs import write
from .attacks import SHAPE, AttackResult
from .instance import Instance

RECORDED = Path(__file__).with_name("recorded.json")


@lru_cache(maxsize=8)
def _entries(path: Path, _modified: int) -> dict[Instance, dict]:
    return {Instance.of(entry["instance"]): entry for entry in json.loads(path.read_text())["entries"]}


def entries(path: Path = RECORDED) -> dict[Instance, dict]:
    """All entries by instance."""
    return _entries(path, path.stat().st_mtime_ns)


def commit(path: Path = RECORDED) -> str:
    """The lattice estimator's commit whose results the file holds."""
    return json.loads(path.read_text())["estimator"]["commit"]


def find(instance: Instance, path: Path = RECORDED) -> dict | None:
    """{"commit", "sage", "results"} as live.estimate gives it, or None. A recorded timeout is a failed attack.

    `remarks` holds what was found wrong with a figure, such as a minimum that the estimator's own search missed.
    """
    entry = entries(path).get(instance)
    if entry is None:
        return None
    results = [
        AttackResult.of(model, attack, mapping)
        for model, content in entry["models"].items()
        for attack, mapping in content["attacks"].items()
    ]
    remarks = list(entry.get("warnings", []))
    return {"commit": entry["commit"], "sage": entry["sage"], "results": results, "remarks": remarks}


def add(instance: Instance, answer: dict, use: dict | None = None, path: Path = RECORDED) -> None:
    """Put a live answer into the file: it replaces attacks of the same commit, and entries of another commit."""
    document = json.loads(path.read_text())
    entry = next((e for e in document["entries"] if Instance.of(e["instance"]) == instance), None)
    if entry is None:
        entry = {"instance": instance.mapping(), "uses": [], "modulus_given_as": "integer", "models": {}}
        document["entries"].append(entry)
    if entry.get("commit") != answer["commit"]:
        entry["models"] = {}
        entry.pop("usvp_exact_search", None)
        entry.pop("warnings", None)
    entry.update(commit=answer["commit"], sage=answer["sage"])
    if any(result.failed is None for result in answer["results"]):
        entry["date"] = datetime.now(UTC).date().isoformat()
    for result in answer["results"]:
        attacks = entry["models"].setdefault(result.model, {"shape": SHAPE, "attacks": {}})["attacks"]
        known = attacks.get(result.attack, {}).get("log2_rop")
        if known is None or (result.failed is None and result.log2_rop != known):
            attacks[result.attack] = result.mapping()
    if use and use["name"] not in [u["name"] for u in entry["uses"]]:
        entry["uses"].append(use)
    write(path, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
