"""What a run of a plan takes: its rows, their predicted seconds and memory, and the rows that it will skip."""

from collections import Counter

from pirlab_estimator.cost.plan import prospect
from pirlab_figures.lib.units import human_bytes

from .experiments import Group
from .plan import DONE, Plan

# Seconds that the protocols' cost model leaves out: a row's start, a group's start with the memory that empties caches,
# and what an experiment takes beside its rows: descriptions, predictions, tables and figures.
START_SECONDS = {"protocol": 0.3, "primitive": 0.02}
GROUP_SECONDS = {"protocol": 1.2, "primitive": 0.0}
PRESENTING_SECONDS = 4.0
#: Bytes on disk of a row's record, prediction and share of the drawings, rounded up.
OF_A_ROW = 100 << 10


def seconds_text(seconds: float) -> str:
    """Seconds as people read them."""
    if seconds < 90:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Outlook:
    """The rest of a plan: per group the rows to measure, their predicted cost, and the rows that will be skipped."""

    def __init__(self, plan: Plan):
        self.plan = plan
        (_, self.free), stretch = plan.memory(), plan.stretch()
        self.predicted = plan.predictions()
        self.sources = Counter(entry["source"] for line in self.predicted.values() for entry in line["security"])
        self.prospects = {
            (*key, row.id): prospect(self.predicted[(*key, row.id)], run, self.free, plan.time_limit(run, stretch))
            for key, group in plan.groups.items()
            if group.kind != "security"
            for row in group.rows
            for run in [row.run(group.options)]
        }
        missing = {group.key: plan.missing(group) for group in plan.measured()}
        self.todo = {key: rows for key, rows in missing.items() if rows}

    def total(self) -> float:
        """Predicted seconds of measuring all that is left."""
        return sum(self.seconds(key) for key in self.todo)

    def disk_bytes(self) -> int:
        """What the rows that are left take on disk."""
        return OF_A_ROW * sum(map(len, self.todo.values()))

    def seconds(self, key: tuple[str, str]) -> float:
        """Predicted seconds of what is left of a group, with its start and that of its rows."""
        todo = [self.prospects[(*key, row.id)] for row in self.todo.get(key, [])]
        running, group = [each.seconds for each in todo if not each.skipped], self.plan.groups[key]
        start = GROUP_SECONDS[group.kind] if running else 0.0
        return start + sum(seconds + START_SECONDS[group.kind] for seconds in running)

    def cells(self, group: Group) -> list[str]:
        """A group's line of the table."""
        if group.kind == "security":
            return [group.kind, str(len(group.rows)), "", "0", "", "", "; ".join(group.notes)]
        places = {row.id: (*group.key, row.id) for row in group.rows}
        lines, todo = [self.predicted[place] for place in places.values()], self.todo.get(group.key, [])
        skipped = {row.id: self.prospects[places[row.id]].skipped for row in todo}
        return [
            ", ".join(dict.fromkeys(line.get("protocol") or line["primitive"] for line in lines)),
            str(len(group.rows)),
            str(sum(row not in todo and self.plan.status(group, row) in DONE for row in group.rows)),
            str(len(todo)),
            seconds_text(self.seconds(group.key)) if todo else "",
            human_bytes(max(self.prospects[place].peak_bytes for place in places.values()), 3),
            "; ".join(group.notes + [f"{id} {reason}" for id, reason in skipped.items() if reason]),
        ]
