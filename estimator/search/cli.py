"""`pirlab-search`: parameter sets that are secure, fail rarely and cost least, for a protocol and a database.

pirlab-search --protocol inspire --records 2^24 --record-bits 512 --max-upload 300KB
pirlab-search --protocol all --records 2^20 --record-bits 2048 --stateless --network 20ms,50Mbit
pirlab-search --sweep experiments/search/sizes.toml --part inspire
"""

import argparse
import json
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from errno import ENOENT
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..cost import DEFAULTS, UnitCosts
from ..describe import DescribeError
from ..inputs import InputError
from ..options import Uses, unused
from ..outputs import beside, check, protected, refuse_inputs, write
from ..paths import ROOT
from ..security.attacks import TIMEOUT
from ..security.live import EstimatorMissing
from ..sets import labelled, options_with, parse_with, resolve
from . import saved, study
from .account import budget as option
from .answer import HEADER, Answer, mapping
from .bounds import BUDGETS, OBJECTIVES, OWN, PRICES, SEEDS, Bounds, BoundsError, Network, Objective, Prices, Updates
from .choose import choose, takeovers
from .confirm import confirm
from .evaluate import CACHE, COSTS, Evaluator, Figures, Shape
from .files import toml
from .progress import Bars
from .sensitivity import described, failure, sensitivity, table
from .space_file import Space, SpaceError, load, protocols
from .text import aligned, count, size
from .walk import Found, Least, Outcome, WholeFront, relaxed, relaxed_together, walk

FOUND = ROOT / "params" / "searched"


def main(arguments: list[str] | None = None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given[:1] == ["--sweep"]:
            return _sweep(given[1:])
        return _run(_parsed(given), given)
    except (BoundsError, DescribeError, EstimatorMissing, InputError, SpaceError, ValueError) as error:
        return _refuse(str(error))
    except BrokenPipeError:
        # The reader has closed the pipe; without this Python would report it again at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        return _refuse(f"{error.filename or 'a file'}: {error.strerror or error}. Check the path and its permissions.")
    except KeyboardInterrupt:
        return _refuse("interrupted. The same command goes on where it was.", 130)


def _sweep(given: Sequence[str]) -> int:
    """Runs all searches of a file of sweeps; further options apply to each of them."""
    parser = argparse.ArgumentParser(prog="pirlab-search --sweep", description="a file of experiments/search/")
    parser.add_argument("file", type=Path, help=study.TABLES)
    parser.add_argument("--part", metavar="NAME", help="only this protocol or grid")
    parser.add_argument("--results", type=Path, default=study.OUT, metavar="DIR", help="instead of results/search")
    parser.add_argument("--costs", type=Path, metavar="FILE", help="unit costs of `pirlab calibrate`, not the file's")
    options, more = parser.parse_known_args(given)
    document = study.read(options.file)
    costs = options.costs or study.costs(document)
    with protected([options.file, costs]):
        return _sweep_all(options, document, costs, [*more, "--costs", str(costs)])


def _sweep_all(options: argparse.Namespace, document: Mapping[str, Any], costs: Path, more: list[str]) -> int:
    codes, out, unit_costs = [], FOUND, UnitCosts.load(costs)
    searches = document.get("search", [])
    for number, search in enumerate(searches, 1):
        arguments = words_of(search)
        print(f"\n--- {number} of {len(searches)}: pirlab-search {shlex.join(arguments)}", flush=True)
        chosen = _parsed([*arguments, *more])
        codes.append(_run(chosen, arguments))
        out = chosen.out
    if compared := saved.lines(searches, out, unit_costs):
        print(f"Written: {saved.write_lines(options.results / options.file.stem, compared)[-1]}")
    if document.keys() - {"title", "costs", "search"}:
        with Bars() as bars:
            written = study.run(options.file, unit_costs, bars, options.part, options.results)
        print(f"Written: {written[-1]} of {len(written) - 1} records")
    return max(codes, default=0)


def words_of(search: Mapping[str, Any]) -> list[str]:
    """The command line of a [[search]] table."""
    words: list[str] = []
    for key, value in search.items():
        words += options_with(value) if key == "with" else [f"--{key}", str(value)][: 1 if value is True else 2]
    return words


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    """The options, checked as far as is possible without a search."""
    joined: list[str] = []
    for word in words:
        # argparse takes -3GB for an option.
        if joined and re.match(r"-[\d.]", word) and joined[-1].startswith("--") and "=" not in joined[-1]:
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    options = _parser().parse_args(joined)
    if options.timeout is not None and not options.timeout > 0:
        raise BoundsError(f"--timeout {options.timeout:g} leaves an attack no time; give seconds above 0")
    options.objective = options.objective or ("seconds" if options.protocol == "all" or options.network else "bytes")
    if problem := unused(options, _USES):
        raise BoundsError(problem)
    if options.experiment is not None and not re.fullmatch(r"\w[\w.^-]*", options.experiment):
        raise BoundsError(f"--experiment {options.experiment!r} is not a folder's name; --out DIR says where it lies")
    there = next(path for path in (options.out.absolute(), *options.out.absolute().parents) if path.exists())
    if not options.dry_run and not (there.is_dir() and os.access(there, os.W_OK)):
        raise BoundsError(f"--out {options.out}: {there} is not a writable folder. Name another one, or give --dry-run")
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pirlab-search",
        description=__doc__.split("\n")[0],
        epilog="`--sweep FILE` runs a file of experiments/search/. Security is the fast model's until --confirm or "
        "`make confirm` asks the lattice estimator; seconds are of one core, by unit costs. Sizes: 4096, 96KB, 1.5GB "
        "(binary units). docs/search.md says more.",
    )
    add = parser.add_argument
    add("--protocol", required=True, help=f"{', '.join(protocols())}; or `all`, which ranks them")
    add("--records", type=count, required=True, metavar="N", help="records of the database")
    add("--record-bits", type=count, required=True, metavar="W", help="bits of a record")
    add("--security", type=float, default=Bounds.security, metavar="BITS", help="least bits of every instance (128)")
    add("--failure", type=float, default=Bounds.failure, metavar="LOG2", help="log2 of the failure of a record (-40)")
    for name, budget in BUDGETS.items():
        if name in OWN:
            continue
        seconds = name == "seconds"
        add(f"--max-{name}", type=float if seconds else size, metavar="S" if seconds else "BYTES", help=budget.limits)
    add("--no-worse-than", type=Path, metavar="FILE", help="a parameter file whose traffic and seconds are budgets too")
    add("--with", type=parse_with, action="append", default=[], metavar="KEY=VALUE", help="instead of that set's own")
    add("--faster", type=float, default=0.0, metavar="PERCENT", help="by so much faster than that set (0)")
    add(
        "--objective", choices=OBJECTIVES, help="what sets are ranked by (bytes; of `all`, and with --network, seconds)"
    )
    add("--stateless", action="store_true", help="no hint and no key that either side keeps between queries")
    add("--hint-queries", type=count, default=100, metavar="K", help="queries that a client asks of one hint (100)")
    add("--network", type=Network.read, metavar="20ms,50Mbit", help="round trip and bits a second (50ms,100Mbit)")
    add("--updates", type=Updates.read, metavar="200/12s", help="records that change together, and how often")
    add("--threads", type=count, default=1, metavar="N", help="threads of the server, which share its work (1)")
    add("--prices", type=Path, metavar="FILE", help="dollars of cores and traffic (estimator/search/prices.toml)")
    add("--costs", type=Path, metavar="FILE", help="unit costs of `pirlab calibrate` (the committed ones)")
    add("--top", type=count, default=5, metavar="K", help="sets of the front that are written (5)")
    add("--best-only", action="store_true", help="only the set that ranks first, not the front: faster")
    add("--experiment", metavar="NAME", help="folder below params/searched (the protocol)")
    add("--out", type=Path, default=FOUND, metavar="DIR", help="instead of params/searched")
    add("--dry-run", action="store_true", help="write no parameter files")
    add("--confirm", action="store_true", help="ask the lattice estimator for the sets that are written")
    add("--timeout", type=float, metavar="S", help=f"{TIMEOUT}, with --confirm")
    add("--json", type=Path, metavar="FILE", help="the front and the account as JSON too; - is standard output")
    add("--html", type=Path, metavar="FILE", help="the ranking of `all` as a page")
    add("--csv", type=Path, metavar="FILE", help="the ranking of `all` as a table")
    return parser


#: Options that only some searches use.
_USES: Uses = {
    "with": ([], lambda o: o.no_worse_than is not None, "--no-worse-than"),
    "top": (5, lambda o: o.protocol != "all" and not o.best_only, "one protocol and its whole front"),
    "best_only": (False, lambda o: o.protocol != "all", "one protocol (of `all`, the best set of each is taken)"),
    "hint_queries": (100, lambda o: o.objective != "saving", "another --objective than saving"),
    "network": (None, lambda o: o.objective == "seconds", "--objective seconds"),
    "html": (None, lambda o: o.protocol == "all", "--protocol all"),
    "csv": (None, lambda o: o.protocol == "all", "--protocol all"),
    "prices": (None, lambda o: o.objective == "dollars", "--objective dollars"),
    "timeout": (None, lambda o: o.confirm, "--confirm"),
}


def _run(options: argparse.Namespace, given: Sequence[str]) -> int:
    with (
        protected([options.costs or DEFAULTS, options.prices, options.no_worse_than]),
        beside(options.json, options.html, options.csv),
    ):
        check(options.json, options.html, options.csv)
        if not options.dry_run:
            refuse_inputs(*_earlier(_folder(options)))
        return _search(options, given)


def _folder(options: argparse.Namespace) -> Path:
    """The folder of the written sets."""
    return Path(options.out / (options.experiment or options.protocol))


def _search(options: argparse.Namespace, given: Sequence[str]) -> int:
    shape = Shape(options.records, options.record_bits)
    bounds = _bounds(options)
    unit_costs = UnitCosts.load(options.costs or DEFAULTS)
    changed = options.updates.records if options.updates else 0
    evaluator = Evaluator(shape, unit_costs, updates=changed, threads=options.threads)
    than = _given(options.no_worse_than, dict(vars(options)["with"]), evaluator) if options.no_worse_than else None
    if than is not None:
        bounds = bounds.no_worse(than, options.faster / 100)
    elif options.faster:
        raise BoundsError("--faster needs a set to be faster than: give --no-worse-than FILE")
    network = replace(options.network or Network(), hint_queries=options.hint_queries)
    objective = Objective(options.objective, shape, network, Prices.load(options.prices or PRICES), than)
    if options.protocol == "all":
        with Bars() as bars:
            choices = choose(protocols(), evaluator, bounds, objective, bars)
        over = takeovers(choices, evaluator, bounds, objective)
        answer = Answer(choices, objective, over, unit_costs.name, options.threads, options.updates)
        print(answer.text(), end="")
        for path, form in ((options.html, answer.html), (options.csv, answer.csv)):
            if path:
                write(path, form())
        found = [choice.found for choice in choices if choice.found is not None]
        document: dict[str, Any] = answer.mapping()
    else:
        space = load(options.protocol)
        aim = Least(objective) if options.best_only else WholeFront(space.tolerance, objective)
        with Bars() as bars:
            outcome = walk(space, evaluator, bounds, aim, bars)
        ranked = sorted(outcome.found, key=lambda f: (objective(f.figures), f.figures.costs(), str(f.literal)))
        found = ranked[: 1 if options.best_only else options.top]
        _say_front(outcome, found, objective)
        if than is not None:
            _say_compared(found, than)
        if not found:
            _say_relaxed(space, evaluator, bounds)
        if found:
            changes = sensitivity(space, found[0].literal, evaluator)
            print("\nWhat small changes of the first set do:\n" + aligned(table(changes)), end="")
        front = [mapping(each) for each in ranked]
        document = {"protocol": space.protocol, "front": front, "account": outcome.account.mapping()}
    if options.json:
        write(options.json, json.dumps(document, indent=1, sort_keys=True) + "\n")
    print(f"\n{evaluator.evaluated} sets described and predicted, the others remembered from {CACHE}")
    if not found:
        return 1
    texts = [_text(each, given, sha256((options.costs or DEFAULTS).read_bytes()).hexdigest()) for each in found]
    if options.confirm:
        print("\nThe lattice estimator:")
        print("\n".join(confirm(found, bounds.security, evaluator, options.timeout)))
    if not options.dry_run:
        ranked = options.protocol != "all"
        names = [str(rank) if ranked else each.literal["protocol"] for rank, each in enumerate(found, 1)]
        _write_sets(_folder(options), dict(zip(names, texts)))
        print(f"Written: {_folder(options)}/{names[0]}.toml" + (f" to {names[-1]}.toml" if len(names) > 1 else ""))
    return 0


def _bounds(options: argparse.Namespace) -> Bounds:
    budgets = {name: getattr(options, f"max_{name}") for name in BUDGETS if name not in OWN}
    budgets["updates"] = options.updates and options.updates.seconds
    bounds = Bounds(options.security, options.failure, **budgets)
    if not options.stateless:
        return bounds
    if bounds.offline is not None and bounds.offline > SEEDS:
        raise BoundsError(
            f"--stateless and --max-offline {bounds.offline:g} contradict each other: leave one of them out"
        )
    return replace(bounds, offline=SEEDS, serves=0)


def _say_front(outcome: Outcome, found: Sequence[Found], objective: Objective) -> None:
    space = outcome.space
    sets = "1 set" if len(outcome.found) == 1 else f"{len(outcome.found)} sets"
    print(f"{space.protocol}, {objective.shape.words()}: {sets} that no other one found undercuts")
    rows = [[str(i), *described(f.figures), objective.words(f.figures)] for i, f in enumerate(found, 1)]
    if rows:
        print(aligned([HEADER, *rows]), end="")
    else:
        print("No set keeps all bounds. What to relax stands behind each reason:")
    print("\n".join(outcome.account.lines()))


def _say_compared(found: Sequence[Found], than: Figures) -> None:
    for rank, each in enumerate(found, 1):
        pairs = zip(COSTS, each.figures.costs(), than.costs())
        # A change that rounds to nothing has no sign of its own.
        changes = [(name, round(100 * (own / other - 1)) if other else 0) for name, own, other in pairs]
        saved = ", ".join(f"{name} {change:+d} %" for name, change in changes)
        print(f"  {rank} beside the given set: {saved}")


def _say_relaxed(space: Space, evaluator: Evaluator, bounds: Bounds) -> None:
    if not bounds.budgets():
        return
    with Bars() as bars:
        least = relaxed(space, evaluator, bounds, bars)
    for name, needed in least.items():
        print(f"With all other bounds as they are, {option(name, needed)} has a set")
    if least:
        return
    with Bars() as bars:
        together = relaxed_together(space, evaluator, bounds, bars)
    if together is None:
        print("Whatever a set may cost, none reaches --security and --failure: relax these")
    else:
        options = ", ".join(option(name, needed) for name, needed in together.items())
        print(f"No single budget is to blame. Together these have a set, the nearest by its largest excess: {options}")


def _given(path: Path, changes: Mapping[str, Any], evaluator: Evaluator) -> Figures:
    """The figures of a parameter file at the shape that is searched."""
    if not path.is_file():
        raise FileNotFoundError(ENOENT, "No such file", str(path))
    try:
        [figures] = evaluator(resolve([path], changes))
    except DescribeError as error:
        raise BoundsError(f"--no-worse-than {path} is not a parameter file: {error}") from None
    if figures.refused is not None:
        raise BoundsError(f"--no-worse-than {path}: {figures.refused}")
    print(aligned([["given", *HEADER[1:-1]], [labelled(path.stem, changes), *described(figures)]]), end="")
    return figures


def _text(found: Found, given: Sequence[str], costs: str) -> str:
    """The parameter file of a set: the command that finds it, and the SHA-256 of the unit costs it was found with."""
    protocol = found.literal["protocol"]
    source = {
        "kind": "searched",
        "paper": load(protocol).paper,
        "command": "pirlab-search " + shlex.join(_repeatable(given)),
        "seed": "none: nothing is drawn",
        "note": f"{found.figures.bits:.1f} bits by the fast model, failure {failure(found.figures.log2_failure)}. "
        f"Unit costs: SHA-256 {costs}.",
    }
    return toml({"source": source} | found.literal, f"../../{protocol}.schema.json")


#: Options that change the printed text or the output files, but not the sets.
_SAYING = {"--confirm": 0, "--dry-run": 0, "--json": 1, "--timeout": 1, "--out": 1, "--html": 1, "--csv": 1}


def _repeatable(given: Sequence[str]) -> list[str]:
    """The command without options that do not change the sets."""
    kept, skip = [], 0
    for word in given:
        name = word.split("=")[0]
        if skip:
            skip -= 1
        elif name in _SAYING:
            skip = _SAYING[name] if "=" not in word else 0
        else:
            kept.append(word)
    return kept


def _write_sets(folder: Path, texts: Mapping[str, str]) -> None:
    """1.toml, 2.toml, ..., or a file a protocol; other sets of an earlier search go."""
    for name, text in texts.items():
        write(folder / f"{name}.toml", text)
    for path in _earlier(folder):
        if path.stem not in texts:
            path.unlink()


def _earlier(folder: Path) -> list[Path]:
    """The sets that an earlier search wrote there."""
    return [path for path in folder.glob("*.toml") if path.stem.isdigit() or path.stem in protocols()]


def _refuse(message: str, code: int = 2) -> int:
    print(f"pirlab-search: {message}", file=sys.stderr)
    return code
