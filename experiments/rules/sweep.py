"""What a profile asks for: experiments expanded to groups of rows, and which rows are already measured.

An experiment file names parameter sets and database shapes. A *row* is one set at one shape, a *group* all rows of
one shape, or those of them that name the same group: one interleaved job. Experiments of primitives have settings
instead (primitives.py); all else is the same. An experiment of kind security has all sets of params/ as rows, which are
described and audited, never measured.
Nothing here measures, predicts or draws.
"""

import hashlib
import json
import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import primitives
import yaml
from checking import ROOT as ROOT
from checking import PlanError as PlanError
from checking import check, short
from pirlab_estimator.outputs import write
from rows import Row, series_rows

# A row with a record of these is done; any other record is replaced by the next run.
DONE = ("ok", "skipped_memory", "skipped_time", "timeout")
FAILED = ("wrong", "failed")
#: Kinds of experiments beside protocols; each has a schema of that name.
OTHER_KINDS = ("primitive", "security")


AnyRow = Row | primitives.Row


@dataclass
class Group:
    """All rows of one shape, or of one combination of settings, of an experiment."""

    experiment: str
    id: str
    rows: Sequence[AnyRow]
    options: dict[str, Any]
    kind: str = "protocol"
    measured: bool = True
    notes: list[str] = field(default_factory=list)

    @property
    def key(self) -> tuple[str, str]:
        return self.experiment, self.id

    def probed(self, profile: dict[str, Any]) -> bool:
        """Whether the memory's read bandwidth is probed before and after; primitives work in caches."""
        return profile["probe_bandwidth"] and self.kind == "protocol"

    def command(self, verb: str) -> list[str]:
        """The words of the binary that runs the group, or (`key`) prints its staleness keys."""
        return ["primitive", verb] if self.kind == "primitive" else [verb]


def number(value: int | str) -> int:
    """A count as written: 5 or "2^22"."""
    return 1 << int(value[2:]) if isinstance(value, str) else int(value)


def power(value: int) -> str:
    """The readable form of a count: 2^22 where it is a power of two above 2^9, else the digits."""
    return f"2^{value.bit_length() - 1}" if value >= 1024 and value & (value - 1) == 0 else str(value)


def load_profile(config: dict[str, Any], source: Path | str = "the profile") -> dict[str, Any]:
    """The profile with the schema's defaults filled in; PlanError where it breaks the schema."""
    schema_path = ROOT / "config/profile.schema.json"
    check(config, schema_path, source)
    properties = json.loads(schema_path.read_text())["properties"]
    return {key: value["default"] for key, value in properties.items() if "default" in value} | config


def read_profile(name: str, **overrides: Any) -> dict[str, Any]:
    """The profile config/<name>.yaml."""
    path = ROOT / f"config/{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in path.parent.glob("*.yaml")))
        raise PlanError(f"PROFILE={name}: there is no config/{name}.yaml. Profiles here: {known}.")
    try:
        config = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        raise PlanError(f"config/{name}.yaml is not YAML: {' '.join(str(error).split())}.") from error
    if not isinstance(config, dict):
        raise PlanError(f"config/{name}.yaml holds no keys. config/quick.yaml shows what a profile needs.")
    return load_profile(config | overrides, path)


def load_experiment(name: str, params_root: Path = ROOT / "params") -> dict[str, Any]:
    """The experiment file experiments/<name>.toml, checked; PlanError where it is wrong."""
    path = ROOT / f"experiments/{name}.toml"
    if not path.is_file():
        known = ", ".join(all_experiments())
        raise PlanError(f'key "experiments" has "{name}", but there is no {short(path)}. Experiments here: {known}.')
    try:
        experiment = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{short(path)} is not TOML: {error}.") from error
    kind = experiment.get("kind")
    check(experiment, ROOT / f"experiments/{kind if kind in OTHER_KINDS else 'experiment'}.schema.json", path)
    for other in experiment.get("also", []):
        if other not in all_experiments():
            known = ", ".join(all_experiments())
            raise PlanError(f'{short(path)}: key "also" has "{other}". Experiments here: {known}.')
    if kind == "primitive":
        primitives.combinations(experiment, short(path))
        return experiment
    if kind == "security":
        if not (ROOT / experiment["published"]).is_file():
            raise PlanError(
                f'{short(path)}: key "published" is "{experiment["published"]}", but there is no such file. '
                "Name a table in experiments/expected/."
            )
        return experiment
    seen = set()
    for series in experiment["series"]:
        if series["id"] in seen:
            raise PlanError(f'{short(path)}: key "series.id" has "{series["id"]}" twice. Rename one of the two.')
        seen.add(series["id"])
        file = params_root / f"{series['parameters']}.toml"
        if not file.is_file():
            known = ", ".join(
                sorted(str(p.relative_to(params_root).with_suffix("")) for p in params_root.rglob("*.toml"))
            )
            raise PlanError(
                f'{short(path)}: key "series.parameters" of "{series["id"]}" is "{series["parameters"]}", '
                f"but there is no {short(file)}. Parameter sets here: {known or 'none'}."
            )
    return experiment


def all_experiments() -> list[str]:
    """Names of all experiment files."""
    root = ROOT / "experiments"
    return sorted(
        str(path.relative_to(root).with_suffix("")) for path in root.glob("*/*.toml") if path.parent.name != "search"
    )


def listed(shapes: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """Shapes as written, as (records, record bits)."""
    return [(number(shape["records"]), number(shape["record_bits"])) for shape in shapes]


def common_shapes(experiment: dict[str, Any]) -> list[tuple[int, int]]:
    """The shapes of every series that has none of its own, without repeats, in order."""
    grid = experiment.get("grid", {"records": [], "record_bits": []})
    cross = [(number(n), number(w)) for n in grid["records"] for w in grid["record_bits"]]
    return list(dict.fromkeys(cross + listed(experiment.get("shapes", []))))


def shapes(experiment: dict[str, Any]) -> list[tuple[int, int]]:
    """All shapes of an experiment, those that only one series has last."""
    own = [shape for series in experiment["series"] for shape in listed(series.get("shapes", []))]
    return list(dict.fromkeys(common_shapes(experiment) + own))


def runs(series: dict[str, Any], shape: tuple[int, int], common: list[tuple[int, int]]) -> bool:
    """Whether a series runs at a shape."""
    bits = shape[1]
    fits = number(series.get("min_record_bits", 1)) <= bits <= number(series.get("max_record_bits", bits))
    return fits and shape in (listed(series["shapes"]) if "shapes" in series else common)


def job_of(series: dict[str, Any]) -> tuple[str, str]:
    """The group of a series, and why it is not measured; empty where it is."""
    reason = series.get("predicted_only", "")
    return series.get("group", "predicted" if reason else ""), reason


def expand(name: str, profile: dict[str, Any]) -> list[Group]:
    """All groups of an experiment; those beyond the profile's cap are marked as not measured, with the reason."""
    experiment = load_experiment(name)
    if experiment.get("kind") == "primitive":
        options = primitives.options(experiment, profile)
        combinations = primitives.combinations(experiment, f"experiments/{name}.toml")
        return [Group(name, id, rows, options, "primitive") for id, rows in combinations]
    if experiment.get("kind") == "security":
        return [audited(name, experiment)]
    options = {"queries": 1, "updates": 0, "threads": 1, "kernel": "auto"} | experiment["row"]
    options["database"] = f"seeded:{options.pop('seed')}"
    contents = options.pop("contents", ["random"])
    options.setdefault("repetitions", profile["repetitions"])
    options["time_limit_seconds"] = profile["time_limit_seconds"]
    groups, common = [], common_shapes(experiment)
    jobs = dict.fromkeys(job_of(series) for series in experiment["series"])
    for (records, bits), (job, unmeasured) in product(shapes(experiment), jobs):
        rows = [
            row
            for series in experiment["series"]
            if job_of(series) == (job, unmeasured) and runs(series, (records, bits), common)
            for row in series_rows(series, (records, bits), contents)
        ]
        if not rows:
            continue
        id = f"{power(records)}x{bits}" + (f"-{job}" if job else "")
        group = Group(name, id, rows, options | {"updates": min(options["updates"], records)})
        if unmeasured:
            group.measured = False
            group.notes.append(f"predicted only: {unmeasured}")
        size = rows[0].database_bytes
        if size > profile["max_database_bytes"]:
            group.measured = False
            group.notes.append(
                f"database {bytes_text(size)} > {bytes_text(profile['max_database_bytes'])}, "
                f"the cap of profile {profile['profile']}"
            )
        groups.append(group)
    return groups


def audited(name: str, experiment: dict[str, Any]) -> Group:
    """All sets of params/ at one shape, to be described."""
    shape = (number(experiment["shape"]["records"]), number(experiment["shape"]["record_bits"]))
    files = sorted((ROOT / "params").rglob("*.toml"))
    names = [str(path.relative_to(ROOT / "params").with_suffix("")) for path in files]
    rows = [Row(name.replace("/", "-"), f"params/{name}.toml", *shape) for name in names]
    options = {"queries": 1, "updates": 0, "repetitions": 0}
    return Group(name, "sets", rows, options, "security", False, ["security only: nothing to measure"])


class Sweep:
    """The groups of a profile and where their files lie."""

    def __init__(self, profile: dict[str, Any]):
        self.profile = profile
        self.results: Path = Path(profile["results"])
        self.figures = Path(profile["figures"])
        self.experiments = {name: load_experiment(name) for name in profile["experiments"]}
        self.groups = {group.key: group for name in self.experiments for group in expand(name, profile)}

    def group(self, experiment: str, group: str) -> Group:
        """The group of that name; PlanError lists those there are."""
        if (experiment, group) not in self.groups:
            known = ", ".join(g.id for g in self.of(experiment))
            raise PlanError(f'experiment {experiment} has no group "{group}". Its groups: {known or "none"}.')
        return self.groups[experiment, group]

    def of(self, experiment: str) -> list[Group]:
        """The groups of one experiment."""
        return [group for group in self.groups.values() if group.experiment == experiment]

    def measured(self) -> list[Group]:
        """The groups that this profile measures."""
        return [group for group in self.groups.values() if group.measured]

    def parameters(self, experiment: str) -> list[str]:
        """The parameter files of an experiment; primitives have none."""
        rows = [row for group in self.of(experiment) for row in group.rows]
        return sorted({row.parameters for row in rows if isinstance(row, Row)})

    def describe(self, experiment: str) -> str:
        """The words of the binary that describe an experiment's rows."""
        return " ".join(self.of(experiment)[0].command("describe")) + " --batch"

    def shown(self, experiment: str) -> list[str]:
        """The experiments whose records the tables and figures of this one show: those of this sweep first. The audit
        shows all protocols of the sweep."""
        also = self.experiments[experiment].get("also", [])
        if experiment in self.audits():
            also = [name for name, other in self.experiments.items() if other.get("kind") not in OTHER_KINDS]
        return [experiment, *sorted(also, key=lambda name: name not in self.experiments)]

    def requests(self, experiment: str) -> Path:
        """What `pirlab describe --batch` is asked."""
        return self.results / "requests" / str(self.profile["profile"]) / f"{experiment}.jsonl"

    def prediction(self, experiment: str) -> Path:
        """The predictions of all rows of an experiment."""
        return self.results / "predictions" / str(self.profile["profile"]) / f"{experiment}.json"

    def audits(self) -> dict[str, Path]:
        """The document of each experiment of kind security."""
        names = [name for name, experiment in self.experiments.items() if experiment.get("kind") == "security"]
        return {name: self.results / "audit" / self.profile["profile"] / f"{name}.json" for name in names}

    def record(self, group: Group, row: AnyRow) -> Path:
        """The record of a row."""
        return self.results / "records" / group.experiment / group.id / f"{row.id}.json"

    def marker(self, group: Group) -> Path:
        """Says that all rows of a group have a record, and with which status."""
        return self.results / "measured" / group.experiment / f"{group.id}.json"

    def fresh(self) -> Path:
        """Records to be measured again although they are there: their paths and ids."""
        return self.results / "fresh.json"

    def group_file(
        self, group: Group, rows: Sequence[AnyRow] | None = None, seconds: dict[str, float] | None = None
    ) -> dict[str, Any]:
        """A group as `pirlab run --group` and `pirlab key --group` read it.

        seconds: predicted seconds by row id, from which a run knows what its time limit skips.
        """
        rows = group.rows if rows is None else rows
        seconds = seconds or {}
        return {
            "experiment": group.experiment,
            "group": group.id,
            "rows": [
                {"id": row.id}
                | row.run(group.options)
                | ({"predicted_seconds": seconds[row.id]} if row.id in seconds else {})
                | {"out": str(self.record(group, row))}
                for row in rows
            ],
        }

    def status(self, group: Group, row: AnyRow) -> str | None:
        """Status of a row's record; None where there is none that can be read."""
        status = read_object(self.record(group, row)).get("status")
        return status if isinstance(status, str) else None

    def missing(self, group: Group) -> list[AnyRow]:
        """Rows that a run measures: those without a record, with a failed one, or with one to be replaced."""
        asked = read_json(self.fresh()) or {}
        return [
            row
            for row in group.rows
            if self.status(group, row) not in DONE or self.still(asked, self.record(group, row))
        ]

    def still(self, asked: dict[str, Any], path: Path) -> bool:
        """Whether a record is to be measured again and still the one of which that was said."""
        return str(path) in asked and (read_json(path) or {}).get("id") == asked[str(path)]

    def prepare(self) -> None:
        """Write what the rules start from, touching only files whose content changes, and drop markers that are
        no longer true, because a record is gone, a row is new or the row failed."""
        for name in self.experiments:
            lines = [
                json.dumps({"id": f"{group.id}/{row.id}"} | row.request(group.options))
                for group in self.of(name)
                for row in group.rows
            ]
            write_if_changed(self.requests(name), "\n".join(lines) + "\n")
        live = os.environ.get("LATTICE_ESTIMATOR", "")
        recorded = hashlib.sha256((ROOT / "estimator/security/recorded.json").read_bytes()).hexdigest()
        write_if_changed(self.results / "requests" / "estimator.txt", f"{live}\n{recorded}\n")
        for group in self.measured():
            if self.marker(group).exists() and self.missing(group):
                self.marker(group).unlink(missing_ok=True)


def write_if_changed(path: Path, text: str) -> None:
    """Write a file whole or not at all, and leave one with that content alone."""
    if path.is_file() and path.read_text() == text:
        return
    write(path, text)


def read_json(path: Path) -> Any:
    """The JSON in a file; None where there is no file or no JSON."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def read_object(path: Path) -> dict[str, Any]:
    """What the JSON in a file says by name, whatever it is; nothing where there is none. Of what is drawn or judged,
    `checking.read_record` reads the record."""
    found = read_json(path)
    return found if isinstance(found, dict) else {}


def bytes_text(size: float) -> str:
    """Bytes as people read them, in binary units."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.3g} {unit}" if unit != "B" else f"{int(size)} B"
        size /= 1024
    return f"{size:.3g} TiB"


def seconds_text(seconds: float) -> str:
    """Seconds as people read them."""
    if seconds < 90:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
