"""`make redraw`: draw the tables of a committed reference run again from its records, as the workflow draws them.

Nothing is measured. Rows are described by the present binary. The seconds and memory that were predicted of a measured
row stay, since its record is judged by them; its security and noise are what the present formulas say of the
description in its record. Rows without a record are predicted, with the quick reference's unit costs. No record is
called stale: each names the commit of its sources. Experiments of primitives and of security are left to the workflow.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from pirlab_estimator.outputs import write

from .experiments import OTHER_KINDS, read_profile
from .files import ROOT, PlanError, exit_code, read_json, read_object
from .plan import Plan
from .reference import CALIBRATION, KEPT, REFERENCE, folder

COSTS = REFERENCE / CALIBRATION.name
#: What a formula says of a description, whatever machine ran it.
OF_FORMULAS = ("security", "security_bits", "security_target", "noise")


def run(*words: Any, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run a command; PlanError with its words where it fails."""
    try:
        return subprocess.run([str(word) for word in words], check=True, **options)
    except (OSError, subprocess.CalledProcessError) as error:
        raise PlanError(f"{error}. Nothing in the reference run was changed by it.") from None


class Redrawing:
    """A reference run, the plan of its profile, and the folder of what lies between its records and tables."""

    def __init__(self, profile: str, out: Path, work: Path, figures: Path, **overrides: Any):
        self.plan = Plan(read_profile(profile, results=str(work), figures=str(figures), **overrides))
        self.out = out
        # A longer profile's reference leaves out the rows that quick's has.
        self.runs = list(dict.fromkeys((out, REFERENCE)))
        self.plan.prepare()

    def described(self, name: str) -> dict[str, str]:
        """The descriptions in the records of an experiment, as lines by id."""
        found: dict[str, str] = {}
        for path in (path for each in self.records(name) for path in sorted(each.rglob("*.json"))):
            own = (read_object(path).get("description") or {}) | {"id": f"{path.parent.name}/{path.stem}"}
            if own.get("schema"):
                found[own["id"]] = json.dumps(own)
        return found

    def description(self, name: str) -> Path:
        """The binary's descriptions of an experiment's rows, after those in records, which may be of earlier sets."""
        path = self.plan.description(name)
        if not path.exists():
            with self.plan.requests(name).open() as asked:
                answered = run(*self.plan.describe(name), stdin=asked, stdout=subprocess.PIPE).stdout.decode()
            write(path, "".join(f"{line}\n" for line in self.described(name).values()) + answered)
        return path

    def prediction(self, name: str) -> Path:
        """Of all rows of an experiment: seconds and memory as committed where a record stands against them."""
        path = self.plan.prediction(name)
        if path.exists():
            return path
        lines: dict[str, dict[str, Any]] = {}
        asked_of: dict[str, str] = {}
        for each in self.runs:
            measured = {f"{p.parent.name}/{p.stem}" for p in (each / "records" / name).rglob("*.json")}
            known = read_json(each / "predictions" / f"{name}.json") or []
            lines |= {line["id"]: line for line in known if line["id"] in measured}
        # The first of an id is its record's, where there is one.
        for line in self.description(name).read_text().splitlines():
            asked_of.setdefault(json.loads(line)["id"], line)
        asked, made = path.with_suffix(".jsonl"), path.with_suffix(".new.json")
        write(asked, "\n".join(asked_of.values()) + "\n")
        module = "pirlab_estimator.predict"
        run(sys.executable, "-m", module, asked, "--security", "auto", "--costs", COSTS, "--out", made)
        for line in read_json(made):
            lines[line["id"]] = lines.get(line["id"], line) | {key: line[key] for key in OF_FORMULAS}
        committed = [line["id"] for line in read_json(self.out / "predictions" / f"{name}.json") or []]
        ordered = [lines[id] for id in dict.fromkeys([*committed, *lines]) if id in lines]
        write(path, json.dumps(ordered, indent=1) + "\n")
        return path

    def records(self, name: str) -> list[Path]:
        """The folders of an experiment's records."""
        found = [each / "records" / name for each in self.runs]
        return [path for path in found if path.is_dir()] or found[:1]

    def draw(self, name: str) -> list[Path]:
        """Tables and figures of an experiment, in the folder of figures; their data and text in the reference run."""
        experiment, shown = self.plan.experiments[name], self.plan.shown(name)
        planned = [each for each in shown if each in self.plan.experiments]
        words = ["--records", *(path for each in shown for path in self.records(each))]
        words += ["--predictions", *map(self.prediction, planned), "--descriptions", *map(self.description, planned)]
        words += ["--expected", "experiments/expected", "--costs", COSTS]
        drawn = self.plan.figures / name
        asked = [["table", table, *words, "--out", drawn / f"table-{table}"] for table in experiment.get("tables", [])]
        asked += [[figure, *words, "--out", drawn / figure] for figure in experiment.get("figures", [])]
        words = ["--records", *self.records(name), "--predictions", self.prediction(name)]
        for each in [*asked, ["accuracy", *words, "--out", drawn / "accuracy"]]:
            run(sys.executable, "-m", "pirlab_figures", *each, stdout=subprocess.DEVNULL)
        copied = [path for path in sorted(drawn.glob("*")) if path.suffix in KEPT]
        for path in copied:
            write(self.out / "tables" / name / path.name, path.read_bytes())
        write(self.out / "predictions" / f"{name}.json", self.prediction(name).read_bytes())
        return copied


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--figures", type=Path, help="instead of figures/out/ and the reference run's name")
    parser.add_argument("--out", type=Path, help="the reference run, instead of the profile's")
    parser.add_argument("--binary", help="instead of the profile's `binary`")
    parser.add_argument("--only", default="", help="experiments, separated by commas, instead of all")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    out = arguments.out or folder(arguments.profile)
    figures = arguments.figures or Path("figures/out") / out.name
    with tempfile.TemporaryDirectory() as work:
        redrawing = Redrawing(arguments.profile, out, Path(work), figures, binary=arguments.binary)
        experiments = redrawing.plan.experiments
        for name in arguments.only.split(",") if arguments.only else experiments:
            if name not in experiments:
                raise PlanError(f"profile {arguments.profile} has no {name}: {', '.join(experiments)}.")
            if experiments[name].get("kind") not in OTHER_KINDS and (out / "tables" / name).is_dir():
                print(f"{out}/tables/{name}/: {', '.join(path.name for path in redrawing.draw(name))}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_code(main))
