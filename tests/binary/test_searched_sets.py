"""The committed sets of params/searched/: what the searches of experiments/search/ give with the present sources."""

import json
import shlex
import subprocess
import tomllib
from hashlib import sha256

import pytest
from pirlab_estimator.cost import DEFAULTS, UnitCosts
from pirlab_estimator.search import axes
from pirlab_estimator.search.bounds import Objective
from pirlab_estimator.search.cli import words_of
from pirlab_estimator.search.evaluate import Evaluator, Shape
from pirlab_estimator.search.grid import varied
from pirlab_estimator.search.saved import COMPARED
from pirlab_estimator.search.space_file import protocols
from pirlab_estimator.search.text import count
from pirlab_estimator.sets import labelled, resolve
from pirlab_workflow.experiments import expand, read_profile
from pirlab_workflow.files import ROOT
from places import EXPECTED, read_csv
from tier import VERIFY

SEARCHES = tomllib.loads((ROOT / "experiments/search/dominate.toml").read_text())["search"]
BEST = tomllib.loads((ROOT / "experiments/search/comparison.toml").read_text())["search"]
COSTS = UnitCosts.load(DEFAULTS)
SAVED = {line["experiment"]: line for line in read_csv(ROOT / "results/searched/saved.csv")}

GRIDS = {grid["name"]: grid for grid in tomllib.loads((ROOT / "experiments/search/grids.toml").read_text())["grid"]}


def along():
    """The lines of the committed sweep of every protocol: of each grid, by database."""
    found = {}
    for line in read_csv(ROOT / "results/searched/grids.csv"):
        database = int(line["records"]), int(line["record_bits"])
        found.setdefault(line["protocol"], {}).setdefault(database, []).append(line)
    return found


def committed(name):
    return tomllib.loads((ROOT / f"params/searched/{name}/1.toml").read_text())


def as_said(source, search, figures):
    """Security, failure and command are those that a set's file names, and reach the targets."""
    note = f"{figures.bits:.1f} bits by the fast model, failure 2^{figures.log2_failure:.1f}."
    costs = sha256(DEFAULTS.read_bytes()).hexdigest()
    assert source["note"] == f"{note} Unit costs: SHA-256 {costs}.", "`make search` changes it"
    assert source["command"] == "pirlab-search " + shlex.join(words_of(search))
    assert figures.bits >= 128 and figures.log2_failure <= -40


def test_every_search_has_its_set_and_every_set_is_run_beside_its_column():
    names = [search["experiment"] for search in SEARCHES]
    listed = {path.relative_to(ROOT).as_posix() for path in (ROOT / "params/searched").rglob("*.toml")}
    if (ROOT / ".git").exists():
        # A user's own searches write here too. An archive has the committed sets alone.
        command = ["git", "ls-files", "params/searched"]
        listed &= set(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split())
    best = {f"params/searched/{search['experiment']}/{protocol}.toml" for search in BEST for protocol in protocols()}
    assert listed - best == {f"params/searched/{name}/1.toml" for name in names}
    groups = expand("inspire/found", read_profile("paper"))
    rows = {
        tuple(labelled(row.asked["parameters"], row.asked.get("with", {})) for row in group.rows): group.rows
        for group in groups
    }
    for search in SEARCHES:
        column = labelled(search["no-worse-than"], search.get("with", {}))
        found = f"params/searched/{search['experiment']}/1.toml"
        for row in rows.pop((column, found)):
            asked = row.asked["records"], row.asked["record_bits"]
            assert asked == (count(search["records"]), search["record-bits"])
    assert not rows, "pairs that no search is about"


@pytest.mark.parametrize("search", SEARCHES, ids=lambda each: each["experiment"])
def test_a_set_is_as_its_file_says_and_dominates_by_prediction(search, binary):
    document = committed(search["experiment"])
    [column] = resolve([ROOT / search["no-worse-than"]], search.get("with"))
    evaluator = Evaluator(Shape(count(str(search["records"])), search["record-bits"]), COSTS, None)
    found, published = evaluator([document, column])
    as_said(document["source"], search, found)
    for side, figures in (("given", published), ("found", found)):
        for each in COMPARED:
            saved = float(SAVED[search["experiment"]][f"{side}_{each}"])
            assert saved == pytest.approx(getattr(figures, each), rel=1e-4), f"{side} {each}: run `make search` again"
    shares = [getattr(found, each) / getattr(published, each) for each in ("upload", "download", "seconds")]
    assert max(shares) <= 1 and min(shares) <= 0.9


@pytest.mark.parametrize("search", BEST, ids=lambda each: each["experiment"])
def test_what_was_found_for_a_database_stands_in_the_comparison(search, binary):
    evaluator = Evaluator(Shape(count(str(search["records"])), search["record-bits"]), COSTS, None)
    rows = {
        row.asked["parameters"]
        for group in expand("comparison/protocols", read_profile("paper"))
        if group.id == search["experiment"]
        for row in group.rows
    }
    folder = ROOT / "params/searched" / search["experiment"]
    committed_here = [path for path in folder.glob("*.toml") if path.stem in protocols()]
    assert len(committed_here) >= 5
    documents = [tomllib.loads(path.read_text()) for path in committed_here]
    for path, document, found in zip(committed_here, documents, evaluator(documents)):
        assert document["protocol"] == path.stem, path
        assert path.relative_to(ROOT).as_posix() in rows, "a set that nothing runs"
        as_said(document["source"], search, found)


def test_the_committed_table_is_of_these_sets():
    assert list(SAVED) == [search["experiment"] for search in SEARCHES]
    assert {line["verdict"] for line in SAVED.values()} == {"dominates"}
    for name, line in SAVED.items():
        note = committed(name)["source"]["note"]
        bits, failure = float(line["found_bits"]), float(line["found_log2_failure"])
        assert note.startswith(f"{bits:.1f} bits by the fast model, failure 2^{failure:.1f}."), (
            "`make search` changes it"
        )
    assert sha256(DEFAULTS.read_bytes()).hexdigest() in (ROOT / "results/searched/README.md").read_text()


def test_each_printed_column_of_the_authors_has_a_search():
    """Of 1 GB and 8 GB, by protocol and kilobytes of keys and query, which tell columns apart."""
    printed = {}
    for table in (3, 4):
        for line in read_csv(EXPECTED / f"inspire-table{table}.csv"):
            own = line["protocol"].startswith("InsPIRe") and line["metric"].startswith("upload")
            if line["database"] in ("1GB", "8GB") and own and line["value"]:
                column = (table, line["database"], line["protocol"], line["config"])
                printed[column] = printed.get(column, 0) + int(line["value"])
    columns = {(*column[:3], kilobytes) for column, kilobytes in printed.items()}
    assert len(columns) == len(SEARCHES) == 30
    for line in SAVED.values():
        database = f"{int(line['records']) * int(line['record_bits']) >> 33}GB"
        protocol = "InsPIRe^(2)" if line["experiment"].startswith("inspire2") else "InsPIRe"
        kilobytes = int(line["given_upload"]) / 1024
        of = {c for c in columns if c[:3] == (3 + (int(line["record_bits"]) > 512), database, protocol)}
        columns.remove(min(of, key=lambda column: abs(column[3] - kilobytes)))
    assert not columns


def test_every_protocol_has_its_sweep_at_each_database_and_each_value_its_line():
    found = along()
    assert set(found) == {grid["protocol"] for grid in GRIDS.values()} == set(protocols())
    for protocol, databases in found.items():
        grid = GRIDS[protocol]
        expected = [(count(r), b) for r in grid["records"] for b in grid["record_bits"]]
        assert list(databases) == expected
        swept = 0
        for base, *lines in databases.values():
            assert base["key"] == "" and (base["missed"] == "" or not lines)
            assert [line["key"] for line in lines] == [a["key"] for a in grid["vary"] for _ in a["values"]] or not lines
            swept += bool(lines)
            for line in lines:
                reached = line["bits"] and float(line["bits"]) >= 128 and float(line["log2_failure"]) <= -40
                assert bool(reached) == (line["missed"] == "") or line["missed"].startswith("security"), line
        assert swept >= 2, f"{protocol}: fewer than two databases are swept"
        for axis in grid["vary"]:
            kept = [each for lines in databases.values() for each in lines if each["key"] == axis["key"]]
            assert any(each["missed"] == "" for each in kept), (
                f"{protocol}: no value of {axis['key']} reaches the targets"
            )
    assert (ROOT / "results/searched/grids.csv").stat().st_size < 1_500_000


def test_lines_of_the_sweeps_are_what_the_present_sources_predict(binary):
    """For each protocol, a value that reaches both targets at its smallest database; in `make verify` at a middle one,
    with a value that misses a target and the found set."""
    asked = {}
    for protocol, databases in along().items():
        vary = GRIDS[protocol]["vary"]
        swept = [database for database, lines in databases.items() if len(lines) > 1]
        database = swept[len(swept) // 2 if VERIFY else 0]
        base, *lines = databases[database]
        reached = [line for line in lines if line["missed"] == ""]
        missed = [line for line in lines if line["missed"] and line["bits"]]
        chosen = [*reached[len(reached) // 2 :][:1], *missed[:1], base]
        for line in chosen if VERIFY else chosen[:1]:
            literal = json.loads(base["set"])
            if line["varied"]:
                values = axes.read(line["varied"], vary).values()
                ((_, literal),) = varied(literal, [a | {"values": [v]} for a, v in zip(vary, values)])
            asked.setdefault(database, []).append((line, literal))
    for database, sets in asked.items():
        shape = Shape(*database)
        figures = Evaluator(shape, COSTS, None)([literal for _, literal in sets])
        for (line, literal), found in zip(sets, figures):
            words = f"{literal['protocol']} {line['key']} {line['value']}: run `make search` again"
            assert found.refused is None, words
            for name in axes.NUMBERS:
                assert float(line[name]) == pytest.approx(getattr(found, name), rel=1e-4), f"{words} ({name})"
            score = Objective("seconds", shape)(found)
            assert float(line["score"]) == pytest.approx(score, rel=1e-4), words
    assert sum(map(len, asked.values())) >= (2 if VERIFY else 1) * len(GRIDS)
