"""Costs and failure of sets: they are described in batches by the binary, predicted, and cached.

Nothing here knows a protocol: sizes, work and instances come from descriptions, security from the fast model, failure
from the noise chain, seconds from unit costs.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .. import cost
from ..cost import UnitCosts, predict_seconds
from ..describe import describe_each
from ..noise import predict_noise
from ..outputs import append
from ..paths import RESULTS, pirlab_binary
from ..security.assess import best, fast_estimate
from ..security.attacks import CIPHER_BITS, MODEL
from ..security.instance import Instance
from .files import toml

CACHE = RESULTS / "cache" / "search"
#: Sets of one call of the binary.
BATCH = 400
#: The name of sets in refusals, which is not a file.
PLACE = "set/"
#: Simultaneous calls: one runs while the answers of the other are read.
CALLS = 2


#: Sources of the formulas.
FORMULAS = sorted(
    path
    for pattern in ("noise/**/*.py", "cost/*.py", "cost/operations.toml", "security/fast/*.py")
    for path in Path(__file__).parent.parent.glob(pattern)
)


def origin(*about: str, sources: Iterable[Path]) -> str:
    """A name of everything that predictions depend on beside a set: binary, request, and sources of formulas."""
    binary = pirlab_binary()
    state = binary.stat() if binary.is_file() else None
    found = (str(binary.resolve()), str(state and (state.st_size, state.st_mtime_ns)), *about)
    digest = hashlib.sha256("\n".join(found).encode())
    for path in sources:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Shape:
    """A database: how many records, and how many bits each has."""

    records: int
    record_bits: int

    def bytes(self) -> int:
        """Bytes of the records back to back."""
        return -(-self.records * self.record_bits // 8)

    def words(self) -> str:
        return f"{self.records} records of {self.record_bits} bits"


@dataclass(frozen=True)
class Figures:
    """The predictions for a set at a shape, for one query. Bytes are payloads.

    hint_bytes: what a client fetches or sends before its first query; key_bytes: what it sends. hint_serves: queries
    that it serves, None for any number. client_bytes: what it keeps. server_bytes: what the server holds while it
    answers. client_seconds: making a query and reading the answer. update_seconds, update_bytes: of the server, and
    what it sends every client, when records change. log2_failure: of a record, for any data. bits: of
    the weakest instance, by the fast model, or of the cipher where no instance is sent; None without a figure.
    refused: why there are no figures.
    """

    upload: int = 0
    download: int = 0
    hint_bytes: int = 0
    key_bytes: int = 0
    hint_serves: int | None = None
    seconds: float = 0.0
    client_seconds: float = 0.0
    setup_seconds: float = 0.0
    server_bytes: int = 0
    client_bytes: int = 0
    log2_failure: float = 0.0
    bits: float | None = None
    update_seconds: float = 0.0
    update_bytes: int = 0
    refused: str | None = None

    def costs(self) -> tuple[float, ...]:
        """The costs of a front; less is better."""
        return self.upload, self.download, self.seconds, self.server_bytes, self.client_bytes


#: Names of the first of a set's costs.
COSTS = ("upload", "download", "answer time", "server memory")
Literal = dict[str, Any]
SOURCE = {"kind": "searched"}


class Evaluator:
    """Evaluates sets at one shape. Answers are kept in a file of results/cache, so that a killed search goes on.

    cache: the folder of that file, if any. unit_costs: of which machine. updates: records that change together.
    threads: of the server. origin: names what figures depend on beside
    the set. evaluated: how many were not remembered.
    """

    def __init__(
        self, shape: Shape, unit_costs: UnitCosts, cache: Path | None = CACHE, *, updates: int = 0, threads: int = 1
    ) -> None:
        self.shape = shape
        self.unit_costs = unit_costs
        self.updates = updates
        self.threads = threads
        self.cache = cache
        self.evaluated = 0
        self._known: dict[str, Figures] = {}
        about = (
            json.dumps([asdict(shape), updates, threads]),
            json.dumps(sorted(unit_costs.seconds.items()), default=str),
        )
        self.origin = origin(*about, sources=[*FORMULAS, Path(__file__)])
        self._path = None if cache is None else cache / f"{self.origin}.jsonl"
        if self._path is not None:
            self._remember(self._path)

    def at(self, shape: Shape) -> "Evaluator":
        """The same at another shape."""
        return Evaluator(shape, self.unit_costs, self.cache, updates=self.updates, threads=self.threads)

    def __call__(self, literals: Sequence[Literal], done: Callable[[int], None] = lambda _: None) -> list[Figures]:
        """The figures of each set; `done` learns how many each finished batch has."""
        texts = [toml(literal | {"source": SOURCE}) for literal in literals]
        keys = [hashlib.sha256(text.encode()).hexdigest()[:32] for text in texts]
        new = {key: text for key, text in zip(keys, texts) if key not in self._known}
        done(len(keys) - len(new))
        for found in self._evaluate(new):
            self._store(found)
            self.evaluated += len(found)
            done(len(found))
        return [self._known[key] for key in keys]

    def _evaluate(self, sets: dict[str, str]) -> Iterator[dict[str, Figures]]:
        items = list(sets.items())
        batches = [items[i : i + BATCH] for i in range(0, len(items), BATCH)]
        with ThreadPoolExecutor(CALLS) as pool:
            for batch, answers in zip(batches, pool.map(self.describe, [[t for _, t in b] for b in batches])):
                yield dict(zip([key for key, _ in batch], self._figures(answers)))

    def describe(self, texts: Sequence[str]) -> list[dict]:
        """The description of each parameter file, or {"error"}, in one call of the binary."""
        shape = asdict(self.shape) | {"updates": self.updates}
        rows = [{"id": str(i), "parameters": f"{PLACE}{i}", "toml": text} | shape for i, text in enumerate(texts)]
        # A refusal without the name of a file that does not exist.
        place = re.compile(rf"(parameter file )?{PLACE}\d+: ")
        return [{"error": place.sub("", a["error"])} if "error" in a else a for a in describe_each(rows)]

    def _figures(self, descriptions: Sequence[dict]) -> list[Figures]:
        described = [d for d in descriptions if "error" not in d]
        seconds = iter(predict_seconds(described, self.unit_costs, self.threads))
        bits = iter(_security(described))
        log2_failures = iter(failures(described))
        return [
            Figures(refused=d["error"]) if "error" in d else joined(d, next(seconds), next(bits), next(log2_failures))
            for d in descriptions
        ]

    def _remember(self, path: Path) -> None:
        if not path.is_file():
            return
        for line in path.read_bytes().splitlines():
            try:
                key, values = json.loads(line)
                self._known[key] = Figures(**values)
            except (ValueError, TypeError):
                continue  # a line that a killed search or a full disk left unfinished

    def _store(self, found: dict[str, Figures]) -> None:
        self._known.update(found)
        if self._path is None:
            return
        lines = "".join(json.dumps([key, asdict(value)]) + "\n" for key, value in found.items())
        append(self._path, lines)


def joined(description: dict, seconds: dict[str, float], bits: float | None, failure: float | str) -> Figures:
    if isinstance(failure, str):
        return Figures(refused=failure, bits=bits)
    messages = description["messages"]
    offline = [m for m in messages if m["phase"] == "offline"]
    online = [m for m in messages if m["phase"] != "offline" and not m["phase"].startswith(cost.UPDATES)]
    updated = [m for m in messages if m["phase"].startswith(cost.UPDATES)]
    memory = description["memory"]
    return Figures(
        upload=sum(m["payload_bytes"] for m in online if m["direction"] == "upload"),
        download=sum(m["payload_bytes"] for m in online if m["direction"] == "download"),
        hint_bytes=sum(m["payload_bytes"] for m in offline),
        hint_serves=min((m["queries_served"] for m in offline if m.get("queries_served") is not None), default=None),
        key_bytes=sum(m["payload_bytes"] for m in offline if m["direction"] == "upload"),
        seconds=seconds["answer"],
        client_seconds=seconds["query"] + seconds["extract"],
        setup_seconds=seconds["total"] - seconds["answer"] - seconds["query"] - seconds["extract"],
        server_bytes=sum(part["bytes"] for part in memory["server"]),
        client_bytes=sum(part["bytes"] for part in memory["client"]),
        update_seconds=seconds.get("update_server", 0.0),
        update_bytes=sum(m["payload_bytes"] for m in updated if m["direction"] == "download"),
        log2_failure=failure,
        bits=bits,
    )


def _security(descriptions: Sequence[dict]) -> list[float | None]:
    """The fast model's least bits over the instances of each description. One without instances rests on a cipher, and
    has the bits of that."""
    instances = [[Instance.of(i) for i in d["instances"]] for d in descriptions]
    answers = fast_estimate(list(dict.fromkeys(i for group in instances for i in group)))
    found: list[float | None] = []
    for group in instances:
        attacks = [best(answers[i]["results"], MODEL) for i in group]
        bits = [a.log2_rop for a in attacks if a is not None and a.log2_rop is not None]
        found.append(min(bits, default=CIPHER_BITS) if len(bits) == len(attacks) else None)
    return found


def failures(descriptions: Sequence[dict]) -> list[float | str]:
    """log2 of the failure probability of each, or the reason why it cannot be predicted."""
    try:
        return [each["log2_failure"] for each in predict_noise(descriptions)]
    except ValueError as error:
        if len(descriptions) == 1:
            return [str(error)]
        return [failures([description])[0] for description in descriptions]
