"""The committed reference runs: every record fits its schema, its description and its prediction."""

import csv
from pathlib import Path

import committed
import pytest
import synthetic
import synthetic_primitives
from outside import Outside, named, predictions, runs
from outside import outside as rows_outside
from pirlab_estimator.cost import UnitCosts, predict_seconds
from pirlab_figures.inspire.beside import NOT_PLANNED
from pirlab_workflow.experiments import expand, read_profile
from pirlab_workflow.files import ROOT
from synthetic_parts import changed

REFERENCE = ROOT / "results/reference"
RUNS = runs()
PROTOCOL = synthetic.run_record("simplepir/usenix23", 2**18, 16)
# Online phases alone have a sample a repetition.
PROTOCOL["phases"].sort(key=lambda phase: phase["group"] != "online")
PRIMITIVE = synthetic_primitives.vectors((2,))[0]


@pytest.fixture(scope="module")
def outside() -> dict[tuple, Outside]:
    """The quantities outside their tolerance, by where they are."""
    return {found.place: found for run in RUNS for found in rows_outside(run)}


def right_records(table: Path) -> dict[tuple[str, str], dict[str, str]]:
    """The lines of a table of right records by group and row."""
    with table.open(newline="") as lines:
        return {(each["group"], each["row"]): each for each in csv.DictReader(lines)}


def rows(experiment: str) -> list[tuple[str, str]]:
    """Group and row of all that an experiment asks for, in its order."""
    return [(group.id, row.id) for group in expand(experiment, read_profile("paper")) for row in group.rows]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_reference_run_is_labelled(run):
    """A reference run says of which machine, day and commit it is."""
    assert committed.of_run(run), f"{run}/ is empty; run `make reproduce` and `make reference`"
    text = (run / "README.md").read_text()
    for label in ("processor", "memory", "date", "commit", "compiler", "read bandwidth"):
        assert f"{label} |" in text


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_tables_show_records_that_are_there(run):
    """A table made of records that others have replaced since would contradict them."""
    there = {record["id"] for record in committed.all_records().values()}
    for table in sorted((run / "tables").rglob("*.csv")):
        with table.open(newline="") as lines:
            shown = {row.get("record_id") for row in csv.DictReader(lines)} - {None, ""}
        gone = shown - there
        assert not gone, f"{table.relative_to(run)}: {len(gone)} of {len(shown)} records are gone: draw it again"


def test_every_row_of_correctness_has_right_records():
    """Those without a record stand in a table, since they ran beside other work."""
    name, run = "inspire/correctness", ROOT / "results/reference-laptop"
    table = right_records(run / "tables" / name / "right-records.csv")
    recorded = {(path.parent.name, path.stem) for path in (run / "records" / name).rglob("*.json")}
    assert sorted(table.keys() | recorded) == sorted(rows(name)) and not table.keys() & recorded
    for place, line in table.items():
        # Four queries in each of five repetitions and once after an update.
        assert line["status"] == "ok" and int(line["compared"]) == int(line["right"]) >= 24, place


def test_right_records_are_of_rows_without_a_record():
    """A row whose seconds are kept has a record, any other that ran a line; none has both."""
    tables = sorted((ROOT / "results").glob("reference*/tables/**/right-records.csv"))
    assert tables
    for path in tables:
        folder = path.parent
        run = next(parent for parent in folder.parents if parent.parent == ROOT / "results")
        name = folder.relative_to(run / "tables").as_posix()
        table = right_records(path)
        assert set(table) <= set(rows(name)), path
        for (group, row), line in table.items():
            assert line["status"] == "ok" and 0 < int(line["compared"]) == int(line["right"]), (path, group, row)
            assert not (run / "records" / name / group / f"{row}.json").exists(), (path, group, row)


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_records_of_a_run_hold(run):
    """Each fits its schema, was right, has its samples, and sent what is described."""
    wrong = [
        f"{path.relative_to(run)}: {key}: {problem}"
        for path, document in committed.of_run(run).items()
        for key, problem in committed.faults(document)
    ]
    assert not wrong, "\n".join([f"{len(wrong)} faults", *wrong[:20]])


@pytest.mark.parametrize(
    ("where", "place", "value", "key"),
    [
        ("protocol", "schema", "pirlab/run/0", "schema"),
        ("protocol", "surplus", 1, "surplus"),
        ("protocol", "correct.right", 0, "correct"),
        ("protocol", "correct", {"compared": 0, "right": 0}, "correct.compared"),
        ("protocol", "status", "failed", "status"),
        ("protocol", "status", "wrong", "correct"),
        ("protocol", "build.profile", "dev", "build.profile"),
        ("protocol", "repetitions", 2, "repetitions"),
        ("protocol", "phases.1.seconds", [0.5, 0.5], "phases.1.seconds"),
        ("protocol", "transcript.0.payload_bytes", 1, "transcript.0.payload_bytes"),
        ("protocol", "transcript.0.name", "unknown", "transcript.0.payload_bytes"),
        ("protocol", "description.messages.0.payload_bytes", 1, "transcript.0.payload_bytes"),
        ("primitive", "measured.correct.right", 1, "measured.correct"),
        ("primitive", "status", "failed", "status"),
        ("primitive", "build.profile", "dev", "build.profile"),
        ("primitive", "measured.times.decompose.samples", [0.5], "measured.times.decompose.samples"),
        ("primitive", "measured.times.decompose.unit", 5, "measured.times.decompose.unit"),
    ],
)
def test_a_fault_of_a_record_is_named(where, place, value, key):
    """Of every kind that the test above is for."""
    good = {"protocol": PROTOCOL, "primitive": PRIMITIVE}[where]
    assert not list(committed.faults(good))
    named = [name for name, _ in committed.faults(changed(good, place, value))]
    assert key in named, named


def test_every_row_outside_is_named(outside):
    """Bytes, memory, noise and answer seconds hold for all rows, those of SimplePIR and DoublePIR within 10 % of the
    stddev and 25 % of the seconds, except rows that are named with their reason."""
    unnamed = [found.entry() for place, found in outside.items() if place not in named()]
    assert not unnamed, "give these a reason in tests/fixtures/outside.toml:\n\n" + "\n".join(unnamed)


def test_predicted_seconds_follow_from_the_calibration():
    """What rows are judged by can be made again from what is committed."""
    costs = UnitCosts.load(REFERENCE / "calibration.json")
    predicted = {place: line["seconds"] for place, line in predictions(REFERENCE).items()}
    records = committed.of_run(REFERENCE).values()
    protocols = [record for record in records if record["kind"] == "protocol" and record["status"] == "ok"]
    assert len(protocols) > 50
    for record, seconds in zip(protocols, predict_seconds([r["description"] for r in protocols], costs), strict=True):
        place = record["experiment"], record["group"], record["row"]
        assert seconds["answer"] == pytest.approx(predicted[place]["answer"], rel=1e-6), record["id"]


def test_every_named_row_is_outside(outside):
    assert not set(named()) - set(outside), "named in tests/fixtures/outside.toml, but within its tolerance"
    assert all(reason.strip() for reason in named().values()), "a row of tests/fixtures/outside.toml has no reason"


def test_tables_of_parameters_show_our_sets():
    """What tables are made of must reach them: without descriptions these would show the paper's lines alone."""
    for table in ("table-pirouette-table3", "table-pirouette-table6", "table-pirouette-table7"):
        text = (REFERENCE / "tables/pirouette/table7" / f"{table}.csv").read_text()
        assert "pirouette/2^20" in text and "pirouette_h/2^20" in text, table


@pytest.mark.parametrize("number", [2, 3, 4, 8, 9])
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_inspires_tables_know_every_planned_row(run, number):
    """Each column of the paper has a row in experiments/inspire/ (`test_descriptions_have_the_published_bytes`), which
    a table drawn without descriptions does not find where nothing was measured."""
    [path] = (run / "tables/inspire").rglob(f"table-inspire-table{number}.md")
    lines = [line for line in path.read_text().splitlines() if NOT_PLANNED in line]
    assert not lines, f"draw it again by `make redraw`: {lines}"
