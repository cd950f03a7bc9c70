"""How far a search of Pirouette's sets is, on disk, so that one that was killed goes on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ...outputs import write

#: Small keys after which the state is written.
EVERY = 10
_HERE = Path(__file__).parent
_ESTIMATOR = _HERE.parents[1]

#: Seconds of an answer, ring, small key of it, place in the ring's block.
Place = tuple[float, int, int, int]


@dataclass(frozen=True)
class Journal:
    """The file of one search; None keeps nothing."""

    path: Path | None = None

    @staticmethod
    def of(cache: Path, about: str) -> Journal:
        """In a folder, for what a search is asked and the formulas as they are."""
        digest = sha256(about.encode())
        formulas = [*_ESTIMATOR.rglob("noise/**/*.py"), *_ESTIMATOR.glob("cost/*.py"), *_HERE.glob("*.py")]
        for path in sorted(formulas):
            digest.update(path.read_bytes())
        return Journal(cache / f"pirouette-{digest.hexdigest()[:16]}.json")

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
