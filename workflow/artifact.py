"""docs/artifact/<paper>.md: each claim, table and figure of a paper with its command, and what repeating it takes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from pirlab_estimator.compare import ANSWER_TOLERANCE, MEMORY_TOLERANCE, VARIANCE_TOLERANCE, compare
from pirlab_estimator.machine import machine_name
from pirlab_estimator.outputs import template, write
from pirlab_figures.lib.marks import EVERY, symbols
from pirlab_figures.lib.protocols import PAPERS
from pirlab_figures.lib.units import human_bytes, significant
from pirlab_figures.runs.headline import REMARKS, UNANSWERED, ratio_text, values_text

from .experiments import Group, Row, read_profile
from .files import ROOT, PlanError, read_json
from .outlook import OF_A_ROW, Outlook
from .pages import claims_of
from .plan import Plan
from .reference import Documents, costs

PAGES = Path("docs/artifact")
EXPECTED = ROOT / "experiments/expected/headline.csv"
#: Bytes of what `make build` downloads, installs and builds, rounded up, and of the file that the calibration reads.
BUILT, CALIBRATION = 5 << 30, 512 << 20


class PackedPlan(Plan):
    """An experiment alone, by the predictions and for the machine of a packed run, before anything is measured. The
    profile's minutes are then for this experiment's rows, and limits are longer."""

    def __init__(self, profile: str, name: str, documents: Documents):
        super().__init__(read_profile(profile, experiments=[name]))
        self.documents, self.calibration = documents, ROOT / costs(profile)

    def lines(self, experiment: str) -> list[dict[str, Any]]:
        return self.documents.get(f"predictions/{experiment}.json") or []

    def memory(self) -> tuple[int, int]:
        machine = read_json(self.calibration)["machine"]
        return machine["memory_bytes"], machine["free_memory_bytes"]

    def missing(self, group: Group) -> list[Row]:
        return [*group.rows]


@dataclass(frozen=True)
class Effort:
    """What the command of an experiment takes in a profile.

    seconds: None where the profile's packed run does not predict all of it. left: why rows are not measured, each
    reason once. held: of each answer of the packed run that is judged, whether its seconds were as predicted.
    """

    profile: str
    experiment: str
    about: Mapping[str, Any]
    rows: int
    seconds: float | None
    peak_bytes: int
    disk_bytes: int
    drawn: Sequence[str]
    left: Sequence[str]
    held: Sequence[bool]

    @property
    def command(self) -> str:
        return command(self.profile, self.experiment)


def efforts(profile: str, documents: Documents) -> list[Effort]:
    """The effort of each experiment of a profile that belongs to a paper, by the predictions of the packed run."""
    plan = Plan(read_profile(profile))
    return [effort(profile, name, documents) for name, about in plan.experiments.items() if "paper" in about]


def effort(profile: str, name: str, documents: Documents) -> Effort:
    """The effort of an experiment alone."""
    plan = PackedPlan(profile, name, documents)
    try:
        outlook: Outlook | None = Outlook(plan)
    except PlanError:  # the run does not predict a row
        outlook = None
    rows = [(group.id, row.id) for group, row in plan.measured_rows()]
    left = [f"`{group.id}`: {'; '.join(group.notes)}" for group in plan.of(name) if group.notes]
    prospects = [outlook.prospects[name, group, row] for group, row in rows] if outlook else []
    left += [f"`{group}`: {row} {each.skipped}" for (group, row), each in zip(rows, prospects) if each.skipped]
    running = [each for each in prospects if not each.skipped]
    figures, tables = plan.drawings(name)
    return Effort(
        profile,
        name,
        plan.experiments[name],
        len(running) if outlook else len(rows),
        outlook.total() if outlook else None,
        max((each.peak_bytes for each in running), default=0),
        OF_A_ROW * len(rows),
        [*(f"table {each}" for each in tables), *(f"figure {each}" for each in figures)],
        list(dict.fromkeys(left)),
        held(name, documents),
    )


def held(name: str, documents: Documents) -> list[bool]:
    """Of each answer of an experiment that is judged, whether its seconds were as predicted."""
    lines = documents.get(f"predictions/{name}.json") or []
    ran = ((line, documents.get(f"records/{name}/{line['id']}.json")) for line in lines)
    pairs = (pair for line, record in ran if record for pair in compare(line, record))
    return [pair.within for pair in pairs if pair.quantity == "seconds answer" and pair.within is not None]


def page(paper: str, efforts: Iterable[Effort], claims: Mapping[str, pd.DataFrame]) -> str:
    """The page of a paper. claims: headline.csv of each profile, in the order of lines."""
    own = sorted(
        (each for each in efforts if each.about["paper"] == paper),
        key=lambda each: (each.experiment, each.profile != "quick"),
    )
    notes = [f"`{each.experiment}`: {each.about['note']}" for each in own if each.about.get("note")]
    notes += [f"{each.profile}, `{each.experiment}`, {reason}" for each in own for reason in each.left]
    profiles = list(dict.fromkeys(each.profile for each in own))
    answers = {name: [right for each in own if each.profile == name for right in each.held] for name in profiles}
    judged = [f"{sum(found)} of {len(found)} answers of {name}" for name, found in answers.items() if found]
    found = list(_claims(paper, claims))
    remarks = [(ids.split(), said) for ids, said in REMARKS.items()]
    return template(Path(__file__).with_suffix(".md.j2")).render(
        title=PAPERS[paper]["title"],
        claims=found,
        unanswered=_unanswered(paper),
        remarks=[f"{', '.join(ids)}: {said}" for ids, said in remarks if ids[0] in {claim["id"] for claim in found}],
        marks=[mark for mark in EVERY if any(mark.key in claim["marks"].split() for claim in found)],
        efforts=own,
        # The unit costs of a run name its machine.
        machines=[f"{profile}: {machine_name(read_json(costs(profile)))}" for profile in profiles],
        judged=" and ".join(judged),
        notes=list(dict.fromkeys(notes)),
        significant=significant,
        bytes=human_bytes,
        of_a_row=OF_A_ROW,
        built=BUILT,
        calibration=CALIBRATION,
        memory=MEMORY_TOLERANCE,
        variance=VARIANCE_TOLERANCE,
        answer=ANSWER_TOLERANCE,
    )


def command(profile: str, experiment: str) -> str:
    """The command that measures an experiment and draws its tables and figures."""
    return f"`make reproduce PROFILE={profile} ONLY={experiment}`"


def _claims(paper: str, claims: Mapping[str, pd.DataFrame]) -> Iterator[dict[str, str]]:
    """Each claim, once for every profile that has a number for it."""
    rows = [row | {"profile": name} for name, frame in claims.items() for row in frame.to_dict("records")]
    for id in dict.fromkeys(row["id"] for row in rows if row["paper"] == paper):
        own = [row for row in rows if row["id"] == id]
        yield from map(_claim, [row for row in own if row["here_low"]] or own[-1:])


def _claim(row: Mapping[str, Any]) -> dict[str, str]:
    """A line of the table of claims."""
    here, ratio = "no row of these runs has it", ""
    if row["here_low"]:
        here = values_text(float(row["here_low"]), float(row["here_high"]), row["unit"]) + symbols(row["marks"].split())
        ratio = ratio_text(float(row["ratio_low"]), float(row["ratio_high"]))
    experiment = row["table"].rsplit("/table-", 1)[0]
    return dict(row) | {"here": here, "ratio": ratio, "command": command(row["profile"], experiment)}


def _unanswered(paper: str) -> list[str]:
    """The claims of a paper that no table has as cells, each with the place where it is answered."""
    printed = pd.read_csv(EXPECTED, dtype=str, keep_default_na=False)
    own = printed[(printed["paper"] == paper) & printed["id"].isin(UNANSWERED)]
    return [f"{id}: {claim}. Here: {UNANSWERED[id]}." for id, claim in zip(own["id"], own["claim"])]


def write_all(runs: Mapping[str, Documents], folder: Path = PAGES) -> None:
    """Write the page of every paper, and the list of them, of the packed runs and of the claims drawn of each."""
    found = [each for profile, documents in runs.items() for each in efforts(profile, documents)]
    claims = {profile: pd.read_csv(claims_of(profile), dtype=str, keep_default_na=False) for profile in runs}
    listed = ["# Artifacts", "", "Each paper has a page: its claims, tables and figures, each with its command.", ""]
    for paper, entry in PAPERS.items():
        if any(each.about["paper"] == paper for each in found):
            write(folder / f"{paper}.md", page(paper, found, claims))
            listed.append(f"- [{entry['title']}]({paper}.md)")
    write(folder / "README.md", "\n".join(listed) + "\n")
