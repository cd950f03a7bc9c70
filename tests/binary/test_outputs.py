"""Where results go: no file, pipe or device is lost to them, whichever program writes."""

import io
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from pirlab_estimator import cost, outputs, predict
from pirlab_estimator.describe import describe
from pirlab_estimator.outputs import OutputError
from pirlab_estimator.search import cli as search
from pirlab_estimator.search.pirouette import command as pirouette
from pirlab_estimator.security import cli as security
from pirlab_figures import cli as figures


@pytest.fixture
def described(root, binary, tmp_path):
    """A file of one description."""
    row = {"id": "x", "parameters": str(root / "params/simplepir/usenix23.toml"), "records": 1 << 16, "record_bits": 64}
    path = tmp_path / "described.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in describe([row])))
    return path


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_regular_files_are_whole_and_keep_their_permissions(tmp_path):
    path = tmp_path / "deep" / "r.json"
    outputs.check(path)
    assert not path.exists()
    outputs.write(path, "one")
    path.chmod(0o640)
    outputs.write(path, b"two")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("two", 0o640)
    assert files(path.parent) == ["r.json"]
    for bad in (tmp_path, path / "below"):
        for use in (outputs.check, lambda bad: outputs.write(bad, "x")):
            with pytest.raises(OutputError, match=str(bad)):
                use(bad)
    assert files(tmp_path) == ["deep"], "nothing is left behind"


def test_links_are_followed_and_planted_names_are_not(tmp_path):
    (tmp_path / "there").mkdir()
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "link").symlink_to("there/r.json")
    for planted in (".r.json.tmp", "r.json.tmp", "r.json.partial", "r.tmp", f".r.json.{os.getpid()}.part"):
        (tmp_path / "there" / planted).symlink_to(victim)
    for text in ("one", "two"):
        outputs.write(tmp_path / "link", text)
        assert (tmp_path / "link").is_symlink() and (tmp_path / "there/r.json").read_text() == text
    assert victim.read_text() == "mine"
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(OutputError, match="round"):
        outputs.write(tmp_path / "round", "x")


def test_pipes_are_written_into(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    outputs.check(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    outputs.write(pipe, "through")
    reader.join(60)
    assert got == ["through"] and stat.S_ISFIFO(pipe.stat().st_mode)


def test_what_a_device_takes_in_parts_is_written_whole(tmp_path, monkeypatch):
    """A raw write takes as much as it likes, and says how much."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    taken: list[bytes] = []

    class Slow(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data) -> int:
            taken.append(bytes(data[:7]))
            return len(taken[-1])

    def opened(handle, *_, **__) -> io.RawIOBase:
        os.close(handle)
        return Slow()

    keeper = os.open(pipe, os.O_RDWR)
    monkeypatch.setattr(outputs, "open", opened, raising=False)
    outputs.write(pipe, "one, two, three, four")
    outputs.write(pipe, "")
    os.close(keeper)
    assert b"".join(taken) == b"one, two, three, four" and len(taken) == 3


def test_devices_are_written_into(tmp_path):
    node = tmp_path / "node"
    try:
        # Like the null device's; only root can make it, and not everywhere open it.
        os.mknod(node, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        node.open("wb").close()
    except OSError:
        return
    outputs.write(node, "gone")
    assert stat.S_ISCHR(node.stat().st_mode)


def test_inputs_and_other_outputs_are_refused_under_any_name(tmp_path):
    read = tmp_path / "read"
    read.write_text("mine")
    os.link(read, tmp_path / "hard")
    (tmp_path / "soft").symlink_to(read)
    with outputs.protected([read, None]):
        for name in ("read", "hard", "soft"):
            for use in (outputs.check, lambda path: outputs.write(path, "x")):
                with pytest.raises(OutputError, match=f"{name}.*would be destroyed"):
                    use(tmp_path / name)
        with pytest.raises(OutputError, match="same file"):
            outputs.check(tmp_path / "new", tmp_path / "." / "x" / ".." / "new")
    assert read.read_text() == "mine"
    outputs.write(read, "again")
    assert read.read_text() == "again"


def test_standard_output_holds_the_result_alone(capsys):
    with outputs.beside(Path("-")):
        print("for people")
        outputs.write(Path("-"), "the result")
    said = capsys.readouterr()
    assert (said.out, said.err) == ("the result", "for people\n")


def test_predictions_leave_their_input_alone(described, tmp_path, capsys):
    costs = tmp_path / "costs.json"
    costs.write_bytes(cost.DEFAULTS.read_bytes())
    (tmp_path / "link").symlink_to(described)
    before = described.read_bytes(), costs.read_bytes()
    words = [str(described), "--costs", str(costs), "--security", "recorded", "--out"]
    for out in (described, tmp_path / "link", costs):
        assert predict.main([*words, str(out)]) == 2
        assert "would be destroyed" in capsys.readouterr().err
    assert (described.read_bytes(), costs.read_bytes()) == before
    assert predict.main([*words, "-"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == "x"


def test_an_audit_leaves_its_input_alone(described, root, tmp_path, capsys):
    before = described.read_bytes()
    experiment = str(root / "experiments/security/audit.toml")
    words = ["audit", experiment, "--descriptions", str(described), "--security", "recorded", "--out", str(described)]
    assert security.main(words) == 2
    assert "would be destroyed" in capsys.readouterr().err and described.read_bytes() == before


def test_searches_leave_their_input_alone(root, tmp_path, capsys, binary):
    costs = tmp_path / "costs.json"
    costs.write_bytes(cost.DEFAULTS.read_bytes())
    found = tmp_path / "simplepir" / "7.toml"
    found.parent.mkdir()
    found.write_bytes((root / "params/simplepir/usenix23.toml").read_bytes())
    words = ["--protocol", "simplepir", "--records", "2^16", "--record-bits", "8", "--out", str(tmp_path)]
    for more in (
        ["--costs", str(costs), "--json", str(costs)],
        # It would go as a set of an earlier search.
        ["--costs", str(costs), "--no-worse-than", str(found)],
    ):
        assert search.main([*words, *more]) == 2
        assert "would be destroyed" in capsys.readouterr().err
    assert costs.read_bytes() == cost.DEFAULTS.read_bytes() and found.exists()
    (tmp_path / "pirouette").mkdir()
    (tmp_path / "pirouette/2^20.toml").symlink_to(costs)
    assert pirouette.main(["20", "--costs", str(costs), "--out", str(tmp_path)]) == 2
    assert "would be destroyed" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".csv", ".caption.rst"])
def test_figures_leave_their_input_alone(tmp_path, capsys, suffix):
    table = tmp_path / f"sizes{suffix}"
    table.write_text("mine")
    words = ["sweep", "best", "--sweep", str(table), "--out"]
    assert figures.main([*words, str(tmp_path / "sizes")]) == 2
    assert "would be destroyed" in capsys.readouterr().err
    record = tmp_path / "records" / "r.json"
    record.parent.mkdir()
    record.write_text("mine")
    (tmp_path / f"drawn{suffix}").symlink_to(record)
    words = ["table", "comparison", "--records", str(record.parent), "--out"]
    assert figures.main([*words, str(tmp_path / "drawn")]) == 2
    assert "would be destroyed" in capsys.readouterr().err
    assert figures.main([*words, "-"]) == 2
    assert (table.read_text(), record.read_text()) == ("mine", "mine")


def test_a_lock_that_is_a_link_empties_nothing(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    results = tmp_path / "results"
    results.mkdir()
    (results / ".lock").symlink_to(victim)
    code = "import pathlib, sys; from pirlab_workflow import reproduce; reproduce.lock(pathlib.Path(sys.argv[1]))"
    ended = subprocess.run([sys.executable, "-c", code, str(results)], capture_output=True, text=True)
    assert ended.returncode != 0 and "Remove it" in ended.stderr
    assert victim.read_text() == "mine"
