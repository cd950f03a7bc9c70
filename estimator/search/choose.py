"""Which protocol for a database: each protocol's best set under the same bounds, ranked, with reasons in words, beside
downloading the whole database."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..cost.plan import format_bytes
from ..noise.stage import NEVER
from .account import Account
from .bounds import OBJECTIVES, Bounds, Objective
from .evaluate import COSTS, Evaluator, Figures
from .progress import Progress
from .space_file import load
from .walk import Found, Least, walk

#: What needs no protocol: the client downloads the database for every query.
DOWNLOAD = "download"
#: Seconds of preprocessing that a reason mentions.
LONG_SETUP = 600.0


@dataclass(frozen=True)
class Choice:
    """The best set of a protocol; none if no set keeps the bounds."""

    protocol: str
    best: Found | None
    account: Account | None


def best_of(found: Sequence[Found], objective: Objective) -> Found | None:
    """The set with the least score."""
    return min(found, key=lambda each: objective.rank(each.figures), default=None)


def download(evaluator: Evaluator, bounds: Bounds) -> Choice:
    """Downloading the database: nothing is asked, so that nothing leaks and nothing fails."""
    size = evaluator.shape.bytes()
    seconds = float(evaluator.unit_costs.total("bytes_read", size))
    figures = Figures(download=size, seconds=seconds, server_bytes=size, log2_failure=NEVER, bits=float("inf"))
    return Choice(DOWNLOAD, None if bounds.exceeded(figures) else Found({}, figures), None)


def choose(
    protocols: Sequence[str],
    evaluator: Evaluator,
    bounds: Bounds,
    objective: Objective,
    progress: Progress | None = None,
) -> list[Choice]:
    """Each protocol's best set: the best protocol first, those without a set last."""
    choices = [download(evaluator, bounds)]
    for protocol in protocols:
        outcome = walk(load(protocol).narrowed(), evaluator, bounds, Least(objective), progress)
        choices.append(Choice(protocol, best_of(outcome.found, objective), outcome.account))
    infinite = float("inf")
    return sorted(choices, key=lambda c: (objective(c.best.figures) if c.best else infinite, c.protocol))


def reasons(choice: Choice, winner: Choice, objective: Objective) -> list[str]:
    """The reasons for and against a protocol, compared with the first one."""
    if choice.best is None or winner.best is None:
        lines = choice.account.lines()[1:] if choice.account else []
        return ["no set keeps the bounds" if lines else "it exceeds the bounds", *(line.strip() for line in lines)]
    mine, first = choice.best.figures, winner.best.figures
    words = [objective.words(mine)]
    if choice is winner:
        words.append(f"the least {OBJECTIVES[objective.name].noun} of all protocols here")
    else:
        words.append(f"{objective(mine) / objective(first):.3g} times the first's {OBJECTIVES[objective.name].noun}")
        words += _compared(mine, first)
    queries = mine.hint_serves or objective.network.hint_queries
    served = f"{format_bytes(objective.hint_share(mine))} a query at {queries} queries"
    if choice.protocol == DOWNLOAD:
        words.append("no protocol and no assumption: the client reads the whole database for every query")
    elif mine.key_bytes > 1024:
        words.append(
            f"every client sends keys of {format_bytes(mine.key_bytes)} once, which the server keeps; {served}"
        )
    elif mine.hint_bytes > 1024:
        hint = format_bytes(mine.hint_bytes)
        words.append(
            f"every client fetches and keeps a hint of {hint}, {served}, and again (in part) when records change"
        )
    else:
        words.append("clients need no hint and keep nothing between queries")
    words.append(f"the server holds {format_bytes(mine.server_bytes)}")
    if mine.setup_seconds > LONG_SETUP:
        words.append(f"preprocessing takes {mine.setup_seconds / 60:.0f} minutes on one core")
    return words


def _compared(mine: Figures, first: Figures) -> list[str]:
    """The respects in which it is better or clearly worse than the first."""
    named = zip(COSTS, mine.costs(), first.costs())
    better, worse = [], []
    for name, own, other in named:
        if own < other:
            better.append(f"{name} ({_factor(other, own)} less)")
        elif own > 1.5 * other:
            worse.append(f"{name} ({_factor(own, other)} more)")
    return [f"{word}: {', '.join(each)}" for word, each in (("better", better), ("worse", worse)) if each]


def _factor(large: float, small: float) -> str:
    if not small:
        return "any"
    return f"{large / small:.3g} times" if large < 999.5 * small else f"{large / small:.0f} times"
