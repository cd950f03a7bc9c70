"""`make reproduce`: set out the plan, run the workflow with a progress bar, say what came of it."""

import argparse
import fcntl
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, TextIO

sys.path.insert(0, str(Path(__file__).parent / "rules"))
from pirlab_estimator.cost.plan import free_memory_bytes
from pirlab_estimator.cost.plan import plan as cost_plan
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table
from steps import counts, die_with_parent, stale_records, stale_text
from sweep import (
    DONE,
    FAILED,
    ROOT,
    PlanError,
    Sweep,
    bytes_text,
    read_json,
    read_object,
    read_profile,
    seconds_text,
    write_if_changed,
)

# What the cost model of the protocols leaves out: a row's start, and the two bandwidth probes of a group.
START_SECONDS = {"protocol": 1.0, "primitive": 0.05}
PROBES_SECONDS = 12.0
CONSOLE = Console(highlight=False, width=None if sys.stdout.isatty() else 140)


def lock(results: Path, seconds: int = 10) -> TextIO:
    """Hold the results folder; children inherit the lock, so that it lasts as long as any of them runs."""
    results.mkdir(parents=True, exist_ok=True)
    try:
        # A link that lies there is none of ours, and what it leads to would be emptied.
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
                CONSOLE.print(f"{results} is in use by another run; waiting for it to end.")
            time.sleep(1)
    else:
        handle.seek(0)
        raise PlanError(
            f"{results}/.lock is held by another `make reproduce`, or by what it left running "
            f"(process {handle.read().strip()}). Wait until it ends, or end it."
        )
    handle.truncate(0)
    handle.write(str(os.getpid()))
    handle.flush()
    os.set_inheritable(handle.fileno(), True)
    return handle


class Workflow:
    """Snakemake with this profile's settings; everything it says goes to results/logs/snakemake.log."""

    def __init__(self, sweep: Sweep, profile: str, overrides: dict[str, Any], handle: TextIO, cores: str):
        self.log = sweep.results / "logs" / "snakemake.log"
        self.handle = handle
        self.options = ["--workflow-profile", "config/profiles/local", "--cores", cores]
        self.options += ["--configfile", f"config/{profile}.yaml"]
        if overrides:
            self.options += ["--config", *(f"{key}={json.dumps(value)}" for key, value in overrides.items())]

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start Snakemake; it dies with this process."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        with self.log.open("a") as log:
            log.write(f"\n$ snakemake {' '.join(arguments)}\n")
            log.flush()
            return subprocess.Popen(
                [sys.executable, "-m", "snakemake", *arguments, *self.options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                pass_fds=[self.handle.fileno()],
                preexec_fn=die_with_parent,
            )

    def run(self, *arguments: str) -> int:
        """Run Snakemake to its end."""
        return wait(self.start(*arguments))

    def tail(self, lines: int = 40) -> str:
        """The log's end."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


def wait(process: subprocess.Popen[bytes]) -> int:
    """Wait for the process; on Ctrl-C let it end its jobs first."""
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.wait()
        raise


class Plan:
    """What is to be done: per group the rows to measure, their seconds and memory, and what will be skipped."""

    def __init__(self, sweep: Sweep):
        self.sweep = sweep
        self.free = free_memory_bytes()
        predicted = {
            (name, *line["id"].split("/", 1)): line
            for name in sweep.experiments
            for line in read_json(sweep.prediction(name)) or []
        }
        self.sources = Counter(entry["source"] for line in predicted.values() for entry in line["security"])
        self.todo, self.groups = {}, {}
        for group in sweep.groups.values():
            if group.kind == "security":
                continue
            rows = sweep.missing(group) if group.measured else []
            if rows:
                self.todo[group.key] = rows
            own = {row.id: predicted[(*group.key, row.id)] for row in group.rows}
            [self.groups[group.key]] = cost_plan(own, [sweep.group_file(group)], free_memory=self.free)

    def seconds(self, key: tuple[str, str]) -> float:
        """Predicted seconds of what is left of a group, with the start of its rows and the bandwidth probes."""
        todo = {row.id for row in self.todo.get(key, [])}
        rows = [row for row in self.groups[key].rows if row.id in todo and row.action == "run"]
        group = self.sweep.groups[key]
        probes = PROBES_SECONDS if rows and group.probed(self.sweep.profile) else 0.0
        return probes + float(sum(row.seconds + START_SECONDS[group.kind] for row in rows))

    def print(self) -> None:
        """The plan as a table, and its totals."""
        table = Table(title=f"Plan of profile {self.sweep.profile['profile']}", title_justify="left")
        for name in ("experiment", "shape or settings", "what"):
            table.add_column(name, overflow="fold")
        for name in ("rows", "there", "to do", "predicted", "memory"):
            table.add_column(name, justify="right")
        table.add_column("left out, skipped or stopped: why", overflow="fold")
        for group in self.sweep.groups.values():
            if group.key not in self.groups:
                cells = [group.experiment, group.id, group.kind, str(len(group.rows)), "", "0", "", ""]
                table.add_row(*cells, "; ".join(group.notes))
                continue
            todo = self.todo.get(group.key, [])
            rows = self.groups[group.key].rows
            ids = {row.id for row in todo}
            notes = group.notes + [f"{row.id} {row.reason}" for row in rows if row.id in ids and row.reason]
            table.add_row(
                group.experiment,
                group.id,
                ", ".join(dict.fromkeys(row.subject for row in rows)),
                str(len(group.rows)),
                str(sum(row not in todo and self.sweep.status(group, row) in DONE for row in group.rows)),
                str(len(todo)),
                seconds_text(self.seconds(group.key)) if todo else "",
                bytes_text(max(row.peak_bytes for row in rows)),
                "; ".join(notes),
            )
        CONSOLE.print(table)
        total = sum(self.seconds(key) for key in self.todo)
        count = sum(len(rows) for rows in self.todo.values())
        CONSOLE.print(
            f"{count} rows in {len(self.todo)} groups to measure, about {seconds_text(total)} by the cost model, "
            f"one group at a time; {bytes_text(self.free)} of memory free."
        )
        words = {
            "live": "by the lattice estimator itself",
            "recorded": "from its recorded results (LATTICE_ESTIMATOR=<checkout> runs it live)",
            "fast_only": "by the fast model, not confirmed (`make confirm` asks the lattice estimator)",
            "none": "unknown: outside the fast model's domain, neither recorded nor the estimator at hand",
        }
        for source, count in self.sources.items():
            CONSOLE.print(f"Security of {count} instances: {words.get(source, source)}.")


def follow(process: subprocess.Popen[bytes], plan: Plan) -> int:
    """Show progress, weighted by predicted seconds, until Snakemake ends."""
    sweep, left = plan.sweep, dict(plan.todo)
    total = sum(plan.seconds(key) for key in left) or 1
    start = last = time.monotonic()
    done = spent = 0.0
    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %  {task.fields[left]}"),
    ]
    with Progress(*columns, console=CONSOLE, disable=not CONSOLE.is_terminal, transient=True) as bar:
        task = bar.add_task("starting", total=total, left="")
        while True:
            code = process.poll()
            for key in [key for key in left if sweep.marker(sweep.groups[key]).exists()]:
                rows, group = left.pop(key), sweep.groups[key]
                now = time.monotonic()
                done, spent = done + plan.seconds(key), spent + now - last
                states = [sweep.status(group, row) for row in rows]
                words = ", ".join(f"{states.count(s)} {s}" for s in dict.fromkeys(states))
                remaining = seconds_text((total - done) * spent / done) if left and done else "0 s"
                CONSOLE.print(
                    f"[{len(plan.todo) - len(left)}/{len(plan.todo)}] {group.experiment} {group.id}: {words}; "
                    f"{seconds_text(now - last)} (predicted {seconds_text(plan.seconds(key))}); "
                    f"measuring still takes about {remaining}",
                    markup=False,
                )
                last = now
            rate = spent / done if done else 1.0
            current = min((time.monotonic() - last) / rate, 0.9 * (total - done)) if left else 0
            words = f"about {seconds_text((total - done - current) * rate)} left" if left else "tables and figures"
            bar.update(task, completed=done + current, left=words, description="measuring" if left else "presenting")
            if code is not None:
                CONSOLE.print(f"workflow finished in {seconds_text(time.monotonic() - start)}")
                return code
            time.sleep(0.2)


def freshen(sweep: Sweep) -> int:
    """Ask for stale and skipped records to be measured again. Each stays until its replacement takes its place, so
    that an interruption loses none; what is left of the request is measured by the next run."""
    paths = {Path(entry["record"]) for entry in stale_records(sweep)}
    for group in sweep.measured():
        paths |= {sweep.record(group, row) for row in group.rows if sweep.status(group, row) in DONE[1:]}
    wanted = {sweep.record(group, row) for group in sweep.measured() for row in group.rows}
    before = read_json(sweep.fresh()) or {}
    asked = {path: id for path, id in before.items() if sweep.still(before, Path(path))}
    asked |= {str(path): (read_json(path) or {}).get("id") for path in paths & wanted}
    write_if_changed(sweep.fresh(), json.dumps(asked, indent=2) + "\n")
    return len(paths & wanted)


def report(workflow: Workflow, sweep: Sweep) -> Path | None:
    """Snakemake's self-contained HTML report, made again when a table, figure or verdict is newer."""
    path = sweep.figures / "report.html"
    made = [p for p in sweep.figures.rglob("*") if p.is_file() and p != path]
    made += [*(sweep.results / "verdict").glob("*.json"), *(ROOT / "experiments/captions").glob("*.rst")]
    if path.is_file() and all(p.stat().st_mtime <= path.stat().st_mtime for p in made):
        return path
    return path if workflow.run("presented", "--report", str(path)) == 0 and path.is_file() else None


def summary(sweep: Sweep, path: Path | None) -> None:
    """What was produced."""
    for name in sweep.experiments:
        files = sorted(p for p in (sweep.figures / name).glob("*") if p.is_file())
        CONSOLE.print(f"{sweep.figures / name}/: {', '.join(p.name for p in files) or 'nothing'}", markup=False)
    CONSOLE.print(f"{path or 'no report'}" + (": open it in a browser" if path else ""), markup=False)
    words = ", ".join(f"{count} {status}" for status, count in sorted(counts(sweep).items()))
    CONSOLE.print(f"{sweep.results / 'records'}/: {words or 'no rows'}", markup=False)
    stale = stale_text(read_json(sweep.results / "stale.json") or [])
    if stale:
        CONSOLE.print(stale, markup=False, soft_wrap=True)


def failures(sweep: Sweep) -> list[str]:
    """The rows that failed or returned a wrong record."""
    lines = []
    for group in sweep.measured():
        for row in group.rows:
            record = read_object(sweep.record(group, row))
            if record.get("status") in FAILED:
                lines.append(f"{sweep.record(group, row)}: {record['status']}: {record.get('reason')}")
    return lines


def reproduce(arguments: argparse.Namespace) -> int:
    overrides = {key: value for key in ("results", "figures", "binary") if (value := getattr(arguments, key))}
    if arguments.only:
        overrides["experiments"] = arguments.only.split(",")
    sweep = Sweep(read_profile(arguments.profile, **overrides))
    if not Path(sweep.profile["binary"]).is_file():
        raise PlanError(f"{sweep.profile['binary']}: there is no such file. Run `make build`.")
    handle = lock(sweep.results, arguments.wait)
    workflow = Workflow(sweep, arguments.profile, overrides, handle, arguments.cores)
    if workflow.log.is_file():
        workflow.log.unlink()
    asked = sweep.fresh().read_text() if sweep.fresh().is_file() else None
    if arguments.fresh:
        CONSOLE.print(
            f"FRESH=1: {freshen(sweep)} stale or skipped records to measure again; each stays until it is replaced."
        )
    try:
        return perform(arguments, sweep, workflow)
    finally:
        if arguments.plan and arguments.fresh:  # a plan asks for nothing
            sweep.fresh().unlink() if asked is None else write_if_changed(sweep.fresh(), asked)


def drop_foreign_calibration(sweep: Sweep) -> None:
    """Remove unit costs of another machine or build, so that the workflow measures this one's."""
    path = sweep.results / "calibration.json"
    if not path.is_file():
        return
    check = [sweep.profile["binary"], "calibrate", "--check", "--out", str(path)]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    if done.returncode == 1:
        CONSOLE.print(f"{done.stderr.strip()} The unit costs are measured again.", markup=False, soft_wrap=True)
        path.unlink()


def perform(arguments: argparse.Namespace, sweep: Sweep, workflow: Workflow) -> int:
    """Predict, set out the plan, run it and say what came of it."""
    sweep.prepare()
    drop_foreign_calibration(sweep)
    CONSOLE.print("Describing and predicting every row ...")
    if workflow.run("predictions") != 0:
        CONSOLE.print(workflow.tail(), markup=False, soft_wrap=True)
        CONSOLE.print(f"The predictions failed; the whole log is {workflow.log}.")
        return 1
    plan = Plan(sweep)
    plan.print()
    if arguments.plan:
        return 0
    code = follow(workflow.start(), plan)
    path = report(workflow, sweep) if code == 0 else None
    summary(sweep, path)
    bad = failures(sweep)
    if code != 0 or bad or path is None:
        if not bad:
            CONSOLE.print(workflow.tail(), markup=False, soft_wrap=True)
        CONSOLE.print("\n".join(bad), markup=False, soft_wrap=True)
        CONSOLE.print(f"Something failed, see above; the whole log is {workflow.log}. A rerun continues from here.")
        return 1
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", default="quick", help="config/<profile>.yaml")
    parser.add_argument("--plan", action="store_true", help="only print the plan")
    parser.add_argument("--fresh", action="store_true", help="measure stale and skipped rows again")
    parser.add_argument("--only", help="experiments, separated by commas, instead of the profile's")
    parser.add_argument("--cores", default="all")
    parser.add_argument("--wait", type=int, default=10, help="seconds to wait for another run in the same folder")
    parser.add_argument(
        "--with-parent", action="store_true", help="end at once when the process that started this ends"
    )
    for name in ("results", "figures", "binary"):
        parser.add_argument(f"--{name}", help=f"instead of the profile's `{name}`")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    if arguments.with_parent:
        die_with_parent()
    try:
        return reproduce(arguments)
    except PlanError as error:
        CONSOLE.print(str(error), markup=False, soft_wrap=True)
        return 2
    except OSError as error:
        name = error.filename or "a file"
        CONSOLE.print(
            f"{name}: {error.strerror or error}. Check the path, its permissions and the free space.", markup=False
        )
        return 2
    except KeyboardInterrupt:
        CONSOLE.print("Stopped. Finished records are kept; the same command continues.")
        return 130


if __name__ == "__main__":
    sys.exit(main())
