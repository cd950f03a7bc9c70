"""The search for Pirouette's sets: least seconds of an answer, secure, correct, keys within a limit.

Seconds and bytes are sums over parts (small key with rotation gadget; automorphisms; squaring; RGSW rows with their
spacing; dimensions), and every error grows with each part's own errors. So of each part only the frontier is looked at
(front.py), and of these every combination, as arrays: the result is that of trying everything. One thing apart: the
frontiers compare variances, and do not see that the same variance fails less often where more squares mix it.
"""

import json
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

from ...noise import lattice
from ...outputs import write
from ..evaluate import FORMULAS, origin
from ..progress import Progress
from .block import Block, spacings
from .candidate import Candidate, Choice
from .small import Small, small_keys
from .space import Ring, Task
from .work import Work

#: Small keys that are looked at first.
FIRST = 16
#: Least seconds of any set with a small key, its ring, and its place there.
Key = tuple[float, int, int]


#: Small keys after which the state is written.
EVERY = 10

#: Seconds of an answer, ring, small key of it, place in the ring's block.
Place = tuple[float, int, int, int]


@dataclass(frozen=True)
class Journal:
    """How far a search is, in a file, so that one that was killed goes on; None keeps nothing."""

    path: Path | None = None

    @staticmethod
    def of(cache: Path, about: str) -> "Journal":
        """In a folder, for what a search is asked, the formulas and the binary as they are."""
        sources = [*FORMULAS, *sorted(Path(__file__).parent.glob("*.py"))]
        return Journal(cache / f"pirouette-{origin(about, sources=sources)}.json")

    def last(self) -> tuple[int, list[Place]]:
        """How many small keys were looked at, and the best sets of these."""
        if self.path is None:
            return 0, []
        try:
            document = json.loads(self.path.read_text(encoding="utf-8"))
            best = [(float(s), int(r), int(i), int(at)) for s, r, i, at in document["best"]]
            return int(document["done"]), best
        except (OSError, ValueError, KeyError, TypeError):
            return 0, []

    def keep(self, done: int, best: list[Place]) -> None:
        if self.path is not None:
            write(self.path, json.dumps({"done": done, "best": best}) + "\n")


class Search(Task):
    """The best sets for a task."""

    def best(self, count: int = 1, progress: Progress | None = None, cache: Path | None = None) -> list[Candidate]:
        """The `count` fastest over all rings, fastest first; none if nothing is within the limits.

        Small keys are taken up in the order of the least seconds that any set with them has, until that is too many;
        before all others a few from all over that order, which soon tell what is too many.
        cache: the folder where the state is kept, so that a killed search goes on.
        """
        progress = progress or Progress()
        journal = Journal.of(cache, f"{count} {self.words()}") if cache else Journal()
        name = "Pirouette^H" if self.half else "Pirouette"
        progress.stage(f"{name}: gadgets of {len(self.space.rings)} rings", len(self.space.rings))
        rings = []
        for ring in self.space.rings:
            rings.append(self._ring(ring))
            progress.advance(1)
        least = [small.total + block.after.min() for small, block in rings]
        order = _order((float(s), r, i) for r, all_of_it in enumerate(least) for i, s in enumerate(all_of_it))
        done, best = journal.last()
        before = done
        progress.stage(f"{name}: small keys", len(order) - before)
        while done < (end := _end(order, best, count)):
            progress.revise(end - before)
            _, r, i = order[done]
            small, block = rings[r]
            found = block.fastest(small, i, count, best[-1][0] if len(best) == count else inf)
            best = sorted([*best, *((total, r, i, at) for total, at in found)])[:count]
            done += 1
            if done % EVERY == 0:
                journal.keep(done, best)
            progress.advance(1)
        journal.keep(done, best)
        return [rings[r][1].candidate(rings[r][0], i, at) for _, r, i, at in best]

    def _ring(self, ring: Ring) -> tuple[Small, Block]:
        """The parts that are combined."""
        work, fresh = Work(self._first(ring), self.units), lattice.fresh(ring.stddev)
        return small_keys(self, work, fresh), Block(self, work, fresh)

    def _first(self, ring: Ring) -> Choice:
        """The set of the ring from which all differ."""
        space, small = self.space, self.space.small_keys[0]
        of_ring = {part: space.gadgets(part, ring.modulus) for part in ("rotation", "automorphism", "squaring", "rgsw")}
        return Choice(
            space=space,
            index_bits=self.index_bits,
            ring=ring,
            small=small,
            switching=None if self.half else space.gadgets("switching", 1 << small.modulus_log2).table(0),
            joint=space.joint[0],
            spacing=max(spacings(ring.degree, int(of_ring["rgsw"].digits[0]))),
            first_bits=min(space.first_bits),
            moduli=min(space.moduli),
            **{part: gadgets.table(0) for part, gadgets in of_ring.items()},
        )


def _order(keys: Iterable[Key]) -> list[Key]:
    """By seconds, the first ones as if they had none."""
    order = sorted(keys)
    step = max(1, len(order) // FIRST)
    first = order[step - 1 :: step]
    del order[step - 1 :: step]
    return [(-inf, r, i) for _, r, i in first] + order


def _end(order: Sequence[Key], best: Sequence[Place], count: int) -> int:
    """Where in the order nothing is left that could be faster than the best."""
    return len(order) if len(best) < count else bisect_left(order, (best[-1][0],))
