"""`make reference`: copy a run's records, predictions and tables, with the labels of machine and build, to
results/reference/ or, of another profile than quick, to results/reference-<profile>/."""

import argparse
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pirlab_estimator.outputs import write
from pirlab_figures.lib.units import human_bytes

from .experiments import read_profile
from .files import ROOT, PlanError, exit_code, read_object, read_record
from .plan import DONE, Plan

REFERENCE = Path("results/reference")
#: Unit costs that the predictions stand on.
CALIBRATION = Path("results/calibration.json")
#: Endings of the files of tables and figures that are copied: their data and their text.
KEPT = (".csv", ".md")
README = """# A reference run

Made by `make reproduce PROFILE={profile}{only}`
and copied here by `make reference`; every number was measured, none edited. `records/` holds one record a row,
`predictions/` what was predicted of each (seconds by the unit costs of `calibration.json`), `tables/` the tables and
figure data made of them. Times hold for this machine; bytes, noise and correctness for any.

| | |
|---|---|
{facts}

`tests/test_records.py` holds these records against the predictions and the schema; rows outside their tolerance are
named in `tests/fixtures/outside.toml`.
"""


def folder(profile: str) -> Path:
    """Where the reference run of a profile lies."""
    return REFERENCE if profile == "quick" else REFERENCE.with_name(f"{REFERENCE.name}-{profile}")


def distinct(values: Iterable[Any]) -> str:
    """The different values there are, most frequent first."""
    return ", ".join(str(value) for value, _ in Counter(values).most_common())


def facts(profile: str, records: list[dict[str, Any]], planned: int) -> str:
    """The labels of the run, as rows of a Markdown table."""
    machines = [record["machine"] for record in records]
    builds = [record["build"] for record in records]
    states = distinct(f"{count} {status}" for status, count in Counter(r["status"] for r in records).items())
    speeds = sorted(m["read_bandwidth_before"] / 1e9 for m in machines if m.get("read_bandwidth_before"))
    rows = {
        "profile": profile,
        "rows": states + (f" of {planned} planned" if len(records) < planned else ""),
        "date": distinct((record.get("finished") or "")[:10] for record in records),
        "commit": distinct(f"{b['commit']}{' with changes' if b.get('dirty') else ''}" for b in builds),
        "compiler": distinct(b["rustc"] for b in builds),
        "kernel": distinct(b["kernel"] for b in builds),
        "processor": distinct(m["cpu"] for m in machines),
        "cores": distinct(m["cores"] for m in machines),
        "memory": distinct(human_bytes(m["memory_bytes"], 3) for m in machines),
        "system": distinct(m["os"] for m in machines),
        "single-core read bandwidth": f"{speeds[0]:.1f} to {speeds[-1]:.1f} GB/s" if speeds else "not probed",
    }
    return "\n".join(f"| {name} | {value} |" for name, value in rows.items())


def refuse_other_folders(plan: Plan, out: Path) -> None:
    """PlanError where replacing `out` would take what is copied from, or what is no reference run, with it."""
    place = out.resolve()
    read = [each.resolve() for each in (plan.results / "records", plan.results / "predictions", plan.figures)]
    for each in (*read, CALIBRATION.resolve(), ROOT):
        if place in (each, *each.parents) or (each in read and each in place.parents):
            raise PlanError(f"--out {out}: what is copied from, {each}, would be removed. Give a folder of its own.")
    if out.is_dir() and any(out.iterdir()) and not (out / "predictions").is_dir():
        raise PlanError(f"--out {out}: it holds other files than a reference run. Give a new folder.")


def copy(plan: Plan, out: Path, only: str = "") -> int:
    """Replace the reference run; PlanError where the present one is not finished.

    With `only`, of some experiments of a long profile, the rows that are there and not in the quick run's reference
    as well: the labels say how many."""
    profile, records = plan.profile["profile"], plan.results / "records"
    planned = [plan.record(group, row) for group, row in plan.measured_rows()]
    done = [path for path in planned if read_object(path).get("status") in DONE]
    if not only and (missing := [path for path in planned if path not in done]):
        raise PlanError(f"{missing[0]} is missing or failed. Run `make reproduce PROFILE={profile}` first.")
    found = {path.relative_to(records): read_record(path) for path in done}
    refuse_other_folders(plan, out)
    shutil.rmtree(out, ignore_errors=True)
    if only:
        found = {path: found[path] for path in found if not (REFERENCE / "records" / path).exists()}
    for path in found:
        write(out / "records" / path, (records / path).read_bytes())
    for name in plan.experiments:
        prediction = plan.audits().get(name, plan.prediction(name))
        write(out / "predictions" / f"{name}.json", prediction.read_bytes())
        for path in sorted((plan.figures / name).glob("*")):
            if path.suffix in KEPT:
                write(out / "tables" / name / path.name, path.read_bytes())
    if CALIBRATION.is_file():
        write(out / CALIBRATION.name, CALIBRATION.read_bytes())
    labels = facts(profile, [*found.values()], len(planned))
    write(out / "README.md", README.format(profile=profile, only=f" ONLY={only}" if only else "", facts=labels))
    return len(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--results", default="results")
    parser.add_argument("--figures", default="figures/out")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", default="", help="experiments, separated by commas, instead of the profile's")
    arguments = parser.parse_args()
    out, only = arguments.out or folder(arguments.profile), arguments.only
    os.chdir(ROOT)
    folders = {"results": arguments.results, "figures": arguments.figures}
    plan = Plan(read_profile(arguments.profile, **folders, experiments=only.split(",") if only else []))
    print(f"{copy(plan, out, only)} records copied to {out}/")
    return 0


if __name__ == "__main__":
    sys.exit(exit_code(main))
