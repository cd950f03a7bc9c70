"""The workflow on a tiny profile, from a clean results folder: what it makes, and what it does not make again."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from explored import data
from pirlab_workflow import reference
from pirlab_workflow.files import ROOT, check
from sandbox import ROWS, STRANGE, Sandbox

pytestmark = pytest.mark.slow
GROUPS = ("2^10x16", "2^10x256")


def killed_within(box: Sandbox, experiment: str, log: Path) -> None:
    """Start a run, and kill it when the experiment's first record is there."""
    options = {"cwd": ROOT, "env": box.environment, "start_new_session": True, "stderr": subprocess.STDOUT}
    with log.open("w") as file, subprocess.Popen(box.driver(), stdout=file, **options) as process:
        deadline = time.monotonic() + 300
        while not any(experiment in name for name in box.records()) and time.monotonic() < deadline:
            assert process.poll() is None, "the run was killed before its end"
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def finished(tmp_path_factory, binary):
    """A sandbox of a strange name, after a run that was killed, for a user without a home, and one that continued it,
    for a user whose home is empty. The tests that share it leave it complete."""
    box = Sandbox(tmp_path_factory.mktemp("finished") / STRANGE, binary)
    box.home = tmp_path_factory.mktemp("home")
    box.environment |= {"HOME": "/dev/null/home"}
    log = box.results.parent / "killed.log"
    killed_within(box, "smoke/protocols", log)
    time.sleep(1)
    box.left = box.records()
    box.environment |= {"HOME": str(box.home)}
    box.output = log.read_text() + box.reproduce()
    return box


def test_killed_run_continues(finished):
    assert 0 < len(finished.left) < ROWS
    assert f"{ROWS - len(finished.left)} rows in " in finished.output
    now = finished.records()
    assert {name: now[name] for name in finished.left} == finished.left, "finished records are kept as they are"


def test_nothing_is_kept_in_the_home_folder(finished):
    assert not list(finished.home.iterdir())


def test_clean_run_makes_everything(finished):
    assert "Plan of profile tiny" in finished.output
    assert f"{ROWS} rows in 6 groups to measure" in finished.output
    groups = [*(f"smoke/tiny {name}" for name in GROUPS), "smoke/primitives all", "smoke/gadget all"]
    # The first run may be killed when this group's records are there and its line is not.
    if any("smoke/protocols" in name for name in finished.records().keys() - finished.left.keys()):
        groups.append("smoke/protocols 2^10x1")
    for group in groups:
        assert f"{group}: " in finished.output, "one line a finished group where there is no terminal"
    assert re.search(r"^measuring took \d+ s; \d+ s were predicted at its start", finished.output, re.MULTILINE)
    assert f"{ROWS} ok" in finished.output
    assert len(finished.records()) == ROWS
    predictions = json.loads((finished.results / "predictions/tiny/smoke/tiny.json").read_text())
    assert len(predictions) == 3
    out = finished.figures / "smoke/tiny"
    names = [f"figure4.{end}" for end in ("pdf", "svg", "png", "csv")]
    names += [f"{stem}.{end}" for stem in ("table-comparison", "accuracy") for end in ("csv", "md", "tex", "html")]
    for name in names:
        assert (out / name).stat().st_size > 0, name
    for end in ("csv", "md", "tex", "html"):
        for name in ("primitives/table-primitives", "gadget/table-gadget-table6"):
            assert (finished.figures / f"smoke/{name}.{end}").stat().st_size > 0, f"{name}.{end}"
    page = (finished.figures / "index.html").read_text()
    assert 'href="report.html"' in page and 'href="smoke/tiny/table-comparison.html"' in page
    assert 'href="explorer-run.html"' in page
    explorer = data(finished.figures / "explorer-run.html")
    records = {str(path): json.loads(path.read_text()) for path in finished.results.glob("records/*/*/*/*.json")}
    own = {record["id"]: path for path, record in records.items() if record["kind"] == "protocol"}
    assert {row["id"]: row["file"] for row in explorer["rows"] if row["status"] == "measured"} == own
    assert explorer["show"] is None, "the files can be read as they are"
    report = (finished.figures / "report.html").read_text()
    assert "smoke/tiny" in report
    assert 'src="http' not in report, "the report opens without a network"


def test_second_run_does_nothing(finished):
    before = finished.records()
    output = finished.reproduce()
    assert "0 rows in 0 groups to measure" in output
    log = (finished.results / "logs/snakemake.log").read_text()
    assert log.count("Nothing to be done") == 2, log
    assert finished.records() == before


def test_records_fit_their_schema(finished, schemas):
    seen = set()
    for path in finished.results.glob("records/*/*/*/*.json"):
        record = json.loads(path.read_text())
        name = {"pirlab/run/1": "run", "pirlab/primitive/1": "primitive"}[record["schema"]]
        check(record, schemas / f"{name}.schema.json", path)
        seen.add(name)
    assert seen == {"run", "primitive"}


def test_predictions_say_where_security_is_from(finished):
    for line in json.loads((finished.results / "predictions/tiny/smoke/tiny.json").read_text()):
        assert line["security"], line["id"]
        for instance in line["security"]:
            assert instance["source"] in ("live", "recorded", "none")
    assert re.search(r"Security of \d+ instances: (from its recorded results|by the lattice)", finished.output)


def test_change_of_plotting_code_measures_nothing(finished):
    path = ROOT / "figures/added_by_a_test.py"
    try:
        path.write_text("# One more file of plotting code.\n")
        jobs = finished.local()
    finally:
        path.unlink()
    assert {"draw_smoke", "accuracy_smoke", "explorer"} <= jobs.keys()
    assert not jobs.keys() & {"describe", "predict", "measure", "calibrate"}


def made_stale(path: Path) -> None:
    """The record as one of other sources, of 2001."""
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"staleness_key": "0" * 64, "finished": "2001-02-03T04:05:06Z"}))


def test_what_is_stale_is_named_and_measured_again_on_request(finished):
    """A new binary measures nothing by itself, whatever it finds: a stale record of a protocol, one of a primitive, and
    one whose row is not in any experiment file."""
    protocol, orphan = finished.record("2^10x16"), finished.record("2^10x16", "left-over")
    primitive = finished.results / "records/smoke/primitives/all/1024.json"
    of_orphan = {"row": "left-over", "id": "left over", "finished": "2001-02-03T04:05:06Z"}
    orphan.write_text(json.dumps(json.loads(protocol.read_text()) | of_orphan))
    for path in (protocol, primitive):
        made_stale(path)
    finished.rebuild()
    before = finished.records()
    try:
        output = finished.reproduce()
        assert "0 rows in 0 groups to measure" in output and "2 records are stale" in output
        assert f"delete them if they are not wanted: {orphan}" in output
        assert finished.records() == before, "a stale record stays until it is asked for"
        log = (finished.results / "logs/snakemake.log").read_text()
        assert "rule describe:" in log and "rule stale:" in log
        assert "rule measure:" not in log and "rule calibrate:" not in log
        entries = json.loads((finished.results / "stale.json").read_text())
        found = {entry["record"]: (entry["reason"], entry["date"]) for entry in entries}
        reasons = {protocol: "changed", primitive: "changed", orphan: "orphan"}
        assert found == {str(path): (reason, "2001-02-03") for path, reason in reasons.items()}
        tables = finished.figures / "smoke"
        text = (tables / "tiny/table-comparison.md").read_text()
        assert "1 measured on 2001-02-03, whose row is no longer in any experiment file" in text
        text = (tables / "primitives/table-primitives.md").read_text()
        assert "§ stale" in text and "1 measured on 2001-02-03" in text
    finally:
        orphan.unlink()
    del before[str(orphan.relative_to(finished.results))]
    finished.reproduce("--fresh", "--plan")
    assert finished.records() == before and "0 rows in 0 groups" in finished.reproduce("--plan")
    output = finished.reproduce("--fresh")
    assert "2 stale or skipped records to measure again" in output and "delete them" not in output
    after = finished.records()
    changed = {str(path.relative_to(finished.results)) for path in (protocol, primitive)}
    assert {name for name in before if before[name] != after[name]} == changed
    assert json.loads((finished.results / "stale.json").read_text()) == []


def test_failed_and_missing_records_are_measured_again_alone(finished):
    """Also where files of an earlier run are not text."""
    failed, missing = finished.record("2^10x16"), finished.record("2^10x256")
    failed.write_text(json.dumps(json.loads(failed.read_text()) | {"status": "failed", "reason": "by this test"}))
    missing.unlink()
    before = finished.records()
    broken = [finished.results / f"{what}/tiny/smoke/tiny.json" for what in ("descriptions", "predictions")]
    broken[0] = broken[0].with_suffix(".jsonl")
    requests = [finished.results / f"requests/{name}" for name in ("tiny/smoke/tiny.jsonl", "tiny/profile.json")]
    asked = finished.results / "fresh.json"
    for path in (*broken, *requests, asked):
        path.write_bytes(b"\xff")
    output = finished.reproduce("--plan")
    assert f"Incomplete, and made again: {', '.join(map(str, broken))}." in output
    assert "2 rows in 2 groups to measure" in output, "of all experiments"
    assert asked.read_bytes() == b"\xff", "a plan takes its own requests back"
    finished.reproduce("--only=smoke/tiny")
    after = finished.records()
    assert json.loads(failed.read_text())["status"] == "ok" and missing.is_file()
    untouched = str(finished.record("2^10x16", "doublepir-usenix23-one-hint").relative_to(finished.results))
    assert after[untouched] == before[untouched]


def test_reference_run_is_labelled(finished, tmp_path):
    out = tmp_path / "reference"
    command = [sys.executable, "-m", "pirlab_workflow.reference", "--profile=tiny", f"--out={out}"]
    command += [f"--results={finished.results}"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    documents = reference.read_packed(out / "tiny.jsonl.gz")
    assert Counter(path.split("/")[0] for path in documents) == {"records": ROWS, "predictions": 5}
    text = (out / "README.md").read_text()
    assert "## tiny" in text and f"| rows | {ROWS} ok |" in text
    packed = (out / "tiny.jsonl.gz").read_bytes()
    for word, folder in (("--unpack", tmp_path / "files"), ("--pack", tmp_path / "files")):
        subprocess.run([*command, f"{word}={folder}"], cwd=ROOT, check=True, capture_output=True)
    assert (out / "tiny.jsonl.gz").read_bytes() == packed, "what is unpacked packs to the same bytes"


def test_slurm_profile_dry_run(finished, tmp_path, monkeypatch):
    monkeypatch.setitem(finished.folders, "results", tmp_path / "results")
    jobs = finished.dry_run("--workflow-profile", "config/profiles/slurm")
    assert jobs["measure"] == 6 and jobs["predict"] == 5
