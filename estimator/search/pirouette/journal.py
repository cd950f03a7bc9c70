"""How far a search of Pirouette's sets is, on disk, so that one that was killed goes on."""

import json
from dataclasses import dataclass
from pathlib import Path

from ...outputs import write
from ..evaluate import FORMULAS, origin

#: Small keys after which the state is written.
EVERY = 10

#: Seconds of an answer, ring, small key of it, place in the ring's block.
Place = tuple[float, int, int, int]


@dataclass(frozen=True)
class Journal:
    """The file of one search; None keeps nothing."""

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
