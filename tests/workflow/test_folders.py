"""Names of folders, and what the Makefile makes of them and of caches."""

import os
import subprocess

import pytest
from pirlab_workflow.experiments import read_profile
from pirlab_workflow.files import ROOT, PlanError
from pirlab_workflow.folders import plain
from pirlab_workflow.plan import Plan
from sandbox import STRANGE, TOOLS, made


@pytest.mark.parametrize(
    ("name", "expected"),
    [("out/", "out"), ("./out", "out"), ("a//b", "a/b"), ("/a/./b/", "/a/b"), ("1e5", "1e5"), (STRANGE, STRANGE)],
)
def test_names_are_made_plain(name, expected):
    assert plain("results", name) == expected
    plan = Plan(read_profile("tiny", results=name, figures=f"{name}/figures"))
    assert plan.profile["results"] == expected and str(plan.settings()).startswith(f"{expected}/")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("r{x}", "has `{`"),
        ("a\nb", "has a line break"),
        ("\udcff", "cannot be printed"),
        ("-out", "begins with `-`"),
        ("~/x", "begins with `~`"),
        (" out", "begins or ends with a space"),
        (".", "is this folder itself or one around it"),
        ("..", "is this folder itself or one around it"),
        (str(ROOT), "is this folder itself or one around it"),
    ],
)
def test_names_that_cannot_work_are_refused_in_a_sentence(name, words):
    with pytest.raises(PlanError, match=r"^RESULTS=") as refused:
        read_profile("tiny", results=name)
    assert words in str(refused.value) and str(refused.value).endswith(": give another name.")


def make(*words, **environment):
    """What make says, of recipes that it does not run."""
    command = ["make", "--no-print-directory", "--dry-run", *words]
    return subprocess.run(command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True)


def test_recipes_take_names_from_the_environment():
    words = [f"{name}=o'brien; rm -rf" for name in ("PROFILE", "RESULTS", "FIGURES", "ONLY")]
    said = make("reproduce", "plan", "calibrate", "search", "bench", "reference", "redraw", "explorer", "help", *words)
    assert said.returncode == 0 and '--results="$RESULTS"' in said.stdout and "brien" not in said.stdout
    assert 'pirlab_workflow.explorer --figures="$FIGURES"' in said.stdout
    refused = make("plan", "RESULTS=a$b")
    assert refused.returncode == 2 and "RESULTS has a dollar sign" in refused.stderr


@pytest.mark.parametrize("target", ["calibrate", "explorer", "reference", "search"])
def test_targets_that_draw_measure_or_pack_alone_refuse_the_same_names(target):
    """By make itself, which is not to build anything."""
    command = ["make", "--no-print-directory", "--old-file=build", target, f"VENV={TOOLS}"]
    names = dict.fromkeys(("RESULTS", "FIGURES", "OUT"), "~/o'brien")
    done = subprocess.run(command, cwd=ROOT, env=os.environ | names, capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert done.returncode == 2 and "begins with `~`, which the shell did not replace" in said, said


@pytest.mark.parametrize("value", ["0", "no", "2"])
def test_fresh_is_1_or_left_out(value):
    refused = make("reproduce", f"FRESH={value}")
    assert refused.returncode == 2 and f"FRESH={value} means nothing: give FRESH=1" in refused.stderr
    assert "--fresh" in make("reproduce", "FRESH=1").stdout
    assert "--fresh" not in make("reproduce", "FRESH=").stdout


def test_nothing_is_kept_in_a_home_folder_that_cannot_be_written(tmp_path, monkeypatch):
    for name in ("CARGO_HOME", "TMPDIR"):
        monkeypatch.delenv(name, raising=False)
    rule = "--eval=print: ; @+echo $$CARGO_HOME"
    assert make(rule, "print", HOME="/dev/null/home").stdout.splitlines()[-1] == str(ROOT / ".cache/cargo")
    assert make(rule, "print", HOME=str(tmp_path)).stdout.splitlines()[-1] == str(tmp_path / ".cargo")
    assert all(value.startswith(str(ROOT / ".cache")) for value in made().values())
    assert 'mkdir -p -- "$TMPDIR"' in make("tools").stdout
