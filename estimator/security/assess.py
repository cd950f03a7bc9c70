"""Security of the LWE instances that descriptions expose: the `security` part of prediction records."""

from __future__ import annotations

from collections.abc import Sequence

from . import live, recorded
from .attacks import ATTACKS, CORE_SVP_MODEL, MODEL, SECURITY_TARGET, SHAPE, AttackResult
from .instance import Instance, sage_call

SOURCES = ("auto", "live", "recorded")


def predict_security(
    descriptions: Sequence[dict], source: str = "auto", limit: float = live.ATTACK_LIMIT_SECONDS
) -> list[list[dict]]:
    """For each description, one entry per exposed instance.

    source: `live` asks the real lattice estimator (EstimatorMissing if there is none); `recorded` only looks up;
    `auto` is live where the estimator is usable, else recorded. What has no figure has source `none`.
    """
    instances = [[Instance.of(i) for i in d["instances"]] for d in descriptions]
    distinct = list(dict.fromkeys(i for group in instances for i in group))
    answers: dict[Instance, tuple[str, dict]] = {}
    problem = "it is not in recorded.json"
    if source == "live" or (source == "auto" and live.plausible()):
        try:
            answers = {i: ("live", a) for i, a in live.estimate(distinct, limit).items()}
        except live.EstimatorMissing as error:
            if source == "live":
                raise
            problem += f", and {error}"
    if source != "live":
        for instance in distinct:
            if instance not in answers or best(answers[instance][1]["results"], MODEL) is None:
                found = recorded.find(instance)
                if found is not None:
                    answers[instance] = ("recorded", found)
    return [
        [
            security_entry(mapping, instance, answers.get(instance), problem)
            for mapping, instance in zip(d["instances"], i)
        ]
        for d, i in zip(descriptions, instances)
    ]


def best(results: Sequence[AttackResult], model: str) -> AttackResult | None:
    """The cheapest attack under a cost model, or None if none has a figure."""
    figures = [r for r in results if r.model == model and r.log2_rop is not None]
    return min(figures, key=lambda r: r.log2_rop or 0.0, default=None)


def security_entry(mapping: dict, instance: Instance, answer: tuple[str, dict] | None, problem: str) -> dict:
    entry = {
        "instance": mapping["name"],
        "bits": None,
        "attack": None,
        "attacks": {},
        "failed_attacks": [],
        "core_svp_bits": None,
        "model": MODEL,
        "shape": SHAPE,
        "source": "none",
        "estimator_commit": None,
        "call": sage_call(instance),
    }
    if answer is None:
        entry["reason"] = (
            f"no figure for {entry['call']}: {problem}. With the lattice estimator at hand, "
            "`pirlab-security record PARAMS` adds it"
        )
        return entry
    source, content = answer
    results = content["results"]
    cheapest, core = best(results, MODEL), best(results, CORE_SVP_MODEL)
    entry.update(
        bits=cheapest.log2_rop if cheapest else None,
        attack=cheapest.attack if cheapest else None,
        attacks=_figures(results),
        failed_attacks=[
            {"attack": r.attack, "model": r.model, "reason": r.failed} for r in results if r.failed is not None
        ],
        core_svp_bits=core.log2_rop if core else None,
        source=source,
        estimator_commit=content["commit"],
    )
    return entry


def _figures(results: Sequence[AttackResult]) -> dict[str, float]:
    """log2 of ring operations by attack under MODEL: those always asked for first, in their order."""
    figures = {r.attack: r.log2_rop for r in results if r.model == MODEL and r.log2_rop is not None}
    usual = [attack for attack in ATTACKS[MODEL] if attack in figures]
    return {attack: figures[attack] for attack in [*usual, *sorted(set(figures) - set(usual))]}


def weakest(entries: Sequence[dict]) -> float | None:
    """The least bits over all instances; None if any instance has no figure."""
    bits = [e["bits"] for e in entries]
    return None if not bits or None in bits else min(bits)


def verdict(bits: float | None, target: float = SECURITY_TARGET) -> str:
    if bits is None:
        return "unknown"
    return "reached" if bits >= target else "missed"
