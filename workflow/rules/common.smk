# The plan of the profile, and the helpers that turn wildcards into files.
import os
from pathlib import Path

from pirlab_estimator.inputs import InputError
from pirlab_workflow.experiments import load_profile
from pirlab_workflow.files import PlanError, figure_code
from pirlab_workflow.plan import Plan
from pirlab_workflow.present import ENDS, SHOWN
from pirlab_workflow.steps import predicted_seconds
from snakemake.exceptions import WorkflowError

try:
    PLAN = Plan(load_profile(config))
except (InputError, PlanError) as error:
    raise WorkflowError(str(error)) from None

PROFILE = PLAN.profile["profile"]
RESULTS = PLAN.profile["results"]
FIGURES = PLAN.profile["figures"]
BINARY = PLAN.profile["binary"]
LOGS = f"{RESULTS}/logs"
SETTINGS = str(PLAN.settings())
VERDICT = f"{RESULTS}/verdict/{PROFILE}.json"
ENVIRONMENT = "../../environment.yml"
EXPERIMENT_FILES = sorted(map(str, Path("experiments").glob("*/*.toml")))
PARAMETER_FILES = sorted(map(str, Path("params").rglob("*.toml")))
FIGURE_CODE = figure_code()
PAPERS = sorted(map(str, Path("experiments/expected").glob("*.csv")))

PLAN.prepare()


wildcard_constraints:
    experiment="[a-z0-9-]+/[a-z0-9-]+",
    group=r"[a-z0-9^._-]+",


def prediction_files():
    return [str(PLAN.prediction(name)) for name in PLAN.experiments if name not in PLAN.audits()]


def markers(*names):
    """The markers of the measured groups of these experiments, or of all."""
    return [str(PLAN.marker(group)) for group in PLAN.measured() if not names or group.experiment in names]


def accuracy_tables():
    """What all that was measured says of the predictions; drawings with predicted seconds say how far off they are."""
    return [f"{FIGURES}/{name}/accuracy.csv" for name in PLAN.compared()]


def drawn_from(name):
    """The files that the tables and figures of an experiment are drawn from."""
    others = [str(file) for files in PLAN.drawn_from(name).values() for file in files]
    return [*FIGURE_CODE, *PAPERS, *markers(*PLAN.shown(name)), f"{RESULTS}/stale.json", *others]


def by_folder(names):
    """Experiments by their folder: pirouette, inspire, ... Rules are made by folder, because what is drawn differs."""
    folders = dict.fromkeys(name.split("/")[0] for name in names)
    return {folder: [name for name in names if name.startswith(f"{folder}/")] for folder in folders}


def stems(name):
    """The names of the files of an experiment's tables and figures, with their kinds."""
    figures, tables = PLAN.drawings(name)
    return dict.fromkeys(figures, "figure") | {f"table-{table}": "table" for table in tables}


def shown(name, kind, file):
    """A drawn file as the report shows it: under its experiment, with the caption that is drawn beside it."""
    path = Path(file)
    labels = {"what": path.stem.removeprefix("table-"), "form": kind}
    return report(file, caption=str(path.with_suffix(".caption.rst").absolute()), category=name, labels=labels)


def drawn(name):
    """The files of an experiment's tables and figures, without those that the report shows."""
    return [f"{FIGURES}/{name}/{stem}.{end}" for stem, kind in stems(name).items() for end in ENDS[kind]]


def predicted(wildcards):
    """Predictions of the group's rows; before they are there, Snakemake asks again later."""
    return [row for row in PLAN.lines(wildcards.experiment) if row["id"].startswith(f"{wildcards.group}/")]


def predicted_minutes(wildcards):
    """Three times the predicted time, at least ten minutes: what a scheduler should grant."""
    group = PLAN.group(wildcards.experiment, wildcards.group)
    return 10 + int(3 * sum(predicted_seconds(group, predicted(wildcards)).values()) / 60)


def predicted_mib(wildcards):
    """The rows' predicted peaks together, since they run interleaved, and some room."""
    return 1024 + int(1.2 * sum(row["peak_bytes"] or 0 for row in predicted(wildcards)) / 2**20)


def presented_files():
    return [*drawn_files(), f"{FIGURES}/explorer-run.html", f"{FIGURES}/index.html"]


def drawn_files():
    return [file for name in PLAN.experiments for file in drawn(name)] + accuracy_tables()
