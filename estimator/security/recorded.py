"""Results of the real lattice estimator that are kept in the repository, recorded.json.

An entry holds for exactly its parameters: dimension, integer modulus, secret, error stddev and number of samples, which
is any number unless it says so. Look-ups know no tolerance, but that what holds with any number of samples stands in
where there is nothing for fewer: it is never above.
"""

import json
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from ..outputs import write
from .attacks import SAMPLED, SHAPE, AttackResult
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
    entry = entries(path).get(instance.unlimited())
    if entry is None:
        return None
    results = {(r.model, r.attack): r for r in _results(entry)}
    own = entries(path).get(instance, entry)
    results |= {(r.model, r.attack): r for r in _results(own) if r.attack in SAMPLED}
    remarks = list(entry.get("warnings", []))
    return {"commit": entry["commit"], "sage": entry["sage"], "results": list(results.values()), "remarks": remarks}


def _results(entry: dict) -> list[AttackResult]:
    return [
        AttackResult.of(model, attack, mapping)
        for model, content in entry["models"].items()
        for attack, mapping in content["attacks"].items()
    ]


def add(instance: Instance, answer: dict, use: dict | None = None, path: Path = RECORDED) -> None:
    """Put a live answer into the file: it replaces attacks of the same commit, and entries of another commit."""
    document = json.loads(path.read_text())
    by_instance: dict[Instance, list[AttackResult]] = {}
    for result in answer["results"]:
        by_instance.setdefault(instance.asked(result.attack), []).append(result)
    for asked, results in by_instance.items():
        _add(document, asked, answer | {"results": results}, use if asked.samples is None else None)
    write(path, json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def _add(document: dict, instance: Instance, answer: dict, use: dict | None) -> None:
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
