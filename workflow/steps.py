"""The steps of the workflow that are more than one command: measure a group, list stale records, pass a verdict."""

import argparse
import ctypes
import json
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from pirlab_estimator import records
from pirlab_estimator.cost.plan import row_seconds, usable_cores

from .experiments import Group, Row, all_experiments, expand
from .files import PlanError, exit_code, naming, read_object, write_json
from .plan import DONE, FAILED, Plan

#: The reason for a row that has not been measured.
NO_RECORD = "there is no record"


def die_with_parent() -> None:
    """End this process when its parent ends, even by kill -9, so that no timed run is left behind (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)


def measure(plan: Plan, experiment: str, name: str) -> int:
    """Run the rows of a group that have no record yet, then write the group's marker."""
    group = plan.group(experiment, name)
    rows = plan.missing(group)
    print(f"{experiment} {name}: {len(rows)} rows to measure, {len(group.rows) - len(rows)} already there", flush=True)
    if rows and (code := run(plan, group, rows)) not in (0, 1):
        print(f"`pirlab run` ended with code {code}; finished records are kept.", flush=True)
        return 1
    entries = []
    for row in group.rows:
        path = plan.record(group, row)
        record = read_object(path)
        if record.get("status") not in DONE + FAILED:
            print(f"{path}: no record was written. Run it alone to see why.", flush=True)
            return 1
        said = {key: record.get(key) for key in ("status", "reason")}
        entries.append({"row": row.id} | said | {"record": str(path)})
    write_json(plan.marker(group), {"experiment": experiment, "group": name, "rows": entries})
    plan.marker(group).touch()
    for entry in entries:
        print(f"{entry['row']}: {entry['status']}{': ' + entry['reason'] if entry['reason'] else ''}", flush=True)
    return 0


def run(plan: Plan, group: Group, rows: list[Any]) -> int:
    """Run these rows of a group; the exit code of the binary, which is 1 where a row failed."""
    file = plan.results / "groups" / group.experiment / f"{group.id}.json"
    seconds = predicted_seconds(group, plan.lines(group.experiment))
    write_json(file, plan.group_file(group, rows, seconds, plan.stretch()))
    for row in rows:
        plan.record(group, row).parent.mkdir(parents=True, exist_ok=True)
    command = [plan.binary, *group.command("run"), "--group", str(file)]
    return subprocess.run(command, preexec_fn=die_with_parent).returncode


def predicted_seconds(group: Group, lines: list[dict[str, Any]]) -> dict[str, float]:
    """Predicted seconds of a group's rows by row id, the same as in the plan; without those that have no prediction."""
    found, rows = {}, {row.id: row.run(group.options) for row in group.rows}
    for line in lines:
        name, _, row = line["id"].partition("/")
        if name == group.id and row in rows:
            found[row] = row_seconds(line, rows[row])
    return found


def stale_records(plan: Plan) -> list[dict[str, Any]]:
    """Records that are not what the present binary would write (reason `changed`: sources, parameters or row), and
    those whose row is not in any experiment file (reason `orphan`). Of those that follow the machine, some would be the
    same but for its number of threads (reason `threads`)."""
    found, known = [], set()
    for experiment in all_experiments():
        for group in expand(experiment, plan.profile):
            paths = {row.id: plan.record(group, row) for row in group.rows}
            known |= set(paths.values())
            if there := [row for row in group.rows if paths[row.id].is_file()]:
                found += changed_records(plan, group, there)
    orphans = sorted(set((plan.results / "records").rglob("*.json")) - known)
    return found + [stale_entry(path, "orphan") for path in orphans]


def changed_records(plan: Plan, group: Group, rows: list[Row]) -> list[dict[str, Any]]:
    """The records of these rows that the present binary would write differently."""
    paths = {row.id: plan.record(group, row) for row in rows}
    records = {id: read_object(path) for id, path in paths.items()}

    def differing(rows: list[Row]) -> list[Row]:
        keys = staleness_keys(plan, group, rows) if rows else {}
        return [row for row in rows if records[row.id].get("staleness_key") != keys[row.id]]

    changed = differing(rows)
    as_then = [
        replace(row, own=row.own | {"threads": records[row.id]["threads"]})
        for row in changed
        if row.own.get("threads") not in (None, records[row.id].get("threads", None))
    ]
    more = {row.id for row in as_then} - {row.id for row in differing(as_then)}
    return [stale_entry(paths[row.id], "threads" if row.id in more else "changed") for row in changed]


def staleness_keys(plan: Plan, group: Group, rows: list[Any]) -> dict[str, str]:
    """The keys that the present binary gives these rows, by row id, in their order."""
    with naming(tempfile.gettempdir()), tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(plan.group_file(group, rows), file)
        file.flush()
        command = [plan.binary, *group.command("key"), "--group", file.name]
        answer = subprocess.run(command, capture_output=True, text=True)
    if answer.returncode != 0:
        raise PlanError(f"`pirlab key` refuses group {group.id} of {group.experiment}: {answer.stderr.strip()}")
    keys = json.loads(answer.stdout)
    return {row.id: keys[row.id] for row in rows}


def stale_entry(path: Path, reason: str) -> dict[str, Any]:
    """A line of the list of stale records."""
    record = read_object(path)
    said = {key: record.get(key) for key in ("experiment", "group", "row", "status")}
    date = str(record.get("finished") or record.get("started") or "")[:10]
    return {"record": str(path), "reason": reason} | said | {"date": date}


def stale_text(found: list[dict[str, Any]]) -> str:
    """The advice about stale records; empty without any."""
    changed = sum(entry["reason"] == "changed" for entry in found)
    orphans = [entry["record"] for entry in found if entry["reason"] == "orphan"]
    lines = []
    if threads := sum(entry["reason"] == "threads" for entry in found):
        lines.append(
            f"{threads} records were measured on another number of threads than this machine has ({usable_cores()}); "
            "nothing else changed. FRESH=1 measures them again."
        )
    if changed:
        lines.append(f"{changed} records are stale (sources, parameters or row changed); FRESH=1 measures them again.")
    if orphans:
        more = f" and {len(orphans) - 3} more" if len(orphans) > 3 else ""
        lines.append(
            f"{len(orphans)} records do not belong to any row of an experiment file and are drawn as stale; delete "
            f"them if they are not wanted: {', '.join(orphans[:3])}{more}."
        )
    return "\n".join(lines)


def faults(plan: Plan) -> list[str]:
    """The rows that have no record, an invalid one, one that failed or one with a wrong answer."""
    bad = []
    for group, row in plan.measured_rows():
        path = plan.record(group, row)
        try:
            record = records.read(path) if path.exists() else {"status": "none", "reason": NO_RECORD}
        except records.InputError as error:
            bad.append(str(error))
            continue
        if record["status"] not in DONE:
            bad.append(f"{path}: {record['status']}: {record.get('reason')}")
    return bad


def verdict(plan: Plan, out: Path) -> int:
    """Fail where a row has a fault; otherwise write how many rows have which status."""
    if bad := faults(plan):
        print("\n".join(bad), flush=True)
        return 1
    write_json(out, counts(plan))
    out.touch()
    print(f"all rows are accounted for: {counts(plan)}", flush=True)
    return 0


def counts(plan: Plan) -> dict[str, int]:
    """How many of the rows that the profile measures have which status; `none` where there is no record."""
    return dict(Counter(plan.status(group, row) or "none" for group, row in plan.measured_rows()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=["measure", "stale", "verdict"])
    parser.add_argument("--profile", type=Path, required=True, help="the profile as JSON, written by the Snakefile")
    parser.add_argument("--experiment")
    parser.add_argument("--group")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    die_with_parent()
    plan = Plan(json.loads(arguments.profile.read_text()))
    if arguments.step == "measure":
        return measure(plan, arguments.experiment, arguments.group)
    if arguments.step == "verdict":
        return verdict(plan, arguments.out)
    found = stale_records(plan)
    write_json(arguments.out, found)
    arguments.out.touch()
    print(stale_text(found) or "no record is stale", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(exit_code(main))
