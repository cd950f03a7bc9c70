"""Sweeps of many searches: experiments/search/<name>.toml to tidy records and a CSV in results/search/.

A file has one or several of
- `[[search]]`, tables whose keys are options of pirlab-search, for sets in params/searched/;
- `[best]`, the best set of each protocol at each database, by each objective, beside the best published one;
- `[front]`, each protocol's whole front at one database;
- `[committed]`, each protocol's sets of params/ that reach the targets, at each of the databases `shapes`;
- `[[application]]`, the best of these for a database, a rate of updates and a network;
- `[[grid]]`, one set with other values of some keys: gadget bases, dropped digits, moduli. It is the file `set`, or the
  best one that is found of a `protocol` by an `objective` at each of the databases.
`costs` is the file of unit costs that seconds are predicted by, if not the defaults; each row names its machine.
A record is a part (a protocol or grid) at a database: made once, made again where the set, the formulas or the binary
changed. The CSV is all records of the file, in order. Of the grids of protocols there is a small one as well, a
line a value (axes.py), beside the records.
"""

import hashlib
import json
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from ..cost import DEFAULTS, UnitCosts
from ..inputs import MOST_WRITTEN, read_text
from ..modulus import parse_modulus
from ..noise.digits import gadget_length
from ..outputs import write
from ..paths import RESULTS, ROOT
from ..sets import AS_PUBLISHED, every_set, resolve
from . import at_hand, axes
from .bounds import Bounds, BoundsError, Objective, Updates
from .choose import best_of, committed, every
from .evaluate import Evaluator, Figures, Literal, Shape
from .grid import varied
from .progress import Progress
from .rings import digits_of
from .space_file import SPACES, get, load, protocols
from .text import count, csv_text
from .walk import Found, Least, WholeFront, walk

OUT = RESULTS / "search"
#: Columns of a row beside the figures of its set.
KEYS = ("sweep", "part", "kind", "objective", "protocol", "records", "record_bits", "name")
COLUMNS = (*KEYS, *(f.name for f in fields(Figures)), "score", "gadget_length", "varied", "set", "machine")
TABLES = "[[search]], [best], [front], [committed], [[application]] or [[grid]] tables"
Row = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """One record: a protocol's best sets or front at a database, or a grid."""

    kind: str
    name: str
    shape: Shape
    settings: dict[str, Any]

    @property
    def updates(self) -> int:
        """Records that change together."""
        return Updates.read(self.settings["updates"]).records if "updates" in self.settings else 0

    @property
    def file(self) -> str:
        return f"{self.kind}-{self.name}-{self.shape.records}x{self.shape.record_bits}.json"


def read(path: Path) -> dict[str, Any]:
    """A file of sweeps; BoundsError names what is wrong with it."""
    try:
        document = tomllib.loads(read_text(path, MOST_WRITTEN))
    except tomllib.TOMLDecodeError as error:
        raise BoundsError(f"{path}: {error}. It holds {TABLES}") from None
    tables = document.keys() - {"title", "costs"}
    unknown = tables - {"search", "best", "front", "committed", "application", "grid"}
    if unknown or not tables:
        named = ", ".join(sorted(unknown)) or "a file without tables"
        raise BoundsError(f"{path}: {named} is not a sweep. It holds {TABLES}")
    given = document.get("costs", "")
    if not isinstance(given, str) or not costs(document).is_file():
        raise BoundsError(f"{path}: costs = {given!r} is not a file of the repository. Name one of `pirlab calibrate`")
    return document


def costs(document: dict[str, Any]) -> Path:
    """The file of unit costs of a sweep."""
    return ROOT / document["costs"] if "costs" in document else DEFAULTS


def parts(path: Path) -> list[Part]:
    """The records that a file asks for, in order."""
    document = read(path)
    try:
        return list(_parts(document))
    except KeyError as error:
        raise BoundsError(f"{path}: key {error} is missing; compare with the other sweeps") from None
    except ValueError as error:
        raise BoundsError(f"{path}: {error}") from None


def _parts(document: dict[str, Any]) -> Iterator[Part]:
    for kind in ("best", "front"):
        if kind not in document:
            continue
        table = document[kind]
        names = table.get("protocols", protocols())
        unknown = set(names) - set(protocols())
        if unknown:
            raise ValueError(f"there is no protocol {', '.join(sorted(unknown))}; there are {', '.join(protocols())}")
        for name, records, bits in product(names, table["records"], table["record_bits"]):
            settings = {"objectives": table.get("objectives", ["bytes"])}
            yield Part(kind, name, Shape(count(records), count(bits)), settings)
    if "committed" in document:
        for name, (records, bits) in product(every(protocols()), document["committed"]["shapes"]):
            yield Part("committed", name, Shape(count(records), count(bits)), {})
    for table in document.get("application", []):
        settings = {key: value for key, value in table.items() if key not in ("name", "records", "record_bits")}
        yield Part("application", table["name"], Shape(count(table["records"]), count(table["record_bits"])), settings)
    for table in document.get("grid", []):
        of = ("protocol", "objective") if "protocol" in table else ("set", "gadget")
        settings = {key: table[key] for key in (*of, "vary")}
        for records, bits in product(_listed(table["records"]), _listed(table["record_bits"])):
            yield Part("grid", table["name"], Shape(count(records), count(bits)), settings)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def run(path: Path, unit_costs: UnitCosts, progress: Progress, only: str | None = None, out: Path = OUT) -> list[Path]:
    """Make the file's missing records (of the part `only`) and the CSV of all records; returns the files."""
    wanted = parts(path)
    names = list(dict.fromkeys(part.name for part in wanted))
    if only is not None and only not in names:
        raise BoundsError(f"{path}: there is no part {only!r}; there are {', '.join(names)}")
    mine = [part for part in wanted if only in (None, part.name)]
    folder = out / path.stem
    for number, part in enumerate(mine, 1):
        evaluator = Evaluator(part.shape, unit_costs, updates=part.updates)
        if _known(folder, part, evaluator) is None:
            progress.stage(f"{path.stem} {number} of {len(mine)}: {part.name}, {part.shape.words()}", 0)
            rows = [_row(path.stem, part, each) for each in _MAKERS[part.kind](part, evaluator, progress)]
            write(folder / part.file, json.dumps({"key": _key(part, evaluator), "rows": rows}, indent=1) + "\n")
    # Records of other parts may be of an earlier request: these have other columns, and wait for their turn.
    found = [
        (part, _known(folder, part, Evaluator(part.shape, unit_costs, None, updates=part.updates))) for part in wanted
    ]
    rows = [row | {"machine": unit_costs.name} for _, record in found if record for row in record["rows"]]
    tables = {out / f"{path.stem}.csv": (COLUMNS, rows)}
    # Of grids around the best sets of protocols.
    if grids := [(p, record) for p, record in found if record and p.kind == "grid" and "protocol" in p.settings]:
        along = [row for part, record in grids for row in axes.lines(record["rows"], part.settings["vary"])]
        tables[folder / f"{path.stem}.csv"] = (axes.COLUMNS, along)
    for table, (columns, rows) in tables.items():
        write(table, csv_text(columns, rows))
    return [*(folder / part.file for part, record in found if record), *tables]


def _state(part: Part) -> str:
    """The inputs of a record beside an evaluator's: the request, the space, the sets beside it."""
    own = part.settings.get("set")
    if part.kind in ("committed", "application"):
        return json.dumps([part.settings, committed(), Path(at_hand.__file__).read_text(encoding="utf-8")])
    beside = resolve([ROOT / own]) if own else _sets(part.settings.get("protocol", part.name))
    texts = [file.read_text(encoding="utf-8") for file in [*sorted(SPACES.glob("*.toml")), Path(__file__)]]
    return "".join([json.dumps(part.settings), json.dumps(beside), *texts])


def _key(part: Part, evaluator: Evaluator) -> str:
    return hashlib.sha256(f"{evaluator.origin}{_state(part)}".encode()).hexdigest()[:16]


def _known(folder: Path, part: Part, evaluator: Evaluator) -> dict[str, Any] | None:
    """The record of a part, if there is one that was made from these inputs."""
    try:
        document: dict[str, Any] = json.loads((folder / part.file).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return document if document.get("key") == _key(part, evaluator) else None


def _row(name: str, part: Part, row: Row) -> Row:
    about = {"sweep": name, "part": part.name, "kind": part.kind} | asdict(part.shape)
    literal: Literal = row.pop("literal")
    return about | row | {"protocol": literal["protocol"], "set": json.dumps(literal, sort_keys=True)}


def _best(part: Part, evaluator: Evaluator, progress: Progress) -> Iterator[Row]:
    """The best found and the best published set by each objective, where there is one."""
    published = list(_published(part.name, evaluator))
    for name in part.settings["objectives"]:
        objective = Objective(name, part.shape)
        best = _least(part.name, objective, evaluator, progress)
        if best is not None:
            yield {"name": "found", "literal": best.literal} | _judged(objective, best.figures)
        if published:
            stem, literal, figures = min(published, key=lambda each: objective.rank(each[2]))
            yield {"name": stem, "literal": literal} | _judged(objective, figures)


def _least(protocol: str, objective: Objective, evaluator: Evaluator, progress: Progress) -> Found | None:
    """The best set of a protocol's coarse space."""
    return best_of(walk(load(protocol).narrowed(), evaluator, Bounds(), Least(objective), progress).found, objective)


def _judged(objective: Objective | None, figures: Figures) -> Row:
    """Figures, and their score if there is an objective."""
    if objective is None or figures.refused is not None:
        return asdict(figures)
    return {"objective": objective.name, "score": objective(figures)} | asdict(figures)


@cache
def _sets(protocol: str) -> dict[str, Literal]:
    """The sets of params/<protocol>/, and what experiments change of them, by name."""
    own = {id: each for id, each in every_set().items() if each[0].startswith(f"{protocol}/")}
    return {Path(id).name: resolve([ROOT / f"params/{name}.toml"], changes)[0] for id, (name, changes) in own.items()}


def _published(protocol: str, evaluator: Evaluator) -> Iterator[tuple[str, Literal, Figures]]:
    """The published sets of params/ that take the database, secure or not, right or not."""
    kept = {name: each for name, each in _sets(protocol).items() if each["source"]["kind"] in AS_PUBLISHED}
    for (stem, literal), figures in zip(kept.items(), evaluator(list(kept.values()))):
        if figures.refused is None:
            yield stem, literal, figures


def _front(part: Part, evaluator: Evaluator, progress: Progress) -> Iterator[Row]:
    for found in walk(load(part.name).narrowed(), evaluator, Bounds(), WholeFront(), progress).found:
        yield {"name": "found", "literal": found.literal} | asdict(found.figures)


def _grid(part: Part, evaluator: Evaluator, progress: Progress) -> Iterator[Row]:
    """A set with every combination of the values, and what is found of a protocol before it."""
    objective = None
    if "set" in part.settings:
        [base] = resolve([ROOT / part.settings["set"]])
    else:
        objective = Objective(part.settings["objective"], part.shape)
        best = _least(part.settings["protocol"], objective, evaluator, progress)
        if best is None:
            nothing = Figures(refused=at_hand.WITHOUT)
            literal = {"protocol": part.settings["protocol"]}
            yield {"name": "found", "varied": "{}", "literal": literal} | asdict(nothing)
            return
        base = best.literal
        yield {"name": "found", "varied": "{}", "literal": base} | _judged(objective, best.figures)
    sets = list(varied(base, part.settings["vary"]))
    progress.stage(f"{part.name}: {len(sets)} sets", len(sets))
    figures = evaluator([literal for _, literal in sets], progress.advance)
    for (change, literal), each in zip(sets, figures):
        words: Row = {"varied": json.dumps(change), "name": part.name, "literal": literal}
        if "gadget" in part.settings:
            of = part.settings["gadget"]
            table, modulus = literal[of["table"]], parse_modulus(str(get(literal, of["modulus"])))
            words["gadget_length"] = gadget_length(
                digits_of(table), modulus, 1 << table["base_log2"], table.get("dropped", 0)
            )
        yield words | _judged(objective, each)


_MAKERS: dict[str, Callable[[Part, Evaluator, Progress], Iterator[Row]]] = {
    "best": _best,
    "front": _front,
    "committed": lambda part, evaluator, _: at_hand.front(part.name, evaluator),
    "application": lambda part, evaluator, _: at_hand.application(
        sorted(every(protocols())), part.shape, part.settings, evaluator
    ),
    "grid": _grid,
}
