"""`make reproduce`: print the plan, run the workflow with a progress bar, print the results."""

import argparse
import fcntl
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TextIO

from pirlab_estimator.outputs import write
from pirlab_figures.lib.units import human_bytes
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from .experiments import read_profile
from .files import ROOT, PlanError, exit_code, naming, read_json, read_object, write_json
from .folders import PLACES, environment
from .outlook import PRESENTING_SECONDS, Outlook, seconds_text
from .plan import DONE, Plan
from .steps import NO_RECORD, counts, die_with_parent, faults, stale_records, stale_text

CONSOLE = Console(highlight=False, width=None if sys.stdout.isatty() else 140)
#: The source of an instance's security, in words.
SECURITY_SOURCES = {
    "live": "by the lattice estimator itself",
    "recorded": "from its recorded results (LATTICE_ESTIMATOR=<checkout> runs it live)",
    "fast_only": "by the fast model, not confirmed (`make confirm` asks the lattice estimator)",
    "none": "unknown: outside the fast model's domain, neither recorded nor the estimator at hand",
}


def say(text: object) -> None:
    """Print a line as it is, which the terminal breaks."""
    CONSOLE.print(str(text), markup=False, soft_wrap=True)


def lock(results: Path, seconds: int = 10) -> TextIO:
    """Hold the results folder; children inherit the lock, so that it lasts as long as any of them runs."""
    results.mkdir(parents=True, exist_ok=True)
    try:
        # A link in its place is refused: its target would be emptied.
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        handle = os.fdopen(os.open(results / ".lock", flags, 0o666), "a+")
    except OSError as error:
        raise PlanError(f"{results}/.lock cannot be opened: {error.strerror}. Remove it.") from None
    for wait in range(seconds):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except OSError:
            if wait == 0:
                say(f"{results} is in use by another run; waiting for it to end.")
            time.sleep(1)
    else:
        handle.seek(0)
        raise PlanError(
            f"{results}/.lock is held by another `make reproduce`, or by what it left running "
            f"(process {handle.read().strip()}). Wait until it ends, or end it."
        )
    with naming(results / ".lock"):
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
    os.set_inheritable(handle.fileno(), True)
    return handle


class Workflow:
    """Snakemake with this profile's settings; its output goes to results/logs/snakemake.log."""

    def __init__(self, plan: Plan, handle: TextIO, cores: str):
        self.log = plan.results / "logs" / "snakemake.log"
        self.log.unlink(missing_ok=True)
        self.handle = handle
        self.options = ["--workflow-profile", "config/profiles/local", "--cores", cores]
        self.options += ["--configfile", str(plan.settings())]

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start Snakemake; it dies with this process."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with naming(self.log), self.log.open("a") as log:
            log.write(f"\n$ snakemake {' '.join(arguments)}\n")
            log.flush()
            return subprocess.Popen(
                [sys.executable, "-m", "snakemake", *arguments, *self.options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment(),
                pass_fds=[self.handle.fileno()],
                preexec_fn=die_with_parent,
            )

    def run(self, *arguments: str) -> int:
        """Run Snakemake to its end; on Ctrl-C let it end its jobs first."""
        process = self.start(*arguments)
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.wait()
            raise

    def tail(self) -> str:
        """The log's end."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-40:])


def show(outlook: Outlook) -> None:
    """The plan as a table, and its totals."""
    table = Table(title=f"Plan of profile {outlook.plan.profile['profile']}", title_justify="left")
    for name in ("experiment", "shape or settings", "what"):
        table.add_column(name, overflow="fold")
    for name in ("rows", "there", "to do", "predicted", "memory"):
        table.add_column(name, justify="right")
    table.add_column("left out, skipped or stopped: why", overflow="fold")
    for group in outlook.plan.groups.values():
        table.add_row(*group.key, *outlook.cells(group))
    CONSOLE.print(table)
    presenting = PRESENTING_SECONDS * len(outlook.plan.experiments)
    CONSOLE.print(
        f"{sum(map(len, outlook.todo.values()))} rows in {len(outlook.todo)} groups to measure, about "
        f"{seconds_text(outlook.total())} by the cost model, one group at a time, and about {seconds_text(presenting)} "
        f"of predictions, tables and figures; {human_bytes(outlook.free, 3)} of memory free; up to "
        f"{human_bytes(outlook.disk_bytes(), 2)} of disk for records and drawings."
    )
    for source, count in outlook.sources.items():
        CONSOLE.print(f"Security of {count} instances: {SECURITY_SOURCES.get(source, source)}.")


def follow(process: subprocess.Popen[bytes], outlook: Outlook) -> int:
    """Show progress, weighted by predicted seconds, until Snakemake ends."""
    plan, left = outlook.plan, dict(outlook.todo)
    total = outlook.total() or 1
    start = last = time.monotonic()
    done = spent = 0.0
    half: tuple[float, float] | None = None
    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %  {task.fields[left]}"),
    ]
    with Progress(*columns, console=CONSOLE, disable=not CONSOLE.is_terminal, transient=True) as bar:
        task = bar.add_task("starting", total=total, left="")
        while True:
            code = process.poll()
            for key in [key for key in left if plan.marker(plan.groups[key]).exists()]:
                rows, group, now = left.pop(key), plan.groups[key], time.monotonic()
                predicted = outlook.seconds(key)
                done, spent = done + predicted, spent + now - last
                states = Counter(plan.status(group, row) for row in rows)
                # Until a group with predicted seconds is done, the predictions alone say what is left.
                rest = (total - done) * (spent / done if done else 1.0) if left else 0.0
                if half is None and left and done >= total / 2:
                    half = spent, rest
                say(
                    f"[{len(outlook.todo) - len(left)}/{len(outlook.todo)}] {group.experiment} {group.id}: "
                    f"{', '.join(f'{count} {status}' for status, count in states.items())}; "
                    f"{seconds_text(now - last)} (predicted {seconds_text(predicted)}); "
                    f"measuring still takes about {seconds_text(rest) if rest else '0 s'}"
                )
                last = now
            rate = spent / done if done else 1.0
            current = min((time.monotonic() - last) / rate, 0.9 * (total - done)) if left else 0
            words = f"about {seconds_text((total - done - current) * rate)} left" if left else "tables and figures"
            bar.update(task, completed=done + current, left=words, description="measuring" if left else "presenting")
            if code is not None:
                if outlook.todo and not left:
                    say(beside_predictions(total, spent, half))
                CONSOLE.print(f"workflow finished in {seconds_text(time.monotonic() - start)}")
                return code
            time.sleep(0.2)


def beside_predictions(said: float, took: float, half: tuple[float, float] | None) -> str:
    """How long measuring took, beside what was predicted of it at its start and at its half.

    half: the seconds that had passed when half of the predicted ones were done, and those predicted of the rest.
    """
    text = f"measuring took {took:.0f} s; {said:.0f} s were predicted at its start ({said / took:.0%})"
    if half is not None:
        rest = took - half[0]
        text += f"; its second half took {rest:.0f} s; {half[1]:.0f} s were predicted at half ({half[1] / rest:.0%})"
    return text


def freshen(plan: Plan, all_stale: bool) -> int:
    """Ask for records to be measured again: those of rows that took too long, and stale and skipped ones if
    `all_stale`. Each stays until its replacement takes its place, so that an interruption loses none; what is left of
    the request is measured by the next run."""
    stale = {Path(entry["record"]) for entry in stale_records(plan)} if all_stale else set()
    again = DONE[1:] if all_stale else ("timeout",)
    rows = {plan.record(group, row): plan.status(group, row) for group, row in plan.measured_rows()}
    wanted = {path for path, status in rows.items() if path in stale or status in again}
    before = read_object(plan.fresh())
    asked = {path: id for path, id in before.items() if plan.still(before, Path(path))}
    asked |= {str(path): read_object(path).get("id") for path in wanted}
    write_json(plan.fresh(), asked)
    return len(wanted)


def drop_foreign_calibration(plan: Plan) -> None:
    """Remove unit costs of another machine or build, so that the workflow measures this one's."""
    if not plan.calibration.is_file():
        return
    check = [plan.binary, "calibrate", "--check", "--out", str(plan.calibration)]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    if done.returncode == 1:
        say(f"{done.stderr.strip()} The unit costs are measured again.")
        plan.calibration.unlink()


def report(workflow: Workflow, plan: Plan) -> Path | None:
    """Snakemake's self-contained HTML report, made again when a table, figure or verdict is newer."""
    path = plan.figures / "report.html"
    made = [p for p in plan.figures.rglob("*") if p.is_file() and p != path]
    made += [*(plan.results / "verdict").glob("*.json"), *(ROOT / "workflow/captions").glob("*.rst")]
    if path.is_file() and all(p.stat().st_mtime <= path.stat().st_mtime for p in made):
        return path
    return path if workflow.run("presented", "--report", str(path)) == 0 and path.is_file() else None


def summary(plan: Plan, path: Path | None) -> None:
    """The produced files."""
    for name in plan.experiments:
        files = sorted(p for p in (plan.figures / name).glob("*") if p.is_file())
        say(f"{plan.figures / name}/: {', '.join(p.name for p in files) or 'nothing'}")
    say(f"{plan.figures / 'index.html'}: begin here, in a browser")
    say(f"{path}: the same with logs and captions" if path else "no report")
    words = ", ".join(f"{count} {status}" for status, count in sorted(counts(plan).items()))
    say(f"{plan.results / 'records'}/: {words or 'no rows'}")
    if stale := stale_text(read_json(plan.results / "stale.json") or []):
        say(stale)


def reproduce(arguments: argparse.Namespace) -> int:
    """Hold the results folder, run what the arguments ask for, and take a plan's requests back."""
    places = {key: getattr(arguments, key) for key in PLACES}
    experiments = arguments.only.split(",") if arguments.only else []
    plan = Plan(read_profile(arguments.profile, experiments=experiments, **places))
    if not Path(plan.binary).is_file():
        raise PlanError(f"{plan.profile['binary']}: there is no such file. Run `make build`.")
    handle = lock(plan.results, arguments.wait)
    if arguments.calibrate:
        command = [plan.binary, "calibrate", f"--out={plan.calibration}"]
        return subprocess.run(command, preexec_fn=die_with_parent).returncode
    workflow = Workflow(plan, handle, arguments.cores)
    asked = plan.fresh().read_bytes() if plan.fresh().is_file() else None
    if (count := freshen(plan, arguments.fresh)) or arguments.fresh:
        what = "FRESH=1: {} stale or skipped records" if arguments.fresh else "{} rows that took too long the last time"
        say(f"{what.format(count)} to measure again; each record stays until it is replaced.")
    try:
        return perform(arguments, plan, workflow)
    finally:
        if arguments.plan:  # a plan asks for nothing
            plan.fresh().unlink() if asked is None else write(plan.fresh(), asked)


def perform(arguments: argparse.Namespace, plan: Plan, workflow: Workflow) -> int:
    """Predict, print the plan, run it and say what came of it."""
    if incomplete := plan.prepare():
        say(f"Incomplete, and made again: {', '.join(map(str, incomplete))}.")
    drop_foreign_calibration(plan)
    CONSOLE.print("Describing and predicting every row ...")
    if workflow.run("predictions") != 0:
        say(workflow.tail())
        say(f"The predictions failed; the whole log is {workflow.log}.")
        return 1
    outlook = Outlook(plan)
    show(outlook)
    if arguments.plan:
        return 0
    code = follow(workflow.start(), outlook)
    path = report(workflow, plan) if code == 0 else None
    summary(plan, path)
    bad = [fault for fault in faults(plan) if not fault.endswith(NO_RECORD)]
    if code == 0 and path and not bad:
        return 0
    say("\n".join(bad) or workflow.tail())
    say(f"Something failed, see above; the whole log is {workflow.log}. A rerun continues from here.")
    return 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", default="quick", help="config/<profile>.yaml")
    parser.add_argument("--plan", action="store_true", help="only print the plan")
    parser.add_argument("--calibrate", action="store_true", help="only measure the unit costs of this machine again")
    parser.add_argument("--fresh", action="store_true", help="measure stale and skipped rows again")
    parser.add_argument("--only", help="experiments, separated by commas, instead of the profile's")
    parser.add_argument("--cores", default="all")
    parser.add_argument("--wait", type=int, default=10, help="seconds to wait for another run in the same folder")
    parser.add_argument("--with-parent", action="store_true", help="end when the process that started this ends")
    for name in PLACES:
        parser.add_argument(f"--{name}", help=f"instead of the profile's `{name}`")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    if arguments.with_parent:
        die_with_parent()
    try:
        return exit_code(lambda: reproduce(arguments), say)
    except KeyboardInterrupt:
        CONSOLE.print("Stopped. Finished records are kept; the same command continues.")
        return 130


if __name__ == "__main__":
    sys.exit(main())
