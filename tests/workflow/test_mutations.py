"""The list of faults that the tests find: each can still be put in, and names tests that exist."""

import subprocess

import mutations
import pytest
from pirlab_workflow.files import ROOT


@pytest.mark.parametrize("name", mutations.MUTATIONS)
def test_a_mutation_still_fits_its_file(name):
    mutation = mutations.MUTATIONS[name]
    text = (ROOT / mutation["file"]).read_text()
    assert mutations.mutated(text, mutation) != text
    assert ("needs" in mutation) == any(word in mutation["file"] for word in ("avx", "vaes"))
    if mutation["tests"][0] != "cargo":
        assert all((ROOT / place.split("::")[0]).exists() for place in mutation["tests"])
    with pytest.raises(ValueError, match="does not have"):
        mutations.mutated("", mutation)


@pytest.mark.parametrize(
    ("tests", "codes", "expected"),
    [
        (["tests/x.py"], [1], True),
        (["tests/x.py"], [0], False),
        (["tests/x.py"], [2], False),  # not collected
        (["tests/x.py"], [4], False),  # no such file
        (["tests/x.py"], [5], False),  # no test
        (["cargo", "--lib"], [0, 101], True),
        (["cargo", "--lib"], [0, 0], False),
        (["cargo", "--lib"], [101], False),  # not compiled
    ],
)
def test_a_fault_is_found_by_tests_that_ran_and_failed(tests, codes, expected, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("old")
    monkeypatch.setenv("PIRLAB_VERIFY", "1")
    left = list(codes)

    def run(command, cwd, env):
        assert (tmp_path / "file").read_text() == "new" and "PIRLAB_VERIFY" not in env
        return subprocess.CompletedProcess(command, left.pop(0))

    monkeypatch.setattr(subprocess, "run", run)
    mutation = {"file": "file", "old": "old", "new": "new", "tests": tests}
    assert mutations.caught(tmp_path, mutation) is expected
    assert not left and (tmp_path / "file").read_text() == "old"


def test_a_fault_in_code_that_this_processor_cannot_run_is_not_put_in(monkeypatch, capsys):
    monkeypatch.setattr(mutations, "flags", lambda: {"avx2", "avx512vbmi"})
    monkeypatch.setattr(mutations, "caught", lambda clone, mutation: mutation is not mutations.MUTATIONS["K05"])
    assert mutations.main(".", "K01", "K04", "K05") == 1
    assert capsys.readouterr().out == "missed: K05; not run here: K04\n"
