"""The command line: `python -m pirlab_figures table|accuracy|<name of a figure>`.

Exit codes: 0 written, 2 input that cannot be used (one paragraph naming file, key and remedy).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path

import pandas as pd
from pirlab_estimator.outputs import OutputError, protected
from pirlab_estimator.paths import ROOT
from pirlab_estimator.records import PRIMITIVE, RUN, read_all

from . import (
    accuracy,
    audit_limits,
    audit_sets,
    audit_whole,
    comparison,
    failure,
    figure4,
    figure4_table,
    gadget_claims,
    gadget_noise,
    gadget_operations,
    gadget_scalar,
    gadget_vector,
    inspire,
    inspire_batch,
    inspire_notes,
    inspire_packing,
    loader,
    pirouette,
    primitives,
    search_found,
    security,
)
from .audit import load_audit, load_references
from .errors import InputError
from .output import check, rst_escape, write_text
from .table import Table

PROTOCOL_TABLES = ("figure4", "comparison", "found", "inspire-batch", "security", *inspire.TABLES, *pirouette.TABLES)
AUDIT_TABLES = ("security-sets", "security-limits", "audit")
AUDIT_FIGURE = "security-curves"
PRIMITIVE_FIGURES = {
    "gadget-figure1": "gadget_figure1",
    "gadget-noise": "gadget_noise_plot",
    "failure": "failure_plot",
    "primitives": "primitives_plot",
}
PRIMITIVE_TABLES = (
    "primitives",
    "failure",
    "gadget-noise",
    "gadget-claims",
    "inspire-table5",
    *(f"gadget-table{number}" for number in range(1, 7)),
)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m pirlab_figures", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--records", type=Path, required=True, nargs="+", metavar="DIR", help="folders of records")
    shared.add_argument(
        "--predictions",
        type=Path,
        nargs="*",
        metavar="FILE",
        help="predictions, JSON files or folders of them; of primitives, one for each of the first folders",
    )
    shared.add_argument(
        "--descriptions", type=Path, nargs="+", default=[], metavar="FILE", help="what the binary says of each row"
    )
    shared.add_argument("--expected", type=Path, metavar="DIR", help="the papers' numbers, experiments/expected")
    shared.add_argument("--stale", type=Path, metavar="FILE", help="records whose sources changed, results/stale.json")
    shared.add_argument("--experiment", metavar="NAME", help="only records of this experiment, e.g. pirouette/figure4")
    shared.add_argument("--audit", type=Path, metavar="FILE", help="the audit of security, `pirlab-security audit`")
    shared.add_argument(
        "--costs", type=Path, metavar="FILE", help="unit costs of the machine, results/calibration.json"
    )
    shared.add_argument(
        "--out", type=Path, required=True, metavar="PREFIX", help="files are PREFIX.pdf, PREFIX.csv, ..."
    )
    commands.add_parser("figure4", parents=[shared], help="Pirouette's Figure 4: .pdf .svg .png .csv .caption.rst")
    commands.add_parser(pirouette.FIGURE, parents=[shared], help="Pirouette's Figure 3: what phase 0 is made of")
    commands.add_parser("gadget-figure1", parents=[shared], help="the gadget paper's Figure 1: norms of digits")
    commands.add_parser("gadget-noise", parents=[shared], help="noise of products and chains under each decomposition")
    commands.add_parser("failure", parents=[shared], help="observed against predicted failure rates of decisions")
    commands.add_parser("primitives", parents=[shared], help="what primitives measured over what was predicted")
    commands.add_parser(AUDIT_FIGURE, parents=[shared], help="security against log2 q, with the papers' sets")
    for name, number in zip(inspire.FIGURES, "123"):
        commands.add_parser(name, parents=[shared], help=f"the InsPIRe paper's Figure {number}: its points and ours")
    table = commands.add_parser("table", parents=[shared], help="a table: .csv .md .tex .html .caption.rst")
    table.add_argument("which", choices=(*PROTOCOL_TABLES, *PRIMITIVE_TABLES, *AUDIT_TABLES))
    sweep = commands.add_parser(
        "sweep", help="a figure or table of `make search`: .pdf .svg .png .csv or .md .tex .html"
    )
    sweep.add_argument("which", choices=("fronts", "gadgets", "grids", "sizes", "best"))
    sweep.add_argument("--sweep", type=Path, required=True, metavar="CSV", help="results/search/<name>.csv")
    sweep.add_argument("--records", type=Path, nargs="*", default=[], metavar="DIR", help="runs that `sizes` shows too")
    sweep.add_argument("--out", type=Path, required=True, metavar="PREFIX", help="files are PREFIX.pdf, ...")
    commands.add_parser(
        "accuracy",
        parents=[shared],
        help="predicted against measured: a figure and a table",
    )
    return parser


def _folders(arguments: argparse.Namespace) -> list[Path]:
    """The folders of records; one that is not there is warned of, and holds none."""
    for folder in arguments.records:
        if not folder.exists():
            print(f"warning: {folder}: no such folder of records; nothing was measured", file=sys.stderr)
    return list(arguments.records)


def _records(arguments: argparse.Namespace, preferred: tuple[str, ...]) -> pd.DataFrame:
    """Records of the experiment asked for; else of the preferred ones where the first of them has any; else all."""
    frames = [loader.load_records(folder, arguments.experiment) for folder in _folders(arguments)]
    frame = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
    if arguments.experiment is None and preferred and (frame["experiment"] == preferred[0]).any():
        frame = frame[frame["experiment"].isin(preferred)].reset_index(drop=True)
    return frame


def _run_sweep(arguments: argparse.Namespace) -> list[Path]:
    if arguments.which == "best":
        from . import sweep_best

        return sweep_best.build(arguments.sweep).write(arguments.out)
    plot = _plot(f"sweep_{arguments.which}")
    sources = [arguments.sweep, _folders(arguments)] if arguments.which == "sizes" else [arguments.sweep]
    return plot(*sources, arguments.out)


def _plot(module: str) -> Callable[..., list[Path]]:
    """What a module that draws writes: tables do without what it takes to load one."""
    write: Callable[..., list[Path]] = import_module(f".{module}", __package__).write
    return write


def _refuse_missing(arguments: argparse.Namespace) -> None:
    """InputError where a named path is not there, or no file and no record is of the experiment: also where the figure
    that is asked for does not need it. Folders of records are warned of when they are read."""
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
    if arguments.command == "sweep":
        return _run_sweep(arguments)
    which = getattr(arguments, "which", arguments.command)
    if which in PRIMITIVE_TABLES or which in PRIMITIVE_FIGURES:
        return _run_primitives(arguments, which)
    if which in (*AUDIT_TABLES, AUDIT_FIGURE):
        return _run_audit(arguments, which)
    preferred = {"figure4": (figure4.EXPERIMENT, *figure4.COMPANIONS), "comparison": (comparison.EXPERIMENT,)}
    joined, predictions = _joined(arguments, preferred.get(which, ()))
    expected = loader.load_expected(arguments.expected)
    if which == "figure4":
        data = figure4.build(joined, expected, predictions)
        if arguments.command == "figure4":
            return figure4.write(data, arguments.out)
        return figure4_table.build(data).write(arguments.out)
    if which == "comparison":
        return comparison.build(joined, expected, predictions).write(arguments.out)
    if which == "found":
        return search_found.build(joined).write(arguments.out)
    if which == "inspire-batch":
        return inspire_batch.build(joined).write(arguments.out)
    described = loader.load_descriptions(arguments.descriptions)
    if which in inspire.FIGURES:
        return inspire.figure(which, joined, predictions, described, arguments.expected, arguments.out)
    if which in inspire.TABLES:
        return inspire.table(which, joined, predictions, described, arguments.expected).write(arguments.out)
    if arguments.command == pirouette.FIGURE:
        return pirouette.figure(joined, expected, arguments.out)
    if which in pirouette.TABLES:
        return pirouette.table(which, joined, predictions, described, arguments.expected, arguments.costs).write(
            arguments.out
        )
    if which == "security":
        if not arguments.predictions:
            raise InputError("--predictions", None, "the security table needs predictions", "Give --predictions FILE")
        return security.build(predictions, joined, described).write(arguments.out)
    return _accuracy(joined, arguments.out)


def _joined(arguments: argparse.Namespace, preferred: tuple[str, ...]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Records beside their predictions, and all predictions."""
    records = _records(arguments, preferred)
    found = [loader.load_predictions(path) for path in arguments.predictions or [None]]
    predictions = found[0] if len(found) == 1 else pd.concat(found, ignore_index=True)
    predictions = predictions.drop_duplicates(loader.SHAPE_KEYS, keep="last").reset_index(drop=True)
    return loader.join(records, predictions, loader.load_stale(arguments.stale)), predictions


def _run_audit(arguments: argparse.Namespace, which: str) -> list[Path]:
    """Tables and the figure of the audit."""
    found = load_audit(arguments.audit)
    if which == "audit":
        described = loader.load_descriptions(arguments.descriptions)
        expected = loader.load_expected(arguments.expected)
        return audit_whole.table(found, *_joined(arguments, ()), described, expected).write(arguments.out)
    if which == AUDIT_FIGURE:
        return _plot("audit_plot")(found, arguments.out)
    if which == "security-sets":
        return audit_sets.build(found).write(arguments.out)
    return audit_limits.build(found, load_references(arguments.expected)).write(arguments.out)


def _run_primitives(arguments: argparse.Namespace, which: str) -> list[Path]:
    records = primitives.load(_folders(arguments), arguments.predictions or (), loader.load_stale(arguments.stale))
    if arguments.experiment is not None:
        records = [record for record in records if record.document.get("experiment") == arguments.experiment]
    if arguments.command != "table":
        return _plot(PRIMITIVE_FIGURES[which])(records, arguments.out)
    return _primitive_table(records, arguments.expected, which.removeprefix("gadget-")).write(arguments.out)


def _primitive_table(records: list[primitives.Primitive], folder: Path | None, which: str) -> Table:
    if which == "primitives":
        return primitives.table(records)
    if which == "failure":
        return failure.table(records)
    if which == "noise":
        return gadget_noise.table(records)
    if folder is None:
        raise InputError("--expected", None, "a paper's tables need its numbers", "Give --expected DIR")
    if which == "inspire-table5":
        return inspire_packing.table(records, loader.load_expected(folder), inspire_notes.load(folder))
    if which == "table1":
        return gadget_operations.table(records, folder)
    expected = loader.load_expected(folder)
    if which == "claims":
        return gadget_claims.table(records, expected, folder)
    if which == "table6":
        return gadget_vector.table(records, expected)
    if which in gadget_scalar.WHOLE:
        return gadget_scalar.whole(records, expected, which)
    return gadget_scalar.parts(records, expected, which)


def _accuracy(joined: pd.DataFrame, prefix: Path) -> list[Path]:
    from .accuracy_plot import draw
    from .style import save

    frame = accuracy.build(joined)
    table = accuracy.table(frame, joined)
    written = table.write(prefix) + save(draw(frame, figure4.series_of(joined)), prefix)
    text = (
        "**Predicted against measured.** Each point is one quantity of one record: what was measured over what was "
        "predicted, against the prediction; the line is agreement, the grey band the tolerance.\n\n"
    )
    notes = "\n\n".join(map(rst_escape, table.notes))
    return [*written, write_text(prefix, ".caption.rst", text + notes + "\n")]


def _read(arguments: argparse.Namespace) -> Iterator[Path]:
    """The files that are named to be read, and those in the folders."""
    named = [each for key, each in vars(arguments).items() if key != "out"]
    for path in [item for each in named for item in (each if isinstance(each, list) else [each])]:
        if isinstance(path, Path):
            yield path
            yield from path.rglob("*.csv" if path == getattr(arguments, "expected", None) else "*.json")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code."""
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
