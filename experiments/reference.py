"""`make reference`: copy a finished run's records, predictions and tables to results/reference/, fully labelled."""

import argparse
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "rules"))
from sweep import DONE, ROOT, PlanError, Sweep, bytes_text, read_json, read_profile

README = """# A reference run

Made by `make reproduce PROFILE={profile}` and copied here by `make reference`; every number was measured, none edited.
`records/` holds one record a row, `predictions/` what was predicted of each, `tables/` the tables and figure data made
of them. Times hold for this machine; bytes, noise and correctness for any.

| | |
|---|---|
{facts}

`tests/test_records.py` holds these records against the predictions and the schema.
"""


def distinct(values: Iterable[Any]) -> str:
    """The different values there are, most frequent first."""
    return ", ".join(str(value) for value, _ in Counter(values).most_common())


def facts(profile: str, records: list[dict[str, Any]]) -> str:
    """The labels of the run, as rows of a Markdown table."""
    machines = [record["machine"] for record in records]
    builds = [record["build"] for record in records]
    speeds = sorted(m["read_bandwidth_before"] for m in machines if m.get("read_bandwidth_before"))
    rows = {
        "profile": profile,
        "rows": distinct(f"{n} {status}" for status, n in Counter(r["status"] for r in records).items()),
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


def copy(sweep: Sweep, out: Path) -> int:
    """Replace the reference run; PlanError where the present one is not finished."""
    pairs = [
        (sweep.record(group, row), read_json(sweep.record(group, row)))
        for group in sweep.measured()
        for row in group.rows
    ]
    for path, record in pairs:
        if not isinstance(record, dict) or record.get("status") not in DONE:
            raise PlanError(
                f"{path} is missing or failed. Run `make reproduce PROFILE={sweep.profile['profile']}` first."
            )
    shutil.rmtree(out, ignore_errors=True)
    for path, _ in pairs:
        target = out / "records" / path.relative_to(sweep.results / "records")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    for name in sweep.experiments:
        target = out / "predictions" / f"{name}.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(sweep.audits().get(name, sweep.prediction(name)), target)
        for path in sorted((sweep.figures / name).glob("*")):
            if path.suffix in (".csv", ".md"):
                target = out / "tables" / name / path.name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
    text = README.format(profile=sweep.profile["profile"], facts=facts(sweep.profile["profile"], [r for _, r in pairs]))
    (out / "README.md").write_text(text)
    return len(pairs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--results", default="results")
    parser.add_argument("--figures", default="figures/out")
    parser.add_argument("--out", type=Path, default=Path("results/reference"))
    arguments = parser.parse_args()
    os.chdir(ROOT)
    try:
        profile = read_profile(arguments.profile, results=arguments.results, figures=arguments.figures)
        print(f"{copy(Sweep(profile), arguments.out)} records copied to {arguments.out}/")
    except PlanError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
