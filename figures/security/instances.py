"""The security table: each LWE instance a parameter set exposes, attack by attack, with the source of the figure."""

from math import inf
from typing import Any

import pandas as pd
from pirlab_estimator.records import InputError
from pirlab_estimator.security.attacks import MODEL, entry_text

from ..lib.data import data as entries
from ..lib.frame import Described
from ..lib.inputs import Inputs
from ..lib.marks import SYMBOLS, security_target, without_symbols, without_text
from ..lib.protocols import protocol_name, series_name
from ..lib.spec import spec
from ..lib.table import Cell, Column, Maker, Table

SET_KEYS = ("set", "sha256", "protocol")
ATTACKS: dict[str, str] = entries("security")["attacks"]
SOURCES_NOTE = spec("security/sources").words["text"]


def _instances(joined: pd.DataFrame, described: Described) -> dict[tuple[str, str], dict[str, Any]]:
    """(sha256, instance) -> the LWE instance of a description with the most samples, and the id of the record that has
    it; without one where no row of the set was measured."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    measured = [(row["sha256"], row["description"] or {}, row["id"]) for row in joined.to_dict("records")]
    predicted = [(sha256, document, None) for (sha256, _, _), document in described.items()]
    for sha256, description, record in [*measured, *predicted]:
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
            own = {k: row[k] for k in SET_KEYS} | {"target": security_target(row)}
            chosen = known if known and not better else entry | own
            best[key] = chosen | {"bits": chosen.get("bits"), "shapes": count}
    return [best[key] for key in sorted(best)]


def _failed(entry: dict[str, Any]) -> str:
    failed = entry.get("failed_attacks") or []
    return "; ".join(f"{f['attack']}: {f['reason']}" if isinstance(f, dict) else str(f) for f in failed)


def attack_columns(attacks: list[str]) -> list[Column]:
    """A column an attack: its bits; without a figure how it failed, or a dash where it was not asked for."""
    return [Column(name, ATTACKS.get(name, name.replace("_", " ")), "bit", cell=_attack(name)) for name in attacks]


def _attack(name: str) -> Maker:
    def cell(row: dict[str, Any]) -> Cell:
        bits = (row.get("attacks") or {}).get(name)
        failed = [f for f in row.get("failed_attacks") or [] if f.get("model", MODEL) == MODEL]
        reason = next((f["reason"] for f in failed if f["attack"] == name), None)
        return Cell(_failure(reason)) if bits is None else Cell(f"{bits:.1f}", sort=bits)

    return cell


def bits_symbols(bits: float | None, target: float, source: str | None) -> str:
    """The marks of a figure: unknown or below the target, and whether only the fast model says so."""
    least = SYMBOLS["unknown"] if bits is None else SYMBOLS["insecure"] if bits < target else ""
    return least + (SYMBOLS["unconfirmed"] if source == "fast_only" else "")


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


def _bits(row: dict[str, Any]) -> Cell:
    return Cell(entry_text(row, row["target"]), row["symbol"] + without_symbols(row))


SPEC = spec(
    "security/instances",
    set=lambda row: Cell(series_name(row["protocol"], row["set"]), row["symbol"]),
    bits=_bits,
)


def make(inputs: Inputs) -> Table:
    """The table of all predictions."""
    if not inputs.arguments.predictions:
        raise InputError("--predictions", None, "the security table needs predictions", "Give --predictions FILE")
    return build(inputs.predictions, inputs.joined, inputs.described)


def build(predictions: pd.DataFrame, joined: pd.DataFrame, described: Described | None = None) -> Table:
    """The table from predictions; records, else descriptions, have the instances' parameters."""
    entries = _entries(predictions)
    instances = _instances(joined, described or {})
    seen = {name for entry in entries for name in entry.get("attacks") or {}}
    attacks = [name for name in ATTACKS if name in seen] + sorted(seen - set(ATTACKS))
    shown, keys = SPEC.wider("stddev", attack_columns(attacks)), SPEC.keys
    rows, data = [], []
    for entry in entries:
        lwe = instances.get((entry["sha256"], entry["instance"]), {})
        row: dict[str, Any] = {key: entry.get(key) for key in [*keys, "attacks"]}
        row |= {key: lwe.get(key) for key in ("dimension", "log2_modulus", "error_stddev", "samples", "record_id")}
        row |= {"secret": (lwe.get("secret") or {}).get("kind"), "without": entry.get("without", ())}
        row |= {"symbol": bits_symbols(entry["bits"], entry["target"], entry.get("source"))}
        row |= {"below_target": None if entry["bits"] is None else entry["bits"] < entry["target"]}
        rows.append(shown.row(row, str(row["record_id"] or "")))
        figures = {f"{name}_bits": (entry.get("attacks") or {}).get(name) for name in attacks}
        data.append(row | {"failed_attacks": _failed(entry)} | figures)
    frame = pd.DataFrame(data, columns=[*keys, *(f"{name}_bits" for name in attacks)])
    names = sorted({protocol_name(entry["protocol"]) for entry in entries})
    sets = f" of {' and '.join(names)}" if names else ": no prediction found"
    targets = "/".join(sorted({f"{entry['target']:.0f}" for entry in entries}))
    meanings = {"insecure": f"below the target of {targets} bits"}
    return shown.table(rows, frame, meanings=meanings, sets=sets, **_said(entries))


def _said(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """The words of the table's notes."""
    models = sorted({f"{e.get('model')}, {e.get('shape')}" for e in entries if e.get("model")})
    commits = sorted({str(e["estimator_commit"])[:10] for e in entries if e.get("estimator_commit")})
    failed = sorted(
        {f"{series_name(e['protocol'], e['set'])} {e['instance']}: {_failed(e)}" for e in entries if _failed(e)}
    )
    return {
        "commit": f" (commit {', '.join(commits)}; {'; '.join(models)})" if commits else "",
        "sources": SOURCES_NOTE,
        "without": without_text({attack for e in entries for attack in e.get("without", ())}),
        "failed": failed_text(failed),
    }


def failed_text(failed: list[str]) -> str:
    """One sentence: the attacks that gave no figure, each with its instance."""
    return f"Attacks that gave no figure: {'; '.join(failed)}." if failed else ""
