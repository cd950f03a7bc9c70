"""The generated pages of docs/: drawn again from what is committed, and what they say of it."""

import json
import re
from collections import Counter
from dataclasses import replace

import committed
import pytest
from PIL import Image
from pirlab_estimator.cost import UnitCosts
from pirlab_estimator.cost.plan import row_seconds
from pirlab_estimator.search import study
from pirlab_estimator.search.bounds import Network, Objective
from pirlab_estimator.search.evaluate import Figures, Shape
from pirlab_estimator.search.space_file import protocols
from pirlab_figures.lib import table
from pirlab_figures.search import sweep, sweep_page
from pirlab_workflow import artifact, pages, papers
from pirlab_workflow.experiments import all_experiments, read_profile
from pirlab_workflow.files import ROOT
from pirlab_workflow.outlook import GROUP_SECONDS, OF_A_ROW, START_SECONDS
from pirlab_workflow.plan import Plan
from places import EXPECTED, read_csv

RUNS = {run: committed.documents(run) for run in committed.RUNS}
REDRAW = "draw it again by `make redraw`, or in seconds by `python -m pirlab_workflow.redraw --pages`"


def test_pages_of_results_are_drawn_again(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    pages.write_all(RUNS, tmp_path)
    for name in ("applications.md", "machines.md", "sweeps.md", "systems.md"):
        assert (tmp_path / name).read_text() == (ROOT / "docs/results" / name).read_text(), f"{name}: {REDRAW}"
    listed = set(re.findall(r"\]\(([\w-]+)\.md\)", pages.index(ROOT / "docs/results")))
    assert listed == {path.stem for path in (ROOT / "docs/results").glob("*.md")} - {"README"}
    assert pages.index(ROOT / "docs/results") == (ROOT / "docs/results/README.md").read_text(), REDRAW


@pytest.mark.parametrize("paper", papers.TITLES)
def test_pages_of_papers_name_the_records_of_their_runs(paper):
    text = (ROOT / f"docs/results/{paper}.md").read_text()
    profiles = set(re.findall(r"^## `[\w/-]+`, .*, profile (\w+)$", text, re.MULTILINE))
    assert profiles
    right = {
        (path.split("/")[2], record["id"])
        for profile in profiles
        for path, record in RUNS[profile].items()
        if path.startswith(f"records/{paper}/") and record["status"] == "ok"
    }
    assert set(re.findall(r" `([0-9a-f-]{36})`", text)) == {id for _, id in right}
    assert ("named [below](#records)" in text) == bool(right), "a page without records of its own says where they are"
    for name in {name for name, _ in right}:
        assert re.search(rf"`make reproduce PROFILE=\w+ ONLY={paper}/{name}`", text), name
    linked = set(re.findall(r"\]\(\.\./images/results/([\w-]+)\.png\)", text))
    assert all((ROOT / papers.IMAGES / f"{stem}.png").is_file() for stem in linked)


@pytest.mark.parametrize("paper", papers.TITLES)
def test_lines_of_tables_lead_to_their_records(paper):
    """To all records of an experiment with a table. Scalars by division are for the claims, whose lines name no ids."""
    text = (ROOT / f"docs/results/{paper}.md").read_text()
    led = [each for line in text.splitlines() if line.startswith("|") for each in re.findall(r"`([0-9a-f]{8})`", line)]
    known = [record["id"] for run in committed.RUNS for record in committed.of_run(run).values()]
    beginnings = Counter(id[: table.SHORT] for id in known)
    assert {beginnings[each] for each in led} <= {1}, "each begins one id"
    drawn = set(re.findall(r"^## `([\w/-]+)`, (?!figure ).*(, profile \w+)$", text, re.MULTILINE))
    _, *sections = text.partition("\n## Records\n")[2].split("\n### `")
    assert drawn or not sections
    for section in sections:
        name, _, after = section.partition("`")
        if (name, after.split("\n")[0]) in drawn:
            rows = re.findall(r"(\S+) `([0-9a-f-]{36})`", after)
            assert rows and not [row for row, id in rows if id[: table.SHORT] not in led and "-division-" not in row]


def test_claims_lead_to_the_tables_that_they_are_computed_from():
    """test_links.py holds that these headings exist."""
    text = (ROOT / "docs/results/headline.md").read_text()
    _, *claims = re.findall(r"^\| .*\|$", text, re.MULTILINE)
    assert len(claims) > 40 and all(re.search(r"\]\(\w+\.md#[\w-]+\) \|$", claim) for claim in claims)


@pytest.mark.parametrize(("page", "name"), [("applications",) * 2, ("systems", "committed"), ("sweeps", "grids")])
def test_a_page_of_a_sweep_names_its_command_and_the_machine_of_its_unit_costs(page, name):
    text, file = (ROOT / f"docs/results/{page}.md").read_text(), f"experiments/search/{name}.toml"
    assert "`make search`" in text and f"`pirlab-search --sweep {file}`" in text
    machine = UnitCosts.load(study.costs(study.read(ROOT / file))).name
    assert machine and machine in text
    if page != "sweeps":
        lines = read_csv(ROOT / f"results/searched/{name}.csv")
        assert {line["machine"] for line in lines} == {machine}, "run `make search`"


def test_no_image_is_left_over():
    texts = [(ROOT / f"docs/results/{paper}.md").read_text() for paper in papers.TITLES]
    linked = {name for text in texts for name in re.findall(r"\(\.\./images/results/([\w-]+\.\w+)\)", text)}
    assert {path.name for path in (ROOT / papers.IMAGES).iterdir()} == linked


def test_each_sweep_on_the_page_has_a_figure_of_its_lines(monkeypatch):
    monkeypatch.chdir(ROOT)
    linked = re.findall(r"\]\(\.\./images/sweeps/(\w+)\.png\)", pages.sweeps())
    assert set(linked) == set(protocols()) and len(linked) == len(set(linked))
    assert {path.stem for path in (ROOT / pages.IMAGES).iterdir()} == set(linked)
    for name, data in sweep.shown(ROOT / pages.GRIDS).items():
        with Image.open(ROOT / pages.IMAGES / f"{name}.png") as image:
            assert image.text[sweep_page.OF] == sweep_page.digest(data), f"{name}: {REDRAW}"


def test_pages_of_artifacts_are_drawn_again(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    artifact.write_all(RUNS, tmp_path)
    found = {path.name: path.read_text() for path in tmp_path.iterdir()}
    there = {path.name: path.read_text() for path in (ROOT / "docs/artifact").iterdir()}
    assert found == there, REDRAW
    assert found.keys() == {"README.md", *(f"{paper}.md" for paper in artifact.PAPERS)}


def test_an_artifact_names_every_experiment_claim_and_command_of_its_paper():
    for paper in artifact.PAPERS:
        text = (ROOT / f"docs/artifact/{paper}.md").read_text()
        printed = {row["id"] for row in read_csv(EXPECTED / "headline.csv") if row["paper"] == paper}
        assert printed and set(re.findall(r"^(?:\||-) ([A-Z]\d+): ", text, re.MULTILINE)) == printed
        measured = {
            group.experiment
            for run in committed.RUNS
            for plan in [Plan(read_profile(run))]
            for group in plan.measured()
            if plan.experiments[group.experiment].get("paper") == paper
        }
        assert measured and measured == set(re.findall(r"^\| `([\w/-]+)` \|", text, re.MULTILINE))
        for profile, experiment in re.findall(r"`make reproduce PROFILE=(\w+) ONLY=([\w/-]+)`", text):
            assert experiment in all_experiments() and experiment in read_profile(profile)["experiments"]


def test_minutes_and_memory_are_those_of_the_plan():
    name, plan = "inspire/small", Plan(read_profile("quick"))
    lines = {line["id"]: line for line in RUNS["quick"][f"predictions/{name}.json"]}
    rows = [(lines[f"{g.id}/{r.id}"], r.run(g.options)) for g in plan.of(name) if g.measured for r in g.rows]
    found = artifact.effort("quick", name, RUNS["quick"])
    assert found.rows == len(rows) > 20
    groups = len([group for group in plan.of(name) if group.measured])
    starts = START_SECONDS["protocol"] * len(rows) + GROUP_SECONDS["protocol"] * groups
    assert found.seconds == pytest.approx(sum(row_seconds(line, row) for line, row in rows) + starts)
    assert found.peak_bytes == max(line["peak_bytes"] for line, _ in rows)
    assert found.disk_bytes == OF_A_ROW * len(rows)
    without = {path: document for path, document in RUNS["quick"].items() if path != f"predictions/{name}.json"}
    lost = artifact.effort("quick", name, without)
    assert lost.seconds is None and lost.rows == found.rows


def test_an_experiment_alone_has_the_minutes_of_its_profile():
    """Of rows of 10, 20, 40 minutes and so on, those that together fit the minutes run, whatever the whole run did."""
    name, plan = "inspire/table9", Plan(read_profile("laptop"))
    lines = [
        {"id": f"{group.id}/{row.id}", "seconds": {"repetition": 600.0 * 2**place}, "settings": {"keys": 1}}
        | {"security": [], "peak_bytes": place}
        for place, (group, row) in enumerate((group, row) for group in plan.of(name) for row in group.rows)
    ]
    found = artifact.effort("laptop", name, {f"predictions/{name}.json": lines})
    assert 600 * 7 < 60 * plan.profile["minutes"] < 600 * 15
    assert found.rows == 3 and 600 * 7 < found.seconds < 600 * 7.1 and found.peak_bytes == 2
    late = [reason for reason in found.left if "would take about" in reason]
    group, row = lines[3]["id"].split("/")
    assert late[0].startswith(f"`{group}`: {row} would take about 4800 s; the limit is ")
    assert found.rows + len(late) == sum(len(group.rows) for group in plan.of(name) if group.measured)


@pytest.mark.parametrize(("factor", "right"), [(1.2, True), (1.3, False), (0.7, False)])
def test_the_share_of_answers_that_held_is_of_the_records(factor, right):
    name, documents = "inspire/small", dict(RUNS["quick"])
    for line in documents[f"predictions/{name}.json"]:
        path = f"records/{name}/{line['id']}.json"
        if path in documents:
            phases = [{"name": "answer", "group": "online", "seconds": [factor * line["seconds"]["answer"]]}]
            documents[path] = documents[path] | {"phases": phases}
    found = artifact.effort("quick", name, documents)
    assert len(found.held) > 5 and set(found.held) == {right}
    count = len(found.held) if right else 0
    said = f"In the committed runs this held for {count} of {len(found.held)} answers of quick (those that are [judged]"
    assert said in artifact.page("inspire", [found], {})
    assert "this held for" not in artifact.page("inspire", [replace(found, held=[])], {})


def test_applications_have_their_tables_and_say_who_keeps_up():
    lines = read_csv(ROOT / "results/searched/applications.csv")
    _, *sections = (ROOT / "docs/results/applications.md").read_text().split("\n## ")
    found = {section.split("\n", 1)[0]: section for section in sections}
    titles = {line["part"]: json.loads(line["varied"])["title"] for line in lines}
    assert set(titles.values()) == set(found) and len(titles) >= 8
    late = 0
    for line in lines:
        asked, section = json.loads(line["varied"]), found[titles[line["part"]]]
        if line["refused"]:
            continue
        (row,) = [each for each in section.splitlines() if f"| {line['name']} |" in each]
        if "updates" in asked:
            period = float(asked["updates"].split("/")[1].removesuffix("s"))
            ready = float(line["update_seconds"]) <= period
            assert f"| {'yes' if ready else 'no'} |" in row, row
            late += not ready
        network = Network.read(asked["network"])
        network = Network(network.round_trip, network.bandwidth, asked["hint_queries"])
        keys = ("upload", "download", "hint_bytes", "seconds", "client_seconds", "update_bytes")
        serves = int(line["hint_serves"]) if line["hint_serves"] else None
        figures = Figures(**{key: float(line[key]) for key in keys}, hint_serves=serves)
        shape = Shape(int(line["records"]), int(line["record_bits"]))
        assert Objective("seconds", shape, network)(figures) == pytest.approx(float(line["score"]))
    assert {line["protocol"] for line in lines} >= {"inspire", "piano", "respire", "depir", "cwpir"}
