"""A record that does not hold is refused where it is read, by every program: with its file, its key, no traceback."""

import copy
import json
import random
import sys
from pathlib import Path

import pytest
import synthetic
import synthetic_primitives
from pirlab_estimator import records
from pirlab_estimator.records import InputError
from pirlab_figures.cli import main
from pirlab_workflow import reference, steps
from pirlab_workflow.experiments import read_profile
from pirlab_workflow.plan import Plan
from synthetic_parts import changed
from tier import VERIFY

GOOD = synthetic.run_record("simplepir/usenix23", 2**18, 16)
TIMED = synthetic_primitives.vectors((2,))[0]
ANSWER = [phase["name"] for phase in GOOD["phases"]].index("answer")
SECONDS = f"phases.{ANSWER}.seconds"


#: Place, value, and the key that the refusal names where it is another one.
FAULTS = [
    ("schema", "pirlab/run/2", None),
    ("schema", "something/else", None),
    ("schema", None, None),
    ("schema", ["pirlab/run/1"], None),
    ("kind", "primitive", None),
    ("kind", "protocols", None),
    ("id", None, None),
    ("id", "", None),
    ("status", "great", None),
    ("correct", None, None),
    ("correct", {"compared": 0, "right": 0}, "correct.compared"),
    ("correct", {"compared": 8, "right": 7}, "correct"),
    ("correct", {"compared": 8, "right": 9}, "correct"),
    ("correct.right", -8, None),
    ("correct.right", True, None),
    ("transcript.0.payload_bytes", "12", None),
    ("transcript.0.payload_bytes", -12, None),
    ("transcript.0.payload_bytes", 2**64, None),
    ("transcript", [], None),
    ("transcript", GOOD["transcript"][:1] * 2 + GOOD["transcript"][1:], "transcript.1"),
    (SECONDS, [], "phases.answer"),
    (f"{SECONDS}.0", 0.0, None),
    (f"{SECONDS}.1", -1.0, None),
    (f"{SECONDS}.0", 1e308, None),
    (f"{SECONDS}.0", 5e-324, None),
    (f"{SECONDS}.0", float("inf"), "Infinity"),
    (f"{SECONDS}.0", float("nan"), "NaN"),
    (f"{SECONDS}.0", "1", None),
    (SECONDS, None, None),
    ("phases.0.seconds.0", 0.0, None),
    ("phases.0.name", "answer", f"phases.{ANSWER}"),
    ("phases.0.group", "sometimes", None),
    ("database.records", -5, None),
    ("database.records", 0, None),
    ("database.records", 10**400, None),
    ("database.record_bits", 17, None),
    ("database.source", None, None),
    ("parameters.sha256", 7, None),
    ("queries", 0, None),
    ("threads", 0, None),
    ("repetitions", "5", None),
    ("noise.0.samples", 0, None),
    ("noise.0.stddev", -1.0, None),
    ("noise.0.stddev", 1e200, None),
    ("noise.0.threshold", 0.0, None),
    ("machine.read_bandwidth.0", 0.0, None),
    ("machine.cpu", ["x"], None),
    ("memory", {}, "memory.peak_bytes"),
    ("finished", "yesterday", None),
    ("description", None, None),
    ("description.operations.answer", 5, None),
    ("description.operations.answer.bytes_read", "many", None),
    ("description.layout.stored_bytes", "many", None),
    ("described", {}, None),
]
TIMES = f"measured.times.{next(iter(TIMED['measured']['times']))}.samples"
PRIMITIVE_FAULTS = [
    ("schema", "pirlab/primitive/2", None),
    ("kind", "protocol", None),
    ("id", None, None),
    ("primitive", "", None),
    ("described", {}, "described.settings"),
    ("measured.correct", None, None),
    ("measured.correct.right", 7, "measured.correct"),
    ("measured.times", {}, "measured"),
    (f"{TIMES}.0", 0.0, None),
    (f"{TIMES}.0", -1.0, None),
    (f"{TIMES}.0", 1e308, None),
    ("measured.noise", {"a": {"samples": 9, "keys": 1, "mean": 0.0, "variance": -1.0, "max": 1.0}}, "variance"),
    ("measured.noise", {"a": {"samples": 0, "keys": 1, "mean": 0.0, "variance": 1.0, "max": 1.0}}, "samples"),
    ("measured.failures", {"a": {"trials": 0, "failures": 0}}, None),
    ("measured.failures", {"a": {"trials": 4, "failures": 5}}, None),
]


def named(number: int, place: str, value: object) -> str:
    return f"{number}-{place}-{str(value)[:20]}"


def refused(folder: Path, document: object, key: str, capsys, table: str) -> None:
    """The gallery refuses the folder for this record alone, in one line that names its file and key."""
    path = folder / "records" / "bad.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    out = folder / "out"
    assert main(["table", table, "--records", str(path.parent), "--out", str(out)]) == 2
    message = capsys.readouterr().err
    assert message.startswith(f"error: {path}") and message.count("\n") == 1 and key in message, message
    assert not list(folder.glob("out*"))


@pytest.mark.parametrize(
    ("place", "value", "key"), FAULTS, ids=[named(i, place, value) for i, (place, value, _) in enumerate(FAULTS)]
)
def test_a_protocols_record_is_refused(place, value, key, tmp_path, capsys):
    refused(tmp_path, changed(GOOD, place, value), key or place, capsys, "comparison")


@pytest.mark.parametrize(
    ("place", "value", "key"),
    PRIMITIVE_FAULTS,
    ids=[named(i, place, value) for i, (place, value, _) in enumerate(PRIMITIVE_FAULTS)],
)
def test_a_primitives_record_is_refused(place, value, key, tmp_path, capsys):
    refused(tmp_path, changed(TIMED, place, value), key or place, capsys, "primitives")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{not json", "line 1"),
        ("[]", "schema"),
        ("7", "schema"),
        ("[" * 100_000, "not JSON"),
        ('{"schema": "pirlab/run/1", "queries": ' + "9" * 5000 + "}", "not JSON"),
        (json.dumps(changed(GOOD, f"{SECONDS}.0", 17.25)).replace("17.25", "1e400"), f"{SECONDS}.0"),
        (json.dumps({key: value for key, value in GOOD.items() if key != "correct"}), "correct"),
        (json.dumps(TIMED | {"schema": "pirlab/run/1"}), "primitive"),
    ],
    ids=["broken", "list", "number", "deep", "digits", "infinite", "missing", "another-kind"],
)
def test_what_is_not_a_record_is_refused(text, words, tmp_path, capsys):
    refused(tmp_path, text, words, capsys, "comparison")


def test_records_that_hold_are_read(tmp_path):
    """Among them what looks like a fault and is not one."""
    wrong = changed(changed(GOOD, "correct", {"compared": 0, "right": 0}), "status", "wrong")
    exact = changed(changed(GOOD, "noise.0.stddev", 0.0), "noise.0.margin", sys.float_info.max)
    idle = changed(GOOD, "phases.0", {"name": "update_client", "group": "update", "seconds": [0.0]})
    nothing = changed(TIMED, "measured.correct", {"compared": 0, "right": 0})
    skipped = synthetic.run_record("doublepir/secure-n1088", 2**25, 2048)
    assert skipped["status"] == "skipped_memory"
    for number, document in enumerate([GOOD, TIMED, wrong, exact, idle, nothing, skipped]):
        (tmp_path / f"{number}.json").write_text(json.dumps(document))
    assert len(list(records.read_all(tmp_path, records.RUN))) == 5
    assert len(list(records.read_all(tmp_path, records.PRIMITIVE))) == 2


@pytest.fixture
def planned(tmp_path) -> Plan:
    """The sweep of profile `tiny`, of which every row has a record that claims to be ok and compared nothing."""
    plan = Plan(read_profile("tiny", results=str(tmp_path / "results"), figures=str(tmp_path / "figures")))
    for group in plan.measured():
        for row in group.rows:
            path = plan.record(group, row)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(changed(GOOD, "correct", {"compared": 0, "right": 0})))
    return plan


def test_the_workflow_ends_with_what_does_not_hold(planned, tmp_path, capsys):
    assert steps.verdict(planned, tmp_path / "verdict.json") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines and all("correct.compared: status ok although nothing was compared" in line for line in lines)
    assert not (tmp_path / "verdict.json").exists()


def test_no_reference_run_is_made_of_what_does_not_hold(planned, tmp_path):
    out = tmp_path / "reference"
    out.mkdir()
    (out / "kept").touch()
    with pytest.raises(InputError, match=r"json: correct\.compared: status ok"):
        reference.copy(planned, out)
    assert (out / "kept").exists(), "the present one stays"


def mutated(document, rng):
    """The document with some of its values replaced, left out or moved, at any depth."""
    found = json.loads(json.dumps(document))
    for _ in range(rng.randint(1, 3)):
        part, inner = found, found
        while isinstance(inner, dict | list) and inner and rng.random() < 0.8:
            part, key = inner, rng.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
            inner = part[key]
        if part is not inner:
            value = rng.choice([None, True, -1, 0, 2**64, 1e308, -1e-320, "", "x" * 9, [], {}, [[]], inner, document])
            if rng.random() < 0.2:
                del part[key]
            else:
                part[key] = copy.deepcopy(value)
    return found


@pytest.mark.parametrize("document", [GOOD, TIMED], ids=["run", "primitive"])
def test_no_mutation_of_a_record_gets_past_its_reader(document):
    """A reader names file and key of what it refuses; anything else that it raises would be a traceback."""
    refused = 0
    for seed in range(100_000 if VERIFY else 400):
        changed_record = mutated(document, random.Random(seed))
        try:
            records.check(Path("r.json"), changed_record)
        except InputError as error:
            refused += 1
            assert str(error).startswith("r.json: ") and error.key, seed
    assert refused > 50
