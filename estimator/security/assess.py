"""Security of the LWE instances that descriptions expose: the `security` part of prediction records."""

import logging
from collections.abc import Sequence
from math import inf

from . import live, recorded
from .attacks import (
    AT_FLOOR,
    ATTACKS,
    CORE_SVP_MODEL,
    HYBRIDS,
    LEAST_BLOCK,
    MODEL,
    SECURITY_TARGET,
    SHAPE,
    AttackResult,
    needed,
)
from .instance import Instance, sage_call, sage_parameters

_log = logging.getLogger(__name__)

SOURCES = ("auto", "live", "at_hand", "recorded", "fast_only")
#: Bits by which a live figure of uSVP exceeds that of exact search where it is remarked.
MISSED = 0.2


def predict_security(
    descriptions: Sequence[dict], source: str = "auto", limit: float | None = None
) -> list[list[dict]]:
    """For each description, one entry per exposed instance.

    source: `live` asks the real lattice estimator (EstimatorMissing without it), for every attack; `recorded`
    only looks up; `fast_only` is our own fast model alone; `at_hand` is recorded, else fast_only; `auto` is live where
    the estimator is usable, else as at_hand. `auto` asks for no hybrid attack, which may take half an hour each: there
    the recorded ones stand. What has no figure has source `none`. limit: seconds of an attack, instead of its kind's.
    """
    instances = [[Instance.of(i) for i in d["instances"]] for d in descriptions]
    distinct = list(dict.fromkeys(i for group in instances for i in group))
    answers, problem = _answers(distinct, source, limit)
    return [
        [security_entry(m, i, answers.get(i), problem) for m, i in zip(d["instances"], group)]
        for d, group in zip(descriptions, instances)
    ]


def _answers(
    instances: Sequence[Instance], source: str, limit: float | None
) -> tuple[dict[Instance, tuple[str, dict]], str]:
    """(source, answer) of the instances that have one, and why others have none.

    An attack without a figure takes the next source's; its failure stays listed. So a minimum is one over all attacks.
    """
    answers: dict[Instance, tuple[str, dict]] = {}
    problem = "only the fast model was asked" if source == "fast_only" else "it is not in recorded.json"
    if source == "live" or (source == "auto" and live.plausible()):
        try:
            asked = live.estimate(instances, limit, None if source == "live" else ATTACKS)
            answers = {i: ("live", a) for i, a in asked.items()}
        except live.EstimatorMissing as error:
            if source == "live":
                raise
            problem += f", and {error}"
            _log.warning("%s", error)
        _remark_misses(answers)
    if source in ("auto", "at_hand", "recorded"):
        _fill(answers, "recorded", {i: a for i in _open(instances, answers) if (a := recorded.find(i)) is not None})
    if source in ("auto", "at_hand", "fast_only"):
        _fill(answers, "fast_only", fast_estimate(_open(instances, answers)))
    return answers, problem


def _fill(answers: dict[Instance, tuple[str, dict]], source: str, found: dict[Instance, dict]) -> None:
    """Takes over what has no figure yet; `filled` says which attacks an answer has from another source."""
    for instance, later in found.items():
        first, before = answers.get(instance, (source, {"results": []}))
        failed = before.get("failed_before", []) + [(first, r) for r in before["results"] if r.failed is not None]
        if best(before["results"], MODEL) is None:
            answers[instance] = (source, later | {"failed_before": failed})
            continue
        if source == "recorded" and later["commit"] != before["commit"]:
            continue
        kept = {(r.model, r.attack): r for r in before["results"]}
        new = [r for r in later["results"] if (r.model, r.attack) not in kept]
        figures = {(r.model, r.attack): r for r in later["results"] if r.failed is None}
        missing = [r for r in before["results"] if r.failed is not None and (r.model, r.attack) in figures]
        results = [figures[r.model, r.attack] if r in missing else r for r in before["results"]]
        filled = before.get("filled", {}) | {(r.model, r.attack): source for r in [*missing, *new]}
        failed = before.get("failed_before", []) + [(first, r) for r in missing]
        merged = {"results": [*results, *new], "filled": filled, "failed_before": failed}
        answers[instance] = (first, before | merged)


def _remark_misses(answers: dict[Instance, tuple[str, dict]]) -> None:
    """Remarks where the estimator's local search for uSVP missed its own minimum, as exact search tells."""
    for instance, own in fast_estimate(list(answers)).items():
        exact = {r.model: r.log2_rop for r in own["results"] if r.attack == "usvp" and r.log2_rop is not None}
        _, content = answers[instance]
        missed = [
            f"{r.model} primal_usvp: the estimator's local search missed its own minimum (reported {r.log2_rop:.4f}, "
            f"exact search {exact[r.model]:.4f})"
            for r in content["results"]
            if r.attack == "usvp" and r.log2_rop is not None and r.log2_rop > exact.get(r.model, inf) + MISSED
        ]
        content["remarks"] = [*content.get("remarks", []), *missed]


def _open(instances: Sequence[Instance], answers: dict[Instance, tuple[str, dict]]) -> list[Instance]:
    """The instances for which an attack under MODEL that applies has no figure yet."""
    return [i for i in instances if i not in answers or lacking(i, answers[i][1]["results"])]


def lacking(instance: Instance, results: Sequence[AttackResult]) -> list[str]:
    """The attacks under MODEL that apply to an instance and have no figure."""
    known = {r.attack for r in results if r.model == MODEL and r.failed is None}
    return [attack for attack in instance.attacks()[MODEL] if attack not in known]


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
    filled: dict[tuple[str, str], str] = content.get("filled", {})
    if cheapest:
        source = filled.get((MODEL, cheapest.attack), source)
    entry = {
        "instance": mapping["name"],
        "bits": cheapest.log2_rop if cheapest else None,
        "attack": cheapest.attack if cheapest else None,
        "attacks": _figures(results),
        "without": lacking(instance, results),
        "failed_attacks": [
            {"attack": r.attack, "model": r.model, "reason": r.failed if s == source else f"{s}: {r.failed}"}
            for s, r in failed
        ],
        "core_svp_bits": core.log2_rop if core else None,
        "model": MODEL,
        "shape": SHAPE,
        "source": source,
        "estimator_commit": None if source == "fast_only" else content["commit"],
        "call": sage_call(instance, cheapest.attack if cheapest else ATTACKS[MODEL][0]),
    }
    remarks = list(content.get("remarks", []))
    remarks += [f"{attack} under {model}: source {other}" for (model, attack), other in filled.items()]
    if cheapest and (open_attacks := undecided(entry, instance)):
        remarks.append(f"the minimum is over the other attacks: no figure for {', '.join(open_attacks)}")
    if any(dict(r.details).get("beta") == LEAST_BLOCK for r in results):
        remarks.append(AT_FLOOR)
    if source == "fast_only" and cheapest is None and "at_least" in content:
        entry |= {"bits": content["at_least"], "at_least": True}
        remarks.append(f"the fast model says only that every attack takes {content['at_least']} bits or more")
    elif source == "fast_only" and cheapest is None:
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
    """log2 of ring operations by attack under MODEL, in their order."""
    figures = {r.attack: r.log2_rop for r in results if r.model == MODEL and r.log2_rop is not None}
    return {attack: figures[attack] for attack in (*ATTACKS[MODEL], *HYBRIDS) if attack in figures}


def weakest(entries: Sequence[dict]) -> float | None:
    """The least bits over all instances; None if one has no figure and no other misses the target."""
    known = [e["bits"] for e in entries if e["bits"] is not None]
    least = min(known, default=None)
    return least if least is None or least < SECURITY_TARGET or len(known) == len(entries) else None


def undecided(entry: dict, instance: Instance) -> list[str]:
    """The attacks without whose figure an instance is not called secure. Hybrids beside a dense secret are only named:
    there they were never the cheapest."""
    return [attack for attack in entry["without"] if entry["attacks"] and attack in needed(instance.density)]


def verdict(bits: float | None) -> str:
    if bits is None:
        return "unknown"
    return "reached" if bits >= SECURITY_TARGET else "missed"
