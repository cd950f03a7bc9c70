"""What the workflow refuses before it runs, its lints, and the workflow of sweeps."""

import os
import re
import subprocess
import sys

import pytest
from pirlab_workflow import explorer, reproduce
from pirlab_workflow.experiments import read_profile
from pirlab_workflow.files import ROOT, exit_code
from pirlab_workflow.plan import Plan
from sandbox import TOOLS, Sandbox

pytestmark = pytest.mark.slow


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


def test_a_full_disk_is_said_with_the_name_of_the_file(tmp_path, capsys, monkeypatch):
    workflow = reproduce.Workflow(Plan(read_profile("tiny", results=str(tmp_path))), None, "1")
    workflow.log.parent.mkdir()
    workflow.log.symlink_to("/dev/full")
    assert exit_code(lambda: workflow.start("all").wait()) == 2
    remedy = "Check the path, its permissions and the free space.\n"
    assert capsys.readouterr().err == f"{workflow.log}: No space left on device. {remedy}"
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["explorer", "--run=/nowhere/profile.json"])
    assert exit_code(explorer.main) == 2
    assert capsys.readouterr().err == f"/nowhere/profile.json: No such file or directory. {remedy}"


def test_shared_memory_that_is_forbidden_is_named(capsys):
    def share():
        raise PermissionError(13, "Permission denied")

    assert exit_code(share) == 2
    assert capsys.readouterr().err.startswith("/dev/shm: Permission denied. Check the path, its permissions")


def test_no_rule_leaves_it_to_the_shell_to_write_its_output():
    """The shell names no file when the disk is full."""
    assert not [path for path in (ROOT / "workflow/rules").glob("*.smk") if "> {output" in path.read_text()]


def test_busy_results_folder_is_refused(tmp_path, binary):
    (tmp_path / "results").mkdir()
    handle = reproduce.lock(tmp_path / "results")
    box = Sandbox(tmp_path, binary)
    output = box.reproduce("--wait=1", code=2)
    assert "is held by another" in output and str(os.getpid()) in output
    handle.close()
