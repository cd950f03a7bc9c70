"""Figures that the lattice estimator adds to the recorded ones: `pirlab-security confirm` and `record`."""

import json

import pytest
from pirlab_estimator.security import cli, live, recorded
from pirlab_estimator.security.attacks import ATTACKS, MODEL
from pirlab_estimator.security.instance import Instance
from stand_in_estimator import COMMIT, committed, lwe, written


@pytest.fixture
def clean_checkout(stand_in, tmp_path, monkeypatch):
    """The stand-in as a clean checkout, well behaved for dimension 2000, with a recorded.json that may be changed."""
    path = tmp_path / "recorded.json"
    document = json.loads(recorded.RECORDED.read_text())
    document["estimator"]["commit"] = committed(stand_in)
    path.write_text(json.dumps(document))
    for function in (recorded.entries, recorded.commit, recorded.find, recorded.add):
        monkeypatch.setattr(function, "__defaults__", (*function.__defaults__[:-1], path))
    return path


def test_confirm_records_what_only_the_fast_model_knew(clean_checkout, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(live.ask, "__defaults__", (None, None, None))
    descriptions = written(tmp_path, lwe(1300, "2^32", {"kind": "binary"}, 3.19), lwe(2000))
    assert recorded.find(Instance.of(lwe(2000))) is None
    assert cli.main(["confirm", "--descriptions", descriptions]) == 1, "attacks of the stand-in fail"
    text = capsys.readouterr().out
    assert "simplepir/x query: bdd under MATZOV: TypeError" in text and text.count("TypeError") == 2
    assert "simplepir/x query: usvp under MATZOV: 121.95, fast model +" in text and "minimum is too high" in text
    assert "coded_bkw under MATZOV: 300.00\n" in text and "2^32" not in text, "1300 is recorded"
    found = {r.attack: r for r in recorded.find(Instance.of(lwe(2000)))["results"] if r.model == MODEL}
    assert found["usvp"].log2_rop == pytest.approx(121.9531)
    assert cli.main(["confirm", "--descriptions", descriptions]) == 0
    assert "nothing to confirm" in capsys.readouterr().out


def test_confirm_shows_attacks_that_raise_hang_or_return_infinity(clean_checkout, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(live.ask, "__defaults__", (None, None, 1))
    # Of the stand-in, the dual hybrid hangs in dimension 1024.
    descriptions = written(tmp_path, lwe(1024, "2^31"))
    assert cli.main(["confirm", "--timeout", "2", "--descriptions", descriptions]) == 1
    text = capsys.readouterr().out
    shown = (
        "bdd under MATZOV: TypeError: object not hashable",
        "dual under MATZOV: infinity: the attack does not succeed",
        "dual_hybrid under MATZOV: timeout after 2 s",
    )
    assert all(reason in text for reason in shown) and "bdd_mitm_hybrid under MATZOV: 151.00" in text
    assert cli.main(["confirm", "--timeout", "2", "--descriptions", descriptions]) == 1
    again = capsys.readouterr().out
    assert "usvp under MATZOV: 121.00\n" not in again, "what has a figure is not asked for again"
    assert "dual_hybrid under MATZOV: timeout after 2 s" in again
    assert cli.main(["check", "--security", "recorded", "--descriptions", descriptions]) == 1
    text = capsys.readouterr().out
    assert all("    failed    " + reason in text for reason in shown), "the recorded failures stay listed"
    assert "    source    recorded, lattice estimator" in text and "minimum   121.0 (usvp)" in text


def test_confirm_without_the_estimator_says_what_waits(clean_checkout, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("PYTHONPATH")
    known = lwe(1300, "2^32", {"kind": "binary"}, 3.19)
    descriptions = written(tmp_path, known, lwe(2000, name="key"))
    before = clean_checkout.read_bytes()
    assert cli.main(["confirm", "--descriptions", descriptions]) == 2
    error = capsys.readouterr().err
    assert "LATTICE_ESTIMATOR_PYTHON" in error and error.rstrip().endswith(
        "Known by the fast model only: simplepir/x key"
    )
    assert clean_checkout.read_bytes() == before


@pytest.mark.parametrize("command", ["confirm", "record"])
def test_only_the_recorded_commit_is_recorded(stand_in, tmp_path, capsys, command):
    descriptions = written(tmp_path, lwe(2000))
    assert cli.main([command, "--descriptions", descriptions]) == 2
    assert "of commit unknown; recorded.json holds results of " + COMMIT in capsys.readouterr().err


@pytest.mark.real
@pytest.mark.slow
def test_live_equals_recorded():
    """With the real lattice estimator at hand: same commit, same figures, on a dozen sets of small dimension."""
    if not live.plausible():
        pytest.skip("the lattice estimator is not here: LATTICE_ESTIMATOR names no checkout")
    recorded_figures = {i: figures(recorded.find(i)["results"]) for i in recorded.entries()}
    instances = [i for i, kept in recorded_figures.items() if i.dimension <= 1100 and (MODEL, "coded_bkw") in kept][:12]
    assert len(instances) == 12
    for instance, answer in live.estimate(instances, cache=None, attacks=ATTACKS).items():
        if answer["commit"] != COMMIT:
            pytest.fail(f"the lattice estimator here is of commit {answer['commit']}, not {COMMIT}: check that out")
        assert all(result.failed is None for result in answer["results"]), answer["results"]
        for attack, figure in figures(answer["results"]).items():
            assert figure == pytest.approx(recorded_figures[instance][attack], abs=0.001), (instance, attack)


def figures(results):
    return {(r.model, r.attack): r.log2_rop for r in results if r.failed is None}
