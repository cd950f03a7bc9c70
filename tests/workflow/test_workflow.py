"""The workflow on a tiny profile, from a clean results folder: what it makes, and what it does not make again."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from pirlab_workflow import reference, reproduce
from pirlab_workflow.files import ROOT, check

pytestmark = pytest.mark.slow
TOOLS = Path(sys.executable).parent
GROUPS = ("2^10x16", "2^10x256")


class Sandbox:
    """A results folder, a figures folder and a copy of the binary of their own."""

    def __init__(self, folder: Path, binary: Path):
        self.results, self.figures, self.binary = folder / "results", folder / "figures", folder / "pirlab"
        shutil.copy2(binary, self.binary)
        self.environment = os.environ | {"PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "200"}
        self.folders = {"results": self.results, "figures": self.figures, "binary": self.binary}

    def driver(self, *arguments: str) -> list[str]:
        folders = [f"--{key}={value}" for key, value in self.folders.items()]
        return [sys.executable, "-m", "pirlab_workflow.reproduce", "--profile=tiny", *folders, *arguments]

    def reproduce(self, *arguments: str, code: int = 0) -> str:
        """`make reproduce`, after the build."""
        done = subprocess.run(
            self.driver(*arguments), cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=900
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def dry_run(self, *arguments: str) -> dict[str, int]:
        """How many jobs of which rule Snakemake would run."""
        config = [f"{key}={value}" for key, value in self.folders.items()]
        command = [TOOLS / "snakemake", "--dry-run", "--quiet", "rules", *arguments]
        done = subprocess.run(
            [*command, "--configfile", "config/tiny.yaml", "--config", *config],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        lines = (line.split() for line in (done.stdout + done.stderr).splitlines())
        return {words[0]: int(words[1]) for words in lines if len(words) == 2 and words[1].isdigit()}

    def local(self) -> dict[str, int]:
        """What `make reproduce` would run."""
        return self.dry_run("--workflow-profile", "config/profiles/local", "--cores", "1")

    def rebuild(self) -> None:
        """The binary, with another content and the same behaviour."""
        with self.binary.open("ab") as file:
            file.write(b"\n")

    def records(self) -> dict[str, float]:
        """Every record and when it was written."""
        found = sorted(self.results.glob("records/*/*/*/*.json"))
        return {str(path.relative_to(self.results)): path.stat().st_mtime for path in found}

    def record(self, group: str, row: str = "simplepir-usenix23") -> Path:
        return self.results / "records/smoke/tiny" / group / f"{row}.json"


@pytest.fixture(scope="module")
def finished(tmp_path_factory, binary):
    """A sandbox after one run; the tests that share it leave it complete."""
    box = Sandbox(tmp_path_factory.mktemp("finished"), binary)
    box.output = box.reproduce()
    return box


def test_clean_run_makes_everything(finished):
    assert "Plan of profile tiny" in finished.output
    assert "16 rows in 5 groups to measure" in finished.output
    for group in (
        *(f"smoke/tiny {name}" for name in GROUPS),
        "smoke/protocols 2^10x1",
        "smoke/primitives all",
        "smoke/gadget base-4",
    ):
        assert f"{group}: " in finished.output, "one line a finished group where there is no terminal"
    assert "16 ok" in finished.output
    assert len(finished.records()) == 16
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


def test_the_audit_is_made_and_not_made_again(finished):
    output = finished.reproduce("--only=security/audit")
    assert "security only: nothing to" in output and "0 rows in 0 groups to measure" in output
    folder = finished.figures / "security/audit"
    names = [f"security-curves.{end}" for end in ("pdf", "svg", "png", "csv")]
    names += [f"table-security-{what}.{end}" for what in ("sets", "limits") for end in ("csv", "md", "tex", "html")]
    for name in names:
        assert (folder / name).stat().st_size > 0, name
    text = (folder / "table-security-sets.md").read_text()
    sets = [str(path.relative_to(ROOT / "params").with_suffix("")) for path in (ROOT / "params").rglob("*.toml")]
    assert sets and all(name in text for name in sets), "every set of params/ is in it"
    finished.reproduce("--only=security/audit")
    log = (finished.results / "logs/snakemake.log").read_text()
    assert "rule audit:" not in log and "rule figure:" not in log


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
    assert {"figure", "table", "accuracy"} <= jobs.keys()
    assert not jobs.keys() & {"describe", "predict", "measure", "calibrate"}


def made_stale(path: Path) -> None:
    """The record as one of other sources, of 2001."""
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"staleness_key": "0" * 64, "finished": "2001-02-03T04:05:06Z"}))


def test_what_is_stale_is_named_and_measured_again_on_request(finished):
    """A new binary measures nothing by itself, whatever it finds: a stale record of a protocol, one of a primitive, and
    one whose row is in no experiment file."""
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
        assert "1 measured on 2001-02-03, its row in no experiment file any more" in text
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
    failed, missing = finished.record("2^10x16"), finished.record("2^10x256")
    failed.write_text(json.dumps(json.loads(failed.read_text()) | {"status": "failed", "reason": "by this test"}))
    missing.unlink()
    before = finished.records()
    finished.reproduce()
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
    assert Counter(path.split("/")[0] for path in documents) == {"records": 16, "predictions": 4}
    text = (out / "README.md").read_text()
    assert "## tiny" in text and "| rows | 16 ok |" in text
    packed = (out / "tiny.jsonl.gz").read_bytes()
    for word, folder in (("--unpack", tmp_path / "files"), ("--pack", tmp_path / "files")):
        subprocess.run([*command, f"{word}={folder}"], cwd=ROOT, check=True, capture_output=True)
    assert (out / "tiny.jsonl.gz").read_bytes() == packed, "what is unpacked packs to the same bytes"


def test_killed_sweep_continues(tmp_path, finished, binary):
    box = Sandbox(tmp_path, binary)
    box.results.mkdir()
    shutil.copy(finished.results / "calibration.json", box.results)
    with subprocess.Popen(
        box.driver(),
        cwd=ROOT,
        env=box.environment,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        deadline = time.monotonic() + 120
        while not box.records() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        assert process.poll() is None, "the sweep was killed before its end"
        os.kill(process.pid, signal.SIGKILL)
    before = box.records()
    assert before, "at least one record was finished"
    time.sleep(1)
    left = box.records()
    output = box.reproduce()
    assert "16 ok" in output
    after = box.records()
    assert len(after) == 16
    assert {name: after[name] for name in left} == left, "finished records are kept as they are"


def test_slurm_profile_dry_run(finished, tmp_path):
    finished.folders = finished.folders | {"results": tmp_path / "results"}
    try:
        jobs = finished.dry_run("--workflow-profile", "config/profiles/slurm")
    finally:
        finished.folders = finished.folders | {"results": finished.results}
    assert jobs["measure"] == 5 and jobs["predict"] == 4


@pytest.mark.parametrize(
    "workflow", [["--configfile", "config/tiny.yaml"], ["--snakefile", "workflow/rules/search.smk"]]
)
def test_lint_is_clean(tmp_path, workflow):
    command = [TOOLS / "snakemake", "--lint", *workflow, "--config", f"results={tmp_path}", f"figures={tmp_path}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_workflow_of_sweeps_has_one_rule_for_each_file(tmp_path):
    command = [TOOLS / "snakemake", "--snakefile", "workflow/rules/search.smk", "--dry-run", "--cores", "1"]
    command += ["--config", f"results={tmp_path}/results", f"figures={tmp_path}/figures"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    jobs = dict(re.findall(r"^(part|table|sets|figure) +(\d+)$", done.stdout, re.M))
    assert jobs.keys() == {"part", "table", "sets", "figure"} and jobs["sets"] == "2"


def test_wrong_configuration_is_one_paragraph(tmp_path):
    command = [TOOLS / "snakemake", "--dry-run", "--cores", "1", "--configfile", "config/tiny.yaml"]
    command += ["--config", f"results={tmp_path}", "repetition=3"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0
    said = done.stdout + done.stderr
    assert 'key "repetition"' in said and 'Did you mean "repetitions"?' in said
    assert "Traceback" not in said


def test_unknown_profile_is_one_paragraph():
    command = [sys.executable, "-m", "pirlab_workflow.reproduce", "--profile", "quik"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout.strip().startswith("PROFILE=quik: there is no config/quik.yaml")


def test_missing_binary_says_what_to_run(tmp_path):
    command = [sys.executable, "-m", "pirlab_workflow.reproduce", "--profile=tiny", f"--results={tmp_path}"]
    done = subprocess.run([*command, f"--binary={tmp_path}/none"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and "make build" in done.stdout


def test_busy_results_folder_is_refused(tmp_path, binary):

    (tmp_path / "results").mkdir()
    handle = reproduce.lock(tmp_path / "results")
    box = Sandbox(tmp_path, binary)
    output = box.reproduce("--wait=1", code=2)
    assert "is held by another" in output and str(os.getpid()) in output
    handle.close()
