"""Every reader in Python names a file that is not text or is too long, and says nothing of its permissions then."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from pirlab_estimator import predict
from pirlab_estimator.inputs import MOST_BYTES, InputError
from pirlab_estimator.search import cli as searching
from pirlab_estimator.security import cli as security
from pirlab_figures.cli import main as drawing
from pirlab_workflow import experiments, received
from places import EXPECTED
from search_command import SIMPLE

SEARCH = [*SIMPLE, "--dry-run"]
AUDIT = ["table", "security-sets", "--expected", str(EXPECTED)]
#: The words before the file's name, and the program.
READERS: dict[str, tuple[Callable[..., int], list[str]]] = {
    "records": (received.main, ["check"]),
    "descriptions": (predict.main, []),
    "costs": (predict.main, ["good/description.json", "--costs"]),
    "checked": (security.main, ["check", "--descriptions"]),
    "audited": (security.main, ["audit", "--out=out", "--descriptions=good/description.json"]),
    "costs-of-search": (searching.main, [*SEARCH, "--costs"]),
    "prices": (searching.main, [*SEARCH, "--objective", "dollars", "--prices"]),
    "sweep": (searching.main, ["--sweep"]),
    "drawn": (drawing, ["table", "comparison", "--out=out", "--records"]),
    "audit": (drawing, [*AUDIT, "--records=good/none", "--out=out", "--audit"]),
}


@pytest.mark.parametrize("name", READERS)
def test_what_is_not_text_or_too_long_is_refused_with_its_name(name, tmp_path, monkeypatch, capsys):
    program, words = READERS[name]
    monkeypatch.chdir(tmp_path)
    Path("good/none").mkdir(parents=True)
    Path("good/description.json").write_text(json.dumps({"schema": predict.DESCRIBED}))
    Path("bad").mkdir()
    file = tmp_path / "bad/file.json"
    given = file.parent if name == "drawn" else file

    def said(reason: str) -> None:
        assert program([*words, str(given)]) == 2
        error = capsys.readouterr().err
        assert re.search(rf"{re.escape(str(file))}: {reason}\.\n", error) and error.count(str(file)) == 1, error
        assert "permissions" not in error and not Path("out").exists()

    file.write_bytes('{"title": "x"}'.encode("utf-16"))
    said(r"byte 0 is not UTF-8 text\. Save the file as UTF-8 \(not as UTF-16 or Latin-1\)")
    with file.open("wb") as long:
        long.truncate(MOST_BYTES + 1)
    said(r"has more than (1|256) MiB\. Give a smaller file")


def test_experiments_and_profiles_are_read_alike(tmp_path, monkeypatch):
    monkeypatch.setattr(experiments, "ROOT", tmp_path)
    for path, read in (
        ("experiments/x.toml", experiments.load_experiment),
        ("config/x.yaml", experiments.read_profile),
    ):
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_bytes(b"\xff")
        with pytest.raises(InputError, match=f"{path}: byte 0 is not UTF-8 text"):
            read("x")
