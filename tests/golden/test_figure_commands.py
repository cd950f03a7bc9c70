"""The command that draws: the files it writes, and what it refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import synthetic
from pirlab_estimator.paths import ROOT
from pirlab_figures.cli import main
from places import EXPECTED, read_csv

TABLE = [".csv", ".md", ".tex", ".html", ".caption.rst"]
FIGURE = [".pdf", ".svg", ".png", ".csv", ".caption.rst"]
#: The files of each command.
COMMANDS = dict.fromkeys(["table figure4", "table comparison", "table security"], TABLE)
COMMANDS |= {"figure4": FIGURE, "accuracy": [*FIGURE, ".md", ".tex"]}


@pytest.fixture(scope="module")
def drawn(sweep: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, Path]]:
    """The files that a command writes of the sweep, by name: of one drawing, or of another one."""
    options = ["--records", str(sweep / "records"), "--predictions", str(sweep / "predictions.json")]
    options += ["--expected", str(EXPECTED)]

    @cache
    def files(command: str, drawing: int = 1) -> dict[str, Path]:
        folder = tmp_path_factory.mktemp("drawn") / "a.b"
        assert main([*command.split(), *options, "--out", str(folder / "out")]) == 0
        return {path.name: path for path in folder.iterdir()}

    return files


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_write_their_files(command: str, drawn: Callable[..., dict[str, Path]]) -> None:
    written, suffixes = drawn(command), COMMANDS[command]
    for suffix in suffixes:
        assert written[f"out{suffix}"].stat().st_size > 0
    if ".pdf" in suffixes:
        pdf = written["out.pdf"].read_bytes()
        assert (
            pdf.startswith(b"%PDF") and b"/CIDFontType2" in pdf and b"/Type3" not in pdf and b"CreationDate" not in pdf
        )
    rows = read_csv(written["out.csv"])
    assert rows and all(row.get("record_id") or row.get("source") == "paper" for row in rows)
    if ".tex" in suffixes:
        tex = re.sub(r"\\[{}%&_#$]", "", written["out.tex"].read_text(encoding="utf-8"))
        assert tex.count("{") == tex.count("}") and tex.count(r"\begin{tabular}") == tex.count(r"\end{tabular}") == 1
        assert tex.isascii()
    core = pytest.importorskip("docutils.core")
    caption = written["out.caption.rst"].read_text(encoding="utf-8")
    core.publish_string(caption, settings_overrides={"halt_level": 2, "report_level": 2})
    if ".html" in suffixes:
        page = written["out.html"].read_text(encoding="utf-8")
        assert "http" not in page and "<script src" not in page


def test_output_is_deterministic(drawn: Callable[..., dict[str, Path]]) -> None:
    one, two = drawn("figure4"), drawn("figure4", 2)
    for name in ("out.pdf", "out.svg", "out.png", "out.csv"):
        assert one[name].read_bytes() == two[name].read_bytes(), name


def test_no_record_at_all_still_draws_the_papers_points(tmp_path: Path) -> None:
    words = ["--records", str(tmp_path / "records"), "--expected", str(EXPECTED), "--out", str(tmp_path / "out")]
    for command in ("figure4", "table figure4", "table comparison", "accuracy"):
        assert main([*command.split(), *words]) == 0
    caption = (tmp_path / "out.caption.rst").read_text(encoding="utf-8")
    assert "No point was measured" in caption or "No record" in caption


def test_bad_paths_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    for options in (
        ["figure4", "--records", str(tmp_path / "file")],
        ["figure4", "--records", str(tmp_path), "--predictions", str(tmp_path / "none.json")],
        ["figure4", "--records", str(tmp_path), "--expected", str(tmp_path / "none")],
        ["figure4", "--records", str(tmp_path), "--stale", str(tmp_path / "none.json")],
        ["table", "security", "--records", str(tmp_path)],
    ):
        assert main([*options, "--out", str(tmp_path / "out")]) == 2
        assert capsys.readouterr().err.startswith("error: ")
    assert main(["table", "comparison", "--records", str(tmp_path), "--out", str(tmp_path / "file" / "x")]) == 2


@pytest.mark.parametrize("option", ["--costs", "--audit", "--stale", "--expected", "--descriptions", "--predictions"])
def test_a_path_that_is_not_there_is_refused_whether_or_not_it_is_needed(option, tmp_path, capsys):
    missing = tmp_path / "missing.json"
    words = ["table", "comparison", "--records", str(tmp_path / "records"), "--out", str(tmp_path / "out")]
    (tmp_path / "records").mkdir()
    assert main([*words, option, str(missing)]) == 2
    message = capsys.readouterr().err
    assert message.startswith(f"error: {missing}: ") and message.count("\n") == 1, message
    assert not list(tmp_path.glob("out*"))


def test_a_file_that_a_figure_does_not_need_is_accepted(tmp_path):
    (tmp_path / "records").mkdir()
    words = ["table", "comparison", "--records", str(tmp_path / "records"), "--out", str(tmp_path / "out")]
    assert main([*words, "--costs", str(ROOT / "results/reference/calibration-quick.json")]) == 0


@pytest.mark.parametrize("command", [["table", "comparison"], ["table", "primitives"], ["accuracy"]])
def test_an_experiment_that_does_not_exist_is_refused(command, tmp_path, capsys):
    document = synthetic.run_record("simplepir/usenix23", 2**18, 16) | {"experiment": "my/own"}
    (tmp_path / "records").mkdir()
    (tmp_path / "records/r.json").write_text(json.dumps(document))
    words = [*command, "--records", str(tmp_path / "records"), "--out", str(tmp_path / "out"), "--experiment"]
    assert main([*words, "nope/none"]) == 2
    message = capsys.readouterr().err
    assert "nope/none" in message and "no such experiment" in message and message.count("\n") == 1, message
    assert not list(tmp_path.glob("out*"))
    # An experiment of a user's own is known by its records, one of this repository by its file.
    for known in ("my/own", "pirouette/figure4"):
        assert main([*words, known]) == 0
