"""The answer to "which protocol?" in words, as JSON, as CSV and as one HTML page."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any

import jinja2

from ..cost.plan import format_bytes
from .bounds import OBJECTIVES, SEEDS, Objective, Updates
from .choose import DOWNLOAD, FOUND, Choice, Takeover
from .evaluate import COSTS, Figures
from .sensitivity import described
from .text import aligned, csv_text
from .walk import Found

#: Seconds of preprocessing that a reason mentions.
LONG_SETUP = 600.0
HEADER = ["set", "security", "failure", "upload", "download", "answer", "server", "ranked by"]


@dataclass(frozen=True)
class Answer:
    """The ranked choices, what they are ranked by, and where another protocol takes over.

    machine: whose unit costs predict seconds.
    """

    choices: Sequence[Choice]
    objective: Objective
    takeovers: Sequence[Takeover]
    machine: str
    threads: int = 1
    updates: Updates | None = None

    def title(self) -> str:
        """The question."""
        link = self.objective.network
        words = f"{self.objective.shape.words()}: protocols by {self.objective.name}"
        if self.objective.name == "seconds":
            words += f", {1000 * link.round_trip:g} ms and {8e-6 * link.bandwidth:g} Mbit/s"
        words += f", {self.threads} threads" if self.threads > 1 else ""
        return words + (
            f", {self.updates.records} records change every {self.updates.seconds:g} s" if self.updates else ""
        )

    def predicted(self) -> str:
        """A sentence: what predicts the figures."""
        seconds = f"seconds by the unit costs of {self.machine}"
        return f"Predicted: bytes as the program describes them, {seconds}, security by the fast model."

    def reasons(self, choice: Choice) -> list[str]:
        """The reasons for and against a protocol, compared with the first one."""
        return reasons(choice, self.choices[0], self.objective, self.updates)

    def table(self) -> list[list[str]]:
        """A line a protocol that has a set, after the header."""
        rows = [
            [c.protocol, *described(c.best.figures), self.objective.words(c.best.figures)]
            for c in self.choices
            if c.best
        ]
        return [["protocol", *HEADER[1:]], *rows] if rows else []

    def taken_over(self) -> list[str]:
        """A sentence a direction."""
        return [_sentence(each, self.choices[0].protocol, self.objective) for each in self.takeovers]

    def text(self) -> str:
        lines = [self.title(), self.predicted()]
        lines += [aligned(self.table()).rstrip("\n")] if self.table() else []
        for place, choice in enumerate(self.choices, 1):
            lines += [f"\n{place}. {choice.protocol}", *(f"   - {reason}" for reason in self.reasons(choice))]
        if self.takeovers:
            lines += ["\nWhere another protocol takes over, of the sets above and the committed ones:"]
            lines += [f"   - {sentence}" for sentence in self.taken_over()]
        return "\n".join(lines) + "\n"

    def mapping(self) -> dict[str, Any]:
        return {
            "machine": self.machine,
            "protocols": [self._choice(choice) for choice in self.choices],
            "takeovers": [
                asdict(t.shape) | {"protocol": t.protocol, "words": words}
                for t, words in zip(self.takeovers, self.taken_over())
            ],
        }

    def _choice(self, choice: Choice) -> dict[str, Any]:
        said = {"protocol": choice.protocol, "name": choice.name, "reasons": self.reasons(choice)}
        best, account = choice.best and mapping(choice.best), choice.account and choice.account.mapping()
        return said | {"best": best, "account": account}

    def csv(self) -> str:
        """A line a protocol and a line a takeover, each with its database; figures in bytes and seconds, empty where
        no set keeps the bounds. The words of a takeover stand below `reasons`."""
        rows, figures = [], [name for name in asdict(Figures()) if name != "refused"]
        for place, choice in enumerate(self.choices, 1):
            row: dict[str, Any] = {"line": "protocol", "protocol": choice.protocol} | asdict(self.objective.shape)
            if choice.best:
                row |= {"rank": place, "set": choice.name, "score": self.objective(choice.best.figures)}
                row |= {name: value for name, value in mapping(choice.best).items() if name in figures}
            rows.append(row | {"reasons": "; ".join(self.reasons(choice))})
        for takeover, words in zip(self.takeovers, self.taken_over()):
            row = {"line": "takeover", "reasons": words} | asdict(takeover.shape)
            rows.append(row | ({"protocol": takeover.protocol, "score": takeover.score} if takeover.protocol else {}))
        asked = {"question": self.title(), "machine": self.machine}
        columns = ["line", "records", "record_bits", "rank", "protocol", "set", "score", *figures, "reasons", *asked]
        return csv_text(columns, [row | asked for row in rows])

    def html(self) -> str:
        environment = jinja2.Environment(autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
        page = environment.from_string(Path(__file__).with_suffix(".html.j2").read_text(encoding="utf-8"))
        return page.render(answer=self)


def mapping(found: Found) -> dict[str, Any]:
    """A set and its figures, as JSON has them."""
    bits = found.figures.bits
    figures = replace(found.figures, bits=bits if bits is None or isfinite(bits) else None)
    return {"set": found.literal} | asdict(figures)


def _sentence(takeover: Takeover, first: str, objective: Objective) -> str:
    shape, here = takeover.shape, objective.shape
    if not takeover.steps:
        return f"no other database was looked at beyond {here.words()}"
    same_size = shape.record_bits == here.record_bits
    times = f"{1 << abs(takeover.steps)} times {'as' if takeover.steps > 0 else 'fewer' if same_size else 'shorter'}"
    times += (" many" if same_size else " long") if takeover.steps > 0 else ""
    if takeover.protocol is None:
        return f"{first} stays first {'up' if takeover.steps > 0 else 'down'} to {shape.words()} ({times})"
    words = OBJECTIVES[objective.name].words
    former = f"{words(takeover.former)} with {first}" if takeover.former is not None else f"{first} has no set there"
    return f"{takeover.protocol} at {shape.words()} ({times}): {words(takeover.score)}, {former}"


def reasons(choice: Choice, winner: Choice, objective: Objective, updates: Updates | None = None) -> list[str]:
    """The reasons for and against a protocol, compared with the first one."""
    if choice.best is None or winner.best is None:
        lines = choice.account.lines()[1:] if choice.account else []
        lines += choice.missed
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
    elif mine.key_bytes > SEEDS:
        words.append(
            f"every client sends keys of {format_bytes(mine.key_bytes)} once, which the server keeps; {served}"
        )
    elif mine.hint_bytes > SEEDS or mine.hint_serves:
        hint = format_bytes(mine.hint_bytes)
        words.append(
            f"every client fetches and keeps a hint of {hint}, {served}, and again (in part) when records change"
        )
    else:
        words.append("clients need no hint and keep nothing between queries")
    if choice.name != FOUND:
        words.append(f"its set is params/{choice.name}.toml")
    if updates is not None and choice.protocol != DOWNLOAD:
        words.append(_updated(mine, updates))
    words.append(f"the server holds {format_bytes(mine.server_bytes)}")
    if mine.setup_seconds > LONG_SETUP:
        words.append(f"preprocessing takes {mine.setup_seconds / 60:.0f} minutes on one core")
    return words


def _updated(mine: Figures, updates: Updates) -> str:
    """What an update costs."""
    said = f"an update of {updates.records} records takes {mine.update_seconds:.2g} s of the {updates.seconds:g} s"
    sent = f"sends every client {format_bytes(mine.update_bytes)}" if mine.update_bytes else "sends clients nothing"
    return f"{said} until the next, and {sent}"


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
