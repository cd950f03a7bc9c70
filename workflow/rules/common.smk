# The plan of the profile, and the helpers that turn wildcards into files.
import json
import os
from pathlib import Path

from pirlab_workflow.experiments import load_profile
from pirlab_workflow.files import PlanError, figure_code, write_json
from pirlab_workflow.plan import Plan
from pirlab_workflow.steps import predicted_seconds
from snakemake.exceptions import WorkflowError

try:
    PLAN = Plan(load_profile(config))
except PlanError as error:
    raise WorkflowError(str(error)) from None

PROFILE = PLAN.profile["profile"]
RESULTS = PLAN.profile["results"]
FIGURES = PLAN.profile["figures"]
BINARY = PLAN.profile["binary"]
LOGS = f"{RESULTS}/logs"
SETTINGS = f"{RESULTS}/requests/{PROFILE}/profile.json"
VERDICT = f"{RESULTS}/verdict/{PROFILE}.json"
ENVIRONMENT = "../../environment.yml"
EXPERIMENT_FILES = sorted(map(str, Path("experiments").glob("*/*.toml")))
PARAMETER_FILES = sorted(map(str, Path("params").rglob("*.toml")))
FIGURE_CODE = figure_code()
PAPERS = sorted(map(str, Path("experiments/expected").glob("*.csv")))
# Tables that hold times against the unit costs of this machine.
COSTED = ("pirouette-phases", "respire-phases")

write_json(Path(SETTINGS), PLAN.profile)
PLAN.prepare()


wildcard_constraints:
    experiment="[a-z0-9-]+/[a-z0-9-]+",
    group=r"[a-z0-9^._-]+",
    name=r"(?!table-|accuracy)[a-z0-9-]+",


def prediction_files():
    return [str(PLAN.prediction(name)) for name in PLAN.experiments if name not in PLAN.audits()]


def markers(*names):
    """The markers of the measured groups of these experiments, or of all."""
    return [str(PLAN.marker(group)) for group in PLAN.measured() if not names or group.experiment in names]


def accuracy_tables():
    """What all that was measured says of the predictions; drawings with predicted seconds say how far off they are."""
    return [f"{FIGURES}/{name}/accuracy.csv" for name in PLAN.experiments if PLAN.judged(name)]


def drawn(wildcards):
    """What a table or figure of an experiment is drawn from: the records of all experiments that it shows, and what was
    predicted of those that are in this plan, in the order of their record folders."""
    names = PLAN.shown(wildcards.experiment)
    planned = [name for name in names if name in PLAN.experiments]
    audit = PLAN.audits().get(wildcards.experiment)
    return {
        "code": FIGURE_CODE,
        "papers": PAPERS,
        "measured": markers(*names),
        "predictions": [str(PLAN.prediction(name)) for name in planned if name not in PLAN.audits()],
        "descriptions": [str(PLAN.description(name)) for name in planned],
        "audit": [str(audit)] if audit else [],
        "accuracy": accuracy_tables() if PLAN.judged(wildcards.experiment) else [],
        "costs": [f"{RESULTS}/calibration.json"] if wildcards.name in COSTED else [],
        "stale": [f"{RESULTS}/stale.json"],
    }


def drawing(wildcards, input, output):
    """The words that draw it: a figure, or a table, which has a page in HTML."""
    folders = [f"{RESULTS}/records/{name}" for name in PLAN.shown(wildcards.experiment)]
    words = ["table"] if "html" in output.keys() else []
    words += [wildcards.name, "--records", *folders, "--expected", "experiments/expected"]
    for key in ("predictions", "descriptions", "audit", "accuracy", "costs", "stale"):
        words += [f"--{key}", *input.get(key)] if input.get(key) else []
    return " ".join([*words, "--out", str(Path(output[0]).with_suffix(""))])


def predicted(wildcards):
    """Predictions of the group's rows; before they are there, Snakemake asks again later."""
    rows = json.loads(PLAN.prediction(wildcards.experiment).read_text())
    return [row for row in rows if row["id"].startswith(f"{wildcards.group}/")]


def predicted_minutes(wildcards):
    """Three times the predicted time, at least ten minutes: what a scheduler should grant."""
    group = PLAN.group(wildcards.experiment, wildcards.group)
    return 10 + int(3 * sum(predicted_seconds(group, predicted(wildcards)).values()) / 60)


def predicted_mib(wildcards):
    """The rows' predicted peaks together, since they run interleaved, and some room."""
    return 1024 + int(1.2 * sum(row["peak_bytes"] or 0 for row in predicted(wildcards)) / 2**20)


def presented_files():
    return [*drawn_files(), f"{FIGURES}/index.html"]


def drawn_files():
    files = []
    for name in PLAN.experiments:
        figures, tables = PLAN.drawings(name)
        stems = {figure: ("pdf", "svg", "png") for figure in figures}
        stems |= {f"table-{table}": ("csv", "md", "tex") for table in tables}
        if PLAN.judged(name):
            stems["accuracy"] = ("csv", "md", "tex", "pdf", "svg", "png")
        files += [f"{FIGURES}/{name}/{stem}.{end}" for stem, ends in stems.items() for end in ends]
    return files
