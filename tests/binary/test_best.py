"""params/best.json: what `pirlab run PROTOCOL` takes without a set is what the estimator says now."""

import json
import subprocess

import pytest
from pirlab_estimator.search import best
from pirlab_estimator.search.evaluate import Shape
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


@pytest.mark.parametrize("protocol", ["simplepir", "inspire"])
def test_a_run_takes_it(tmp_path, binary, root, protocol):
    out = tmp_path / "r.json"
    command = [binary, "run", protocol, "--records", "4096", "--record-bits", "512", "--repetitions", "1", "--no-probe"]
    done = subprocess.run([*command, "--noise-seconds", "0", "--out", out], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    row = next(row for row in json.loads(best.FILE.read_text())["rows"] if row[:3] == [protocol, 4096, 512])
    assert json.loads(out.read_text())["parameters"]["name"] == row[3] and f"{row[3]} is taken" in done.stderr
