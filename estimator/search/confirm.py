"""The lattice estimator's figures for sets that were found by the fast model."""

from collections.abc import Sequence

from ..security.assess import predict_security, weakest
from .evaluate import SOURCE, Evaluator
from .files import toml
from .walk import Found


def confirm(found: Sequence[Found], target: float, evaluator: Evaluator, timeout: float | None) -> list[str]:
    """A line for each set: bits by the lattice estimator, or the attacks without a figure and why.

    timeout: seconds an attack, instead of its kind's; one that takes longer is stopped and counts as failed, and a set
    with a failed attack is not confirmed.
    """
    descriptions = evaluator.describe([toml({"source": SOURCE} | each.literal) for each in found])
    lines = []
    for rank, (each, entries) in enumerate(zip(found, predict_security(descriptions, "live", timeout)), 1):
        bits = weakest(entries)
        failed = [
            f"{e['instance']}: {a['attack']} ({a['model']}): {a['reason']}"
            for e in entries
            for a in e["failed_attacks"]
        ]
        if bits is None:
            verdict = "no figure"
        elif failed:
            verdict = f"{bits:.2f} bits by the attacks that finished"
        else:
            verdict = f"{bits:.2f} bits: {'confirmed' if bits >= target else f'below {target:g}'}"
        lines += [f"  {rank}: {verdict} (fast model {each.figures.bits:.2f})", *(f"     {reason}" for reason in failed)]
    return lines
