"""Which protocol for a database: each protocol's best set under the same bounds, ranked, beside downloading the whole
database; and the databases at which another protocol ranks first."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from ..noise.stage import NEVER
from ..paths import ROOT
from ..sets import resolve
from .account import Account, budget
from .bounds import BUDGETS, Bounds, Objective, spent
from .evaluate import Evaluator, Figures, Literal, Shape
from .progress import Progress
from .space_file import load
from .walk import Found, Least, walk

#: The name of the choice without a protocol: the client downloads the database for every query.
DOWNLOAD = "download"
#: The name of a set that the search finds.
FOUND = "found"
#: The number of doublings and halvings of records, and of their size, that are tried.
DOUBLINGS = 10
#: Databases that are tried have at most this many bits in all, and this many in a record.
MOST_BITS, MOST_RECORD_BITS = 1 << 41, 1 << 24


@dataclass(frozen=True)
class Choice:
    """The best set of a protocol, or none if no set keeps the bounds; and why the other sets do not keep them.

    name: of a set of params/, or FOUND. found: the best set of the protocol's space, where it has one.
    """

    protocol: str
    best: Found | None
    name: str = FOUND
    found: Found | None = None
    account: Account | None = None
    missed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Takeover:
    """The nearest database in one direction at which another protocol ranks first; no protocol if none was found up to
    that database.

    steps: doublings, or halvings if negative. score, former: of the new first, and of the protocol that is first here,
    which has none where no set of it keeps the bounds.
    """

    shape: Shape
    steps: int
    protocol: str | None = None
    score: float = 0.0
    former: float | None = None


@cache
def committed() -> dict[str, Literal]:
    """All sets of params/ in full, by name."""
    paths = sorted((ROOT / "params").rglob("*.toml"))
    names = [path.relative_to(ROOT / "params").with_suffix("").as_posix() for path in paths]
    return dict(zip(names, resolve(paths), strict=True))


def every(searched: Sequence[str]) -> list[str]:
    """These protocols, and after them those that only have committed sets."""
    return [*searched, *sorted({literal["protocol"] for literal in committed().values()} - set(searched))]


def best_of(found: Sequence[Found], objective: Objective) -> Found | None:
    """The set with the least score."""
    return min(found, key=lambda each: objective.rank(each.figures), default=None)


def download(evaluator: Evaluator, bounds: Bounds) -> Choice:
    """Downloading the database: nothing is asked, so that nothing leaks and nothing fails."""
    size = evaluator.shape.bytes()
    seconds = float(evaluator.unit_costs.total("bytes_read", size))
    figures = Figures(download=size, seconds=seconds, server_bytes=size, log2_failure=NEVER, bits=float("inf"))
    return Choice(DOWNLOAD, None if bounds.exceeded(figures) else Found({}, figures))


def choose(
    searched: Sequence[str],
    evaluator: Evaluator,
    bounds: Bounds,
    objective: Objective,
    progress: Progress | None = None,
) -> list[Choice]:
    """Each protocol's best set, found in the coarse part of its space or committed: the best protocol first, those
    without a set last."""
    choices = [download(evaluator, bounds)]
    known = dict(zip(committed(), evaluator(list(committed().values())), strict=True))
    for protocol in every(searched):
        own = {n: Found(committed()[n], f) for n, f in known.items() if committed()[n]["protocol"] == protocol}
        choice = from_committed(protocol, own, bounds, objective)
        if protocol in searched:
            outcome = walk(load(protocol).narrowed(), evaluator, bounds, Least(objective), progress)
            choice = replace(choice, found=best_of(outcome.found, objective), account=outcome.account)
            if choice.found and (
                not choice.best or objective.rank(choice.found.figures) <= objective.rank(choice.best.figures)
            ):
                choice = replace(choice, best=choice.found, name=FOUND)
        choices.append(choice)
    infinite = float("inf")
    return sorted(choices, key=lambda c: (objective(c.best.figures) if c.best else infinite, c.protocol))


def from_committed(protocol: str, sets: dict[str, Found], bounds: Bounds, objective: Objective) -> Choice:
    """The best committed set; of a protocol without one, how many sets miss each budget."""
    kept = [name for name, each in sets.items() if bounds.keeps(each.figures)]
    if kept:
        name = min(kept, key=lambda name: objective.rank(sets[name].figures))
        return Choice(protocol, sets[name], name)
    counts: Counter[str] = Counter()
    refusals = [each.figures.refused for each in sets.values() if each.figures.refused is not None]
    least: dict[str, float] = {}
    for each in sets.values():
        figures, exceeded = each.figures, bounds.exceeded(each.figures)
        if figures.refused is not None:
            counts[f"are refused, the first: {refusals[0]}"] += 1
        elif not bounds.reached(figures):
            counts["are below --security or above --failure"] += 1
        else:
            worst = max(exceeded, key=lambda name: exceeded[name])
            counts[BUDGETS[worst].exceeded] += 1
            least[worst] = min(spent(worst, figures), least.get(worst, float("inf")))
    lines = [f"of {len(sets)} committed sets {count} {words}" for words, count in counts.most_common()]
    return Choice(protocol, None, missed=(*lines, *(f"the nearest needs {budget(n, v)}" for n, v in least.items())))


def takeovers(choices: Sequence[Choice], evaluator: Evaluator, bounds: Bounds, objective: Objective) -> list[Takeover]:
    """Where another protocol ranks first: records, then their size, doubled and halved.

    Compared are the sets that rank here and the committed ones, each at the other database; those go that miss the
    targets here.
    """
    if not choices or choices[0].best is None:
        return []
    sets = [choice.best.literal for choice in choices if choice.best and choice.protocol != DOWNLOAD]
    here = evaluator(list(committed().values()))
    sets += [s for s, f in zip(committed().values(), here) if f.refused is not None or bounds.reached(f)]
    return [
        _takeover(choices[0].protocol, sets, evaluator, bounds, objective, along, sign)
        for along in ("records", "record_bits")
        for sign in (1, -1)
    ]


def _takeover(
    first: str,
    sets: Sequence[Literal],
    evaluator: Evaluator,
    bounds: Bounds,
    objective: Objective,
    along: str,
    sign: int,
) -> Takeover:
    shape, steps = evaluator.shape, 0
    for step in range(1, DOUBLINGS + 1):
        other = _other(shape, along, sign)
        if other is None:
            break
        shape, steps = other, sign * step
        there = evaluator.at(shape)
        scoring = replace(objective, shape=shape)
        whole = download(there, bounds).best
        least = {DOWNLOAD: scoring(whole.figures)} if whole else {}
        for literal, figures in zip(sets, there(sets), strict=True):
            if bounds.keeps(figures):
                protocol, score = literal["protocol"], scoring(figures)
                least[protocol] = min(score, least.get(protocol, score))
        if least and (new := min(least, key=lambda name: least[name])) != first:
            return Takeover(shape, steps, new, least[new], least.get(first))
    return Takeover(shape, steps)


def _other(shape: Shape, along: str, sign: int) -> Shape | None:
    """Twice or half the records, or bits of a record; None beyond what is looked at."""
    value = getattr(shape, along)
    if sign < 0 and value % 2:
        return None
    other = replace(shape, **{along: 2 * value if sign > 0 else value // 2})
    return other if other.records * other.record_bits <= MOST_BITS and other.record_bits <= MOST_RECORD_BITS else None
