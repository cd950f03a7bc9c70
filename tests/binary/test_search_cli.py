"""`pirlab-search` on the command line: files, repeats, resuming, bad input, an estimator that misbehaves."""

import hashlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import tomllib

import pytest
from pirlab_estimator.cost import DEFAULTS, UnitCosts
from pirlab_estimator.noise.stage import NEVER
from pirlab_estimator.search import cli, space_file
from pirlab_estimator.search.bounds import Bounds
from pirlab_estimator.search.confirm import confirm
from pirlab_estimator.search.evaluate import Evaluator, Shape
from pirlab_estimator.search.progress import Bars
from pirlab_estimator.search.sensitivity import failure, security
from pirlab_estimator.search.walk import walk
from places import read_csv
from search_command import SIMPLE, SMALL, files, search

pytestmark = pytest.mark.usefixtures("shared_cache")


def test_the_same_command_gives_the_same_files(tmp_path, capsys, own_cache, binary):
    command = [*SIMPLE, "--top", "3"]
    search(*command, "--out", str(tmp_path / "a"))
    first = capsys.readouterr().out
    for path in own_cache.glob("*"):
        path.unlink()
    search(*command, "--out", str(tmp_path / "b"))
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert sorted(files(tmp_path / "a")) == [f"simplepir/{rank}.toml" for rank in (1, 2, 3)]
    search(*command, "--out", str(tmp_path / "a"))
    assert files(tmp_path / "a") == files(tmp_path / "b")
    again = capsys.readouterr().out
    assert "\n0 sets described and predicted" in again
    assert first.splitlines()[1:5] == again.splitlines()[1:5]
    source = tomllib.loads((tmp_path / "a/simplepir/1.toml").read_text())["source"]
    assert source["kind"] == "searched" and "--out" not in source["command"] and "commit" not in source
    assert source["note"].endswith(f"Unit costs: SHA-256 {hashlib.sha256(DEFAULTS.read_bytes()).hexdigest()}.")
    assert source["command"] == "pirlab-search " + " ".join(command).replace("2^16", "'2^16'")
    described = subprocess.run(
        [binary, "describe", tmp_path / "a/simplepir/1.toml", *SMALL], capture_output=True, text=True, check=True
    )
    assert "1 of simplepir: 2^16 records" in described.stdout
    search(*command[:-1], "1", "--out", str(tmp_path / "a"))
    assert list(files(tmp_path / "a")) == ["simplepir/1.toml"], "sets of the earlier search beyond the first are gone"


def test_what_is_said_of_a_front(capsys, tmp_path):
    search(*SIMPLE, "--dry-run", "--json", str(tmp_path / "front.json"))
    said = capsys.readouterr().out
    for words in (
        "simplepir, 65536 records of 256 bits:",
        "have an instance below the target. The nearest has 127.",
        "fail more often than the target",
        "What small changes of the first set do:",
        "twice the records",
    ):
        assert words in said
    assert re.search(r"^  1 +1\d\d\.\d +2\^-\d", said, re.M)
    assert '"account"' in (tmp_path / "front.json").read_text()


def test_no_set_is_never_all_that_is_said(capsys):
    search(*SIMPLE, "--max-upload", "1KB", "--dry-run", code=1)
    said = capsys.readouterr().out
    assert "No set keeps all bounds" in said and "send more than --max-upload" in said
    assert re.search(r"With all other bounds as they are, --max-upload \d+ \(\d.* KiB\) has a set", said)


def test_where_no_single_budget_is_to_blame_those_that_have_a_set_together_are_named(capsys):
    tight = ["--max-upload", "1KB", "--max-download", "1KB", "--max-storage", "0", "--max-seconds", "1e-6"]
    search(*SIMPLE, *tight, "--dry-run", code=1)
    said = capsys.readouterr().out
    assert re.search(r"None of these misses this alone, and none needs less than --max-\w+ \d", said)
    together = re.search(r"Together these have a set, .*?: (--max-.*)", said)[1]
    relaxed = re.sub(r" \([^)]*\)", "", together).replace(",", "").split()
    assert len(relaxed) == 8, "each of the four"
    search(*SIMPLE, *relaxed, "--dry-run")
    capsys.readouterr()
    search(*SIMPLE, "--max-upload", "1KB", "--security", "300", "--dry-run", code=1)
    assert "Whatever a set may cost, none reaches --security and --failure" in capsys.readouterr().out


def test_no_worse_than_a_given_set(capsys, root, tmp_path):
    given = root / "params/simplepir/secure-n1088.toml"
    command = [*SIMPLE, "--no-worse-than", str(given), "--best-only"]
    search(*command, "--out", str(tmp_path))
    said = capsys.readouterr().out
    saved = re.search(r"1 beside the given set: upload (.\d+) %, download (.\d+) %, answer time (.\d+) %", said)
    assert saved and all(int(change) <= 0 for change in saved.groups())
    assert files(tmp_path).keys() == {"simplepir/1.toml"}
    search(*command, "--objective", "saving", "--dry-run")
    most = -min(int(change) for change in saved.groups())
    assert int(re.search(r"saves (\d+) % in one of them", capsys.readouterr().out)[1]) >= most
    search(*command[:-3], "--objective", "saving", "--dry-run", code=2)
    assert "needs a set to save against" in capsys.readouterr().err
    search(*command, "--faster", "5", "--dry-run", code=1)
    assert re.search(r"With all other bounds as they are, --max-seconds \S+ has a set", capsys.readouterr().out)
    search(*command[:-3], "--faster", "5", "--dry-run", code=2)
    assert "needs a set to be faster than" in capsys.readouterr().err
    search(*command, "--faster", "100", "--dry-run", code=2)
    assert "--faster 100 is not from 0" in capsys.readouterr().err


def test_searches_of_a_file(tmp_path, capsys):
    row = 'protocol = "simplepir"\nrecords = {}\nrecord-bits = 256\nexperiment = "{}"\nbest-only = true\n'
    path = tmp_path / "searches.toml"
    path.write_text("".join(f"[[search]]\n{row.format(1 << (14 + i), name)}" for i, name in enumerate("xy")))
    search("--sweep", str(path), "--out", str(tmp_path / "found"))
    assert files(tmp_path / "found").keys() == {"x/1.toml", "y/1.toml"}
    assert "--- 2 of 2: pirlab-search" in capsys.readouterr().out


def test_a_file_of_searches_says_what_they_save(tmp_path, root):
    """The file compares found sets with the given ones, and says where none was found."""
    row = 'protocol = "simplepir"\nrecords = "2^14"\nrecord-bits = 256\nbest-only = true\n'
    row += f'no-worse-than = "{root}/params/simplepir/secure-n1088.toml"\n'
    path = tmp_path / "searches.toml"
    path.write_text(f'[[search]]\n{row}experiment = "x"\n[[search]]\n{row}experiment = "y"\nmax-upload = "1KB"\n')
    search("--sweep", str(path), "--out", str(tmp_path / "found"), "--results", str(tmp_path / "results"), code=1)
    there, none = read_csv(tmp_path / "results/searches/saved.csv")
    assert (there["experiment"], none["experiment"], none["verdict"]) == ("x", "y", "no set")
    share = int(there["found_upload"]) / int(there["given_upload"])
    assert float(there["saved_upload"]) == pytest.approx(1 - share, abs=1e-4)
    assert there["verdict"] in ("dominates", "saves less than 10 %") and not none["found_upload"]
    text = (tmp_path / "results/searches/saved.md").read_text()
    assert "| x | " in text and "| y | " in text and "All predicted" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("search = 3 =", "It holds [[search]], [best], [front], [committed], [[application]] or [[grid]] tables"),
        ("", "a file without tables is not a sweep"),
        ("[sauce]\n", "sauce is not a sweep"),
        ("[best]\nrecords = [8]\n", "key 'record_bits' is missing"),
        ('[best]\nprotocols = ["nopir"]\nrecords = [8]\nrecord_bits = [8]\n', "there is no protocol nopir"),
    ],
)
def test_sweeps_that_make_no_sense(tmp_path, capsys, text, message):
    path = tmp_path / "sweep.toml"
    path.write_text(text)
    search("--sweep", str(path), code=2)
    said = capsys.readouterr().err
    assert message in said and str(path) in said and "Traceback" not in said


SWEEP = """
[best]
protocols = ["simplepir", "ypir"]
records = ["2^14"]
record_bits = [256]
objectives = ["seconds"]
[[grid]]
name = "digits"
set = "params/ypir/signed-7byte.toml"
records = "2^20"
record_bits = 8
gadget = { table = "packing", modulus = "rlwe.modulus" }
vary = [{ key = "rlwe.log2_modulus", values = [54, 56] }, { key = "packing.base_log2", values = [14, 19] }]
[[grid]]
name = "around"
protocol = "ypir"
objective = "seconds"
records = ["2^14", "2^15"]
record_bits = 1
vary = [
  { key = "packing.base_log2", values = [8, 16] },
  { key = "rlwe.log2_modulus", values = [48, 56], secure = true },
]
"""


def test_a_sweep_is_resumed_and_its_parts_make_the_same_files(tmp_path, capsys, own_cache):
    path = tmp_path / "sizes.toml"
    path.write_text(SWEEP)
    search("--sweep", str(path), "--results", str(tmp_path / "a"))
    records = sorted((tmp_path / "a/sizes").glob("*.json"))
    assert [each.name for each in records] == [
        "best-simplepir-16384x256.json",
        "best-ypir-16384x256.json",
        "grid-around-16384x1.json",
        "grid-around-32768x1.json",
        "grid-digits-1048576x8.json",
    ]
    rows = read_csv(tmp_path / "a/sizes.csv")
    found = [row for row in rows if row["name"] == "found" and row["kind"] == "best"]
    assert {row["protocol"] for row in found} == {"simplepir", "ypir"}
    assert all(float(row["bits"]) >= 128 and float(row["log2_failure"]) <= -40 for row in found)
    assert any(row["name"] == "usenix23" and float(row["bits"]) < 128 for row in rows), "published ones stand beside"
    grid = {row["varied"]: row for row in rows if row["part"] == "digits"}
    assert len(grid) == 4 and {row["gadget_length"] for row in grid.values()} == {"3", "4"}
    around = [row for row in rows if row["part"] == "around"]
    assert [row["records"] for row in around] == ["16384"] * 5 + ["32768"] * 5
    assert all(float(row["bits"]) >= 128 for row in around), "errors are as wide as each modulus asks for"
    assert {json.loads(row["set"])["layers"]["query_coefficient_bytes"] for row in around} == {6, 7}
    best = min(around[1:5], key=lambda row: float(row["score"]))
    assert float(best["score"]) <= float(around[0]["score"]), "the found set's neighbours are judged as it is"
    small = read_csv(tmp_path / "a/sizes/sizes.csv")
    assert [row["key"] for row in small] == ["", *["packing.base_log2"] * 2, *["rlwe.log2_modulus"] * 2] * 2
    assert min(float(row["score"]) for row in small[1:5]) == pytest.approx(float(best["score"]), rel=1e-5)
    assert small[0]["set"] == around[0]["set"] and small[1]["varied"].startswith("packing.base_log2=8 rlwe.")
    whole = (tmp_path / "a/sizes.csv").read_bytes()
    times = [each.stat().st_mtime_ns for each in records]
    search("--sweep", str(path), "--results", str(tmp_path / "a"))
    assert [each.stat().st_mtime_ns for each in records] == times, "what is there is not made again"
    records[1].write_text('{"key": "of other')  # as a kill leaves a file that is not written whole
    for part in ("digits", "around", "ypir", "simplepir"):
        search("--sweep", str(path), "--results", str(tmp_path / "a"), "--part", part)
        search("--sweep", str(path), "--results", str(tmp_path / "b"), "--part", part)
    assert (tmp_path / "a/sizes.csv").read_bytes() == (tmp_path / "b/sizes.csv").read_bytes() == whole
    search("--sweep", str(path), "--part", "nopir", code=2)
    assert "there is no part 'nopir'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--protocol", "nopir"], "there is no protocol 'nopir' to search; there are cwpir, depir, doublepir,"),
        (["--max-upload", "-4096"], "--max-upload -4096 is negative"),
        (["--max-download", "0"], "--max-download 0 contradicts every protocol"),
        (["--failure", "2"], "--failure 2 is log2 of a probability"),
        (["--security", "-1"], "--security -1 is not between"),
        (["--max-memory", "-3GB"], "--max-memory -3.22123e+09 is negative"),
        (["--max-seconds", "nan"], "--max-seconds nan is not a number"),
        (["--timeout", "0"], "--timeout 0 leaves an attack no time"),
        (["--experiment", "../x"], "--experiment '../x' is not a folder's name"),
        (["--no-worse-than", __file__], f"{__file__} is not a parameter file"),
        (["--stateless", "--max-offline", "1GB"], "contradict"),
        (["--costs", "/nowhere"], "/nowhere: No such file"),
        (["--no-worse-than", "/nowhere"], "/nowhere: No such file"),
        (["--objective", "dollars", "--prices", __file__], "It needs core_second"),
        (["--objective", "bytes", "--network", "20ms,50Mbit"], "--network changes nothing without --objective seconds"),
        (["--html", "x.html"], "--html changes nothing without --protocol all"),
        (["--csv", "x.csv"], "--csv changes nothing without --protocol all"),
        (["--prices", __file__], "--prices changes nothing without"),
        (["--timeout", "10"], "--timeout changes nothing without --confirm"),
        (["--best-only", "--top", "3"], "--top changes nothing without one"),
        (["--protocol", "all", "--best-only"], "--best-only changes nothing without one protocol"),
    ],
)
def test_bad_input_is_named(words, message, capsys):
    search(*SIMPLE, *words, "--dry-run", code=2)
    said = capsys.readouterr().err
    assert said.startswith("pirlab-search: ") and message in said and "Traceback" not in said


def test_a_folder_that_cannot_be_written_to_is_named_before_the_search(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    search(*SIMPLE, "--out", str(tmp_path / "file/found"), code=2)
    said = capsys.readouterr()
    assert f"{tmp_path / 'file'} is not a writable folder" in said.err and not said.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--records", "-5"], "--records"),
        (["--records", "0"], "'0' is not a count from 1 to 2^63"),
        (["--record-bits", "many"], "'many' is not a count"),
        (["--max-upload", "3 parsecs"], "is not a number of bytes"),
        (["--objective", "beauty"], "invalid choice"),
        (["--network", "20ms,0Mbit"], "'20ms,0Mbit' is not a network: write 20ms,50Mbit"),
        (["--network", "nan,50"], "'nan,50' is not a network"),
        (["--updates", "200"], "'200' is not a rate of updates: write 200/12s"),
        (["--updates", "200/0s"], "'200/0s' is not a rate of updates"),
        (["--threads", "0"], "'0' is not a count"),
    ],
)
def test_words_that_are_not_numbers(words, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main([*SIMPLE, *words])
    assert stopped.value.code == 2 and message in capsys.readouterr().err


def test_a_binary_that_is_missing_or_dies(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PIRLAB_BINARY", str(tmp_path / "pirlab"))
    search(*SIMPLE, "--dry-run", code=2)
    assert "is not built yet: run `make build`" in capsys.readouterr().err
    (tmp_path / "pirlab").write_text("#!/bin/sh\necho out of luck >&2\nexit 101\n")
    (tmp_path / "pirlab").chmod(0o755)
    search(*SIMPLE, "--dry-run", code=2)
    said = capsys.readouterr().err
    assert "answered 0 of" in said and "exit code 101" in said and "out of luck" in said


def test_a_killed_search_goes_on(own_cache, tmp_path):
    """Killed by the operating system in the middle; what had been tried is not tried again."""
    program = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from pirlab_estimator.cost import DEFAULTS, UnitCosts
        from pirlab_estimator.search import evaluate, space_file
        from pirlab_estimator.search.bounds import Bounds
        from pirlab_estimator.search.walk import walk
        evaluate.BATCH = 20
        evaluator = evaluate.Evaluator(evaluate.Shape(1 << 16, 256), UnitCosts.load(DEFAULTS), Path(sys.argv[1]))
        print(len(walk(space_file.load("simplepir"), evaluator, Bounds()).found), evaluator.evaluated)
        """
    )
    command = [sys.executable, "-c", program, str(own_cache)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    # The file is there before its first line is.
    while not (written := any(path.stat().st_size for path in own_cache.glob("*.jsonl"))):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL and written, "it was killed while it ran"
    kept = len(Evaluator(Shape(1 << 16, 256), UnitCosts.load(DEFAULTS), own_cache)._known)
    found, evaluated = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    whole = walk(space_file.load("simplepir"), Evaluator(Shape(1 << 16, 256), UnitCosts.load(DEFAULTS), None), Bounds())
    assert int(found) == len(whole.found) and int(evaluated) + kept == whole.tried and kept > 0


def test_an_estimator_that_crashes_and_an_attack_that_never_ends(stand_in):
    evaluator = Evaluator(Shape(1 << 16, 256), UnitCosts.load(DEFAULTS), None)
    found = walk(space_file.load("simplepir").narrowed(), evaluator, Bounds()).found[:1]
    source = stand_in / "estimator" / "__init__.py"
    text = source.read_text().replace("100 + p.n / 1024", "110").replace("dual=infinite", "dual=well")
    source.write_text(text.replace("dual_hybrid=misbehave", "dual_hybrid=hangs"))
    said = "\n".join(confirm(found, 128.0, evaluator, 1.0))
    assert "130.00 bits by the attacks that finished" in said and "confirmed" not in said
    assert not any(attack in said for attack in ("primal", "usvp", "dual ("))
    assert "bdd (MATZOV): TypeError: object not hashable" in said
    assert "dual_hybrid (MATZOV): timeout after 1 s" in said


def test_confirmation_without_an_estimator_says_what_is_missing(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("LATTICE_ESTIMATOR", str(tmp_path))
    search(*SIMPLE, "--best-only", "--confirm", "--dry-run", code=2)
    assert "LATTICE_ESTIMATOR" in capsys.readouterr().err


def test_what_is_left_follows_what_there_is_to_do(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    with Bars(stream) as bars:
        bars.stage("keys", 1000)
        now[0] = 10.0
        bars.advance(10)
        bars.revise(40)
        now[0] = 20.0
        bars.advance(10)
    assert stream.getvalue() == "keys: 10 of 1000, 990 s left\nkeys: 20 of 40, 20 s left\n"


def test_marks_and_broken_bytes_of_files_do_no_harm(tmp_path, root, capsys, own_cache):
    """A byte-order mark in what people write; a cache that a full disk cut off within a letter."""
    mark, given, prices = "\ufeff", tmp_path / "given.toml", tmp_path / "prices.toml"
    given.write_text(mark + (root / "params/simplepir/secure-n1088.toml").read_text(), encoding="utf-8")
    prices.write_text(mark + (root / "estimator/search/prices.toml").read_text(), encoding="utf-8")
    command = [*SIMPLE, "--best-only", "--dry-run", "--objective", "dollars"]
    search(*command, "--no-worse-than", str(given), "--prices", str(prices))
    first = capsys.readouterr().out
    for path in own_cache.glob("*"):
        path.write_bytes(b"\xff\xfe\n" + path.read_bytes() + b'["\xc3')
    search(*command, "--no-worse-than", str(given), "--prices", str(prices))
    again = capsys.readouterr().out
    assert again.split("\n\n")[0] == first.split("\n\n")[0] and "\n0 sets described" in again
    for path in own_cache.glob("*"):
        path.unlink()
        path.symlink_to("/dev/full")
    search(*command, code=2)
    assert re.search(r"output \S+/cache/\w+.jsonl: it cannot be written: No space left", capsys.readouterr().err)
    costs = tmp_path / "costs.json"
    costs.write_text("{")
    search(*command, "--costs", str(costs), code=2)
    said = capsys.readouterr().err
    assert str(costs) in said and f"--out {costs}" not in said, "no advice destroys the file"


def test_the_words_of_figures():
    assert [failure(log2) for log2 in (-40.04, NEVER, NEVER + 3)] == ["2^-40.0", "never", "never"]
    assert [security(bits) for bits in (None, 128.04, float("inf"))] == ["unknown", "128.0", "perfect"]
