"""The steps of the workflow that are more than one command: measure a group, list stale records, pass a verdict."""

import argparse
import ctypes
import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from checking import read_record
from pirlab_estimator.cost.plan import row_seconds
from sweep import (
    DONE,
    FAILED,
    Group,
    PlanError,
    Sweep,
    all_experiments,
    expand,
    read_json,
    read_object,
    write_if_changed,
)


def die_with_parent() -> None:
    """End this process when its parent ends, even by kill -9, so that no timed run is left behind (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)


def measure(sweep: Sweep, experiment: str, name: str) -> int:
    """Run the rows of a group that have no record yet, then write the group's marker."""
    group = sweep.group(experiment, name)
    rows = sweep.missing(group)
    here = len(group.rows) - len(rows)
    print(f"{experiment} {name}: {len(rows)} rows to measure, {here} already there", flush=True)
    if rows:
        file = sweep.results / "groups" / experiment / f"{name}.json"
        lines = read_json(sweep.prediction(experiment)) or []
        document = sweep.group_file(group, rows, predicted_seconds(group, lines))
        write_if_changed(file, json.dumps(document, indent=2) + "\n")
        for row in rows:
            sweep.record(group, row).parent.mkdir(parents=True, exist_ok=True)
        command = [str(Path(sweep.profile["binary"]).absolute()), *group.command("run"), "--group", str(file)]
        if not group.probed(sweep.profile):
            command.append("--no-probe")
        code = subprocess.run(command, preexec_fn=die_with_parent).returncode
        if code not in (0, 1):
            print(f"`{' '.join(command)}` ended with code {code}; finished records are kept.", flush=True)
            return 1
    states = [read_json(sweep.record(group, row)) for row in group.rows]
    for row, state in zip(group.rows, states, strict=True):
        if not isinstance(state, dict) or state.get("status") not in DONE + FAILED:
            print(f"{sweep.record(group, row)}: no record was written. Run it alone to see why.", flush=True)
            return 1
    entries = [
        {
            "row": row.id,
            "status": state["status"],
            "reason": state.get("reason"),
            "record": str(sweep.record(group, row)),
        }
        for row, state in zip(group.rows, states, strict=True)
    ]
    marker = {"experiment": experiment, "group": name, "rows": entries}
    write_if_changed(sweep.marker(group), json.dumps(marker, indent=2) + "\n")
    sweep.marker(group).touch()
    for entry in entries:
        print(f"{entry['row']}: {entry['status']}{': ' + entry['reason'] if entry['reason'] else ''}", flush=True)
    return 0


def predicted_seconds(group: Group, lines: list[dict[str, Any]]) -> dict[str, float]:
    """Predicted seconds of a group's rows by row id, the same as in the plan; without those that have no prediction."""
    found, rows = {}, {row.id: row.run(group.options) for row in group.rows}
    for line in lines:
        name, _, row = line["id"].partition("/")
        if name == group.id and row in rows:
            found[row] = row_seconds(line, rows[row]["repetitions"], rows[row].get("updates", 0))
    return found


def stale_records(sweep: Sweep) -> list[dict[str, Any]]:
    """Records that are not what the present binary would write (reason `changed`: sources, parameters or row), and
    those whose row is in no experiment file (reason `orphan`)."""
    found, known = [], set()
    for experiment in all_experiments():
        for group in expand(experiment, sweep.profile):
            known |= {sweep.record(group, row) for row in group.rows}
            rows = [row for row in group.rows if sweep.record(group, row).is_file()]
            if not rows:
                continue
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                json.dump(sweep.group_file(group, rows), file)
                file.flush()
                command = [str(Path(sweep.profile["binary"]).absolute()), *group.command("key"), "--group", file.name]
                answer = subprocess.run(command, capture_output=True, text=True)
            if answer.returncode != 0:
                raise PlanError(f"`pirlab key` refuses group {group.id} of {experiment}: {answer.stderr.strip()}")
            keys = json.loads(answer.stdout)
            for row in rows:
                record = read_object(sweep.record(group, row))
                if record.get("staleness_key") != keys[row.id]:
                    found.append(stale_entry(sweep.record(group, row), "changed"))
    orphans = sorted(set((sweep.results / "records").rglob("*.json")) - known)
    return found + [stale_entry(path, "orphan") for path in orphans]


def stale_entry(path: Path, reason: str) -> dict[str, Any]:
    """A line of the list of stale records."""
    record = read_object(path)
    return {"record": str(path), "reason": reason} | {
        "experiment": record.get("experiment"),
        "group": record.get("group"),
        "row": record.get("row"),
        "status": record.get("status"),
        "date": str(record.get("finished") or record.get("started") or "")[:10],
    }


def stale_text(found: list[dict[str, Any]]) -> str:
    """What a user does about stale records; nothing where there are none."""
    changed = sum(entry["reason"] == "changed" for entry in found)
    orphans = [entry["record"] for entry in found if entry["reason"] == "orphan"]
    lines = []
    if changed:
        lines.append(f"{changed} records are stale (sources, parameters or row changed); FRESH=1 measures them again.")
    if orphans:
        more = f" and {len(orphans) - 3} more" if len(orphans) > 3 else ""
        lines.append(
            f"{len(orphans)} records belong to no row of any experiment file and are drawn as stale; delete them if "
            f"they are not wanted: {', '.join(orphans[:3])}{more}."
        )
    return "\n".join(lines)


def counts(sweep: Sweep) -> dict[str, int]:
    """How many of the rows that the profile measures have which status; `none` where there is no record."""
    total: dict[str, int] = {}
    for group in sweep.measured():
        for row in group.rows:
            status = sweep.status(group, row) or "none"
            total[status] = total.get(status, 0) + 1
    return total


def verdict(sweep: Sweep, out: Path) -> int:
    """Fail when a row failed, returned a wrong record or has one that does not hold; otherwise write the counts."""
    bad = []
    for group in sweep.measured():
        for row in group.rows:
            path = sweep.record(group, row)
            if not path.exists():
                bad.append(f"{path}: none: there is no record")
                continue
            try:
                record = read_record(path)
            except PlanError as error:
                bad.append(str(error))
                continue
            if record["status"] not in DONE:
                bad.append(f"{path}: {record['status']}: {record.get('reason')}")
    print("\n".join(bad) if bad else f"all rows are accounted for: {counts(sweep)}", flush=True)
    if bad:
        return 1
    write_if_changed(out, json.dumps(counts(sweep), indent=2) + "\n")
    out.touch()
    return 0


def sources(path: Path) -> None:
    """Say of every instance where its security is from: the live estimator, its recorded results, or our own model."""
    for line in read_json(path):
        for entry in line["security"]:
            bits = "unknown" if entry.get("bits") is None else f"{entry['bits']:.1f} bits"
            commit = entry.get("estimator_commit") or "no estimator"
            print(f"{line['id']} {entry.get('instance')}: {bits}, {entry['source']} ({commit})")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=["sources", "measure", "stale", "verdict"])
    parser.add_argument("--profile", type=Path, help="the profile as JSON, written by the Snakefile")
    parser.add_argument("--experiment")
    parser.add_argument("--group")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    die_with_parent()
    if arguments.step == "sources":
        sources(arguments.out)
        return 0
    try:
        sweep = Sweep(json.loads(arguments.profile.read_text()))
        if arguments.step == "measure":
            return measure(sweep, arguments.experiment, arguments.group)
        if arguments.step == "verdict":
            return verdict(sweep, arguments.out)
        found = stale_records(sweep)
        write_if_changed(arguments.out, json.dumps(found, indent=2) + "\n")
        arguments.out.touch()
        print(stale_text(found) or "no record is stale", flush=True)
    except PlanError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
