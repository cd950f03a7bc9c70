"""Unit costs of sweeps: a file names its own, its rows name their machine, and the committed tables are of these."""

import json

import pytest
from pirlab_estimator.cost import DEFAULTS, UnitCosts
from pirlab_estimator.paths import ROOT
from pirlab_estimator.search import choose, study
from pirlab_estimator.search.evaluate import Evaluator, Shape
from places import read_csv
from search_command import search

SWEEP = '[best]\nprotocols = ["simplepir"]\nrecords = ["2^14"]\nrecord_bits = [256]\nobjectives = ["seconds"]\n'
MACHINE = {"cpu": "Some CPU", "cores": 3, "memory_bytes": 5 << 30, "read_bandwidth": []}


def slower(path, times):
    """Unit costs of a machine whose every operation takes `times` as long as by the defaults."""
    known = json.loads(DEFAULTS.read_text())["unit_seconds"]
    costs = {
        name: [{**at, "seconds": times * at["seconds"]} for at in cost] if isinstance(cost, list) else times * cost
        for name, cost in known.items()
    }
    path.write_text(json.dumps({"machine": MACHINE, "kernel": "avx9", "unit_seconds": costs}))
    return path


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ("3", "costs = 3 is not a file of the repository"),
        ('"results/reference/none.json"', "costs = 'results/reference/none.json' is not a file of the repository"),
        ('"results/reference"', "costs = 'results/reference' is not a file of the repository"),
        ('"README.md"', "README.md is not JSON"),
    ],
)
def test_costs_that_are_not_unit_costs_are_refused(tmp_path, capsys, costs, message):
    (tmp_path / "sweep.toml").write_text(f"costs = {costs}\n{SWEEP}")
    search("--sweep", str(tmp_path / "sweep.toml"), "--results", str(tmp_path), code=2)
    assert message in capsys.readouterr().err


def test_a_sweep_is_predicted_by_the_unit_costs_that_it_names(tmp_path, own_cache):
    path = tmp_path / "sweep.toml"
    path.write_text(SWEEP)
    search("--sweep", str(path), "--results", str(tmp_path / "a"))
    path.write_text(f'costs = "{slower(tmp_path / "costs.json", 4)}"\n{SWEEP}')
    search("--sweep", str(path), "--results", str(tmp_path / "a"))
    search("--sweep", str(path), "--results", str(tmp_path / "b"), "--costs", str(DEFAULTS))
    own, given = ({row["name"]: row for row in read_csv(tmp_path / each / "sweep.csv")} for each in "ab")
    assert {row["machine"] for row in own.values()} == {"Some CPU, 3 cores, 5.0 GiB, avx9"}
    assert {row["machine"] for row in given.values()} == {UnitCosts.load(DEFAULTS).name}
    same = [name for name in own if name in given and own[name]["set"] == given[name]["set"]]
    assert same and all(float(own[n]["seconds"]) == pytest.approx(4 * float(given[n]["seconds"])) for n in same)


@pytest.mark.parametrize("name", ["applications", "committed", "fronts"])
def test_the_committed_tables_are_what_the_present_sources_predict(name, binary):
    """Of each protocol the first line of the first part that it has one of."""
    document = study.read(ROOT / f"experiments/search/{name}.toml")
    assert study.costs(document) == ROOT / "results/reference/calibration-laptop.json"
    unit_costs, asked = UnitCosts.load(study.costs(document)), {}
    parts = {part.name: part for part in study.parts(ROOT / f"experiments/search/{name}.toml")}
    for line in read_csv(ROOT / f"results/searched/{name}.csv"):
        assert line["machine"] == unit_costs.name
        if not line["refused"]:
            asked.setdefault(line["protocol"], line)
    assert len(asked) >= 20
    together = {}
    for line in asked.values():
        shape = Shape(int(line["records"]), int(line["record_bits"]))
        together.setdefault((shape, parts[line["part"]].updates), []).append(line)
    for (shape, updates), swept in together.items():
        sets = [
            json.loads(each["set"]) if each["name"] == "found" else choose.committed()[each["name"]] for each in swept
        ]
        figures = Evaluator(shape, unit_costs, None, updates=updates)(sets)
        for line, found in zip(swept, figures, strict=True):
            words = f"{name}, {line['protocol']}: `pirlab-search --sweep experiments/search/{name}.toml` again"
            for key in (
                "upload",
                "download",
                "hint_bytes",
                "seconds",
                "update_seconds",
                "server_bytes",
                "log2_failure",
            ):
                assert float(line[key]) == pytest.approx(getattr(found, key), rel=1e-4), f"{words} ({key})"
