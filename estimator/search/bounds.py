"""The requirements on sets: targets, budgets, and the objective that ranks them."""

import re
import tomllib
from argparse import ArgumentTypeError
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from math import log2
from pathlib import Path
from typing import NamedTuple

from ..cost.plan import format_bytes
from ..inputs import MOST_WRITTEN, read_text
from ..noise import FAILURE_TARGET
from ..security.attacks import SECURITY_TARGET
from .evaluate import Figures, Shape
from .rings import reaches

PRICES = Path(__file__).with_name("prices.toml")
#: Bytes before the first query that are seeds of public matrices, neither a hint nor a key.
SEEDS = 1024.0


class Budget(NamedTuple):
    """The figure that a budget bounds, in the words of its option and of the reason why a set is left out."""

    figure: str
    limits: str
    exceeded: str


BUDGETS = {
    "upload": Budget("upload", "bytes of a query", "send more than --max-upload"),
    "download": Budget("download", "bytes of an answer", "answer with more than --max-download"),
    "offline": Budget("hint_bytes", "bytes that a client fetches beforehand", "need a hint above --max-offline"),
    "memory": Budget("server_bytes", "bytes that the server holds", "need more server memory than --max-memory"),
    "storage": Budget("client_bytes", "bytes that a client keeps", "need more client storage than --max-storage"),
    "seconds": Budget("seconds", "seconds of an answer", "answer slower than --max-seconds"),
    "updates": Budget(
        "update_seconds", "seconds between two updates", "take longer for an update than --updates leaves"
    ),
    "serves": Budget("hint_serves", "queries that a hint serves", "have a client keep a hint that wears out"),
}
#: Budgets without an option --max-NAME of their own.
OWN = ("updates", "serves")

#: Those in seconds; the others are in bytes.
TIMES = ("seconds", "updates")


class BoundsError(ValueError):
    """Bounds that contradict each other or make no sense; the message names them."""


@dataclass(frozen=True)
class Bounds:
    """Targets, and budgets in bytes and seconds; None means no budget.

    offline: bytes that a client fetches before its first query. memory: of the server while it answers.
    storage: what a client keeps. updates: seconds in which the server is ready after an update. serves: 0 leaves out
    hints that wear out, which a client keeps and counts, however short they are.
    """

    security: float = float(SECURITY_TARGET)
    failure: float = FAILURE_TARGET
    upload: float | None = None
    download: float | None = None
    offline: float | None = None
    memory: float | None = None
    storage: float | None = None
    seconds: float | None = None
    updates: float | None = None
    serves: float | None = None

    def __post_init__(self) -> None:
        for name, bound in self.budgets().items():
            if not bound >= 0:
                what = "negative" if bound < 0 else "not a number"
                raise BoundsError(f"--max-{name} {bound:g} is {what}; give a number of 0 or more, or leave it out")
        if not 0 < self.security <= 400:
            raise BoundsError(f"--security {self.security:g} is not between 0 and 400 bits")
        if not -2000 <= self.failure < 0:
            raise BoundsError(
                f"--failure {self.failure:g} is log2 of a probability: give a negative number, such as -40"
            )
        for name in ("upload", "download"):
            if self.budgets().get(name) == 0:
                raise BoundsError(f"--max-{name} 0 contradicts every protocol: each sends something. Give more bytes")

    def budgets(self) -> dict[str, float]:
        """The given budgets, by name."""
        return {name: getattr(self, name) for name in BUDGETS if getattr(self, name) is not None}

    def exceeded(self, figures: Figures) -> dict[str, float]:
        """For each exceeded budget the factor by which it is exceeded."""
        return {
            name: spent(name, figures) / bound if bound else float("inf")
            for name, bound in self.budgets().items()
            if spent(name, figures) > bound
        }

    def reached(self, figures: Figures) -> bool:
        """Whether security and failure reach the targets."""
        return reaches(figures.bits, self.security) and figures.log2_failure <= self.failure

    def keeps(self, figures: Figures) -> bool:
        """Whether a set serves the database, reaches the targets and is within the budgets."""
        return figures.refused is None and self.reached(figures) and not self.exceeded(figures)

    def missed_by_power(self, figures: Figures, power: float) -> bool:
        """Whether security misses its target, or the failure would miss it even with log2 of it `power` times as large,
        in `power` times fewer decisions."""
        return not reaches(figures.bits, self.security) or power * figures.log2_failure - log2(power) > self.failure

    def without(self, budget: str) -> "Bounds":
        """The same without one budget."""
        return Bounds(**(vars(self) | {budget: None}))

    def no_worse(self, than: Figures, faster: float = 0.0) -> "Bounds":
        """The same with upload, download and answer seconds of a set as further budgets, the seconds less `faster`."""
        if not 0 <= faster < 1:
            raise BoundsError(f"--faster {100 * faster:g} is not from 0 to 100 per cent")
        kept = {}
        for name, share in (("upload", 1.0), ("download", 1.0), ("seconds", 1 - faster)):
            most = share * spent(name, than)
            kept[name] = min(self.budgets().get(name, most), most)
        return replace(self, **kept)


def spent(budget: str, figures: Figures) -> float:
    """The part of a budget that a set needs."""
    needed: float | None = getattr(figures, BUDGETS[budget].figure)
    return needed or 0.0


class Updates(NamedTuple):
    """Records that change together, and the seconds between two changes: 200/12s."""

    records: int
    seconds: float

    @staticmethod
    def read(text: str) -> "Updates":
        match = re.fullmatch(r"(\d+)/(\d+(?:\.\d+)?)s?", text.strip())
        if not match or int(match[1]) == 0 or float(match[2]) == 0:
            raise ArgumentTypeError(f"{text!r} is not a rate of updates: write 200/12s (200 records every 12 s)")
        return Updates(int(match[1]), float(match[2]))


@dataclass(frozen=True)
class Network:
    """Between client and server: seconds of a round trip, bytes a second, and queries that one hint serves."""

    round_trip: float = 0.05
    bandwidth: float = 12.5e6
    hint_queries: int = 100

    @staticmethod
    def read(text: str) -> "Network":
        """From 20ms,50Mbit."""
        number = r"(\d+(?:\.\d+)?)"
        match = re.fullmatch(rf"{number}\s*(ms|s),\s*{number}\s*([KMG])bit(?:/s)?", text.strip(), re.IGNORECASE)
        if not match or float(match[3]) == 0:
            raise ArgumentTypeError(f"{text!r} is not a network: write 20ms,50Mbit (round trip, bits/s above 0)")
        seconds = float(match[1]) * (1e-3 if match[2].lower() == "ms" else 1)
        return Network(seconds, float(match[3]) * 1000 ** (1 + "KMG".index(match[4].upper())) / 8)


@dataclass(frozen=True)
class Prices:
    """Dollars of a second of one core, of a byte to the client and of a byte from it."""

    core_second: float
    download_byte: float
    upload_byte: float

    @staticmethod
    def load(path: Path = PRICES) -> "Prices":
        try:
            document = tomllib.loads(read_text(path, MOST_WRITTEN))
            return Prices(*(float(document[f.name]) for f in fields(Prices)))
        except (KeyError, tomllib.TOMLDecodeError, ValueError) as error:
            raise BoundsError(
                f"{path}: {error}. It needs core_second, download_byte and upload_byte, in dollars"
            ) from None


@dataclass(frozen=True)
class Objective:
    """The score that ranks sets; less is better. A hint is shared by the queries that it serves.

    Where records change, a client asks once between two updates: what an update sends is part of each query.

    `saving`: the least share of upload, of download or of answer seconds of the set `than`.
    """

    name: str
    shape: Shape
    network: Network = Network()
    prices: Prices | None = None
    than: Figures | None = None

    def __post_init__(self) -> None:
        if self.name not in OBJECTIVES:
            raise BoundsError(f"--objective {self.name!r} is not one of {', '.join(OBJECTIVES)}")
        if self.name == "saving" and self.than is None:
            raise BoundsError("--objective saving needs a set to save against: give --no-worse-than FILE")

    def hint_share(self, figures: Figures) -> float:
        """A query's share of the hint's bytes, and an update of it. A hint that serves a counted number of queries is
        shared by these."""
        return figures.hint_bytes / (figures.hint_serves or self.network.hint_queries) + figures.update_bytes

    def __call__(self, figures: Figures) -> float:
        return OBJECTIVES[self.name].score(self, figures)

    def rank(self, figures: Figures) -> tuple[float, float]:
        """Among equal scores the faster answer is better."""
        return self(figures), figures.seconds

    def words(self, figures: Figures) -> str:
        """The figure as text."""
        return OBJECTIVES[self.name].words(self(figures))


class Kind(NamedTuple):
    """A kind of objective: its figure, the score, and the score in words."""

    noun: str
    score: Callable[[Objective, Figures], float]
    words: Callable[[float], str]


def _bytes(objective: Objective, figures: Figures) -> float:
    return figures.upload + figures.download + objective.hint_share(figures)


def _seconds(objective: Objective, figures: Figures) -> float:
    on_wire = _bytes(objective, figures) / objective.network.bandwidth
    return objective.network.round_trip + on_wire + figures.seconds + figures.client_seconds


def _dollars(objective: Objective, figures: Figures) -> float:
    prices = objective.prices or Prices.load()
    down = prices.download_byte * (figures.download + objective.hint_share(figures))
    return prices.core_second * figures.seconds + (prices.upload_byte * figures.upload + down)


def _rate(objective: Objective, figures: Figures) -> float:
    return (figures.download + objective.hint_share(figures)) / (objective.shape.record_bits / 8)


def _saving(objective: Objective, figures: Figures) -> float:
    assert objective.than is not None
    return min(spent(name, figures) / spent(name, objective.than) for name in ("upload", "download", "seconds"))


OBJECTIVES = {
    "bytes": Kind("traffic", _bytes, lambda score: f"{format_bytes(score)} a query"),
    "seconds": Kind("time", _seconds, lambda score: f"{score:.3g} s from question to record"),
    "dollars": Kind("cost", _dollars, lambda score: f"{1e6 * score:.3g} dollars a million queries"),
    "rate": Kind(
        "download a byte of record",
        _rate,
        lambda score: f"{1 / score:.3g} bytes of record a byte of answer" if score else "no download",
    ),
    "saving": Kind("share", _saving, lambda score: f"saves {100 * (1 - score):.0f} % in one of them"),
}
