"""`make redraw`: a reference run's tables from its records alone."""

import csv
import json
import shutil
import subprocess
import sys

import pytest
from pirlab_estimator.noise import predict_noise
from pirlab_workflow.files import ROOT

LAPTOP = ROOT / "results/reference-laptop"
NAME = "inspire/table8"


@pytest.mark.slow
def test_tables_are_drawn_of_records_predictions_and_descriptions(binary, tmp_path):
    """Of one record: the seconds predicted of it stand, its noise is today's; other rows are predicted, described."""
    out = tmp_path / "run"
    [path] = (LAPTOP / "records" / NAME).glob("2^24x512/*gamma32-f2.json")
    record = json.loads(path.read_text())
    lines = json.loads((LAPTOP / "predictions" / f"{NAME}.json").read_text())
    place = f"{record['group']}/{record['row']}"
    [kept] = [line for line in lines if line["id"] == place]
    kept["seconds"]["answer"] = 12.5
    kept["noise"]["log2_failure"] = -999.0
    other = next(line for line in lines if line["id"] != place)
    other["seconds"]["answer"] = 12.5
    target = out / path.relative_to(LAPTOP)
    target.parent.mkdir(parents=True)
    shutil.copyfile(path, target)
    (out / "tables" / NAME).mkdir(parents=True)
    foretold = out / "predictions" / f"{NAME}.json"
    foretold.parent.mkdir(parents=True)
    foretold.write_text(json.dumps([kept, other]))
    command = [sys.executable, "-m", "pirlab_workflow.redraw", "--profile=laptop", f"--only={NAME}", f"--out={out}"]
    command += [f"--binary={binary}", f"--figures={tmp_path / 'figures'}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    names = {path.name for path in (out / "tables" / NAME).iterdir()}
    table = "table-inspire-table8"
    assert names == {"accuracy.csv", "accuracy.md", "inspire-figure2.csv", f"{table}.csv", f"{table}.md"}
    seconds = {line["id"]: line["seconds"]["answer"] for line in json.loads(foretold.read_text())}
    [redrawn] = [line for line in json.loads(foretold.read_text()) if line["id"] == place]
    [noise] = predict_noise([record["description"]])
    assert redrawn["noise"] == json.loads(json.dumps(noise))
    assert len(seconds) == len(lines) and seconds[place] == 12.5 and seconds[other["id"]] != 12.5
    with (out / "tables" / NAME / f"{table}.csv").open(newline="") as rows:
        shown = [row for row in csv.DictReader(rows) if row["metric"] == "total_comm"]
    assert {row["record_id"] for row in shown} == {"", record["id"]}
    assert len(shown) >= 35 and all(row["described"] for row in shown)
    assert {row["status"] for row in shown} == {"ok", "not measured"}


def test_an_unknown_experiment_is_refused():
    command = [sys.executable, "-m", "pirlab_workflow.redraw", "--only=inspire/table99"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "no inspire/table99" in done.stderr
