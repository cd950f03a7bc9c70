"""The walk through a space, which leaves out only sets that cannot be on the front.

1. Families: tables whose instance is weaker than the target fall out, then those that another undercuts in noise.
2. Each combination of the free axes is described at its cheapest corner, the last value of every ordered axis. Nothing
   of the combination costs less: beyond a budget, or covered by the front, all of it is left out.
3. The rest in the order of their corners' costs. The ordered axes make a grid in which failing spreads towards the
   cheaper and noisier values, and being right and being refused (too long a message, too many digits) towards the
   dearer ones. Its boundary is found in boxes, which are halved until one of their corners decides all of a box.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import log, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .account import Account
from .bounds import TIMES, Bounds, spent
from .evaluate import Evaluator, Figures, Literal
from .front import Front, undominated
from .progress import Progress
from .space_file import Space

#: Combinations walked side by side, so that descriptions come in batches.
SIDE_BY_SIDE = 200
#: Boxes of a combination whose points are asked for together.
AT_ONCE = 8


@dataclass(frozen=True)
class Found:
    """A set that keeps all bounds."""

    literal: Literal
    figures: Figures


class WholeFront:
    """All sets that no other undercuts in every respect. With a tolerance, a set has to undercut each of these by more
    than that share in some respect; only the one with the least score has its place anyway."""

    def __init__(
        self, tolerance: float = 0.0, score: Callable[[Figures], float] = lambda figures: figures.seconds
    ) -> None:
        self._front, self._least, self._more = Front(), Least(score), 1 + tolerance

    def order(self, figures: Figures) -> tuple[float, ...]:
        """One number of all costs."""
        return (sum(log(1 + cost) if cost >= 1 else cost for cost in figures.costs()),)

    def hopeless(self, figures: Figures) -> bool:
        costs = figures.costs()
        if self._front.covers(costs):
            return True
        return self._front.covers([self._more * cost for cost in costs]) and self._least.hopeless(figures)

    def add(self, figures: Figures) -> None:
        self._front.add(figures.costs())
        self._least.add(figures)


class Least:
    """Only the set with the least score; of equal ones, that with the fastest answers."""

    def __init__(self, score: Callable[[Figures], float]) -> None:
        self._score = score
        self._least: tuple[float, ...] = (float("inf"),)

    def order(self, figures: Figures) -> tuple[float, ...]:
        return self._score(figures), figures.seconds

    def hopeless(self, figures: Figures) -> bool:
        return self.order(figures) >= self._least

    def add(self, figures: Figures) -> None:
        self._least = min(self._least, self.order(figures))


#: The aim of a walk. order: the rank in which sets are tried. hopeless: no set that costs at least as much is wanted.
#: add: report a set that keeps the bounds.
Aim = WholeFront | Least


@dataclass
class Outcome:
    """The result of a walk: the front, and why the rest of the space is not on it."""

    found: list[Found]
    account: Account
    space: Space
    tried: int


def walk(
    space: Space, evaluator: Evaluator, bounds: Bounds, aim: Aim | None = None, progress: Progress | None = None
) -> Outcome:
    """The sets of a space that keep all bounds and that no other undercuts, without looking at all of them."""
    aim, progress = aim or WholeFront(), progress or Progress()
    space = space.at(evaluator, bounds, progress)
    account = Account(space, bounds)
    kept, missed = space.secure(bounds.security)
    account.insecure(missed, kept)
    combinations = list(space.combinations(kept))
    points = prod(space.ordered_shape)
    last = [n - 1 for n in space.ordered_shape]
    progress.stage(f"{space.protocol}: {len(combinations)} combinations", len(combinations))
    corners = figures_of(space, evaluator, [(c, last) for c in combinations], progress.advance)
    open_ones = []
    for combination, (_, corner) in zip(combinations, corners):
        if corner.refused is not None:
            account.refused(corner, points)
        elif bounds.exceeded(corner):
            account.beyond(corner, points)
        else:
            open_ones.append((combination, corner))
    open_ones.sort(key=lambda pair: aim.order(pair[1]))
    right: list[Found] = []
    progress.stage(f"{space.protocol}: gadgets and moduli", len(open_ones))
    for start in range(0, len(open_ones), SIDE_BY_SIDE):
        grids = []
        for combination, corner in open_ones[start : start + SIDE_BY_SIDE]:
            if aim.hopeless(corner):
                account.undercut(points)
            else:
                grids.append(_Grid(space, combination, bounds, aim))
        _ask(grids, evaluator)
        for grid in grids:
            grid.tell(account)
            right += grid.right
        progress.advance(len(open_ones[start : start + SIDE_BY_SIDE]))
    found = front_of(right)
    account.undercut(len(right) - len(found))
    return Outcome(found, account, space, evaluator.evaluated)


def relaxed(space: Space, evaluator: Evaluator, bounds: Bounds, progress: Progress | None = None) -> dict[str, float]:
    """The least value of each budget at which a set meets all other bounds; budgets without such a set are left out."""
    least = {}
    for name in bounds.budgets():
        outcome = walk(space, evaluator, bounds.without(name), Least(partial(spent, name)), progress)
        if outcome.found:
            least[name] = min(spent(name, each.figures) for each in outcome.found)
    return least


def relaxed_together(
    space: Space, evaluator: Evaluator, bounds: Bounds, progress: Progress | None = None
) -> dict[str, float] | None:
    """What the set with the least factor over its budgets needs of each budget that it exceeds; None without a set."""
    allowed = {name: max(bound, _LEAST_BUDGET[name in TIMES]) for name, bound in bounds.budgets().items()}

    def factor(figures: Figures) -> float:
        return max(spent(name, figures) / bound for name, bound in allowed.items())

    found = walk(space, evaluator, Bounds(bounds.security, bounds.failure), Least(factor), progress).found
    if not found:
        return None
    best = min((each.figures for each in found), key=lambda figures: (factor(figures), figures.seconds))
    return {name: spent(name, best) for name in bounds.exceeded(best)}


#: A budget of nothing counts as one byte, or as a nanosecond.
_LEAST_BUDGET = (1.0, 1e-9)


def front_of(right: Sequence[Found]) -> list[Found]:
    """The front, in the order of costs; of sets that cost the same, the one that fails least."""
    ordered = sorted(right, key=lambda f: (f.figures.costs(), f.figures.log2_failure, str(f.literal)))
    return [ordered[i] for i in undominated(np.array([f.figures.costs() for f in ordered], dtype=float))]


def figures_of(
    space: Space,
    evaluator: Evaluator,
    asked: Sequence[tuple[dict[str, Any], Sequence[int]]],
    done: Callable[[int], None] = lambda _: None,
) -> list[tuple[Literal | None, Figures]]:
    """The set of each combination and position, None where it does not exist, with its figures."""
    literals = [space.literal(combination, at) for combination, at in asked]
    figures = iter(evaluator([each for each in literals if each is not None], done))
    missing = Figures(refused="there is no gadget of that length for the ring")
    return [(each, missing if each is None else next(figures)) for each in literals]


def _ask(grids: "Sequence[_Grid]", evaluator: Evaluator) -> None:
    """Evaluate points of all grids together until none is open."""
    while True:
        asked = [(grid, at) for grid in grids for at in grid.questions()]
        if not asked:
            return
        found = figures_of(grids[0].space, evaluator, [(grid.combination, at) for grid, at in asked])
        for (grid, at), each in zip(asked, found):
            grid.answer(at, *each)


OPEN, FAILED, RIGHT, REFUSED = range(4)


#: A part of a grid: from its dearest corner to its cheapest one.
Box = tuple[slice, ...]


class _Grid:
    """The points of one combination on the ordered axes. State of each: open, failed, right (or dearer), refused."""

    def __init__(self, space: Space, combination: dict[str, Any], bounds: Bounds, aim: Aim) -> None:
        self.space, self.combination, self.bounds, self.aim = space, combination, bounds, aim
        self.state: NDArray[np.int8] = np.full(space.ordered_shape or (1,), OPEN, dtype=np.int8)
        self.rarer = [axis.rarer for axis in space.ordered] or [1.0]
        self.right: list[Found] = []
        self.failed: list[Figures] = []
        self.beyond: list[Figures] = []
        self.refusals: list[Figures] = []
        self.boxes: list[Box] = [tuple(slice(0, n) for n in self.state.shape)]
        self.answers: dict[tuple[int, ...], Figures] = {}

    def questions(self) -> list[tuple[int, ...]]:
        """The points to evaluate next, each for a box. The cheapest corner comes first: if it is hopeless or right,
        nothing else of the box is wanted. The costliest corner follows: if it fails, all of the box does. Then come
        those of the box's halves.
        """
        found: list[tuple[int, ...]] = []
        later: list[Box] = []
        while self.boxes and len(found) < AT_ONCE:
            box = self.boxes.pop()
            unknown = self.state[box] == OPEN
            if not unknown.any():
                continue
            box = _within(box, unknown)
            cheapest, dearest = tuple(each.stop - 1 for each in box), tuple(each.start for each in box)
            if cheapest not in self.answers:
                found.append(cheapest)
            elif self.aim.hopeless(self.answers[cheapest]):
                continue
            elif self.state[dearest] == OPEN:
                found.append(dearest)
            else:
                self.boxes += _halves(box)
                continue
            later.append(box)
        self.boxes += reversed(later)
        return list(dict.fromkeys(found))

    def answer(self, at: tuple[int, ...], literal: Literal | None, figures: Figures) -> None:
        """Record an evaluated point and its consequences for neighbours; a point without a set has none."""
        at = at or (0,)
        self.answers[at] = figures
        if literal is None:
            self.state[at] = REFUSED
            self.refusals.append(figures)
            return
        dearer = tuple(slice(0, i + 1) for i in at)
        noisier = tuple(
            slice(i, None if self.bounds.missed_by_power(figures, rarer) else i + 1) for i, rarer in zip(at, self.rarer)
        )
        if figures.refused is not None:
            self.refusals.append(figures)
            self._spread(dearer, REFUSED)
        elif self.bounds.exceeded(figures):
            self.beyond.append(figures)
            self._spread(dearer, REFUSED)
        elif not self.bounds.reached(figures):
            self.failed.append(figures)
            self._spread(noisier, FAILED)
            if self.aim.hopeless(figures):
                self._spread(dearer, RIGHT)
        else:
            if not self.aim.hopeless(figures):
                self.right.append(Found(literal, figures))
                self.aim.add(figures)
            self._spread(dearer, RIGHT)

    def _spread(self, where: tuple[slice, ...], state: int) -> None:
        part = self.state[where]
        part[part == OPEN] = state

    def tell(self, account: Account) -> None:
        """Add the results of the points to the account."""
        states = np.bincount(self.state.ravel(), minlength=4)
        account.failed(self.failed, int(states[FAILED]))
        refused = int(states[REFUSED])
        if self.beyond:
            # The rest of the grid costs at least as much as one of those that were looked at.
            for place, each in enumerate(self.beyond):
                account.beyond(each, 0 if place else refused)
        elif self.refusals:
            account.refused(self.refusals[0], refused)
        account.undercut(int(states[RIGHT]) + int(states[OPEN]) - len(self.right))


def _within(box: Box, unknown: NDArray[np.bool_]) -> Box:
    """The least box within this one that holds its open points; there is one."""
    axes = set(range(unknown.ndim))
    found = [np.flatnonzero(unknown.any(axis=tuple(axes - {axis}))) for axis in axes]
    return tuple(slice(each.start + int(i[0]), each.start + int(i[-1]) + 1) for each, i in zip(box, found))


def _halves(box: Box) -> list[Box]:
    """Of the longest axis; the cheaper half last."""
    longest = max(range(len(box)), key=lambda k: box[k].stop - box[k].start)
    low, high = box[longest].start, box[longest].stop
    middle = (low + high) // 2
    return [(*box[:longest], half, *box[longest + 1 :]) for half in (slice(low, middle), slice(middle, high))]
