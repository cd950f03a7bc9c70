"""`make redraw`: draw the tables of the packed reference runs again from their records, as the workflow draws them.

Nothing is measured. Rows are described by the present binary. The seconds and memory that were predicted of a measured
row stay, since its record is judged by them; its security and noise are what the present formulas say of the
description in its record. Rows without a record are predicted, with the unit costs of the run's own machine, so that no
table mixes machines. No record is called stale: each names the commit of its sources. A redrawing of all runs also
writes docs/results/ and docs/artifact/, a page a paper.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from pirlab_estimator.cost import UnitCosts
from pirlab_estimator.outputs import write
from pirlab_estimator.predict import predict
from pirlab_figures.lib import style

from . import artifact, papers
from .experiments import read_profile
from .files import ROOT, PlanError, exit_code, read_json, read_object
from .pages import PAGES, claims_of, draw_sweeps, write_all
from .plan import Plan
from .present import draw, draw_accuracy, draw_experiment
from .reference import REFERENCE, Documents, costs, labels, pack, packed, read_packed, records_of, unpacked, write_files

#: What a formula says of a description, whatever machine ran it.
OF_FORMULAS = ("security", "security_bits", "security_target", "noise")
#: The packed runs; the tables of a later one have more rows.
PROFILES = ("quick", "laptop")


def run(*words: Any, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run a command; PlanError with its words where it fails."""
    try:
        return subprocess.run([str(word) for word in words], check=True, **options)
    except (OSError, subprocess.CalledProcessError) as error:
        raise PlanError(f"{error}. Nothing in the reference run was changed by it.") from None


class Redrawing:
    """An unpacked reference run, the plan of its profile, and a folder for what lies between records and tables."""

    def __init__(self, profile: str, own: Path, work: Path, figures: Path, **overrides: Any):
        self.plan = Plan(read_profile(profile, results=str(work), figures=str(figures), **overrides))
        self.own = own
        self.plan.calibration = costs(profile)
        self.unit_costs = UnitCosts.load(self.plan.calibration)
        self.plan.prepare()

    def experiments(self) -> list[str]:
        """Those whose drawings show a record or prediction of this run."""
        there = {name for name in self.plan.experiments if (self.own / f"predictions/{name}.json").is_file()}
        audits = self.plan.audits()
        # An audit is drawn of its own document.
        shown = {name: [name] if name in audits else self.plan.shown(name) for name in self.plan.experiments}
        return [name for name in self.plan.experiments if there & set(shown[name])]

    def described(self, name: str) -> dict[str, str]:
        """The descriptions in the records of an experiment, as lines by id."""
        found: dict[str, str] = {}
        for path in sorted((self.own / "records" / name).rglob("*.json")):
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
        measured = {f"{p.parent.name}/{p.stem}" for p in (self.own / "records" / name).rglob("*.json")}
        known = read_json(self.own / f"predictions/{name}.json") or []
        lines: dict[str, dict[str, Any]] = {line["id"]: line for line in known if line["id"] in measured}
        asked: dict[str, dict[str, Any]] = {}
        # The first of an id is its record's, where there is one.
        for line in map(json.loads, self.description(name).read_text().splitlines()):
            asked.setdefault(line["id"], line)
        for line in json.loads(json.dumps(predict([*asked.values()], security="auto", unit_costs=self.unit_costs))):
            lines[line["id"]] = lines.get(line["id"], line) | {key: line[key] for key in OF_FORMULAS if key in line}
        ordered = [lines[id] for id in dict.fromkeys([*(line["id"] for line in known), *lines]) if id in lines]
        write(path, json.dumps(ordered, indent=1) + "\n")
        return path

    def accuracy(self, names: Iterable[str]) -> list[Path]:
        """Draw the tables of predictions beside measurements, which tell other drawings how good predictions are."""
        judged = [name for name in names if self.plan.judged(name) and (self.own / "records" / name).is_dir()]
        for name in judged:
            self.prediction(name)
        return [draw_accuracy(self.plan, name, self.own / "records") for name in judged]

    def draw(self, name: str, accuracy: Iterable[Path]) -> list[Path]:
        """Tables and figures of an experiment. accuracy: the tables of those that were drawn."""
        audits = self.plan.audits()
        for each in self.plan.shown(name):
            if each in self.plan.experiments:
                self.description(each)
                if each not in audits:
                    self.prediction(each)
        if name in audits:
            write(audits[name], (self.own / f"predictions/{name}.json").read_bytes())
        draw_experiment(self.plan, name, self.own / "records", accuracy)
        if name not in audits and (self.own / f"predictions/{name}.json").is_file():
            write(self.own / f"predictions/{name}.json", self.prediction(name).read_bytes())
        return sorted((self.plan.figures / name).glob("*"))


def headline(figures: Mapping[str, Path], runs: Mapping[str, Documents]) -> str:
    """docs/results/headline.md: the claims of all papers by the longest run, each with a link to the table that it is
    computed from."""
    profile, folder = list(figures.items())[-1]
    said = labels([*records_of(runs[profile]).values()])

    def linked(found: re.Match[str]) -> str:
        paper, name, table = found.groups()
        place = papers.anchor(papers.heading(f"{paper}/{name}", table, profile))
        return f"| [{found[0][2:-2]}]({paper}.md#{place}) |"

    claims = re.sub(r"\| (\w+)/([\w-]+), ([\w-]+) \|$", linked, (folder / "headline.md").read_text(), flags=re.M)
    return (
        "# The papers' headline claims\n\nEach claim links to the table that it is computed from. That table's last "
        "column has the beginnings of the records' ids; its page ends with the whole ids and their commands.\n\n"
        f"Profile {profile}, run of {said['date']} on {said['processor']}, {said['memory']} of memory.\n\n{claims}"
    )


def publish(figures: Mapping[str, Path], runs: Mapping[str, Documents]) -> None:
    """Write docs/results/ and docs/artifact/ of drawn tables and of the packed runs."""
    write(PAGES / "headline.md", headline(figures, runs).encode())
    for name, folder in figures.items():
        write(claims_of(name), (folder / "headline.csv").read_bytes())
    papers.write_all(figures, runs, PAGES)
    without_tables(runs)


def without_tables(runs: Mapping[str, Documents]) -> None:
    """Write the pages that need no drawn table."""
    write_all(runs)
    draw_sweeps()
    artifact.write_all(runs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", help="instead of all that are packed")
    parser.add_argument("--figures", type=Path, default=Path("figures/out"), help="instead of figures/out")
    parser.add_argument("--out", type=Path, default=REFERENCE, metavar="DIR", help="instead of results/reference")
    parser.add_argument("--binary", help="instead of the profile's `binary`")
    parser.add_argument("--only", default="", help="experiments, separated by commas, instead of all")
    parser.add_argument("--png", action="store_true", help="figures as PNG alone, without PDF and SVG: faster")
    pages = "only the pages of applications, sweeps, machines and artifacts, of the packed runs as they are: in seconds"
    parser.add_argument("--pages", action="store_true", help=pages)
    arguments = parser.parse_args()
    os.chdir(ROOT)
    if arguments.pages:
        without_tables({profile: read_packed(packed(profile, arguments.out)) for profile in PROFILES})
        return 0
    profiles = [arguments.profile] if arguments.profile else PROFILES
    with ProcessPoolExecutor() as pool:
        figures = dict(zip(profiles, pool.map(partial(redraw, arguments), profiles)))
    if not arguments.profile and not arguments.only:
        publish(figures, {profile: read_packed(packed(profile, arguments.out)) for profile in profiles})
    return 0


def redraw(arguments: argparse.Namespace, profile: str) -> Path:
    """Draw the tables of a profile's packed run, and pack it with today's predictions; the folder of its drawings."""
    figures: Path = arguments.figures / f"reference-{profile}"
    file = packed(profile, arguments.out)
    if arguments.png:
        style.IMAGES = {".png": {}}
    with tempfile.TemporaryDirectory() as temporary:
        own, work = Path(temporary, "own"), Path(temporary, "work")
        write_files(read_packed(file), own)
        redrawing = Redrawing(profile, own, work, figures, binary=arguments.binary)
        known = redrawing.plan.experiments
        names = arguments.only.split(",") if arguments.only else redrawing.experiments()
        for name in names:
            if name not in known:
                raise PlanError(f"profile {profile} has no {name}: {', '.join(known)}.")
        accuracy = redrawing.accuracy(names)
        for name in names:
            files = redrawing.draw(name, accuracy)
            print(f"{figures}/{name}/: {', '.join(path.name for path in files)}", flush=True)
        pack(unpacked(redrawing.own), file)
    draw("index", "--figures", figures, "--expected", "experiments/expected", "--out", figures / "index")
    return figures


if __name__ == "__main__":
    sys.exit(exit_code(main))
