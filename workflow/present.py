"""Tables and figures of experiments, drawn in one process; the workflow and `make redraw` draw by it."""

import argparse
import contextlib
import io
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pirlab_figures.cli import main as drawing

from .files import PlanError, exit_code
from .plan import Plan

#: The endings of a drawing's files by kind of drawing, except the ending that reports show.
ENDS = {"figure": ("pdf", "png", "csv"), "table": ("csv", "md", "tex")}
#: The ending of the file that reports show, by kind of drawing.
SHOWN = {"figure": "svg", "table": "html"}


def draw(*words: Any) -> None:
    """Draw a table or figure; PlanError with the reason if that is refused."""
    with contextlib.redirect_stdout(io.StringIO()):
        code = drawing([str(word) for word in words])
    if code:
        raise PlanError(f"`python -m pirlab_figures {' '.join(map(str, words))}` failed, see above.")


def draw_accuracy(plan: Plan, name: str, records: Path, stale: Iterable[Path] = ()) -> Path:
    """Draw every predicted quantity of an experiment beside its measured twin; return the table, as CSV. It is of the
    experiment alone: those shown with it have the same sets and shapes, but one query where this one may have eight."""
    prefix = plan.figures / name / "accuracy"
    words = ["--records", records / name, "--predictions", plan.prediction(name), *option("stale", stale)]
    draw("accuracy", *words, "--out", prefix)
    return prefix.with_suffix(".csv")


def draw_experiment(plan: Plan, name: str, records: Path, accuracy: Iterable[Path], stale: Iterable[Path] = ()) -> None:
    """Draw the tables and figures of an experiment: from the records of all experiments that it shows, and from what
    was predicted of those in this plan, in the order of their record folders. accuracy: tables of `draw_accuracy`,
    which say how far off predicted seconds are."""
    words = ["--records", *(records / each for each in plan.shown(name)), "--expected", "experiments/expected"]
    for key, files in {**plan.drawn_from(name), "accuracy": accuracy, "stale": stale}.items():
        words += option(key, files)
    figures, tables = plan.drawings(name)
    for figure in figures:
        draw(figure, *words, "--out", plan.figures / name / figure)
    for table in tables:
        draw("table", table, *words, "--out", plan.figures / name / f"table-{table}")


def option(name: str, values: Iterable[Any]) -> list[Any]:
    """The words of an option; without values none."""
    values = list(values)
    return [f"--{name}", *values] if values else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["accuracy", "experiment"])
    parser.add_argument("names", nargs="+", help="the experiments, e.g. pirouette/figure4")
    parser.add_argument("--profile", type=Path, required=True, help="the profile as JSON, written by the Snakefile")
    parser.add_argument("--accuracy", type=Path, nargs="*", default=[], help="the tables of `accuracy`, CSV")
    arguments = parser.parse_args()
    plan = Plan(json.loads(arguments.profile.read_text()))
    records, stale = plan.results / "records", plan.results / "stale.json"
    for name in arguments.names:
        if arguments.what == "accuracy":
            draw_accuracy(plan, name, records, [stale])
        else:
            draw_experiment(plan, name, records, arguments.accuracy, [stale])
    return 0


if __name__ == "__main__":
    sys.exit(exit_code(main))
