"""Records of other people: which are taken in, and why others are refused."""

import json
import subprocess
from pathlib import Path

import committed
import pandas as pd
import pytest
from pirlab_figures.explorer import rows
from pirlab_figures.lib import frame
from pirlab_workflow import pages, received
from pirlab_workflow.files import ROOT
from pirlab_workflow.reference import pack, packed, read_packed, write_files
from pirlab_workflow.reference import received as take_in
from synthetic_parts import changed

#: A record of a protocol, of a set with changed values, and of a primitive.
PLACES = {place: each for place, each in committed.of_run("quick").items() if each["status"] == "ok"}
PROTOCOL = next(each for place, each in PLACES.items() if place.startswith("comparison/protocols/2^16x2048/simplepir"))
PRIMITIVE = next(each for place, each in PLACES.items() if place.startswith("gadget/table1/"))
ELSEWHERE = {"cpu": "Some CPU", "cores": 8, "memory_bytes": 1 << 34}


def written(folder: Path, document: dict) -> Path:
    path = folder / "record.json"
    path.write_text(json.dumps(document))
    return path


def elsewhere(record: dict) -> dict:
    """The same as another machine would have it."""
    return changed(changed(record, "machine", record["machine"] | ELSEWHERE), "id", f"{record['id']}-elsewhere")


@pytest.mark.parametrize("run", committed.RUNS)
def test_records_of_the_reference_runs_are_taken_in(run, binary):
    """Apart from what was said of them when they were packed: old sets and old bounds of memory."""
    of_today = ("parameters.sha256", "parameters.path", "description.memory")
    for place, record in committed.of_run(run).items():
        if record["status"] == "ok":
            found = [fault for fault in received.faults(record) if not fault.startswith(of_today)]
            assert not found, f"{place}: {found}"


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        ("schema", "pirlab/run/2", "schema: 'pirlab/run/2'"),
        ("id", None, "id: "),
        ("status", "failed", "status: `failed`"),
        (
            "correct",
            {"compared": 1, "right": 1},
            f"correct.compared: 1 records compared, but {PROTOCOL['repetitions']} repetitions of 1 queries",
        ),
        ("correct", {"compared": 5, "right": 4}, "correct: status ok although a record came back wrong"),
        ("build.dirty", True, "build.dirty: uncommitted sources"),
        ("build.commit", "unknown", "build.dirty: uncommitted sources"),
        ("build.profile", "dev", "build.profile: `dev`"),
        ("build.source_hash", "0" * 64, "build.source_hash: 000000000000 matches neither a reference run"),
        ("machine", None, "machine"),
        ("machine.cpu", "unknown", "machine.cpu: is missing"),
        ("machine.memory_bytes", 0, "machine.memory_bytes: is missing"),
        ("machine.read_bandwidth", [], "machine.read_bandwidth: is empty. Measure again without"),
        ("parameters.path", "params/simplepir/mine.toml", "parameters.path: params/simplepir/mine.toml is not a set"),
        ("parameters.path", "../../etc/passwd", "parameters.path: ../../etc/passwd is not a set"),
        ("parameters.sha256", "1" * 64, "parameters.sha256: 111111111111, but "),
        ("transcript.0.payload_bytes", 12, "transcript.0.payload_bytes: 12 of "),
    ],
)
def test_a_record_is_refused_with_the_reason(place, value, reason, tmp_path, capsys, binary):
    path = written(tmp_path, PROTOCOL)
    assert received.main(["check", str(path)]) == 0
    assert "1 records are right, 0 refused; 0 rows did not run" in capsys.readouterr().out
    path = written(tmp_path, changed(PROTOCOL, place, value))
    assert received.main(["check", str(path)]) == 1
    said = capsys.readouterr().out
    assert f"record.json: {reason}" in said and "0 records are right, 1 refused" in said
    assert received.main(["merge", str(path), "--name", "anna", "--out", str(tmp_path / "in")]) == 2
    assert reason in capsys.readouterr().err and not (tmp_path / "in").exists()


def test_a_record_whose_description_was_edited_too_is_refused(binary):
    """Its messages and its memory agree with themselves, but not with the program."""
    short = PROTOCOL
    for part in ("description.messages", "transcript"):
        short = changed(short, f"{part}.0.payload_bytes", 12)
    (reason,) = received.faults(short)
    assert reason.startswith("description.messages: not what `pirlab describe` says")
    small = changed(changed(PROTOCOL, "description.memory.peak_bytes", 12), "memory.described_peak_bytes", 12)
    (reason,) = received.faults(small)
    assert reason.startswith("description.memory: not what")
    tables = [{"name": "database", "bytes": 12}]
    (reason,) = received.faults(changed(PROTOCOL, "memory.server", tables))
    assert reason.startswith("memory.server: other tables")
    small = changed(changed(PROTOCOL, "memory.server", tables), "description.memory.server", tables)
    assert [reason.split(":")[0] for reason in received.faults(small)] == ["description.memory"]


def test_sources_that_are_named_are_taken_in(tmp_path, capsys, binary):
    path = written(tmp_path, changed(PROTOCOL, "build.source_hash", "0123456789abcdef" * 4))
    assert received.main(["check", str(path), "--sources", "0123456789ab"]) == 0
    assert received.main(["check", str(path), "--sources", "0123456789ac"]) == 1
    with pytest.raises(SystemExit):
        received.main(["check", str(path), "--sources", "01234"])
    assert "is not a hash: give 12 or more" in capsys.readouterr().err


def test_a_run_of_the_present_sources_is_taken_in(tmp_path, monkeypatch, capsys, binary):
    """Of sources that no reference run has; a program that tests are run with may be of uncommitted ones."""
    monkeypatch.setattr(received, "known_sources", frozenset)
    row = ["params/simplepir/usenix23.toml", "--records=2^10", "--record-bits=8", "--repetitions=1"]
    file = tmp_path / "run.json"
    subprocess.run([binary, "run", *row, f"--out={file}"], cwd=ROOT, check=True, capture_output=True)
    own = json.loads(file.read_text())
    committed = changed(changed(own, "build.dirty", False), "build.commit", "1" * 40)
    assert received.main(["check", str(written(tmp_path, committed))]) == 0
    assert "1 records are right" in capsys.readouterr().out
    other = received.present_sources()["inspire"]
    for place, value, reason in (
        ("build.dirty", True, "build.dirty: uncommitted sources"),
        (
            "build.source_hash",
            other,
            f"build.source_hash: {other[:12]} matches neither a reference run nor this program's simplepir",
        ),
    ):
        assert received.main(["check", str(written(tmp_path, changed(committed, place, value)))]) == 1
        assert reason in capsys.readouterr().out


def test_a_primitive_of_the_present_sources_is_taken_in(monkeypatch, binary):
    monkeypatch.setattr(received, "known_sources", frozenset)
    hashes = received.present_sources()
    assert not list(received.faults(changed(PRIMITIVE, "build.source_hash", hashes[PRIMITIVE["primitive"]])))
    (reason,) = received.faults(changed(PRIMITIVE, "build.source_hash", hashes["simplepir"]))
    assert f"nor this program's {PRIMITIVE['primitive']}" in reason


def test_a_program_that_is_not_built_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(received, "known_sources", frozenset)
    monkeypatch.setenv("PIRLAB_BINARY", str(tmp_path / "pirlab"))
    received.present_sources.cache_clear()
    assert received.main(["check", str(written(tmp_path, PRIMITIVE))]) == 2
    assert "Run `make build`, or set PIRLAB_BINARY" in capsys.readouterr().err


def test_a_primitive_needs_no_probe(binary):
    assert PRIMITIVE["machine"]["read_bandwidth"] == [] and not list(received.faults(PRIMITIVE))


def test_records_of_one_machine_are_merged_and_of_two_are_not(tmp_path, capsys, binary):
    command = ["merge", str(written(tmp_path, elsewhere(PROTOCOL))), "--name", "anna", "--out", str(tmp_path / "in")]
    assert received.main(command) == 0 and "1 records in" in capsys.readouterr().out
    again = read_packed(packed("anna", tmp_path / "in"))
    assert list(again.values()) == [elsewhere(PROTOCOL)] and next(iter(again)).startswith("records/comparison/")
    assert received.main(command) == 0, "the same record again changes nothing"
    assert read_packed(packed("anna", tmp_path / "in")) == again
    other = tmp_path / "run.jsonl.gz"
    pack({received.place(PRIMITIVE): elsewhere(PRIMITIVE)}, other)
    assert received.main(["merge", str(other), *command[2:]]) == 0
    assert len(read_packed(packed("anna", tmp_path / "in"))) == 2
    capsys.readouterr()
    mixed = written(tmp_path, PROTOCOL)
    assert received.main(["merge", str(mixed), *command[2:]]) == 2
    assert "another machine than the records before it" in capsys.readouterr().err
    assert len(read_packed(packed("anna", tmp_path / "in"))) == 2
    moved = changed(changed(elsewhere(PROTOCOL), "experiment", None), "id", elsewhere(PROTOCOL)["id"])
    assert received.main(["merge", str(written(tmp_path, moved)), *command[2:]]) == 2
    assert "is there already" in capsys.readouterr().err
    said = (tmp_path / "in/README.md").read_text()
    assert "## anna" in said and "| processor | Some CPU |" in said


def test_runs_of_equal_machines_stay_apart(tmp_path, binary):
    """On the page of machines, and in the explorer's rows; the reference run and other machines keep their names."""
    own = {received.place(PROTOCOL): PROTOCOL}
    others = {"anna": ELSEWHERE, "bo": ELSEWHERE, "carl": {}, "dora": ELSEWHERE | {"cores": 3}}
    for name, machine in others.items():
        there = changed(changed(PROTOCOL, "machine", PROTOCOL["machine"] | machine), "id", name)
        pack({received.place(PROTOCOL): there}, packed(name, tmp_path))
    found = {"quick": own, **take_in({"quick": own}, tmp_path)}
    shown = rows.shown(
        frame.rows(frame.join(loaded(found, tmp_path), frame.load_predictions(None), {}), frame.load_predictions(None))
    )
    machines = {row["id"]: row["machine"] for row in (dict(zip(rows.COLUMNS, each, strict=True)) for each in shown)}
    cpu, memory = PROTOCOL["machine"]["cpu"], f"{PROTOCOL['machine']['memory_bytes'] / 2**30:.1f} GiB"
    kernel = PROTOCOL["build"]["kernel"]
    assert machines == {
        PROTOCOL["id"]: f"{cpu}, {PROTOCOL['machine']['cores']} cores, {memory}, {kernel}",
        "anna": f"Some CPU of anna, 8 cores, 16.0 GiB, {kernel}",
        "bo": f"Some CPU of bo, 8 cores, 16.0 GiB, {kernel}",
        "carl": f"{cpu} of carl, {PROTOCOL['machine']['cores']} cores, {memory}, {kernel}",
        "dora": f"Some CPU, 3 cores, 16.0 GiB, {kernel}",
    }
    header = next(line for line in pages.machines(found).splitlines() if line.startswith("| set |"))
    assert header.count("|") == 4 + len(machines) and all(f"| {name} |" in header for name in machines.values())


def loaded(runs: dict, folder: Path):
    """The records of runs as figures load them."""
    for name, documents in runs.items():
        write_files(documents, folder / "unpacked" / name)
    return pd.concat([frame.load_records(folder / "unpacked" / name) for name in runs], ignore_index=True)


def test_rows_that_did_not_run_are_left_out(tmp_path, capsys, binary):
    skipped = changed(changed(elsewhere(PROTOCOL), "status", "skipped_time"), "id", "another")
    pack({received.place(PROTOCOL): elsewhere(PROTOCOL), "records/a/b/c.json": skipped}, tmp_path / "run.jsonl.gz")
    assert received.main(["check", str(tmp_path / "run.jsonl.gz")]) == 0
    assert "1 records are right, 0 refused; 1 rows did not run" in capsys.readouterr().out
    command = ["merge", str(tmp_path / "run.jsonl.gz"), "--name", "anna", "--out", str(tmp_path / "in")]
    assert received.main(command) == 0 and len(read_packed(packed("anna", tmp_path / "in"))) == 1


def test_a_run_is_not_compared_with_itself(capsys):
    """Its sources would be known by it."""
    assert received.main(["check", str(ROOT / packed("quick"))]) == 2
    assert "Pack yours elsewhere: make reference OUT=my-run" in capsys.readouterr().err


def test_a_file_without_records_is_named(tmp_path, capsys):
    assert received.main(["check", str(tmp_path)]) == 2
    assert "holds no record" in capsys.readouterr().err
    (tmp_path / "run.jsonl.gz").write_bytes(b"no gzip")
    assert received.main(["check", str(tmp_path / "run.jsonl.gz")]) == 2
    assert "is not a packed run" in capsys.readouterr().err
