"""`make reference`: copy a run's records, predictions and tables, fully labelled, to results/reference/ or, of another
profile than quick, to results/reference-<profile>/."""

import argparse
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "rules"))
from checking import read_record
from pirlab_estimator.outputs import OutputError, write
from sweep import DONE, ROOT, PlanError, Sweep, bytes_text, read_json, read_profile

REFERENCE = Path("results/reference")
#: Unit costs that the predictions stand on.
CALIBRATION = Path("results/calibration.json")
#: Of tables and figures: their data and their text.
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
named in `tests/fixtures/outside.toml`, which `python experiments/outside.py` prints anew.
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
    speeds = sorted(m["read_bandwidth_before"] for m in machines if m.get("read_bandwidth_before"))
    rows = {
        "profile": profile,
        "rows": distinct(f"{n} {status}" for status, n in Counter(r["status"] for r in records).items())
        + (f" of {planned} planned" if len(records) < planned else ""),
        "date": distinct((record.get("finished") or "")[:10] for record in records),
        "commit": distinct(f"{b['commit']}{' with changes' if b.get('dirty') else ''}" for b in builds),
        "compiler": distinct(b["rustc"] for b in builds),
        "kernel": distinct(b["kernel"] for b in builds),
        "processor": distinct(m["cpu"] for m in machines),
        "cores": distinct(m["cores"] for m in machines),
        "memory": distinct(bytes_text(m["memory_bytes"]) for m in machines),
        "system": distinct(m["os"] for m in machines),
        "single-core read bandwidth": f"{speeds[0] / 1e9:.1f} to {speeds[-1] / 1e9:.1f} GB/s"
        if speeds
        else "not probed",
    }
    return "\n".join(f"| {name} | {value} |" for name, value in rows.items())


def refuse_other_folders(sweep: Sweep, out: Path) -> None:
    """PlanError where replacing `out` would take what is copied from, or what is no reference run, with it."""
    place = out.resolve()
    read = [each.resolve() for each in (sweep.results / "records", sweep.results / "predictions", sweep.figures)]
    for each in (*read, CALIBRATION.resolve(), ROOT):
        if place in (each, *each.parents) or (each in read and each in place.parents):
            raise PlanError(f"--out {out}: what is copied from, {each}, would be removed. Give a folder of its own.")
    if out.is_dir() and any(out.iterdir()) and not (out / "predictions").is_dir():
        raise PlanError(f"--out {out}: it holds other files than a reference run. Give a new folder.")


def copy(sweep: Sweep, out: Path, only: str = "") -> int:
    """Replace the reference run; PlanError where the present one is not finished.

    With `only`, of some experiments of a long profile, the rows that are there and not in the quick run's reference
    as well: the labels say how many."""
    pairs = [
        (sweep.record(group, row), read_json(sweep.record(group, row)))
        for group in sweep.measured()
        for row in group.rows
    ]
    records = sweep.results / "records"
    done = [pair for pair in pairs if isinstance(pair[1], dict) and pair[1].get("status") in DONE]
    if missing := [path for path, record in pairs if (path, record) not in done and not only]:
        raise PlanError(
            f"{missing[0]} is missing or failed. Run `make reproduce PROFILE={sweep.profile['profile']}` first."
        )
    done = [(path, read_record(path)) for path, _ in done]
    refuse_other_folders(sweep, out)
    shutil.rmtree(out, ignore_errors=True)
    if only:
        done = [pair for pair in done if not (REFERENCE / "records" / pair[0].relative_to(records)).exists()]
    for path, _ in done:
        write(out / "records" / path.relative_to(records), path.read_bytes())
    for name in sweep.experiments:
        prediction = sweep.audits().get(name, sweep.prediction(name))
        write(out / "predictions" / f"{name}.json", prediction.read_bytes())
        for path in sorted((sweep.figures / name).glob("*")):
            if path.suffix in KEPT:
                write(out / "tables" / name / path.name, path.read_bytes())
    if CALIBRATION.is_file():
        write(out / CALIBRATION.name, CALIBRATION.read_bytes())
    profile = sweep.profile["profile"]
    labels = facts(profile, [record for _, record in done], len(pairs))
    write(out / "README.md", README.format(profile=profile, only=f" ONLY={only}" if only else "", facts=labels))
    return len(done)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--results", default="results")
    parser.add_argument("--figures", default="figures/out")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", default="", help="experiments, separated by commas, instead of the profile's")
    arguments = parser.parse_args()
    out = arguments.out or folder(arguments.profile)
    os.chdir(ROOT)
    try:
        overrides: dict[str, Any] = {"results": arguments.results, "figures": arguments.figures}
        if arguments.only:
            overrides["experiments"] = arguments.only.split(",")
        sweep = Sweep(read_profile(arguments.profile, **overrides))
        print(f"{copy(sweep, out, arguments.only)} records copied to {out}/")
    except (OutputError, PlanError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
