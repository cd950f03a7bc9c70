"""What pages of docs/results/ say was measured: of which set, machine and record."""

import re
import statistics
from collections import defaultdict

import committed
import pytest
from pirlab_estimator.cost import UnitCosts
from pirlab_estimator.machine import machine_name
from pirlab_estimator.sets import set_name
from pirlab_figures.lib.protocols import protocol_name
from pirlab_figures.lib.units import human_seconds, shape_text
from pirlab_workflow import pages
from pirlab_workflow.files import ROOT
from pirlab_workflow.reference import costs
from places import read_csv
from synthetic_parts import changed

SWEPT, COMMITTED = (read_csv(ROOT / path) for path in (pages.SWEEP, pages.COMMITTED))
#: A protocol's predicted set in the first application, at whose database its records are measured here.
LINE = next(line for line in SWEPT if line["protocol"] == "respire" and not line["refused"])
RECORD = next(
    each for each in committed.of_run("laptop").values() if each.get("protocol") == "respire" and each["updates"]
)


@pytest.fixture(autouse=True)
def _at_root(monkeypatch):
    monkeypatch.chdir(ROOT)


def measured(id: str, seconds: list[float], **changes: object) -> dict:
    """A record of the predicted set, with these seconds of an answer. changes: other values, `__` for a dot."""
    found, answer = RECORD, [phase["name"] for phase in RECORD["phases"]].index("answer")
    about = {"id": id, "row": id, "parameters.name": LINE["name"], "parameters.with": {}, "queries": 1, "threads": 1}
    about |= {"database.records": int(LINE["records"]), "database.record_bits": int(LINE["record_bits"])}
    about |= {f"phases.{answer}.seconds": seconds} | {key.replace("__", "."): each for key, each in changes.items()}
    for place, value in about.items():
        found = changed(found, place, value)
    return found


def run(*records: dict, missed: tuple[str, ...] = ()) -> dict:
    """A packed run of these records. missed: those whose set fails too often."""
    lines = [
        {
            "id": f"{r['group']}/{r['row']}",
            "security_bits": 128.0,
            "noise": {"log2_failure": -39 if r["id"] in missed else -40},
        }
        for r in records
    ]
    paths = {f"records/{r['experiment']}/{r['group']}/{r['row']}.json": r for r in records}
    return {**paths, f"predictions/{RECORD['experiment']}.json": lines}


def cells(documents: dict) -> tuple[str, str, str]:
    """Measured answer and update of the protocol in the first application, and the note of records."""
    section = pages.applications({"some": documents}).split("\n## ")[1]
    (row,) = [each for each in section.splitlines() if each.startswith(f"| {protocol_name('respire')} |")]
    *_, answer, update = (cell.strip() for cell in row.strip("|").split("|"))
    return answer, update, next((each for each in section.splitlines() if each.startswith("Measured on")), "")


def test_a_measured_answer_and_update_stand_beside_their_predictions():
    update = [phase["name"] for phase in RECORD["phases"]].index("update_server")
    one = measured("one", [123.0, 125.0, 124.0], updates=100, **{f"phases__{update}__seconds": [7.0, 9.0, 8.0]})
    assert cells(run(one))[:2] == ("124", "8.00")
    answer, update, note = cells(run(changed(one, "updates", 16)))
    assert (answer, update) == ("124", "8.00 (of 16)") and f"`{LINE['name']}`, `one`." in note
    assert f"Measured on the same machine, {LINE['machine']}:" in note
    assert cells(run(changed(one, "machine.cores", 3)))[:2] == ("", ""), "another machine than the predicted one"


def test_the_fastest_measured_set_that_reaches_the_targets_is_named():
    own, other = (
        measured("own", [5.0]),
        measured("other", [4.0], parameters__name="respire/x", parameters__with={"a": 1}),
    )
    assert cells(run(own, other))[0] == "4.00 (respire/x with a=1)"
    assert cells(run(own, other, missed=("other",)))[0] == "5.00"
    assert cells(run(own, changed(other, "threads", 2)))[0] == "5.00", "on one thread"
    assert cells(run(own, changed(other, "status", "failed")))[0] == "5.00"


def test_several_records_of_a_set_are_one_number_and_a_batch_is_marked():
    several = [measured(name, seconds) for name, seconds in (("a", [1.0, 9.0, 2.0]), ("b", [4.0]), ("c", [30.0]))]
    answer, _, note = cells(run(*several))
    assert answer == "4.00" and f"`{LINE['name']}`, `a`, `b`, `c`." in note
    batch = measured("batch", [8.0], queries=16)
    assert cells(run(*several, batch))[0] == "4.00", "a single query was measured"
    answer, _, note = cells(run(batch))
    assert answer == "0.500ᵇ" and "`, 16 queries, `batch`." in note
    section = pages.applications({"some": run(batch)}).split("\n## ")[1]
    assert "\nᵇ several queries in one request" in section
    assert cells(run(changed(batch, "streamed", True)))[0] == "0.500ᵇ¶"
    later = pages.applications({"quick": run(*several), "laptop": run(measured("late", [6.0]))})
    assert "`late`" in later and "`a`" not in later, "the later run's"


def test_every_measured_set_that_reaches_its_targets_counts_for_the_table_of_systems():
    """Each cell of the committed page is the least of a machine's records, single queries before batches; none is left
    out."""
    databases = {(int(line["records"]), int(line["record_bits"])) for line in COMMITTED}
    answers: dict = defaultdict(lambda: defaultdict(dict))
    for name in committed.RUNS:
        own: dict = defaultdict(list)
        for place, record in committed.of_run(name).items():
            if record["kind"] != "protocol" or record["status"] != "ok" or record["threads"] > 1:
                continue
            line = committed.predictions(name)[tuple(place.rsplit("/", 2))]
            shape = record["database"]["records"], record["database"]["record_bits"]
            if (line["security_bits"] or 0) >= 128 and line["noise"]["log2_failure"] <= -40 and shape in databases:
                seconds = next(phase["seconds"] for phase in record["phases"] if phase["name"] == "answer")
                kind = set_name(record["parameters"]), record["queries"], record["streamed"]
                where = machine_name(record), (record["protocol"], shape)
                own[where, kind].append(statistics.median(seconds) / record["queries"])
        for ((machine, where), kind), medians in own.items():
            answers[machine][where][kind] = statistics.median(medians)
    text = (ROOT / "docs/results/systems.md").read_text()
    for machine, cells in answers.items():
        least = {}
        for (name, shape), of in cells.items():
            (_, queries, streamed), seconds = min(of.items(), key=lambda item: (item[0][1] > 1, item[1]))
            said = human_seconds(seconds, 2) + "ᵇ" * (queries > 1) + "¶" * streamed
            least[protocol_name(name), shape_text(*shape)] = said
        part = text.split(f"## Time of an answer, measured on {machine}\n")[1].split("\n## ")[0]
        lines = [line.strip("|").split("|") for line in part.splitlines() if "|" in line]
        shown = {
            (row[0].strip(), column.strip()): cell.strip()
            for row in lines[2:]
            for column, cell in zip(lines[0][1:], row[1:], strict=True)
            if cell.strip()
        }
        assert shown == least
    assert sum(map(len, answers.values())) > 90 and "ᵇ" in text


def test_a_machine_has_a_table_of_its_own_and_each_has_one_name():
    assert UnitCosts.load(costs("laptop")).name == machine_name(RECORD) == LINE["machine"]
    records, bits = int(COMMITTED[0]["records"]), int(COMMITTED[0]["record_bits"])
    here = measured("here", [5.0], database__records=records, database__record_bits=bits)
    others = [changed(changed(here, f"machine.{key}", 3 << 30), "id", key) for key in ("cores", "memory_bytes")]
    others.append(changed(changed(here, "build.kernel", "avx9"), "id", "kernel"))
    documents = {each["id"]: run(each) for each in (here, *others)}
    found = re.findall(r"^## Time of an answer, measured on (.*)$", pages.systems(documents), re.MULTILINE)
    assert found == sorted(machine_name(each) for each in (here, *others)) and len(set(found)) == 4


def test_machines_never_share_a_column():
    record = next(each for place, each in committed.of_run("quick").items() if place.startswith("comparison/protocols"))
    other = changed(changed(record, "machine.cpu", "Some CPU"), "id", "0123456789")
    text = pages.machines({"a": {"records/a/b/c.json": record}, "b": {"records/a/b/c.json": other}})
    header = next(line for line in text.splitlines() if line.startswith("| set |"))
    assert header.count("Some CPU") == 1 and record["machine"]["cpu"] in header and header.count("|") == 6
    (row,) = [line for line in text.splitlines() if line.startswith(f"| {record['parameters']['name']}")]
    assert "`0123456789`" in row and f"`{record['id']}`" in row
    assert "| set |" not in pages.machines({"a": {"records/a/b/c.json": record}}), "one machine has nothing beside it"
