# The sweep that the profile asks for, and the helpers that turn wildcards into files.
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(workflow.basedir) / "experiments" / "rules"))
from steps import predicted_seconds
from sweep import PlanError, Sweep, load_profile, write_if_changed
from snakemake.exceptions import WorkflowError

try:
    SWEEP = Sweep(load_profile(config))
except PlanError as error:
    raise WorkflowError(str(error)) from None

PROFILE = SWEEP.profile["profile"]
RESULTS = SWEEP.profile["results"]
FIGURES = SWEEP.profile["figures"]
BINARY = SWEEP.profile["binary"]
LOGS = f"{RESULTS}/logs"
SETTINGS = f"{RESULTS}/requests/{PROFILE}/profile.json"
VERDICT = f"{RESULTS}/verdict/{PROFILE}.json"
ENVIRONMENT = "../../environment.yml"
EXPERIMENT_FILES = sorted(str(path) for path in Path("experiments").glob("*/*.toml"))
PARAMETER_FILES = sorted(str(path) for path in Path("params").rglob("*.toml"))

write_if_changed(Path(SETTINGS), json.dumps(SWEEP.profile, indent=2) + "\n")
SWEEP.prepare()


wildcard_constraints:
    experiment="[a-z0-9-]+/[a-z0-9-]+",
    group=r"[a-z0-9^._-]+",
    name=r"(?!table-|accuracy)[a-z0-9-]+",


def parameter_files(wildcards):
    return SWEEP.parameters(wildcards.experiment)


def describe_words(wildcards):
    return SWEEP.describe(wildcards.experiment)


def prediction_files():
    return [str(SWEEP.prediction(name)) for name in SWEEP.experiments if name not in SWEEP.audits()]


def markers_of(wildcards):
    shown = SWEEP.shown(wildcards.experiment)
    return [str(SWEEP.marker(group)) for group in SWEEP.measured() if group.experiment in shown]


def audit_of(wildcards):
    """The audit that an experiment of kind security draws; of other experiments none."""
    return [str(path) for name, path in SWEEP.audits().items() if name == wildcards.experiment]


def audit_words(wildcards):
    return " ".join(f"--audit {path}" for path in audit_of(wildcards))


def own_markers(wildcards):
    return [str(SWEEP.marker(group)) for group in SWEEP.measured() if group.experiment == wildcards.experiment]


def record_folders(wildcards):
    return [f"{RESULTS}/records/{name}" for name in SWEEP.shown(wildcards.experiment)]


def predictions_of(wildcards):
    """Of the experiments shown that are in this sweep, in the order of their record folders."""
    shown = [name for name in SWEEP.shown(wildcards.experiment) if name not in SWEEP.audits()]
    return [str(SWEEP.prediction(name)) for name in shown if name in SWEEP.experiments]


def descriptions_of(wildcards):
    """What the binary says of the rows of these experiments."""
    shown = [name for name in SWEEP.shown(wildcards.experiment) if name in SWEEP.experiments]
    return [f"{RESULTS}/descriptions/{PROFILE}/{name}.jsonl" for name in shown]


def description_words(wildcards):
    found = descriptions_of(wildcards)
    return " ".join(["--descriptions", *found]) if found else ""


def costs_of(wildcards):
    """The unit costs of this machine, where a table holds times against them."""
    return [f"{RESULTS}/calibration.json"] if wildcards.name in ("pirouette-phases", "respire-phases") else []


def costs_words(wildcards):
    return " ".join(["--costs", *costs_of(wildcards)]) if costs_of(wildcards) else ""


def all_markers():
    return [str(SWEEP.marker(group)) for group in SWEEP.measured()]


def predicted(wildcards):
    """Predictions of the group's rows; before they are there, Snakemake asks again later."""
    rows = json.loads(SWEEP.prediction(wildcards.experiment).read_text())
    return [row for row in rows if row["id"].startswith(f"{wildcards.group}/")]


def predicted_minutes(wildcards):
    """Three times the predicted time, at least ten minutes: what a scheduler should grant."""
    group = SWEEP.group(wildcards.experiment, wildcards.group)
    seconds = sum(predicted_seconds(group, predicted(wildcards)).values())
    return 10 + int(3 * seconds / 60)


def predicted_mib(wildcards):
    """The rows' predicted peaks together, since they run interleaved, and some room."""
    return 1024 + int(1.2 * sum(row["peak_bytes"] or 0 for row in predicted(wildcards)) / 2**20)


def presented_files():
    files = []
    for name, experiment in SWEEP.experiments.items():
        stem = f"{FIGURES}/{name}"
        kind = experiment.get("kind")
        # What primitives measured stands beside its prediction in a table and a figure of theirs, that of protocols under
        # `accuracy`.
        own = ["primitives"] if kind == "primitive" else []
        figures, tables = ([*experiment.get(key, []), *own] for key in ("figures", "tables"))
        files += [f"{stem}/{figure}.{end}" for figure in dict.fromkeys(figures) for end in ("pdf", "svg", "png")]
        files += [f"{stem}/table-{table}.{end}" for table in dict.fromkeys(tables) for end in ("csv", "md", "tex")]
        if kind in ("primitive", "security"):
            continue
        files += [f"{stem}/accuracy.{end}" for end in ("csv", "md", "tex", "pdf", "svg", "png")]
    return files
