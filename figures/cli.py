"""The command line: `python -m pirlab_figures figure4|table|accuracy`.

Exit codes: 0 written, 2 input that cannot be used (one paragraph naming file, key and remedy).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from . import accuracy, comparison, figure4, figure4_table, loader, security
from .errors import InputError
from .output import rst_escape, write_text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m pirlab_figures", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--records", type=Path, required=True, metavar="DIR", help="folder of run records")
    shared.add_argument("--predictions", type=Path, metavar="FILE", help="predictions: a JSON file or a folder of them")
    shared.add_argument("--expected", type=Path, metavar="DIR", help="the papers' numbers, experiments/expected")
    shared.add_argument("--stale", type=Path, metavar="FILE", help="records whose sources changed, results/stale.json")
    shared.add_argument("--experiment", metavar="NAME", help="only records of this experiment, e.g. pirouette/figure4")
    shared.add_argument(
        "--out", type=Path, required=True, metavar="PREFIX", help="files are PREFIX.pdf, PREFIX.csv, ..."
    )
    commands.add_parser("figure4", parents=[shared], help="Pirouette's Figure 4: .pdf .svg .png .csv .caption.rst")
    table = commands.add_parser("table", parents=[shared], help="a table: .csv .md .tex .html .caption.rst")
    table.add_argument("which", choices=("figure4", "comparison", "security"))
    commands.add_parser(
        "accuracy",
        parents=[shared],
        help="predicted against measured: a figure and a table",
    )
    return parser


def _records(arguments: argparse.Namespace, preferred: str | None) -> pd.DataFrame:
    """Records of the experiment asked for; else of the preferred one where it has any; else all."""
    if not arguments.records.exists():
        print(f"warning: {arguments.records}: no such folder of records; nothing was measured", file=sys.stderr)
    frame = loader.load_records(arguments.records, arguments.experiment)
    if arguments.experiment is None and preferred is not None and (frame["experiment"] == preferred).any():
        frame = frame[frame["experiment"] == preferred].reset_index(drop=True)
    return frame


def _run(arguments: argparse.Namespace) -> list[Path]:
    which = getattr(arguments, "which", arguments.command)
    preferred = {"figure4": figure4.EXPERIMENT, "comparison": comparison.EXPERIMENT}.get(which)
    records = _records(arguments, preferred)
    predictions = loader.load_predictions(arguments.predictions)
    expected = loader.load_expected(arguments.expected)
    joined = loader.join(records, predictions, loader.load_stale(arguments.stale))
    if which == "figure4":
        data = figure4.build(joined, expected, predictions)
        if arguments.command == "figure4":
            return figure4.write(data, arguments.out)
        return figure4_table.build(data).write(arguments.out)
    if which == "comparison":
        return comparison.build(joined, expected, predictions).write(arguments.out)
    if which == "security":
        if arguments.predictions is None:
            raise InputError("--predictions", None, "the security table needs predictions", "Give --predictions FILE")
        return security.build(predictions, joined).write(arguments.out)
    return _accuracy(joined, arguments.out)


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


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code."""
    arguments = _parser().parse_args(argv)
    try:
        written = _run(arguments)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for path in dict.fromkeys(written):
        print(path)
    return 0
