"""`pirlab-search --protocol all`: protocols ranked with reasons, where another takes over, updates, threads."""

import html
import json
import re

import pytest
from pirlab_estimator.cost import DEFAULTS, UnitCosts
from pirlab_estimator.paths import ROOT
from pirlab_estimator.search import choose, cli
from pirlab_estimator.search.bounds import SEEDS, Bounds, Network, Objective
from pirlab_estimator.search.evaluate import Evaluator, Shape
from places import read_csv
from search_command import SMALL, files, search

pytestmark = pytest.mark.usefixtures("shared_cache")


@pytest.fixture
def two(monkeypatch):
    """Two protocols that are searched, and no others."""
    sets = {name: each for name, each in choose.committed().items() if each["protocol"] in ("simplepir", "simpleypir")}
    monkeypatch.setattr(choose, "committed", lambda: sets)
    monkeypatch.setattr(cli, "protocols", lambda: ["simplepir", "simpleypir"])


def test_protocols_are_ranked(capsys, two, tmp_path):
    search("--protocol", "all", *SMALL, "--out", str(tmp_path), "--network", "10ms,100Mbit")
    said = capsys.readouterr().out
    assert f"seconds by the unit costs of {UnitCosts.load(DEFAULTS).name}," in said
    assert "\n1. simple" in said and "the least time of all protocols here" in said and "keeps a hint of" in said
    assert files(tmp_path).keys() == {"all/simplepir.toml", "all/simpleypir.toml"}
    pages = ["--html", str(tmp_path / "r.html"), "--csv", str(tmp_path / "r.csv")]
    costs = tmp_path / "calibration.json"
    machine = {"cpu": "Some CPU", "cores": 3, "memory_bytes": 5 << 30, "read_bandwidth": []}
    costs.write_text(json.dumps({"machine": machine, "kernel": "avx9", "unit_seconds": {}}))
    pages += ["--costs", str(costs)]
    search("--protocol", "all", *SMALL, "--dry-run", "--stateless", "--json", str(tmp_path / "ranked.json"), *pages)
    ranked = json.loads((tmp_path / "ranked.json").read_text())
    assert ranked["machine"] == "Some CPU, 3 cores, 5.0 GiB, avx9"
    first, second, third = ranked["protocols"]
    assert first["best"]["bits"] >= 128 and first["reasons"] and third["best"] is None
    assert second["protocol"] == "download" and second["best"]["download"] == 2**16 * 256 // 8
    said = capsys.readouterr().out
    assert "\n2. download\n" in said and "\n3. simplepir\n   - no set keeps the bounds" in said
    assert re.search(r"committed sets \d+ need a hint above --max-offline", said)
    assert re.search(r"^  download +perfect +never +0 B +2 MiB", said, re.M)
    lines = read_csv(tmp_path / "r.csv")
    rows, over = ([each for each in lines if each["line"] == kind] for kind in ("protocol", "takeover"))
    assert len(rows) + len(over) == len(lines) and {each["machine"] for each in lines} == {ranked["machine"]}
    (question,) = {each["question"] for each in lines}
    assert question.startswith("65536 records of 256 bits: protocols by seconds")
    assert {(row["records"], row["record_bits"]) for row in rows} == {("65536", "256")}
    names = {"records": "records", "record_bits": "record_bits", "protocol": "protocol", "words": "reasons"}
    said = [{name: str(each[name] or "") for name in names} for each in ranked["takeovers"]]
    assert over and [{name: each[column] for name, column in names.items()} for each in over] == said
    assert all(bool(each["score"]) == bool(each["protocol"]) and not each["rank"] for each in over)
    assert [row["protocol"] for row in rows] == [each["protocol"] for each in ranked["protocols"]]
    assert [row["rank"] for row in rows] == ["1", "2", ""] and rows[2]["score"] == ""
    assert [float(row["upload"]) for row in rows[:2]] == [first["best"]["upload"], 0]
    assert [row["reasons"] for row in rows] == ["; ".join(each["reasons"]) for each in ranked["protocols"]]
    page = html.unescape((tmp_path / "r.html").read_text())
    assert f"<h1>{question}</h1>" in page
    assert "seconds by the unit costs of Some CPU, 3 cores, 5.0 GiB, avx9," in page
    reasons = [reason for each in ranked["protocols"] for reason in each["reasons"]]
    assert all(f"<li>{reason}</li>" in page for reason in [*reasons, *(each["words"] for each in ranked["takeovers"])])
    search("--protocol", "all", "--records", "1", "--record-bits", "1", "--dry-run")
    said = capsys.readouterr().out
    assert "\n1. download\n" in said and "2^-1000000000" not in said


def test_without_state_there_are_no_keys_and_no_hint_that_wears_out(monkeypatch, capsys, tmp_path):
    """Piano's hint of a small database is shorter than seeds may be. Nothing is searched, hence the code."""
    sets = {name: each for name, each in choose.committed().items() if each["protocol"] in ("piano", "spiral")}
    monkeypatch.setattr(choose, "committed", lambda: sets)
    monkeypatch.setattr(cli, "protocols", lambda: [])
    out = tmp_path / "ranked.json"
    question = ["--protocol", "all", "--records", "64", "--record-bits", "64", "--dry-run", "--json", str(out)]

    def ranked(*more):
        search(*question, *more, code=1)
        return {each["protocol"]: each for each in json.loads(out.read_text())["protocols"]}

    found = ranked()
    assert found["piano"]["best"]["hint_bytes"] <= SEEDS < found["spiral"]["best"]["key_bytes"]
    assert any("keeps a hint of" in reason for reason in found["piano"]["reasons"])
    found = ranked("--stateless")
    assert [name for name, each in found.items() if each["best"] is None] == ["piano", "spiral"]
    piano, spiral = (" ".join(found[name]["reasons"]) for name in ("piano", "spiral"))
    assert "have a client keep a hint that wears out" in piano and "a search without --stateless" in piano
    assert "need a hint above --max-offline" in spiral


def test_protocols_without_a_space_are_ranked_by_their_committed_sets():
    shape = Shape(1 << 10, 64)
    evaluator = Evaluator(shape, UnitCosts.load(DEFAULTS), None)
    ranked = choose.choose([], evaluator, Bounds(), Objective("seconds", shape))
    choices = {choice.protocol: choice for choice in ranked}
    own = {path.stem for path in (ROOT / "params/cwpir").glob("*.toml")}
    cwpir = choices["cwpir"]
    assert cwpir.found is None and cwpir.name.removeprefix("cwpir/") in own and cwpir.best.figures.bits >= 128
    assert set(choices) == {each["protocol"] for each in choose.committed().values()} | {"download"}


def test_where_another_protocol_takes_over(two, shared_cache):
    """Against the least scores of all sets at every database between, without the search's bookkeeping."""
    shape = Shape(1 << 16, 256)
    objective = Objective("seconds", shape, Network(0.02, 50e6 / 8))
    evaluator = Evaluator(shape, UnitCosts.load(DEFAULTS), shared_cache)
    choices = choose.choose(cli.protocols(), evaluator, Bounds(offline=SEEDS), objective)
    found = choose.takeovers(choices, evaluator, Bounds(offline=SEEDS), objective)
    assert choices[0].protocol == "simpleypir"
    fewer = found[1]
    assert fewer.protocol == "download" and fewer.steps < 0 and fewer.shape.records == shape.records >> -fewer.steps
    sets = [*choose.committed().values(), *(c.best.literal for c in choices if c.best and c.best.literal)]
    for step in range(-fewer.steps + 1):
        there = Shape(shape.records >> step, 256)
        figures = Evaluator(there, evaluator.unit_costs, shared_cache)(sets)
        kept = [f for f in figures if f.refused is None and f.hint_bytes <= SEEDS and Bounds().reached(f)]
        reading = float(evaluator.unit_costs.total("bytes_read", there.bytes()))
        downloading = 0.02 + there.bytes() * 8 / 50e6 + reading
        assert (downloading < min(map(objective, kept))) == (step == -fewer.steps)
    assert found[0].protocol is None and found[0].shape.records == shape.records << choose.DOUBLINGS


def test_updates_that_come_too_often_leave_a_protocol_out(capsys, two, tmp_path):
    question = ["--protocol", "all", *SMALL, "--dry-run", "--json", str(tmp_path / "ranked.json")]
    search(*question, "--updates", "200/12s")
    ranked = {each["protocol"]: each for each in json.loads((tmp_path / "ranked.json").read_text())["protocols"]}
    patched, rebuilt = (ranked[name]["best"] for name in ("simplepir", "simpleypir"))
    assert patched["update_bytes"] > 0 == rebuilt["update_bytes"]
    assert 0 < patched["update_seconds"] < rebuilt["update_seconds"] < 12
    assert any("an update of 200 records takes" in reason for reason in ranked["simplepir"]["reasons"])
    search(*question, "--updates", f"200/{rebuilt['update_seconds'] / 10:.9f}s")
    ranked = {each["protocol"]: each for each in json.loads((tmp_path / "ranked.json").read_text())["protocols"]}
    assert ranked["simpleypir"]["best"] is None and ranked["simplepir"]["best"] is not None
    assert any("take longer for an update than --updates leaves" in each for each in ranked["simpleypir"]["reasons"])


def test_threads_share_the_work_of_the_server_alone():
    shape, costs = Shape(1 << 16, 256), UnitCosts.load(DEFAULTS)
    sets = [each for each in choose.committed().values() if each["protocol"] == "respire"]
    one, four = (Evaluator(shape, costs, None, threads=threads)(sets) for threads in (1, 4))
    for alone, shared in zip(one, four, strict=True):
        assert shared.client_seconds == alone.client_seconds and shared.setup_seconds == pytest.approx(
            alone.setup_seconds
        )
        assert alone.seconds / 4 <= shared.seconds <= alone.seconds
    assert any(shared.seconds < 0.5 * alone.seconds for alone, shared in zip(one, four))
