"""`make redraw`: a reference run's tables from its records alone."""

import json
import re
import subprocess
import sys

import beside
import committed
import golden
import pandas as pd
import pytest
from pirlab_estimator.noise import predict_noise
from pirlab_workflow import papers
from pirlab_workflow.files import ROOT
from pirlab_workflow.pages import claims_of
from pirlab_workflow.redraw import headline
from pirlab_workflow.reference import pack, packed, read_packed
from places import read_csv

NAME = "inspire/table8"
REDRAW = [sys.executable, "-m", "pirlab_workflow.redraw"]


@pytest.mark.slow
def test_tables_are_drawn_of_records_predictions_and_descriptions(binary, tmp_path):
    """One record keeps its predicted seconds and gets today's noise; all other rows are predicted and described."""
    known, predicted = committed.documents("laptop"), f"predictions/{NAME}.json"
    [path] = (path for path in known if re.fullmatch(rf"records/{NAME}/2\^24x512/.*gamma32-f2.json", path))
    record, lines = known[path], json.loads(json.dumps(known[predicted]))
    place = f"{record['group']}/{record['row']}"
    [kept] = [line for line in lines if line["id"] == place]
    kept["seconds"]["answer"] = 12.5
    kept["noise"]["log2_failure"] = -999.0
    other = next(line for line in lines if line["id"] != place)
    other["seconds"]["answer"] = 12.5
    pack({path: record, predicted: [kept, other]}, packed("laptop", tmp_path))
    command = [*REDRAW, "--profile=laptop", f"--only={NAME}", f"--out={tmp_path}"]
    command += [f"--binary={binary}", f"--figures={tmp_path}", "--png"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    drawn, table = tmp_path / "reference-laptop" / NAME, "table-inspire-table8"
    names = {path.name for path in drawn.iterdir() if path.suffix in (".csv", ".md")}
    assert names == {"accuracy.csv", "accuracy.md", "inspire-figure2.csv", f"{table}.csv", f"{table}.md"}
    redrawn = {line["id"]: line for line in read_packed(packed("laptop", tmp_path))[predicted]}
    [noise] = predict_noise([record["description"]])
    assert redrawn[place]["noise"] == json.loads(json.dumps(noise))
    assert len(redrawn) == len(lines) and redrawn[place]["seconds"]["answer"] == 12.5
    assert redrawn[other["id"]]["seconds"]["answer"] != 12.5
    data = pd.read_csv(drawn / f"{table}.csv", keep_default_na=False)
    shown = data[data["metric"] == "total_comm"]
    assert set(shown["record_id"]) == {"", record["id"]}
    assert len(shown) >= 35 and (shown["described"] != "").all()
    assert set(shown["status"]) == {"ok", "predicted"}
    times = data[data["metric"] == "server_time"]
    assert ((times["here"] == "") != (times["predicted"] == "")).all(), "measured or predicted, never both"


@pytest.fixture(scope="module")
def quick(binary, tmp_path_factory):
    """The drawings of the quick run; the same code draws those of the laptop run."""
    folder = tmp_path_factory.mktemp("quick")
    for path in (ROOT / "results/reference").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    command = [*REDRAW, "--profile=quick", "--png", f"--out={folder}", f"--binary={binary}", f"--figures={folder}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "reference-quick"


@pytest.mark.slow
def test_tables_are_unchanged(quick):
    page = (quick / "index.html").read_text()
    assert page.count("<img ") == 5 and "no row of this run has it" not in page, "every claim has its cells"
    unmeasured = [
        str(path.relative_to(quick))
        for path in quick.rglob("*.md")
        if "No measured record" in path.read_text() and path.stem not in ("accuracy", "table-security")
    ]
    assert not unmeasured, "every table has a row that quick measures"
    assert (quick / "headline.csv").read_bytes() == claims_of("quick").read_bytes()
    now, before = golden.tables(quick), golden.read_digests("tables")
    differ = sorted(name for name in before | now if before.get(name) != now.get(name))
    assert not differ, f"{differ}: where this is meant, run tests/fixtures/golden.py tables"


@pytest.mark.slow
def test_every_number_of_a_paper_stands_beside_one_of_ours_and_every_panel_has_a_point(quick):
    files = {path.relative_to(quick): read_csv(path) for path in sorted(quick.rglob("*.csv"))}
    assert sum(map(beside.printed, (line for lines in files.values() for line in lines))) > 1500
    alone = [
        f"{path}: {', '.join(filter(None, line.values()))}" for path in files for line in beside.alone(files[path])
    ]
    assert not alone, "\n".join([f"{len(alone)} lines have the papers' numbers alone, or nothing:", *alone])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("paper,here,described\n1.5,2,\n1e+78,,3\n,,\nPiano (2024),,\n7,,\n", ["7"]),
        (
            "source,status,protocol\npaper,printed,a\npaper,printed,b\nhere,predicted,a\nhere,not measured,c\n",
            ["b", "c"],
        ),
        ("source,status,column\npaper,,a\nx,ok,a\ny,ok,a\npaper,,b\npaper,,a\nx,failed,a\n", ["b", "a", "a"]),
    ],
)
def test_numbers_that_stand_alone_are_found(text, expected, tmp_path):
    (tmp_path / "x.csv").write_text(text)
    found = beside.alone(read_csv(tmp_path / "x.csv"))
    assert [line.get("protocol") or line.get("column") or line["paper"] for line in found] == expected


@pytest.mark.slow
@pytest.mark.verify
def test_pages_of_papers_are_drawn_again(binary, tmp_path):
    for path in (ROOT / "results/reference").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    for run in committed.RUNS:
        command = [*REDRAW, f"--profile={run}", f"--out={tmp_path}", f"--binary={binary}"]
        subprocess.run([*command, f"--figures={tmp_path}"], cwd=ROOT, check=True)
    figures = {run: tmp_path / f"reference-{run}" for run in committed.RUNS}
    runs = {run: committed.documents(run) for run in committed.RUNS}
    for paper in papers.TITLES:
        text = (ROOT / f"docs/results/{paper}.md").read_text()
        assert papers.page(paper, figures, runs) == text, f"{paper}: draw it again by `make redraw`"
    assert headline(figures, runs) == (ROOT / "docs/results/headline.md").read_text()
    for run, folder in figures.items():
        assert (folder / "headline.csv").read_bytes() == claims_of(run).read_bytes()


def test_a_record_of_a_packed_run_is_printed_by_its_id():
    place, record = next((p, d) for p, d in committed.documents("laptop").items() if p.startswith("records/"))
    command = [sys.executable, "-m", "pirlab_workflow.reference", "--show"]
    done = subprocess.run([*command, record["id"]], cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == record
    assert done.stderr == f"results/reference/laptop.jsonl.gz: {place}\n"
    done = subprocess.run([*command, "no-such-id"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "no record in the packed runs of" in done.stderr
    assert "has the id 'no-such-id'." in done.stderr


def test_an_unknown_experiment_is_refused():
    command = [*REDRAW, "--only=inspire/table99"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "no inspire/table99" in done.stderr
