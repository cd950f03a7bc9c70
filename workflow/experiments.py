"""Profiles and experiment files, expanded to groups of rows.

An experiment file names parameter sets and database shapes. A *row* is one set at one shape, a *group* all rows of
one shape, or those of them that name the same group: one interleaved job. Experiments of primitives have settings
instead (primitives.py). An experiment of kind security has all sets of params/ as rows, which are described and
audited, never measured.
"""

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import yaml
from pirlab_estimator.cost.plan import usable_cores
from pirlab_estimator.inputs import read_text
from pirlab_estimator.search.text import count
from pirlab_estimator.sets import every_set
from pirlab_figures.lib.units import count_text, human_bytes

from . import primitives
from .files import ROOT, PlanError, check, short
from .folders import plain_places

#: Kinds of experiments beside protocols; each has a schema of that name.
OTHER_KINDS = ("primitive", "security")
#: Options that a series may set for its own rows, instead of those of the experiment or the profile.
OWN_OPTIONS = ("threads", "repetitions", "noise_seconds", "streamed", "time_limit_seconds")
#: Databases whose bits are all equal, by an experiment's word for them; other contents are random.
CONSTANTS = {"zeros": "constant:00", "ones": "constant:ff"}
Shape = tuple[int, int]


@dataclass(frozen=True)
class Row:
    """One parameter set at one database shape, or one primitive with its settings.

    asked: that, as the binary takes it. own: options that other rows of its group do not have.
    """

    id: str
    asked: dict[str, Any]
    own: dict[str, Any] = field(default_factory=dict)

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        """The row in a group file."""
        return self.asked | options | self.own

    def request(self, options: dict[str, Any]) -> dict[str, Any]:
        """The row as `describe --batch` is asked."""
        run = self.run(options)
        return self.asked | {key: run[key] for key in ("queries", "updates", "streamed") if key in run}


@dataclass
class Group:
    """All rows of one shape of an experiment, or of an experiment of primitives."""

    experiment: str
    id: str
    rows: Sequence[Row]
    options: dict[str, Any]
    kind: str = "protocol"
    measured: bool = True
    notes: list[str] = field(default_factory=list)

    @property
    def key(self) -> tuple[str, str]:
        return self.experiment, self.id

    def command(self, verb: str) -> list[str]:
        """The words of the binary that runs the group, or (`key`) prints its staleness keys."""
        return ["primitive", verb] if self.kind == "primitive" else [verb]


def load_profile(config: dict[str, Any], source: Path | str = "the profile") -> dict[str, Any]:
    """The profile with the schema's defaults filled in; PlanError where it breaks the schema."""
    schema_path = ROOT / "config/profile.schema.json"
    check(config, schema_path, source)
    properties = json.loads(schema_path.read_text())["properties"]
    defaults = {key: value["default"] for key, value in properties.items() if "default" in value}
    return plain_places(defaults | config)


def read_profile(name: str, **overrides: Any) -> dict[str, Any]:
    """The profile config/<name>.yaml, with the overrides that are not empty."""
    path = ROOT / f"config/{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in path.parent.glob("*.yaml")))
        raise PlanError(f"PROFILE={name}: there is no config/{name}.yaml. Profiles here: {known}.")
    try:
        config = yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        raise PlanError(f"config/{name}.yaml is not YAML: {' '.join(str(error).split())}.") from error
    if not isinstance(config, dict):
        raise PlanError(f"config/{name}.yaml holds no keys. config/quick.yaml shows what a profile needs.")
    return load_profile(config | {key: value for key, value in overrides.items() if value}, path)


def all_experiments() -> list[str]:
    """Names of all experiment files."""
    return [name for name in names_below(ROOT / "experiments") if not name.startswith("search/")]


def names_below(folder: Path) -> list[str]:
    """Names of the TOML files below a folder, without their ending."""
    return [str(path.relative_to(folder).with_suffix("")) for path in sorted(folder.rglob("*.toml"))]


def experiments_here() -> str:
    """The names of all experiments, as a sentence of refusals."""
    return f"Experiments here: {', '.join(all_experiments())}."


def load_experiment(name: str) -> dict[str, Any]:
    """The experiment file experiments/<name>.toml, checked; PlanError where it is wrong."""
    path = ROOT / f"experiments/{name}.toml"
    if not path.is_file():
        raise PlanError(f'key "experiments" has "{name}", but there is no {short(path)}. {experiments_here()}')
    return read_experiment(path, read_text(path))


@cache
def read_experiment(path: Path, text: str) -> dict[str, Any]:
    """The experiment that a file holds, checked once for each content."""
    try:
        experiment = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{short(path)} is not TOML: {error}.") from error
    kind = experiment.get("kind")
    check(experiment, ROOT / f"experiments/{kind if kind in OTHER_KINDS else 'experiment'}.schema.json", path)
    for other in experiment.get("also", []):
        if not (ROOT / f"experiments/{other}.toml").is_file():
            raise PlanError(f'{short(path)}: key "also" has "{other}". {experiments_here()}')
    if kind == "primitive":
        primitives.combinations(experiment, short(path))
    elif kind == "security":
        if not (ROOT / experiment["published"]).is_file():
            raise PlanError(
                f'{short(path)}: key "published" is "{experiment["published"]}", but there is no such file. '
                "Name a table in experiments/expected/."
            )
    else:
        check_series(experiment["series"], path)
    return experiment


def check_series(series: list[dict[str, Any]], path: Path) -> None:
    """PlanError where two series have one name or one names no parameter set."""
    for place, each in enumerate(series):
        if each["id"] in (other["id"] for other in series[:place]):
            raise PlanError(f'{short(path)}: key "series.id" has "{each["id"]}" twice. Rename one of the two.')
        if not (ROOT / parameter_file(each["parameters"])).is_file():
            raise PlanError(
                f'{short(path)}: key "series.parameters" of "{each["id"]}" is "{each["parameters"]}", but there is no '
                f"{parameter_file(each['parameters'])}. Parameter sets here: {', '.join(names_below(ROOT / 'params'))}."
            )


def parameter_file(name: str) -> str:
    """The file of a parameter set."""
    return f"params/{name}.toml"


def shape(written: dict[str, Any]) -> Shape:
    """Records and record bits of a shape as written."""
    return count(written["records"]), count(written["record_bits"])


def runs(series: dict[str, Any], at: Shape, common: list[Shape]) -> bool:
    """Whether a series runs at a shape."""
    fits = count(series.get("min_record_bits", 1)) <= at[1] <= count(series.get("max_record_bits", at[1]))
    return fits and at in (map(shape, series["shapes"]) if "shapes" in series else common)


def job_of(name: str, series: dict[str, Any], profile: dict[str, Any]) -> tuple[str, str]:
    """The group of a series of an experiment, and why it is not measured; empty where it is."""
    reason = series.get("predicted_only", "")
    if not reason and f"{name}/{series['id']}" in profile["predicted_only"]:
        return f"not-in-{profile['profile']}", f"left out of profile {profile['profile']}"
    return series.get("group", "predicted" if reason else ""), reason


def series_rows(series: dict[str, Any], at: Shape, contents: Iterable[str]) -> list[Row]:
    """The rows of a series at a shape, one for each content of the database."""
    own = {key: series[key] for key in OWN_OPTIONS if key in series}
    if own.get("threads") == "machine":  # all that this process may use
        own["threads"] = usable_cores()
    if columns := [c for w in series.get("shapes", []) if shape(w) == at for c in w.get("columns", [])]:
        own["columns"] = columns  # opaque to the program, which copies them into the record
    if own.get("streamed"):  # a streamed database takes no updates
        own["updates"] = 0
    asked = of_set(series["parameters"], at, series.get("with", {}))
    return [
        Row(f"{series['id']}-{content}", asked, own | {"database": CONSTANTS[content]})
        if content in CONSTANTS
        else Row(series["id"], asked, own)
        for content in contents
    ]


def of_set(name: str, at: Shape, changes: Mapping[str, Any]) -> dict[str, Any]:
    """What the binary is asked of a parameter set, with values that stand instead of its own, at a shape."""
    changed = {"with": dict(changes)} if changes else {}
    return {"parameters": parameter_file(name), "records": at[0], "record_bits": at[1]} | changed


def expand(name: str, profile: dict[str, Any]) -> list[Group]:
    """All groups of an experiment; those beyond the profile's cap are marked as not measured, with the reason."""
    experiment = load_experiment(name)
    if experiment.get("kind") == "primitive":
        options = primitives.options(experiment, profile)
        asked = primitives.combinations(experiment, f"experiments/{name}.toml")
        return [Group(name, "all", [Row(*row) for row in asked.items()], options, "primitive")]
    if experiment.get("kind") == "security":
        return [audited(name, experiment)]
    options = {"queries": 1, "updates": 0, "threads": 1, "kernel": "auto"} | experiment["row"]
    options["database"] = f"seeded:{options.pop('seed')}"
    contents = options.pop("contents", ["random"])
    options.setdefault("repetitions", profile["repetitions"])
    if profile["noise_seconds"] is not None:
        options.setdefault("noise_seconds", profile["noise_seconds"])
    # The shapes of every series that has none of its own.
    grid = experiment.get("grid", {"records": [], "record_bits": []})
    cross = product(map(count, grid["records"]), map(count, grid["record_bits"]))
    found, common = [], list(dict.fromkeys([*cross, *map(shape, experiment.get("shapes", []))]))
    own = [shape(written) for series in experiment["series"] for written in series.get("shapes", [])]
    jobs = {series["id"]: job_of(name, series, profile) for series in experiment["series"]}
    for at, (job, unmeasured) in product(dict.fromkeys(common + own), dict.fromkeys(jobs.values())):
        rows = [
            row
            for series in experiment["series"]
            if jobs[series["id"]] == (job, unmeasured) and runs(series, at, common)
            for row in series_rows(series, at, contents)
        ]
        if not rows:
            continue
        records, bits = at
        notes = [f"predicted only: {unmeasured}"] if unmeasured else []
        size, cap = -(-records * bits // 8), profile["max_database_bytes"]
        if size > cap:
            words = f"{human_bytes(size, 3)} > {human_bytes(cap, 3)}"
            notes.append(f"database {words}, the cap of profile {profile['profile']}")
        id = f"{count_text(records)}x{bits}" + (f"-{job}" if job else "")
        if {name, f"{name}/{id}"} & set(profile["predicted_only"]):
            notes.append(f"predicted only in profile {profile['profile']}")
        at_most = {"updates": min(options["updates"], records)}
        found.append(Group(name, id, rows, options | at_most, measured=not notes, notes=notes))
    return found


def audited(name: str, experiment: dict[str, Any]) -> Group:
    """All sets, to be described: at one shape, those of some protocols at another."""
    other = experiment.get("shape_of", {})
    at = {protocol: shape(other.get(protocol, experiment["shape"])) for protocol in {*other, ""}}
    rows = [
        Row(id.replace("/", "-"), of_set(each, at.get(each.split("/")[0], at[""]), changes))
        for id, (each, changes) in every_set().items()
    ]
    options = {"queries": 1, "updates": 0, "repetitions": 0}
    return Group(name, "sets", rows, options, "security", False, ["security only: nothing to measure"])
