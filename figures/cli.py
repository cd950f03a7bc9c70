"""The command line: `python -m pirlab_figures table|accuracy|<name of a figure>`.

Exit codes: 0 written, 2 input that cannot be used (one paragraph naming file, key and remedy).
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from pirlab_estimator.outputs import OutputError, protected
from pirlab_estimator.paths import ROOT
from pirlab_estimator.records import PRIMITIVE, RUN, InputError, read_all

from .drawings import FIGURES, PAGES, SWEEPS, TABLES, make
from .lib.inputs import Inputs
from .lib.output import check


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m pirlab_figures", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    shared = argparse.ArgumentParser(add_help=False)
    add = shared.add_argument
    add("--records", type=Path, required=True, nargs="+", metavar="DIR", help="folders of records")
    predictions = "predictions, JSON files or folders of them; of primitives, one for each of the first folders"
    add("--predictions", type=Path, nargs="*", metavar="FILE", help=predictions)
    add("--descriptions", type=Path, nargs="+", default=[], metavar="FILE", help="what the binary says of each row")
    add("--expected", type=Path, metavar="DIR", help="the papers' numbers, experiments/expected")
    add("--stale", type=Path, metavar="FILE", help="records whose sources changed, results/stale.json")
    add("--experiment", metavar="NAME", help="only records of this experiment, e.g. pirouette/figure4")
    add("--audit", type=Path, metavar="FILE", help="the audit of security, `pirlab-security audit`")
    accuracy = "tables of `accuracy`, CSV: they say how far off predicted seconds are"
    add("--accuracy", type=Path, nargs="*", default=[], metavar="FILE", help=accuracy)
    add("--costs", type=Path, metavar="FILE", help="unit costs of the machine, results/calibration.json")
    add("--out", type=Path, required=True, metavar="PREFIX", help="files are PREFIX.pdf, PREFIX.csv, ...")
    for name, (_, text) in FIGURES.items():
        commands.add_parser(name, parents=[shared], help=text)
    table = commands.add_parser("table", parents=[shared], help="a table: .csv .md .tex .html .caption.rst")
    table.add_argument("which", choices=tuple(TABLES))
    forms = "a figure or table of `make search`: .pdf .svg .png .csv or .md .tex .html"
    sweep = commands.add_parser("sweep", help=forms)
    sweep.add_argument("which", choices=tuple(SWEEPS))
    sweep.add_argument("--sweep", type=Path, required=True, metavar="CSV", help="results/search/<name>.csv")
    sweep.add_argument("--records", type=Path, nargs="*", default=[], metavar="DIR", help="runs that `sizes` shows too")
    sweep.add_argument("--out", type=Path, required=True, metavar="PREFIX", help="files are PREFIX.pdf, ...")
    index = commands.add_parser("index", help="the page that leads to all of them, with the papers' claims: .html")
    index.add_argument("--figures", type=Path, required=True, nargs="+", metavar="DIR", help="folders of drawn tables")
    index.add_argument("--expected", type=Path, metavar="DIR", help="the papers' numbers, experiments/expected")
    index.add_argument("--report", default="", metavar="LINK", help="a report that the page leads to as well")
    index.add_argument("--explorer", default="", metavar="LINK", help="the explorer of the same rows")
    index.add_argument("--out", type=Path, required=True, metavar="PREFIX", help="files are PREFIX.html, ...")
    explorer = commands.add_parser("explorer", parents=[shared], help="all rows, to filter and compare: .html")
    explorer.add_argument("--sweeps", type=Path, nargs="*", default=[], metavar="CSV", help="fronts of searches")
    unpacked = "the folder of unpacked runs, each under its file's name"
    explorer.add_argument("--unpacked", type=Path, metavar="DIR", help=unpacked)
    return parser


def _refuse_missing(arguments: argparse.Namespace) -> None:
    """InputError if a named path does not exist, or if no file or record belongs to the experiment, even if the
    drawing does not need it. Folders of records are warned of when they are read."""
    for name, each in vars(arguments).items():
        for path in each if isinstance(each, list) else [each]:
            if isinstance(path, Path) and name not in ("records", "sweep", "out") and not path.exists():
                raise InputError(path, f"--{name}", "no such file or folder", "Check the path, or leave the option out")
    wanted = getattr(arguments, "experiment", None)
    if wanted is None or (ROOT / f"experiments/{wanted}.toml").is_file():
        return
    found = (each for folder in arguments.records for schema in (RUN, PRIMITIVE) for each in read_all(folder, schema))
    if not any(record.get("experiment") == wanted for _, record in found):
        problem = f"there is no such experiment: neither experiments/{wanted}.toml nor a record of it"
        raise InputError("--experiment", wanted, problem, "Name a file below experiments/, such as pirouette/figure4")


def _run(arguments: argparse.Namespace) -> list[Path]:
    _refuse_missing(arguments)
    which = getattr(arguments, "which", arguments.command)
    places = {"table": TABLES, "sweep": SWEEPS, **dict.fromkeys(PAGES, PAGES)}
    place = places.get(arguments.command) or {name: of for name, (of, _) in FIGURES.items()}
    return make(place[which], Inputs(arguments)).write(arguments.out)


def _read(arguments: argparse.Namespace) -> Iterator[Path]:
    """The files that are named to be read, and those in the folders."""
    named = [each for key, each in vars(arguments).items() if key != "out"]
    for path in [item for each in named for item in (each if isinstance(each, list) else [each])]:
        if isinstance(path, Path):
            yield path
            yield from path.rglob("*.csv" if path == getattr(arguments, "expected", None) else "*.json")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code."""
    arguments = _parser().parse_args(argv)
    try:
        with protected(_read(arguments)):
            check(arguments.out)
            written = _run(arguments)
    except (InputError, OutputError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for path in dict.fromkeys(written):
        print(path)
    return 0
