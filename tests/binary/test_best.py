"""params/best.json: what `pirlab run PROTOCOL` takes without a set is what the estimator says now."""

import json
import subprocess
from collections import defaultdict
from math import inf

import pytest
from pirlab_estimator.search import best
from pirlab_estimator.search.evaluate import Shape
from pirlab_workflow.experiments import expand, read_profile
from tier import VERIFY

SAMPLE = [Shape(1 << 12, 1), Shape(1 << 20, 2048), Shape(1 << 24, 512)]


def test_the_file_is_what_the_command_writes():
    """All of it in `make verify`, else at three databases."""
    wanted = best.shapes() if VERIFY else SAMPLE
    own = json.loads(best.text(best.rows(wanted)))
    there = json.loads(best.FILE.read_text())
    places = {(shape.records, shape.record_bits) for shape in wanted}
    rows = [row for row in there.pop("rows") if (row[1], row[2]) in places]
    assert own.pop("rows") == rows and own == there, "run `python -m pirlab_estimator.search.best`"


def test_every_protocol_has_a_set_that_is_secure_and_right(binary):
    listed = json.loads(subprocess.run([binary, "list", "--json"], capture_output=True, check=True).stdout)
    rows = [dict(zip(best.COLUMNS, row, strict=True)) for row in json.loads(best.FILE.read_text())["rows"]]
    assert {row["protocol"] for row in rows} == {protocol["name"] for protocol in listed["protocols"]}
    sets = {each["name"]: each["protocol"] for each in listed["parameters"]}
    for row in rows:
        assert row["bits"] >= 128 and row["log2_failure"] <= -40 and sets[row["set"]] == row["protocol"], row


@pytest.mark.parametrize("experiment", ["comparison/protocols", "pirana/others"])
def test_rows_that_are_said_to_be_the_fastest_are_as_fast(experiment, root):
    """Of each protocol, at each database that the file has too; to its three digits, because some sets are alike."""
    sets = defaultdict(list)
    for group in expand(experiment, read_profile("paper")):
        for row in group.rows:
            asked = {"id": row.id} | row.asked | {"parameters": str(root / row.asked["parameters"])}
            sets[Shape(asked["records"], asked["record_bits"])].append(asked)
    run = {row[:3]: row[-1] for shape, each in sets.items() for row in best.fastest(each, shape)}
    there = [row for row in json.loads(best.FILE.read_text())["rows"] if Shape(row[1], row[2]) in sets]
    assert len({row[0] for row in there}) >= 20
    slower = [f"{row}, run: {run.get(tuple(row[:3]))}" for row in there if run.get(tuple(row[:3]), inf) > row[-1]]
    assert not slower, "\n".join(slower)


@pytest.mark.parametrize("protocol", ["simplepir", "inspire"])
def test_a_run_takes_it(tmp_path, binary, root, protocol):
    out = tmp_path / "r.json"
    command = [binary, "run", protocol, "--records", "4096", "--record-bits", "512", "--repetitions", "1", "--no-probe"]
    done = subprocess.run([*command, "--noise-seconds", "0", "--out", out], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    row = next(row for row in json.loads(best.FILE.read_text())["rows"] if row[:3] == [protocol, 4096, 512])
    assert json.loads(out.read_text())["parameters"]["name"] == row[3] and f"{row[3]} is taken" in done.stderr
