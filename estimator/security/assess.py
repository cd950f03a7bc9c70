"""Security of the LWE instances that descriptions expose: the `security` part of prediction records."""

from __future__ import annotations

from collections.abc import Sequence

from . import live, recorded
from .attacks import AT_FLOOR, ATTACKS, CORE_SVP_MODEL, LEAST_BLOCK, MODEL, SECURITY_TARGET, SHAPE, AttackResult
from .fast.domain import LEAST_DENSITY, density
from .instance import Instance, sage_call, sage_parameters

SOURCES = ("auto", "live", "recorded", "fast_only")


def predict_security(
    descriptions: Sequence[dict], source: str = "auto", limit: float = live.ATTACK_LIMIT_SECONDS
) -> list[list[dict]]:
    """For each description, one entry per exposed instance.

    source: `live` asks the real lattice estimator (EstimatorMissing if there is none); `recorded` only looks up;
    `fast_only` is our own fast model alone; `auto` is live where the estimator is usable, else recorded, else
    fast_only. What has no figure has source `none`.
    """
    instances = [[Instance.of(i) for i in d["instances"]] for d in descriptions]
    distinct = list(dict.fromkeys(i for group in instances for i in group))
    answers, problem = _answers(distinct, source, limit)
    return [
        [security_entry(m, i, answers.get(i), problem) for m, i in zip(d["instances"], group)]
        for d, group in zip(descriptions, instances)
    ]


def _answers(instances: Sequence[Instance], source: str, limit: float) -> tuple[dict[Instance, tuple[str, dict]], str]:
    """(source, answer) of the instances that have one, and why others have none.

    An answer without a figure under MODEL is replaced by the next source's; its failures stay listed.
    """
    answers: dict[Instance, tuple[str, dict]] = {}
    problem = "only the fast model was asked" if source == "fast_only" else "it is not in recorded.json"
    if source == "live" or (source == "auto" and live.plausible()):
        try:
            answers = {i: ("live", a) for i, a in live.estimate(instances, limit).items()}
        except live.EstimatorMissing as error:
            if source == "live":
                raise
            problem += f", and {error}"
    if source in ("auto", "recorded"):
        _fill(answers, "recorded", {i: a for i in _open(instances, answers) if (a := recorded.find(i)) is not None})
    if source in ("auto", "fast_only"):
        _fill(answers, "fast_only", fast_estimate(_open(instances, answers)))
    return answers, problem


def _fill(answers: dict[Instance, tuple[str, dict]], source: str, found: dict[Instance, dict]) -> None:
    for instance, answer in found.items():
        before = answers.get(instance)
        failed = [] if before is None else [(before[0], r) for r in before[1]["results"] if r.failed is not None]
        answers[instance] = (source, answer | {"failed_before": failed})


def _open(instances: Sequence[Instance], answers: dict[Instance, tuple[str, dict]]) -> list[Instance]:
    """Those that have no figure under MODEL yet."""
    return [i for i in instances if i not in answers or best(answers[i][1]["results"], MODEL) is None]


def fast_estimate(instances: Sequence[Instance]) -> dict[Instance, dict]:
    """The fast model; numba is loaded only where it is needed."""
    if not instances:
        return {}
    from .fast.model import estimate

    return estimate(instances)


def best(results: Sequence[AttackResult], model: str) -> AttackResult | None:
    """The cheapest attack under a cost model, or None if none has a figure."""
    figures = [r for r in results if r.model == model and r.log2_rop is not None]
    return min(figures, key=lambda r: r.log2_rop or 0.0, default=None)


def security_entry(mapping: dict, instance: Instance, answer: tuple[str, dict] | None, problem: str) -> dict:
    """One entry of a prediction's `security`; without a figure its source is `none` and it has a reason."""
    source, content = answer or ("none", {"results": [], "commit": None})
    results: list[AttackResult] = content["results"]
    failed = [*content.get("failed_before", []), *((source, r) for r in results if r.failed is not None)]
    cheapest, core = best(results, MODEL), best(results, CORE_SVP_MODEL)
    entry = {
        "instance": mapping["name"],
        "bits": cheapest.log2_rop if cheapest else None,
        "attack": cheapest.attack if cheapest else None,
        "attacks": _figures(results),
        "failed_attacks": [
            {"attack": r.attack, "model": r.model, "reason": r.failed if s == source else f"{s}: {r.failed}"}
            for s, r in failed
        ],
        "core_svp_bits": core.log2_rop if core else None,
        "model": MODEL,
        "shape": SHAPE,
        "source": source,
        "estimator_commit": content["commit"],
        "call": sage_call(instance, cheapest.attack if cheapest else ATTACKS[MODEL][0]),
    }
    remarks = list(content.get("remarks", []))
    if any(dict(r.details).get("beta") == LEAST_BLOCK for r in results):
        remarks.append(AT_FLOOR)
    if results and density(instance) < LEAST_DENSITY and "bdd_hybrid" not in entry["attacks"]:
        remarks.append("very sparse secret: hybrid primal attacks, not among these, may cost less")
    if source == "fast_only" and cheapest is None:
        entry["source"] = "none"
        problem += f"; {results[0].failed}"
    elif source == "fast_only":
        remarks.append("own evaluation of published formulas; `make confirm` asks the lattice estimator")
    if remarks:
        entry["remarks"] = remarks
    if entry["source"] == "none":
        entry["reason"] = (
            f"no figure for {sage_parameters(instance)}: {problem}. With the lattice estimator at hand, "
            "`pirlab-security record PARAMS` adds it"
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
