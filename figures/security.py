"""The security table: each LWE instance a parameter set exposes, attack by attack, with the source of the figure."""

from __future__ import annotations

from math import inf
from typing import Any

import pandas as pd
from pirlab_estimator.security.attacks import bits_text

from .inspire_paper import Described
from .marks import DEFAULT_SECURITY_TARGET, MARKS, without_symbols, without_text
from .names import protocol_name, series_name, words
from .table import Cell, Column, Row, Table

SET_KEYS = ("set", "sha256", "protocol")
MODEL = "MATZOV"
"""The cost model whose figures tables show."""
ATTACKS = {
    "usvp": "usvp",
    "bdd": "bdd",
    "bdd_hybrid": "bdd hyb.",
    "bdd_mitm_hybrid": "mitm hyb.",
    "dual": "dual",
    "dual_hybrid": "dual hyb.",
    "coded_bkw": "coded BKW",
}
SOURCES_NOTE = (
    "Source: live = computed by the estimator in this run, recorded = the same estimator's figure kept with "
    "the repository, fast only = the fast model, not confirmed; none = no figure. Core-SVP: ADPS16."
)
DATA_COLUMNS = words(
    "protocol set instance bits target below_target attack core_svp_bits model shape source estimator_commit "
    "failed_attacks dimension log2_modulus secret error_stddev samples shapes call sha256 record_id"
)


def _instances(joined: pd.DataFrame, described: Described) -> dict[tuple[str, str], dict[str, Any]]:
    """(sha256, instance) -> the LWE instance of a description with the most samples, and the id of the record that has
    it; without one where no row of the set was measured."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    measured = [(row["sha256"], row["description"] or {}, row["id"]) for row in joined.to_dict("records")]
    foretold = [(sha256, document, None) for (sha256, _, _), document in described.items()]
    for sha256, description, record in [*measured, *foretold]:
        for instance in description.get("instances", []):
            key = (sha256, instance["name"])
            known = found.get(key)
            if known is None or (record and _samples(known) < _samples(instance)):
                found[key] = instance | {"record_id": record}
    return found


def _samples(instance: dict[str, Any]) -> float:
    samples = instance.get("samples")
    return inf if samples is None else float(samples)


def _entries(predictions: pd.DataFrame) -> list[dict[str, Any]]:
    """One entry a (set, instance): the shape with the fewest bits, and how many shapes were estimated."""
    best: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in predictions.to_dict("records"):
        for entry in row["security"]:
            key = (row["set"], row["sha256"], entry["instance"])
            bits = entry.get("bits")
            known = best.get(key)
            count = known["shapes"] + 1 if known else 1
            better = known is None or (bits is not None and (known["bits"] is None or bits < known["bits"]))
            target = row["security_target"] if pd.notna(row["security_target"]) else DEFAULT_SECURITY_TARGET
            chosen = known if known and not better else entry | {k: row[k] for k in SET_KEYS} | {"target": target}
            best[key] = chosen | {"bits": chosen.get("bits"), "shapes": count}
    return [best[key] for key in sorted(best)]


def _failed(entry: dict[str, Any]) -> str:
    failed = entry.get("failed_attacks") or []
    return "; ".join(f"{f['attack']}: {f['reason']}" if isinstance(f, dict) else str(f) for f in failed)


def attack_columns(attacks: list[str]) -> list[Column]:
    """A column an attack."""
    return [Column(name, ATTACKS.get(name, name.replace("_", " ")), "bit") for name in attacks]


def attack_cells(
    attacks: list[str], figures: dict[str, float], failed: list[dict[str, str]] | None = None
) -> dict[str, Cell]:
    """Bits attack by attack. Without a figure: how the attack failed, a dash where it was not asked for."""
    reasons = {f["attack"]: f["reason"] for f in reversed(failed or []) if f.get("model", MODEL) == MODEL}
    cells = {}
    for name in attacks:
        bits = figures.get(name)
        cells[name] = Cell(_failure(reasons.get(name))) if bits is None else Cell(f"{bits:.1f}", sort=bits)
    return cells


def _failure(reason: str | None) -> str:
    """A failed attack in one word; the note below the table has the reason."""
    if reason is None:
        return "–"
    words_of = reason.removeprefix("live: ").removeprefix("recorded: ")
    if words_of.startswith("infinity"):
        return "∞"
    for kind in ("timeout", "not run"):
        if words_of.startswith(kind):
            return kind
    return "refused" if words_of.startswith("outside the domain") else "error"


def build(predictions: pd.DataFrame, joined: pd.DataFrame, described: Described | None = None) -> Table:
    """The table from predictions; records, else descriptions, tell the instances' parameters."""
    entries = _entries(predictions)
    instances = _instances(joined, described or {})
    seen = {name for entry in entries for name in entry.get("attacks") or {}}
    attacks = [name for name in ATTACKS if name in seen] + sorted(seen - set(ATTACKS))
    columns = [
        Column("set", "Set", text=True),
        Column("instance", "Instance", text=True),
        Column("n", "n"),
        Column("q", "log2 q"),
        Column("secret", "Secret", text=True),
        Column("stddev", "Error", "stddev"),
        *attack_columns(attacks),
        Column("bits", "Least", "bit"),
        Column("core", "Core-SVP", "bit"),
        Column("source", "Source", text=True),
    ]
    marks = {mark.key: mark for mark in MARKS}
    symbols = {key: mark.symbol for key, mark in marks.items()}
    rows, data = [], []
    for entry in entries:
        lwe = instances.get((entry["sha256"], entry["instance"]), {})
        below = None if entry["bits"] is None else entry["bits"] < entry["target"]
        symbol = symbols["unknown"] if below is None else symbols["insecure"] if below else ""
        symbol += symbols["unconfirmed"] if entry.get("source") == "fast_only" else ""
        values = entry.get("attacks") or {}
        cells = {
            "set": Cell(series_name(entry["protocol"], entry["set"]), symbol),
            "instance": Cell(entry["instance"].replace("_", " ")),
            "n": Cell(str(lwe.get("dimension", ""))),
            "q": Cell(f"{lwe['log2_modulus']:g}" if lwe else ""),
            "secret": Cell(str((lwe.get("secret") or {}).get("kind", "")).replace("_", " ")),
            "stddev": Cell(f"{lwe['error_stddev']:g}" if lwe else ""),
            "bits": Cell(bits_text(entry["bits"], entry["target"]), symbol + without_symbols(entry)),
            "core": Cell(f"{entry['core_svp_bits']:.1f}") if entry.get("core_svp_bits") is not None else Cell(),
            "source": Cell(str(entry.get("source") or "none").replace("_", " ")),
        }
        rows.append(
            Row(cells | attack_cells(attacks, values, entry.get("failed_attacks")), str(lwe.get("record_id") or ""))
        )
        data.append(
            {key: entry.get(key) for key in DATA_COLUMNS}
            | {key: lwe.get(key) for key in ("dimension", "log2_modulus", "error_stddev", "samples", "record_id")}
            | {"secret": (lwe.get("secret") or {}).get("kind"), "failed_attacks": _failed(entry), "below_target": below}
            | {f"{name}_bits": values.get(name) for name in attacks}
        )
    frame = pd.DataFrame(data, columns=[*DATA_COLUMNS, *(f"{name}_bits" for name in attacks)])
    names = sorted({protocol_name(entry["protocol"]) for entry in entries})
    title = "Security of the parameter sets" + (f" of {' and '.join(names)}" if names else ": no prediction found")
    marked = []
    if any(d["below_target"] for d in data):
        targets = sorted({f"{e['target']:.0f}" for e in entries})
        marked.append((marks["insecure"], f"below the target of {'/'.join(targets)} bits"))
    if any(d["below_target"] is None for d in data):
        marked.append((marks["unknown"], marks["unknown"].meaning))
    if any(d["source"] == "fast_only" for d in data):
        marked.append((marks["unconfirmed"], marks["unconfirmed"].meaning))
    return Table(title, columns, rows, frame, marked, _notes(entries), status_from=None)


def _notes(entries: list[dict[str, Any]]) -> list[str]:
    models = sorted({f"{e.get('model')}, {e.get('shape')}" for e in entries if e.get("model")})
    commits = sorted({str(e["estimator_commit"])[:10] for e in entries if e.get("estimator_commit")})
    notes = [
        "Bits: log2 of the cheapest attack's cost in ring operations by the lattice estimator"
        + (f" (commit {', '.join(commits)}; {'; '.join(models)})" if commits else "")
        + f". {SOURCES_NOTE}"
    ]
    notes += filter(None, [without_text({attack for e in entries for attack in e.get("without", ())})])
    failed = sorted(
        {f"{series_name(e['protocol'], e['set'])} {e['instance']}: {_failed(e)}" for e in entries if _failed(e)}
    )
    if failed:
        notes.append("Attacks that gave no figure: " + "; ".join(failed) + ".")
    return notes
