"""The plan of a profile: its groups of rows, the paths of their files, and the rows that are already measured.

Nothing here measures, predicts or draws.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from pirlab_estimator.cost import UnitCosts
from pirlab_estimator.cost.plan import free_memory_bytes, row_seconds

from .experiments import OTHER_KINDS, Group, Row, all_experiments, expand, load_experiment
from .files import ROOT, PlanError, read_lines, read_object, write_if_changed, write_json

#: A row with a record of these is done; any other record is replaced by the next run.
DONE = ("ok", "skipped_memory", "skipped_time", "timeout")
FAILED = ("wrong", "failed")
#: A row is stopped when it has taken this many times its time limit.
PATIENCE = 3


class Plan:
    """The groups of a profile, the paths of their files, and the machine: its memory and the file of unit costs."""

    def __init__(self, profile: dict[str, Any]):
        self.profile = profile
        self.results = Path(profile["results"])
        self.figures = Path(profile["figures"])
        self.calibration = self.results / "calibration.json"
        self.binary = str(Path(profile["binary"]).absolute())
        self.experiments = {name: load_experiment(name) for name in profile["experiments"]}
        self.groups = {group.key: group for name in self.experiments for group in expand(name, profile)}
        # An experiment that `ONLY` leaves out keeps its entry.
        documents = {name: self.experiments[name] for name in filter(self.judged, self.experiments)}
        series = ((name, each["id"]) for name, document in documents.items() for each in document["series"])
        known = {*all_experiments(), *map("/".join, [*self.groups, *series])}
        left_out = [f"{name}/" for name in all_experiments() if name not in self.experiments]
        for name in profile["predicted_only"]:
            if name not in known and not name.startswith(tuple(left_out)):
                raise PlanError(
                    f'key "predicted_only" of profile {profile["profile"]} has "{name}", which is neither an '
                    "experiment nor a group or a series of one: depir/table3, comparison/protocols/2^30x8, or "
                    "depir/batch/pirouette-2-20."
                )

    def group(self, experiment: str, group: str) -> Group:
        """The group of that name; PlanError lists the existing ones."""
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

    def measured_rows(self) -> Iterator[tuple[Group, Row]]:
        """The rows that this profile measures, each with its group."""
        return ((group, row) for group in self.measured() for row in group.rows)

    def parameters(self, experiment: str) -> list[str]:
        """The parameter files of an experiment; primitives have none."""
        asked = (row.asked for group in self.of(experiment) for row in group.rows)
        return sorted({each["parameters"] for each in asked if "parameters" in each})

    def describe(self, experiment: str) -> list[str]:
        """The command that describes an experiment's rows."""
        return [self.binary, *self.of(experiment)[0].command("describe"), "--batch"]

    def shown(self, experiment: str) -> list[str]:
        """The experiments whose records the tables and figures of this one show: those of this plan first. The audit
        shows all protocols of the plan."""
        also = self.experiments[experiment].get("also", [])
        if experiment in self.audits():
            also = [*filter(self.judged, self.experiments)]
        return [experiment, *sorted(also, key=lambda name: name not in self.experiments)]

    def drawn_from(self, experiment: str) -> dict[str, list[Path]]:
        """The files beside records that an experiment's tables and figures are drawn from, by the option for them. The
        primitives' costs are not drawn: a new calibration draws the protocols' tables again, no others."""
        audits = self.audits()
        planned = [each for each in self.shown(experiment) if each in self.experiments]
        return {
            "predictions": [self.prediction(each) for each in planned if each not in audits],
            "descriptions": [self.description(each) for each in planned],
            "costs": [self.calibration] if self.judged(experiment) else [],
            "audit": [audits[experiment]] if experiment in audits else [],
        }

    def drawings(self, experiment: str) -> tuple[list[str], list[str]]:
        """The names of an experiment's figures and tables. Primitives have one of each that shows measurements beside
        predictions; protocols have `accuracy`, which is both (`judged`)."""
        document = self.experiments[experiment]
        own = ["primitives"] if document.get("kind") == "primitive" else []
        figures, tables = (list(dict.fromkeys([*document.get(key, []), *own])) for key in ("figures", "tables"))
        return figures, tables

    def judged(self, experiment: str) -> bool:
        """Whether an experiment runs protocols, so that all that is predicted of a row has a measured twin."""
        return self.experiments[experiment].get("kind") not in OTHER_KINDS

    def compared(self) -> list[str]:
        """The experiments that measure protocols: each has a figure and a table of predictions beside measurements."""
        return [name for name in self.experiments if self.judged(name) and any(g.measured for g in self.of(name))]

    def settings(self) -> Path:
        """The profile as Snakemake and the steps read it: a command line would take a folder's name for YAML."""
        return self._of_profile("requests", "profile.json")

    def _of_profile(self, what: str, file: str) -> Path:
        return self.results / what / str(self.profile["profile"]) / file

    def requests(self, experiment: str) -> Path:
        """The requests for `pirlab describe --batch`."""
        return self._of_profile("requests", f"{experiment}.jsonl")

    def description(self, experiment: str) -> Path:
        """The binary's answers."""
        return self._of_profile("descriptions", f"{experiment}.jsonl")

    def prediction(self, experiment: str) -> Path:
        """The predictions of all rows of an experiment."""
        return self._of_profile("predictions", f"{experiment}.json")

    def lines(self, experiment: str) -> list[dict[str, Any]]:
        """These predictions, unchecked; none before they are made."""
        return read_lines(self.prediction(experiment))

    def audits(self) -> dict[str, Path]:
        """The document of each experiment of kind security."""
        names = [name for name, experiment in self.experiments.items() if experiment.get("kind") == "security"]
        return {name: self._of_profile("audit", f"{name}.json") for name in names}

    def record(self, group: Group, row: Row) -> Path:
        """The record of a row."""
        return self.results / "records" / group.experiment / group.id / f"{row.id}.json"

    def marker(self, group: Group) -> Path:
        """The file that marks that all rows of a group have a record, with their statuses."""
        return self.results / "measured" / group.experiment / f"{group.id}.json"

    def fresh(self) -> Path:
        """Records to be measured again although they are there: their paths and ids."""
        return self.results / "fresh.json"

    def group_file(
        self,
        group: Group,
        rows: Sequence[Row] | None = None,
        seconds: dict[str, float] | None = None,
        stretch: float | None = None,
    ) -> dict[str, Any]:
        """A group as `pirlab run --group` and `pirlab key --group` read it.

        seconds: predicted seconds by row id; stretch: by what the limits of rows are multiplied, without which no row
        has a limit. A run skips rows that are predicted to take longer than their limit; the others may take PATIENCE
        times that, and as much longer as the answers so far took.
        """
        patience = PATIENCE * (1.0 if stretch is None else self.lateness())

        def unlimited(row: Row) -> dict[str, Any]:
            # A row's own limit counts by `time_limit` only: a profile without limits has none for it either.
            return {key: value for key, value in row.run(group.options).items() if key != "time_limit_seconds"}

        def limits(row: Row) -> dict[str, float]:
            predicted = (seconds or {}).get(row.id)
            found = {} if predicted is None else {"predicted_seconds": predicted}
            limit = None if stretch is None else self.time_limit(row.run(group.options), stretch)
            if limit is not None:
                found["time_limit_seconds"] = limit * (1 if (predicted or 0) > limit else patience)
            return found

        return {
            "experiment": group.experiment,
            "group": group.id,
            "rows": [
                {"id": row.id} | unlimited(row) | limits(row) | {"out": str(self.record(group, row))}
                for row in (group.rows if rows is None else rows)
            ],
        }

    def _limit(self, row: Mapping[str, Any]) -> float:
        """The profile's limit of a row, before any factor: a longer one for databases of up to 1 GiB."""
        limit: float = self.profile["time_limit_seconds"]
        small = row.get("records", 0) * row.get("record_bits", 0) <= 8 << 30
        return max(limit, self.profile["time_limit_to_1gib_seconds"] or 0) if small else limit

    def _own_limit(self, row: Mapping[str, Any]) -> float:
        """What no factor shortens: a limit of the row's own, and the profile's of a row that a paper prints."""
        own: float = row.get("time_limit_seconds", 0)
        return max(own, self._limit(row)) if row.get("columns") else own

    def time_limit(self, row: Mapping[str, Any], stretch: float) -> float | None:
        """What a row may be predicted to take here: the profile's limit times `stretch`, its own if that is longer."""
        if self.profile["time_limit_seconds"] is None:
            return None
        return round(max(self._limit(row) * stretch, self._own_limit(row) * max(1.0, stretch)), 1)

    def memory(self) -> tuple[int, int]:
        """Bytes of memory of the machine, and those of them that are free now."""
        return psutil.virtual_memory().total, free_memory_bytes()

    def stretch(self) -> float:
        """The factor by which the limits of rows are multiplied on this machine. A profile with `minutes` takes the
        largest factor with which the rows that fit in memory are predicted to take these minutes at most. Any other
        profile takes how many times slower this machine is than the committed unit costs, at least 1."""
        if self.profile["minutes"] is None or self.profile["time_limit_seconds"] is None:
            return max(1.0, UnitCosts.load(self.calibration).slowness() if self.calibration.is_file() else 1.0)
        predicted, left, factor = self.predictions(), 60 * self.profile["minutes"], 0.0
        memory, _ = self.memory()
        rows = []
        for group, row in self.measured_rows():
            run, line = row.run(group.options), predicted[(*group.key, row.id)]
            if line["peak_bytes"] <= memory:
                seconds = row_seconds(line, run)
                rows.append((0.0 if seconds <= self._own_limit(run) else seconds / self._limit(run), seconds))
        for needed, seconds in sorted(rows):
            left -= seconds
            if left < 0:
                break
            factor = needed
        return factor + 0.01  # limits are rounded to a tenth of a second, and the last of these rows is to run

    def lateness(self) -> float:
        """How many times longer than predicted the answers so far took: the median, at least 1."""
        lines = ((name, line) for name in self.experiments for line in self.lines(name))
        ratios = [
            median(phase["seconds"]) / line["seconds"]["answer"]
            for name, line in lines
            if line["seconds"].get("answer")
            for phase in read_object(self.results / "records" / name / f"{line['id']}.json").get("phases", [])
            if phase["name"] == "answer" and phase["seconds"]
        ]
        return max(1.0, median(ratios) if ratios else 1.0)

    def status(self, group: Group, row: Row) -> str | None:
        """Status of a row's record; None without a readable one."""
        status = read_object(self.record(group, row)).get("status")
        return status if isinstance(status, str) else None

    def missing(self, group: Group) -> list[Row]:
        """Rows that a run measures: those without a record, with a failed one, with one of fewer repetitions than are
        asked for here, or with one to be replaced."""
        asked = read_object(self.fresh())

        def done(row: Row) -> bool:
            path, wanted = self.record(group, row), row.run(group.options)["repetitions"]
            record = read_object(path)
            enough = record.get("status") != "ok" or record.get("repetitions", wanted) >= wanted
            return record.get("status") in DONE and enough and not self.still(asked, path)

        return [row for row in group.rows if not done(row)]

    def still(self, asked: dict[str, Any], path: Path) -> bool:
        """Whether a record is asked for again and has not been replaced since."""
        return str(path) in asked and read_object(path).get("id") == asked[str(path)]

    def drop_incomplete(self) -> list[Path]:
        """Remove descriptions and predictions that lack a row, as a full disk leaves them, so that
        Snakemake makes them again."""
        found = []
        for name in self.experiments:
            ids = {f"{group.id}/{row.id}" for group in self.of(name) for row in group.rows}
            for path in (self.description(name), self.prediction(name)):
                if path.is_file() and not ids <= {line.get("id") for line in read_lines(path)}:
                    path.unlink(missing_ok=True)
                    found.append(path)
        return found

    def predictions(self) -> dict[tuple[str, str, str], dict[str, Any]]:
        """The prediction of each row by experiment, group and row; PlanError where one is missing."""
        found = {(name, *line["id"].split("/", 1)): line for name in self.experiments for line in self.lines(name)}
        predicted = (group for group in self.groups.values() if group.kind != "security")
        for group in predicted:
            path = self.prediction(group.experiment)
            if lost := [row.id for row in group.rows if (*group.key, row.id) not in found]:
                raise PlanError(f"{path} has no prediction of {group.id}/{lost[0]}. Delete it and run again.")
        return found

    def prepare(self) -> list[Path]:
        """Write the rules' input files, touching only those whose content changes, and drop markers that are
        no longer true, because a record is gone, a row is new or the row failed. Drop and return what is incomplete."""
        write_json(self.settings(), self.profile)
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
        return self.drop_incomplete()
