"""`make reference`: pack a run's records and predictions, with its unit costs and the labels of machine and build.

The packed run of a profile is results/reference/<profile>.jsonl.gz: a line a document, with the path that it has in a
results folder. The same documents give the same bytes. `make redraw` draws tables from it; `--unpack DIR` writes the
documents as files again, `--pack DIR` packs such files, and `--show ID` prints one record.
"""

import argparse
import gzip
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pirlab_estimator.machine import machine_name, read_bandwidth
from pirlab_estimator.outputs import write
from pirlab_estimator.records import read
from pirlab_figures.lib.units import human_bytes

from .experiments import read_profile
from .files import ROOT, PlanError, exit_code, naming, read_json, read_object
from .folders import plain
from .plan import DONE, Plan

REFERENCE = Path("results/reference")
#: Packed runs of other people.
RECEIVED = Path("results/received")
Documents = dict[str, Any]
"""Documents by `records/<experiment>/<group>/<row>.json` and `predictions/<experiment>.json`."""


def packed(profile: str, folder: Path = REFERENCE) -> Path:
    """The packed run of a profile."""
    return folder / f"{profile}.jsonl.gz"


def packed_runs(folders: Iterable[Path]) -> list[Path]:
    """All packed runs of these folders."""
    return [file for folder in folders for file in sorted(folder.glob("*.jsonl.gz"))]


def costs(profile: str, folder: Path = REFERENCE) -> Path:
    """The unit costs of that run."""
    return folder / f"calibration-{profile}.json"


def pack(documents: Mapping[str, Any], file: Path) -> None:
    """Write documents, in order of their paths."""
    lines = ({"path": path, "document": documents[path]} for path in sorted(documents))
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    write(file, gzip.compress(text.encode(), 9, mtime=0))


def read_packed(file: Path) -> Documents:
    """The documents of a packed run."""
    try:
        lines = map(json.loads, gzip.decompress(file.read_bytes()).splitlines())
        return {line["path"]: line["document"] for line in lines}
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise PlanError(f"{file} is not a packed run ({error}). `make reference` packs one.") from None


def records_of(documents: Documents, below: str = "") -> Documents:
    """The records of a run by path, in order: all, those of one experiment or of those of a folder."""
    return {path: record for path, record in sorted(documents.items()) if path.startswith(f"records/{below}")}


def record(id: str, folders: Iterable[Path]) -> tuple[str, Any]:
    """Where the record of that id is in the packed runs of these folders, and the record; PlanError without one."""
    for file in packed_runs(folders):
        for path, document in records_of(read_packed(file)).items():
            if document["id"] == id:
                return f"{file}: {path}", document
    raise PlanError(f"no record in the packed runs of {' and '.join(map(str, folders))} has the id {id!r}.")


def received(runs: Mapping[str, Documents], folder: Path = RECEIVED) -> dict[str, Documents]:
    """The runs that other people sent, by name. Where another run, of these or of the given ones, has the same machine,
    its processor is called by the run's name as well."""
    found = {file.name.removesuffix(".jsonl.gz"): read_packed(file) for file in packed_runs([folder])}
    counts = Counter(name for each in (*runs.values(), *found.values()) for name in _machines(each))
    for name, documents in found.items():
        for each in documents.values():
            if counts[machine_name(each)] > 1:
                each["machine"]["cpu"] += f" of {name}"
    return found


def _machines(documents: Documents) -> set[str]:
    return set(map(machine_name, records_of(documents).values()))


def write_files(documents: Documents, folder: Path) -> None:
    """Write documents as files below a folder; not one by one to the disk, which takes seconds."""
    for path, document in documents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        with naming(folder / path):
            (folder / path).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def unpacked(folder: Path) -> Documents:
    """The documents below a folder."""
    files = (path for part in ("records", "predictions") for path in (folder / part).rglob("*.json"))
    return {path.relative_to(folder).as_posix(): read_json(path) for path in files}


def distinct(values: Iterable[Any]) -> str:
    """The different values, most frequent first."""
    return ", ".join(str(value) for value, _ in Counter(values).most_common())


def labels(records: list[dict[str, Any]]) -> dict[str, str]:
    """The machine and build of the records."""
    machines, builds = ([record[key] for record in records] for key in ("machine", "build"))
    speeds = sorted(speed / 1e9 for m in machines if (speed := read_bandwidth(m)))
    return {
        "rows": distinct(f"{count} {status}" for status, count in Counter(r["status"] for r in records).items()),
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


def copy(plan: Plan, folder: Path, only: str = "") -> int:
    """Pack a finished run; PlanError if it is not finished. With `only`, some of the profile's experiments, pack the
    existing rows: the labels say how many."""
    profile = plan.profile["profile"]
    planned = [plan.record(group, row) for group, row in plan.measured_rows()]
    done = [path for path in planned if read_object(path).get("status") in DONE]
    if not only and (missing := [path for path in planned if path not in done]):
        raise PlanError(f"{missing[0]} is missing or failed. Run `make reproduce PROFILE={profile}` first.")
    records = {path.relative_to(plan.results).as_posix(): read(path) for path in done}
    said, count = labels([*records.values()]), len(records)
    for name in plan.experiments:
        file = plan.audits().get(name, plan.prediction(name))
        records[f"predictions/{name}.json"] = read_json(file)
    pack(records, packed(profile, folder))
    # The unit costs that the predictions stand on.
    if plan.calibration.is_file():
        write(costs(profile, folder), plan.calibration.read_bytes())
    said["rows"] += f" of {len(planned)} planned" if count < len(planned) else ""
    made = f"Made by `make reproduce PROFILE={profile}{f' ONLY={only}' if only else ''}`."
    describe(folder / "README.md", profile, said, made)
    return count


def describe(readme: Path, profile: str, said: Mapping[str, str], made: str) -> None:
    """Put the labels of a run into its section of the page, in place of an earlier one. made: how."""
    head, *sections = (readme.read_text() if readme.is_file() else "# Reference runs\n").rstrip().split("\n\n## ")
    facts = "\n".join(f"| {name} | {value} |" for name, value in said.items())
    own = f"{profile}\n\n{made}\n\n| | |\n|---|---|\n{facts}"
    others = [section for section in sections if section.split("\n")[0] != profile]
    write(readme, "\n\n## ".join([head, own, *others]) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--results", default="results")
    parser.add_argument("--out", type=Path, default=REFERENCE, metavar="DIR", help="instead of results/reference")
    parser.add_argument("--only", default="", help="experiments, separated by commas, instead of the profile's")
    parser.add_argument("--pack", type=Path, metavar="DIR", help="pack these files instead of the present run")
    parser.add_argument("--unpack", type=Path, metavar="DIR", help="write the files of the packed run instead")
    parser.add_argument("--show", metavar="ID", help="print the record of that id, of any packed run, instead")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    arguments.out = Path(plain("out", str(arguments.out)))
    file, only = packed(arguments.profile, arguments.out), arguments.only
    if arguments.show:
        place, document = record(arguments.show, [arguments.out, RECEIVED])
        print(place, file=sys.stderr)
        print(json.dumps(document, indent=1))
    elif arguments.unpack:
        write_files(read_packed(file), arguments.unpack)
    elif arguments.pack:
        pack(unpacked(arguments.pack), file)
    else:
        experiments = only.split(",") if only else []
        plan = Plan(read_profile(arguments.profile, results=arguments.results, experiments=experiments))
        print(f"{copy(plan, arguments.out, only)} records packed into {file}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_code(main))
