"""Why the rest of a space was not found: counts by reason, the nearest miss of each, and what to relax."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, floor, log10, prod

from ..cost.plan import format_bytes
from .bounds import BUDGETS, Bounds, spent
from .evaluate import Figures
from .rings import Secured, reaches
from .space_file import Space

UNDERCUT = "undercut"
SECURITY = "security"
NOISIER = "noisier"
FAILURE = "failure"
LAYOUT = "layout"

_WORDS = {
    UNDERCUT: "cost no less than a set on the front in any respect",
    SECURITY: "have an instance below the target",
    NOISIER: "differ from another secure set of the same cost by more noise only",
    FAILURE: "fail more often than the target, or more than a quieter one that does",
    LAYOUT: "are refused: the parameters do not fit the database or each other",
}
_WORDS |= {name: budget.exceeded for name, budget in BUDGETS.items()}


@dataclass
class Account:
    """Counts and nearest misses of one walk. The counts and the front add up to the space's size."""

    space: Space
    bounds: Bounds
    counts: Counter[str] = field(default_factory=Counter)
    nearest_security: Secured | None = None
    nearest_bits: float | None = None
    nearest_failure: float | None = None
    least_spent: dict[str, float] = field(default_factory=dict)
    least_of_any: dict[str, float] = field(default_factory=dict)
    refusal: str | None = None

    def insecure(self, missed: Sequence[Secured], kept: Sequence[Sequence[Secured]]) -> None:
        """Tables below the target: all sets with one; and those left out as noisier."""
        whole = prod(len(axis.values) for axis in self.space.families)
        rest = self.space.size // max(1, whole)
        missing = {id(each.table) for each in missed}
        secure = prod(sum(id(table) not in missing for table in axis.values) for axis in self.space.families)
        self.counts[SECURITY] += (whole - secure) * rest
        self.counts[NOISIER] += (secure - prod(len(tables) for tables in kept)) * rest
        figures = [each for each in missed if each.bits is not None]
        self.nearest_security = max(figures, key=lambda each: each.bits or 0.0, default=None)

    def refused(self, figures: Figures, points: int) -> None:
        self.counts[LAYOUT] += points
        self.refusal = self.refusal or figures.refused

    def beyond(self, figures: Figures, points: int) -> None:
        """Count sets whose cheapest one exceeds a budget; the budget that is exceeded most is the reason."""
        exceeded = self.bounds.exceeded(figures)
        reason = max(exceeded, key=lambda name: exceeded[name])
        needed = spent(reason, figures)
        self.counts[reason] += points
        self.least_of_any[reason] = min(needed, self.least_of_any.get(reason, needed))
        if len(exceeded) == 1 and self.bounds.reached(figures):
            self.least_spent[reason] = min(needed, self.least_spent.get(reason, needed))

    def failed(self, figures: Sequence[Figures], points: int) -> None:
        weak = [each.bits for each in figures if not reaches(each.bits, self.bounds.security)]
        self.counts[SECURITY if figures and len(weak) == len(figures) else FAILURE] += points
        self.nearest_bits = max([bits for bits in (*weak, self.nearest_bits) if bits is not None], default=None)
        secure = [each.log2_failure for each in figures if reaches(each.bits, self.bounds.security)]
        self.nearest_failure = min([log2 for log2 in (*secure, self.nearest_failure) if log2 is not None], default=None)

    def undercut(self, points: int) -> None:
        self.counts[UNDERCUT] += points

    def lines(self) -> list[str]:
        """The account as text."""
        found = [f"Of {self.space.size} sets of the space:"]
        for reason, count in sorted(self.counts.items(), key=lambda item: (-item[1], item[0])):
            if count:
                found.append(f"  {count} {_WORDS[reason]}{self._nearest(reason)}")
        return found

    def _nearest(self, reason: str) -> str:
        if reason == SECURITY and self.nearest_security is not None:
            near = self.nearest_security
            size = near.table.get("degree", near.table.get("dimension"))
            secret, stddev = near.table["secret"]["kind"], near.table["error"]["stddev"]
            return (
                f". The nearest has {near.bits:.2f} bits (dimension {size}, q = {near.table['modulus']}, {secret} "
                f"secret, error {stddev:g}): --security {(near.bits or 0.0) - 0.06:.2f} takes it"
            )
        if reason == SECURITY and self.nearest_bits is not None:
            return f". The nearest has {self.nearest_bits:.2f} bits: --security {self.nearest_bits - 0.06:.2f} takes it"
        if reason == FAILURE and self.nearest_failure is not None:
            return f". The nearest fails with 2^{self.nearest_failure:.2f}: --failure {self.nearest_failure + 0.01:.2f}"
        if reason == LAYOUT and self.refusal is not None:
            return f". The first of them: {self.refusal}"
        if reason in self.least_spent:
            return f". The nearest seen that misses nothing else: {budget(reason, self.least_spent[reason])}"
        if reason in self.least_of_any:
            least = budget(reason, self.least_of_any[reason])
            return f". None of these misses this alone, and none needs less than {least}"
        return ""

    def mapping(self) -> dict:
        return {
            "sets": self.space.size,
            "counts": {k: v for k, v in sorted(self.counts.items()) if v},
            "nearest_security_bits": self.nearest_security.bits if self.nearest_security else None,
            "nearest_log2_failure": self.nearest_failure,
            "least_spent": dict(sorted(self.least_spent.items())),
            "least_of_any": dict(sorted(self.least_of_any.items())),
            "refusal": self.refusal,
        }


def budget(name: str, needed: float) -> str:
    """The option that allows this amount."""
    if name == "serves":
        return "a search without --stateless"
    if name == "updates":
        return f"--updates at most every {needed:.3g} s"
    if name != "seconds":
        return f"--max-{name} {needed:.0f} ({format_bytes(needed)})"
    # Four digits, rounded up, so that the printed budget suffices.
    unit = 10.0 ** (floor(log10(needed)) - 3) if needed > 0 else 1.0
    return f"--max-{name} {ceil(needed / unit) * unit:g}"
