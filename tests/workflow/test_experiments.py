"""Experiment files and profiles: what they expand to, and what is said of one that is wrong."""

import json
import re
import subprocess
import tomllib

import pytest
import small_experiment
import yaml
from pirlab_workflow import experiments
from pirlab_workflow.experiments import all_experiments, expand, load_experiment, load_profile, read_profile
from pirlab_workflow.files import ROOT, PlanError
from pirlab_workflow.plan import Plan
from places import EXPECTED, read_csv

PROFILES = ("tiny", "quick", "laptop", "paper")


@pytest.fixture
def quick() -> dict:
    return yaml.safe_load((ROOT / "config/quick.yaml").read_text())


@pytest.mark.parametrize("name", PROFILES)
def test_profile_expands(name):
    plan = Plan(read_profile(name))
    assert plan.profile["profile"] == name
    assert plan.measured(), "a profile measures something"
    for group in plan.groups.values():
        assert re.fullmatch(r"[0-9^]+x[0-9]+(-[a-z0-9-]+)?" if group.kind == "protocol" else r"[a-z0-9^._-]+", group.id)
        ids = [row.id for row in group.rows]
        assert len(ids) == len(set(ids))
        if group.kind == "primitive":
            assert group.measured and all(row.asked["settings"] for row in group.rows)
            continue
        if group.kind == "security":
            assert not group.measured and group.notes
            continue
        asked = group.rows[0].asked
        fits = asked["records"] * asked["record_bits"] <= 8 * plan.profile["max_database_bytes"]
        only = any(note.startswith("predicted only") for note in group.notes)
        assert group.measured == (fits and not only)
        assert group.measured or group.notes, "what is left out says why"


def test_every_experiment_loads():
    names = all_experiments()
    assert {"pirouette/figure4", "comparison/protocols"} <= set(names)
    for name in names:
        load_experiment(name)


def protocols_of(groups) -> set[str]:
    """The protocols that rows of these groups run."""
    files = {row.asked["parameters"] for group in groups for row in group.rows}
    return {tomllib.loads((ROOT / file).read_text())["protocol"] for file in files}


#: Protocols whose tables of the compared databases no machine holds: experiments of their own set them beside others.
TOO_LARGE = {"depir"}
#: Protocols of which an answer of a secure set takes longer than all rows of another: quick measures a toy set.
TOO_SLOW = {"trespire"}


def test_quick_measures_every_protocol_and_sets_them_side_by_side():
    plan = Plan(read_profile("quick"))
    known = {tomllib.loads(path.read_text())["protocol"] for path in (ROOT / "params").glob("*/*.toml")}
    measured = [group for group in plan.measured() if group.kind == "protocol"]
    databases: dict[str, set[tuple[int, int]]] = {name: set() for name in known}
    for group in measured:
        for name in protocols_of([group]):
            databases[name] |= {(row.asked["records"], row.asked["record_bits"]) for row in group.rows}
    assert min(len(each) for each in databases.values()) >= 3, databases
    secure = (group for group in measured if group.experiment != "comparison/further")
    assert protocols_of(secure) == known - TOO_SLOW
    compared = plan.of("comparison/protocols")
    for id in {group.id.removesuffix("-predicted") for group in compared}:
        there = protocols_of(group for group in compared if group.id.removesuffix("-predicted") == id)
        assert there == known - TOO_LARGE, f"{id} lacks a protocol"
    assert sum(group.measured for group in compared) == 2


def test_quick_measures_rows_of_every_table_and_figure():
    plan = Plan(read_profile("quick"))
    measured = {group.experiment for group in plan.measured()}
    for name in set(plan.experiments) - set(plan.audits()) - set(plan.profile["predicted_only"]):
        assert measured & set(plan.shown(name)), f"{name} shows no row that quick measures"


@pytest.mark.parametrize(
    ("experiment", "protocols", "sizes"),
    [
        (
            "inspire/comparison",
            {"ypir", "simpleypir", "kspir", "hintlesspir", "inspire0", "inspire2", "inspire"},
            {1, 512, 262144},
        ),
        ("inspire/table8", {"inspire2"}, {256, 512, 1024}),
        ("inspire/table9", {"inspire"}, {1, 512, 262144}),
        ("pirouette/figure4", {"pirouette", "pirouette_h", "respire", "simplepir", "doublepir"}, {16, 64, 256, 2048}),
    ],
)
def test_quick_measures_the_record_sizes_of_every_panel(experiment, protocols, sizes):
    plan = Plan(read_profile("quick"))
    groups = [group for name in plan.shown(experiment) for group in plan.of(name) if group.measured]
    assert protocols <= protocols_of(groups)
    assert sizes <= {group.rows[0].asked["record_bits"] for group in groups if protocols & protocols_of([group])}


def test_every_primitive_is_measured(binary):
    listed = json.loads(subprocess.run([binary, "primitive", "list", "--json"], check=True, capture_output=True).stdout)
    asked = {
        row.asked["primitive"]
        for profile in ("tiny", "quick")
        for group in Plan(read_profile(profile)).measured()
        if group.kind == "primitive"
        for row in group.rows
    }
    assert {primitive["name"] for primitive in listed["primitives"]} == asked


def test_larger_profiles_contain_smaller_ones():
    names = {name: {g.key for g in Plan(read_profile(name)).measured()} for name in PROFILES[1:]}
    assert names["quick"] < names["laptop"] <= names["paper"]


def test_figure4_has_the_papers_shapes():
    plan = Plan(read_profile("paper"))
    groups = plan.of("pirouette/figure4")
    papers = {(1 << n, bits) for n in (18, 22, 25) for bits in (16, 64, 256, 2048)}
    assert [(g.rows[0].asked["records"], g.rows[0].asked["record_bits"]) for g in groups if g.id != "2^16x2048"] == [
        *sorted(papers)
    ]
    for group in groups:
        ids = {row.id for row in group.rows}
        wide = group.rows[0].asked["record_bits"] > 27
        assert ("doublepir-usenix23-one-hint" in ids) == wide
        assert ("doublepir-usenix23" in ids) == (not wide)


def test_a_series_with_shapes_of_its_own_runs_at_these_only(expanded):
    series = """
    [[series]]
    id = "everywhere"
    parameters = "simplepir/usenix23"
    [[series]]
    id = "own"
    parameters = "simplepir/usenix23"
    shapes = [{ records = 4, record_bits = 32 }, { records = "2^10", record_bits = 1 }]
    """
    rows = {group.id: [row.id for row in group.rows] for group in expanded(series)}
    assert rows == {"8x16": ["everywhere"], "4x32": ["own"], "2^10x1": ["own"]}
    neither = small_experiment.document(series)
    del neither["shapes"]
    with pytest.raises(PlanError):
        small_experiment.check(neither)
    small_experiment.check(neither | {"series": neither["series"][1:]})


def test_what_is_predicted_only_says_why(expanded):
    measured, predicted = expanded("""
    [[series]]
    id = "run"
    parameters = "simplepir/usenix23"
    noise_seconds = 1.5
    [[series]]
    id = "wrong"
    parameters = "simplepir/usenix23"
    predicted_only = "all of it is noise"
    """)
    assert measured.measured and measured.rows[0].own == {"noise_seconds": 1.5}
    assert not predicted.measured and [row.id for row in predicted.rows] == ["wrong"]
    assert predicted.notes == ["predicted only: all of it is noise"] and predicted.id == "8x16-predicted"


def test_a_profile_predicts_experiments_or_groups_or_series_of_them(tmp_path):
    only = ["smoke/depir", "smoke/tiny/2^10x16"]
    plan = Plan(read_profile("tiny", results=str(tmp_path), predicted_only=only))
    unmeasured = {group.key for group in plan.groups.values() if "predicted only in profile tiny" in group.notes}
    assert unmeasured == {*(group.key for group in plan.of("smoke/depir")), ("smoke/tiny", "2^10x16")}
    assert unmeasured.isdisjoint(group.key for group in plan.measured())
    before = {row.id for group in plan.of("smoke/protocols") for row in group.rows if group.measured}
    left = Plan(read_profile("tiny", results=str(tmp_path), predicted_only=["smoke/protocols/piano"]))
    rows = {row.id: group for group in left.of("smoke/protocols") for row in group.rows if row.id in before}
    assert rows.keys() == before and {id for id in rows if not rows[id].measured} == {"piano"}
    assert rows["piano"].notes == ["predicted only: left out of profile tiny"]
    with pytest.raises(PlanError, match=r'"predicted_only" of profile tiny has "smoke/tiny/2\^9", which is'):
        Plan(read_profile("tiny", results=str(tmp_path), predicted_only=["smoke/tiny/2^9"]))


def test_a_row_has_the_printed_columns_of_its_shape(expanded):
    (group,) = expanded("""
    [[series]]
    id = "run"
    parameters = "simplepir/usenix23"
    shapes = [{ records = 8, record_bits = 16, columns = ["7/1GB"] }]
    [[series]]
    id = "other"
    parameters = "simplepir/usenix23"
    """)
    asked = [row.run(group.options).get("columns") for row in group.rows]
    assert asked == [["7/1GB"], None] and "columns" not in group.rows[0].request(group.options)


def test_contents_are_rows_of_their_own(expanded):
    series = """
    [[series]]
    id = "a"
    parameters = "simplepir/usenix23"
    """
    [group] = expanded(series, seed="0b", repetitions=1, contents=["random", "zeros", "ones"])
    rows = Plan(read_profile("tiny")).group_file(group)["rows"]
    databases = {"a": "seeded:0b", "a-zeros": "constant:00", "a-ones": "constant:ff"}
    assert {row["id"]: row["database"] for row in rows} == databases
    assert all(row["repetitions"] == 1 and "contents" not in row for row in rows)
    assert all("database" not in row.request(group.options) for row in group.rows)


def test_group_file_follows_the_contract():
    plan = Plan(read_profile("quick"))
    group = plan.group("pirouette/figure4", "2^18x16")
    file = plan.group_file(group)
    assert (file["experiment"], file["group"]) == ("pirouette/figure4", "2^18x16")
    row = next(row for row in file["rows"] if row["id"] == "simplepir-usenix23")
    assert row == {
        "id": "simplepir-usenix23",
        "parameters": "params/simplepir/usenix23.toml",
        "records": 262144,
        "record_bits": 16,
        "queries": 1,
        "updates": 0,
        "repetitions": 2,
        "threads": 1,
        "database": "seeded:0f4a",
        "kernel": "auto",
        "noise_seconds": 0.1,
        "out": "results/records/pirouette/figure4/2^18x16/simplepir-usenix23.json",
    }


PRIMITIVE = """
kind = "primitive"
title = "t"
also = ["own/test"]
[row]
primitive = "prg"
repetitions = 7
seed = "2a"
lengths = [1, 10]
[grid]
base = [2, 4]
kind = ["a"]
[[series]]
family = ["x", "y"]
bits = 8
[[series]]
id = "own"
family = "x"
bits = [8, 16]
[[except]]
base = 4
bits = [16, 32]
"""
PROTOCOL = """
title = "t"
[row]
seed = "00"
updates = 2
[[shapes]]
records = "2^10"
record_bits = 16
[[series]]
id = "a"
parameters = "simplepir/usenix23"
[[series]]
id = "b"
parameters = "simplepir/secure-n1088"
"""


def own_experiment(tmp_path, monkeypatch, text: str):
    """A folder of experiments with one of this text."""
    (tmp_path / "experiments/own").mkdir(parents=True)
    for name in ("experiment.schema.json", "primitive.schema.json"):
        (tmp_path / "experiments" / name).symlink_to(ROOT / "experiments" / name)
    (tmp_path / "experiments/own/test.toml").write_text(text)
    (tmp_path / "params").symlink_to(ROOT / "params")
    monkeypatch.setattr(experiments, "ROOT", tmp_path)


def test_settings_become_rows(tmp_path, monkeypatch):
    profile = read_profile("tiny")
    own_experiment(tmp_path, monkeypatch, PRIMITIVE)
    [group] = expand("own/test", profile)
    assert group.id == "all"
    assert [row.id for row in group.rows] == [
        *(f"base-2-kind-a-{name}" for name in ("x-8", "y-8", "own-8", "own-16")),
        *(f"base-4-kind-a-{name}" for name in ("x-8", "y-8", "own-8")),
    ]
    row = group.rows[3]
    assert row.asked["settings"] == {"lengths": [1, 10], "base": 2, "kind": "a", "family": "x", "bits": 16}
    assert group.options == {"repetitions": 7, "kernel": "auto", "seed": "2a"}
    assert group.command("run") == ["primitive", "run"] and group.command("key") == ["primitive", "key"]


@pytest.mark.parametrize(
    ("kind", "old", "new", "words"),
    [
        ("primitive", 'id = "own"', "", ['"series"', '"base-2-kind-a-x-8"', "two rows"]),
        ("primitive", "repetitions = 7", "repetitions = 0", ["row.repetitions", "0"]),
        ("primitive", 'primitive = "prg"', "", ['"primitive" is missing']),
        ("primitive", "[[series]]\nfamily", "[[serious]]\nfamily", ['"serious"', 'Did you mean "series"?']),
        ("primitive", 'also = ["own/test"]', 'also = ["smoke/none"]', ['"also"', "smoke/none", "own/test"]),
        ("primitive", "base = [2, 4]", '"Base" = [2, 4]', ["grid"]),
        ("protocol", "record_bits = 16", "record_bits = 0", ["shapes.0.record_bits", "0"]),
        ("protocol", 'records = "2^10"', 'records = "many"', ["shapes.0.records", "many"]),
        ("protocol", "updates = 2", "updats = 2", ['"updats"', 'Did you mean "updates"?']),
        ("protocol", 'id = "b"', 'id = "a"', ['"a" twice']),
        ("protocol", "simplepir/secure-n1088", "simplepir/none", ["params/simplepir/none.toml", "simplepir/usenix23"]),
        ("protocol", "title =", "title ==", ["is not TOML"]),
    ],
)
def test_wrong_experiment_says_what_and_where(tmp_path, monkeypatch, kind, old, new, words):
    text = {"primitive": PRIMITIVE, "protocol": PROTOCOL}[kind]
    assert old in text
    own_experiment(tmp_path, monkeypatch, text.replace(old, new))
    with pytest.raises(PlanError) as error:
        load_experiment("own/test")
    for word in ["experiments/own/test.toml", *words]:
        assert word in str(error.value)


def test_group_file_of_a_primitive_is_what_the_binary_reads(tmp_path, binary):
    plan = Plan(read_profile("tiny", results=str(tmp_path)))
    group = plan.group("smoke/primitives", "all")
    file = plan.group_file(group, seconds={group.rows[0].id: 0.5})
    assert file["rows"][0] == {
        "id": "1024",
        "primitive": "prg",
        "settings": {"bytes": 1024},
        "repetitions": 5,
        "kernel": "auto",
        "predicted_seconds": 0.5,
        "out": f"{tmp_path}/records/smoke/primitives/all/1024.json",
    }
    path = tmp_path / "group.json"
    path.write_text(json.dumps(file))
    keys = subprocess.run([binary, "primitive", "key", "--group", path], check=True, capture_output=True).stdout
    assert set(json.loads(keys)) == {row.id for row in group.rows}


def test_experiments_ask_only_for_what_the_primitives_take(binary):
    for profile in ("tiny", "quick", "paper"):
        plan = Plan(read_profile(profile))
        groups = [group for group in plan.groups.values() if group.kind == "primitive"]
        requests = [{"id": f"{g.key} {row.id}"} | row.request(g.options) for g in groups for row in g.rows]
        lines = "\n".join(map(json.dumps, requests))
        command = [binary, "primitive", "describe", "--batch"]
        answers = subprocess.run(command, input=lines, text=True, check=True, capture_output=True).stdout.splitlines()
        wrong = [line for line in answers if "error" in json.loads(line)]
        assert len(answers) == len(requests) and not wrong, wrong[:3]


def test_unknown_group_lists_those_there_are():
    plan = Plan(read_profile("tiny"))
    with pytest.raises(PlanError, match=r"2\^10x16"):
        plan.group("smoke/tiny", "2^99x1")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"max_databse_bytes": 5}, ['"max_databse_bytes"', "(value 5", 'Did you mean "max_database_bytes"?']),
        ({"repetitions": None}, ['key "repetitions" is missing', "Timed repetitions"]),
        ({"repetitions": 0}, ['"repetitions" has the value 0', "minimum"]),
    ],
)
def test_wrong_profile_says_what_and_where(quick, changes, words):
    """None removes a key."""
    changed = {key: value for key, value in (quick | changes).items() if value is not None}
    with pytest.raises(PlanError) as error:
        load_profile(changed, ROOT / "config/quick.yaml")
    for word in ["config/quick.yaml", *words]:
        assert word in str(error.value)


def test_unknown_experiment_lists_those_there_are(quick):
    with pytest.raises(PlanError, match=r"experiments/pirouette/figure5\.toml") as error:
        Plan(load_profile(quick | {"experiments": ["pirouette/figure5"]}))
    assert "pirouette/figure4" in str(error.value)


def test_unknown_profile_lists_those_there_are():
    with pytest.raises(PlanError, match="quick"):
        read_profile("quik")


def test_papers_numbers_are_tidy():
    columns = ["paper", "table", "protocol", "database", "num_records", "record_bits"]
    columns += ["metric", "value", "unit", "config", "note"]
    files = sorted(EXPECTED.glob("*.csv"))
    assert len(files) >= 30
    for path in files:
        if path.stem in ("headline", "inconsistencies") or path.stem.startswith("security-"):
            continue
        for line in read_csv(path):
            assert list(line) == columns, path.name
            if line["value"] and line["unit"] != "formula":
                float(line["value"])


def test_citation_is_complete(root):
    citation = yaml.safe_load((root / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors", "version", "license"} <= set(citation)
    pyproject = tomllib.loads((root / "pyproject.toml").read_text())
    assert citation["version"] == pyproject["project"]["version"]
