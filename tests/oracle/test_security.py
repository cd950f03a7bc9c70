"""The adapter to the lattice estimator, with a stand-in that behaves badly, and the recorded results."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import jsonschema
import psutil
import pytest
from pirlab_estimator.modulus import format_modulus, parse_modulus
from pirlab_estimator.security import assess, cli, live, recorded
from pirlab_estimator.security.attacks import ATTACKS, CORE_SVP_MODEL, HYBRIDS, MODEL, SAMPLED, AttackResult
from pirlab_estimator.security.instance import Instance, sage_call, sage_parameters
from stand_in_estimator import COMMIT, SPARSE, UNIFORM, attacks_of, committed, description, lwe, written
from validated import load

#: The attack that exceeded its time limit for one set, the largest: BDD under core-SVP.
FAILED_BEFORE = (CORE_SVP_MODEL, "bdd")


def test_each_failure_is_listed_and_the_others_go_on(stand_in):
    instance = Instance.of(lwe())
    answer = live.estimate([instance], limit=2, cache=None)[instance]
    attacks = attacks_of(answer)
    assert attacks["usvp"].log2_rop == 121 and attacks["usvp"].details == (("beta", 300),)
    assert attacks["bdd"].failed == "TypeError: object not hashable"
    assert attacks["dual_hybrid"].failed == "timeout after 2 s"
    assert attacks["dual"].failed.startswith("infinity"), "asked after the process was killed and started again"
    asked = {(m, a) for m, names in instance.attacks().items() for a in names}
    assert asked == {(r.model, r.attack) for r in answer["results"]} and (MODEL, "bdd_mitm_hybrid") in asked
    entry = assess.security_entry(lwe(), instance, ("live", answer), "")
    assert (entry["bits"], entry["attack"], entry["core_svp_bits"]) == (121, "usvp", 101)
    assert [f["attack"] for f in entry["failed_attacks"]] == 2 * ["bdd", "dual_hybrid", "dual"]
    assert entry["attacks"] == {"usvp": 121, "coded_bkw": 300, "bdd_hybrid": 150, "bdd_mitm_hybrid": 151}
    assert entry["without"] == ["bdd", "dual_hybrid", "dual"]
    assert dict(attacks["coded_bkw"].details) == {"b": 9, "t1": 0, "t2": 12, "log2_mem": 180.0}


@pytest.mark.parametrize(
    ("changed", "hybrids"),
    [
        ({"dimension": 1099}, True),
        ({"dimension": 1100}, False),
        ({"dimension": 4096, "secret": {"kind": "fixed_weight", "plus": 256, "minus": 255}}, True),
        ({"dimension": 4096, "secret": {"kind": "fixed_weight", "plus": 256, "minus": 256}}, False),
        ({"dimension": 4096, "secret": {"kind": "binary"}}, False),
    ],
)
def test_which_attacks_apply(changed, hybrids):
    """Hybrids below dimension 1100 and for secrets sparser than one in eight; coded-BKW always, with no cost model."""
    attacks = Instance.of(lwe(**changed)).attacks()
    assert attacks[MODEL] == ATTACKS[MODEL] + (HYBRIDS if hybrids else ()) and "coded_bkw" in ATTACKS[MODEL]
    assert attacks[CORE_SVP_MODEL] == ("usvp", "bdd", "dual_hybrid", "dual")


def test_coded_bkw_alone_is_asked_with_the_samples(stand_in):
    """One question for the lattice attacks of two instances that differ in samples, one each for coded-BKW."""
    few, any_number = Instance.of(lwe(2000) | {"samples": 7}), Instance.of(lwe(2000) | {"samples": None})
    jobs = live.jobs_of([few, any_number])
    assert [(i.samples, a) for i, m, a in jobs if m == MODEL] == [
        (None, "usvp"), (None, "bdd"), (None, "dual_hybrid"), (None, "dual"), (7, "coded_bkw"), (None, "coded_bkw")
    ]  # fmt: skip
    answers = live.estimate([few, any_number], cache=None, attacks={MODEL: ("usvp", "coded_bkw")})
    assert [r.log2_rop for r in answers[few]["results"]] == pytest.approx([121.9531, 300])
    assert [r.log2_rop for r in answers[any_number]["results"]] == pytest.approx([121.9531, 200])
    assert "m=7" in sage_call(few, "coded_bkw") and "m=" not in sage_call(few, "bdd")


@pytest.mark.parametrize(("dimension", "reason"), [(1025, "infinity"), (1026, "the process ended with exit code 3")])
def test_infinity_and_death_are_failures(stand_in, dimension, reason):
    instance = Instance.of(lwe(dimension))
    attacks = attacks_of(live.estimate([instance], limit=20, cache=None)[instance])
    assert attacks["dual_hybrid"].failed.startswith(reason)
    assert attacks["usvp"].failed is None


def test_attacks_run_side_by_side_and_come_back_in_order(stand_in):
    """Two hanging attacks in two processes take one time limit, not two."""
    instances = [Instance.of(lwe(n)) for n in (1024, 1500, 1501)]
    only = {MODEL: ("dual_hybrid", "usvp"), CORE_SVP_MODEL: ("dual_hybrid",)}
    start = time.monotonic()
    answers = live.estimate(instances, limit=3, attacks=only, cache=None, jobs=2)
    assert time.monotonic() - start < 5.5
    assert list(answers) == instances
    for answer in answers.values():
        order = [(r.model, r.attack) for r in answer["results"]]
        assert order == [(MODEL, "dual_hybrid"), (MODEL, "usvp"), (CORE_SVP_MODEL, "dual_hybrid")]
    failed = [r.failed for r in answers[instances[0]]["results"]]
    assert failed == ["timeout after 3 s", None, "timeout after 3 s"]
    assert [r.log2_rop for r in answers[instances[1]]["results"]] == pytest.approx([121.4648, 121.4648, 101.4648])


def test_no_process_is_left_when_the_parent_is_killed(stand_in):
    """In the middle of an attack that hangs for a minute."""
    program = (
        f"import sys\nsys.path[:0] = {sys.path!r}\n"
        "from pirlab_estimator.security import live\n"
        "from pirlab_estimator.security.instance import Instance\n"
        "worker = live.Worker()\nworker.start()\nprint(worker._process.pid, flush=True)\n"
        f"worker.run(Instance.of({lwe()!r}), 'MATZOV', 'dual_hybrid', 60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    child = psutil.Process(int(parent.stdout.readline()))
    time.sleep(1)
    assert child.is_running() and parent.poll() is None
    parent.kill()
    parent.wait()
    end = time.monotonic() + 20
    while alive(child) and time.monotonic() < end:
        time.sleep(0.1)
    assert not alive(child)


def alive(process):
    """Whether it runs; one that ended and that nobody waited for does not."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_cache_by_content_of_a_known_commit_only(stand_in, tmp_path):
    cache, instance, only = tmp_path / "cache", Instance.of(lwe()), {MODEL: ("usvp", "bdd")}
    assert live.estimate([instance], cache=cache, attacks=only)[instance]["commit"] == "unknown"
    assert not cache.exists(), "results of an unknown commit are not kept"
    commit = committed(stand_in)
    answer = live.estimate([instance], cache=cache, attacks=only)[instance]
    assert answer["commit"] == commit and len(commit) == 40
    (kept,) = cache.iterdir()
    assert json.loads(kept.read_text())["log2_rop"] == 121, "the figure is kept, the failure is not"
    kept.write_text(json.dumps({"log2_rop": 99.5}))
    assert attacks_of(live.estimate([instance], cache=cache, attacks=only)[instance])["usvp"].log2_rop == 99.5
    source = stand_in / "estimator" / "__init__.py"
    source.write_text(source.read_text() + "\n# changed\n")
    changed = live.estimate([instance], cache=cache, attacks=only)[instance]
    assert changed["commit"].endswith("+changed") and attacks_of(changed)["usvp"].log2_rop == 121
    assert len(list(cache.iterdir())) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [("def estimate(): pass", "is not the lattice estimator"), ("import no_such_module", "no_such_module")],
)
def test_an_unrelated_package_is_not_taken_for_the_estimator(stand_in, content, message):
    (stand_in / "estimator" / "__init__.py").write_text(content)
    with pytest.raises(live.EstimatorMissing, match=message):
        live.estimate([Instance.of(lwe())], cache=None)
    (entry,) = assess.predict_security([description(lwe())], "auto")[0]
    assert entry["source"] == "recorded", "auto goes on with the recorded results"


def test_a_wrong_checkout_and_a_wrong_python_are_named(tmp_path, monkeypatch, stand_in):
    monkeypatch.setenv("LATTICE_ESTIMATOR", str(tmp_path))
    with pytest.raises(live.EstimatorMissing, match="name the checkout's top folder"):
        live.estimate([Instance.of(lwe())], cache=None)
    monkeypatch.setenv("LATTICE_ESTIMATOR_PYTHON", str(tmp_path / "python"))
    with pytest.raises(live.EstimatorMissing, match="cannot be started"):
        live.estimate([Instance.of(lwe())], cache=None)


def test_without_sage_the_message_says_what_to_do(stand_in, monkeypatch):
    monkeypatch.delenv("PYTHONPATH")
    with pytest.raises(live.EstimatorMissing, match="LATTICE_ESTIMATOR_PYTHON") as raised:
        live.estimate([Instance.of(lwe())], cache=None)
    assert "sage" in str(raised.value)


@pytest.mark.parametrize(
    ("dimension", "stddev", "bits", "attack"),
    [(1024, 6.4, 121.5332, "bdd"), (1088, 6.4, 129.4386, "bdd"), (1024, 11, 128.4227, "bdd")],
)
def test_recorded_sets(dimension, stddev, bits, attack):
    for secret in (UNIFORM, {"kind": "gaussian", "stddev": stddev}):
        (entry,) = assess.predict_security([description(lwe(dimension, "2^32", secret, stddev))], "recorded")[0]
        assert (entry["bits"], entry["attack"], entry["source"]) == (bits, attack, "recorded")
        assert entry["estimator_commit"] == COMMIT and set(entry["attacks"]) >= {"usvp", "bdd", "dual_hybrid", "dual"}
        assert entry["core_svp_bits"] < bits - 20


@pytest.mark.parametrize(
    "changed", [{"dimension": 1023}, {"modulus": "4294967295"}, {"error_stddev": 6.41}, {"secret": {"kind": "ternary"}}]
)
def test_a_look_up_knows_no_tolerance(changed):
    (entry,) = assess.predict_security([description(lwe() | changed)], "recorded")[0]
    assert entry["source"] == "none" and entry["bits"] is None and entry["estimator_commit"] is None
    assert "recorded.json" in entry["reason"] and "pirlab-security record" in entry["reason"]
    assert "no figure for LWE.Parameters(n=" in entry["reason"] and entry["reason"].count("Xe=") == 1


def test_what_was_found_wrong_with_a_recorded_figure_is_remarked():
    binary = lwe(600, "2^12", {"kind": "binary"}, 3.19)
    (entry,) = assess.predict_security([description(binary)], "recorded")[0]
    assert "missed its own minimum (reported 209.7784, exact search 162.2474)" in entry["remarks"][0]
    assert entry["bits"] == 150.7965


def test_the_spelling_of_the_modulus_does_not_matter():
    assert Instance.of(lwe(modulus="4294967296")) == Instance.of(lwe())
    assert recorded.find(Instance.of(lwe(modulus="2^16*2^16"))) is not None


def test_samples_tell_figures_of_coded_bkw_apart(tmp_path):
    """What holds with any number of samples stands in for fewer, until those are recorded."""
    path = tmp_path / "recorded.json"
    path.write_text(recorded.RECORDED.read_text())
    any_number = Instance.of(lwe(424, "2^12", {"kind": "binary"}, 12.9) | {"samples": None})
    few = replace(any_number, samples=20 << 20)
    assert few != any_number and recorded.find(few, path) == recorded.find(any_number, path)
    answer = {"commit": COMMIT, "sage": "test", "results": [AttackResult(MODEL, "coded_bkw", 123.8342)]}
    recorded.add(few, answer, {"name": "x"}, path)
    found = {i: attacks_of(recorded.find(i, path)) for i in (few, any_number)}
    assert [found[i]["coded_bkw"].log2_rop for i in found] == [123.8342, 121.9374]
    assert found[few]["bdd"] == found[any_number]["bdd"] and found[few]["bdd"].log2_rop > 130


def test_the_set_that_was_searched_without_coded_bkw_is_below_the_target():
    (entry,) = assess.predict_security([description(lwe(424, "2^12", {"kind": "binary"}, 12.9))], "recorded")[0]
    assert (entry["bits"], entry["attack"]) == (121.9374, "coded_bkw")
    assert min(figure for attack, figure in entry["attacks"].items() if attack != "coded_bkw") >= 128


def test_all_recorded_entries_are_found_and_whole():
    document = json.loads(recorded.RECORDED.read_text())
    assert len(document["entries"]) == len(recorded.entries())
    uses = [use for entry in document["entries"] for use in entry["uses"]]
    assert len({use["name"] for use in uses}) == len(uses)
    assert sum(use["source"] != "params" for use in uses) == 82, "the published sets; the others came by confirm"
    exposed = {each.unlimited() for each in recorded.entries() if each.samples is not None}
    for instance, entry in recorded.entries().items():
        results = recorded.find(instance)["results"]
        for model in (MODEL, CORE_SVP_MODEL):
            assert assess.best(results, model) is not None, entry["uses"]
        # Where sets say how many samples they expose, what depends on these is recorded with that number.
        counted = SAMPLED if instance in exposed else ()
        assert {*counted, *(r.attack for r in results if r.model == MODEL)} >= set(instance.attacks()[MODEL])
        for result in results:
            given_up = result.attack in (*HYBRIDS, "coded_bkw") or (result.model, result.attack) == FAILED_BEFORE
            # Where nothing is feasible, the estimator's coded-BKW rounds infinity up.
            reasons = ("timeout", "infinity", "ValueError: Calling ceil() on infinity")
            if result.attack == "coded_bkw" and entry["instance"]["log2_modulus"] > 1024:
                reasons += ("OverflowError",)  # The estimator's coded-BKW computes q as a double.
            assert result.failed is None or (given_up and result.failed.startswith(reasons))


def test_what_is_not_recorded_gets_the_fast_model():
    entries = assess.predict_security([description(lwe(), lwe(999))], "auto")[0]
    assert [e["source"] for e in entries] == ["recorded", "fast_only"]
    fast = entries[1]
    assert fast["estimator_commit"] is None and fast["failed_attacks"] == [] and fast["without"] == list(HYBRIDS)
    assert fast["bits"] == min(fast["attacks"].values()) and list(fast["attacks"]) == list(ATTACKS[MODEL])
    assert 117 < fast["bits"] < entries[0]["bits"] and "make confirm" in fast["remarks"][0]
    assert "remarks" not in entries[0] and "reason" not in fast
    (alone,) = assess.predict_security([description(lwe())], "fast_only")[0]
    assert alone["source"] == "fast_only" and alone["bits"] == pytest.approx(entries[0]["bits"], abs=0.05)


def test_entries_fit_the_schema():
    schema = load("prediction")
    entry_schema = schema["properties"]["security"]["items"]
    for entry in assess.predict_security([description(lwe(), lwe(999), lwe(secret=SPARSE))], "auto")[0]:
        jsonschema.validate(entry, entry_schema)


def test_recording_live_results(stand_in, tmp_path):
    path = tmp_path / "recorded.json"
    path.write_text(recorded.RECORDED.read_text())
    known, new = Instance.of(lwe()), Instance.of(lwe(2000))
    results = live.estimate([new], attacks={MODEL: ("usvp", "bdd")}, cache=None)[new]["results"]
    for instance in (known, new):
        recorded.add(instance, {"commit": COMMIT, "sage": "test", "results": results}, {"name": "x"}, path)
    found = {r.attack: r for r in recorded.find(known, path)["results"] if r.model == MODEL}
    assert found["usvp"].log2_rop == pytest.approx(121.9531), "a new figure replaces the old"
    assert found["bdd"].log2_rop == 121.5332, "a failure replaces no figure"
    assert {r.attack: r.failed for r in recorded.find(new, path)["results"]}["bdd"] == "TypeError: object not hashable"
    recorded.add(known, {"commit": "f" * 40, "sage": "test", "results": results}, {"name": "x"}, path)
    assert len(recorded.find(known, path)["results"]) == 2, "figures of two commits are not mixed"


@pytest.mark.parametrize(
    ("secret", "text"),
    [
        (UNIFORM, "Xs=ND.DiscreteGaussian(6.4)"),
        ({"kind": "ternary"}, "Xs=ND.Uniform(-1, 1)"),
        ({"kind": "binary"}, "Xs=ND.Uniform(0, 1)"),
        ({"kind": "fixed_weight", "plus": 256, "minus": 256}, "Xs=ND.SparseTernary(256, 256)"),
        ({"kind": "uniform_range", "low": -7, "high": 7}, "Xs=ND.Uniform(-7, 7)"),
    ],
)
def test_the_call_to_paste(secret, text):
    instance = Instance.of(lwe(secret=secret))
    assert sage_parameters(instance).startswith("LWE.Parameters(n=1024, q=2**32, ") and text in sage_call(
        instance, "bdd"
    )
    with pytest.raises(ValueError, match="is unknown to the lattice estimator"):
        sage_call(Instance.of(lwe(secret={"kind": "sparse"})), "bdd")


@pytest.mark.parametrize("attack", ATTACKS[MODEL] + HYBRIDS)
def test_the_call_runs_as_it_is_pasted(stand_in, attack):
    """Import, attack, cost model and shape are there, and no argument that an attack does not take."""
    source = stand_in / "estimator" / "__init__.py"
    text = source.read_text().replace("raises,", "well,").replace("=infinite", "=misbehave")
    source.write_text(text.replace("1024: hangs, ", ""))
    statement, expression = sage_call(Instance.of(lwe()), attack).split("; ")
    code = f"{statement}\nassert {expression}['rop'] > 2**120"
    done = subprocess.run([sys.executable, "-c", code], cwd=stand_in, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_both_tries_of_an_attack_that_raises_are_named(stand_in):
    page = Path(os.environ["PYTHONPATH"]) / "sage" / "all.py"
    page.write_text(page.read_text() + "pi, e = RR(3.14), RR(2.72)\n")
    package = stand_in / "estimator"
    for name in ("lwe_dual", "lwe_guess", "lwe_primal", "reduction", "simulator"):
        (package / f"{name}.py").write_text("")
    instance = Instance.of(lwe())
    answer = live.estimate([instance], limit=20, attacks={MODEL: ("bdd",)}, cache=None)[instance]
    again = "second try with numeric constants: TypeError: object not hashable"
    assert attacks_of(answer)["bdd"].failed == f"TypeError: object not hashable; {again}"


def test_moduli():
    assert parse_modulus("268369921*249561089") == 66974689739603969
    assert format_modulus(1 << 56) == "2^56" and format_modulus(97) == "97"
    for text in ("", "2^", "1", "2^32-1", "56 bits", "0"):
        with pytest.raises(ValueError, match="modulus"):
            parse_modulus(text)


def test_check_prints_what_a_reader_needs(tmp_path, capsys):
    path = tmp_path / "descriptions.jsonl"
    path.write_text(
        json.dumps(description(lwe())) + "\n" + json.dumps(description(lwe(1088), lwe(999), lwe(secret=SPARSE))) + "\n"
    )
    assert cli.main(["check", "--descriptions", str(path)]) == 1
    text = capsys.readouterr().out
    for expected in (
        "simplepir/x",
        "n = 1024, q = 2^32, secret uniform, error stddev 6.4, 16384 samples",
        "the column of the record asked for",
        "usvp 123.2",
        "dual 125.7",
        "minimum   121.5 (bdd)",
        f"recorded, lattice estimator {COMMIT}",
        "LWE.Parameters(n=1024, q=2**32",
        "missed, 121.5 bits",
        "missed, at most 118.5 bits: not every instance has a figure",
        "source    fast_only, our own model; the lattice estimator was not asked",
        "LWE.Parameters(n=999, q=2**32",
        "secret fixed_weight (plus 20, minus 20)",
        "source    none: no figure for LWE.Parameters(n=1024, q=2**32, Xs=ND.SparseTernary(20, 20)",
    ):
        assert expected in text, expected
    path.write_text(json.dumps(description(lwe(1088))))
    assert cli.main(["check", "--descriptions", str(path)]) == 0
    assert "reached, 129.4 bits" in capsys.readouterr().out
    assert cli.main(["check", "--security", "live", "--descriptions", str(path)]) == 2
    assert cli.main(["record", "--descriptions", str(path)]) == 2


def test_a_very_sparse_secret_is_remarked_whatever_the_source(stand_in):
    answer = live.estimate([Instance.of(lwe(secret=SPARSE))], limit=2, cache=None, attacks={MODEL: ("usvp",)})
    ((instance, content),) = answer.items()
    entry = assess.security_entry(lwe(secret=SPARSE), instance, ("live", content), "")
    assert any("no figure for bdd" in remark and "bdd_mitm_hybrid" in remark for remark in entry["remarks"])


def test_failures_of_a_source_stay_listed_when_the_next_one_answers(stand_in, tmp_path, capsys):
    source = stand_in / "estimator" / "__init__.py"
    text = source.read_text().replace("primal_usvp=well", "primal_usvp=raises")
    source.write_text(text.replace("(p.n, well)", "(p.n, dies)"))
    (entry,) = assess.predict_security([description(lwe(999))], "auto", limit=20)[0]
    assert entry["source"] == "fast_only" and entry["bits"] is not None
    reasons = [f["reason"] for f in entry["failed_attacks"] if f["model"] == MODEL]
    assert reasons[0] == "live: TypeError: object not hashable" and len(reasons) == 4
    assert all(reason.startswith("live: ") for reason in reasons)
    cli.main(["check", "--descriptions", written(tmp_path, lwe(999))])
    assert "fast_only, our own model; the lattice estimator gave no figure" in capsys.readouterr().out


def test_attacks_without_a_live_figure_take_the_next_source_s(stand_in):
    """A minimum over the attacks that happened to answer would call a weak instance secure."""
    (entry,) = assess.predict_security([description(lwe(600))], "auto", limit=20)[0]
    assert entry["attacks"]["usvp"] > 120 and entry["attacks"]["bdd"] == entry["bits"] < 90
    assert (entry["attack"], entry["source"], entry["estimator_commit"]) == ("bdd", "fast_only", None)
    assert {"attack": "bdd", "model": MODEL, "reason": "live: TypeError: object not hashable"} in entry[
        "failed_attacks"
    ]
    remarks = "; ".join(entry["remarks"])
    assert "bdd under MATZOV: source fast_only" in remarks
    assert "the estimator's local search missed its own minimum (reported 120.5859, exact search" in remarks


def test_a_minimum_over_some_attacks_is_not_a_verdict(stand_in, tmp_path, capsys):
    path = written(tmp_path, lwe(8192))
    assert cli.main(["check", "--security", "live", "--timeout", "20", "--descriptions", path]) == 1
    text = capsys.readouterr().out
    assert "target of 128 bits: unknown, 128.0 bits without bdd, dual" in text
    assert "remark    the minimum is over the other attacks: no figure for bdd, dual" in text


def test_a_warning_names_an_estimator_that_is_unusable(monkeypatch, caplog):
    monkeypatch.setenv("LATTICE_ESTIMATOR_PYTHON", "/nowhere/python")
    (entry,) = assess.predict_security([description(lwe())], "auto")[0]
    assert entry["source"] == "recorded" and "LATTICE_ESTIMATOR_PYTHON=/nowhere/python" in caplog.text


def test_a_recorded_timeout_is_not_confirmed(tmp_path, monkeypatch):
    instance = Instance.of(lwe())
    found = recorded.find(instance)
    late = [r if r.attack != "bdd" else replace(r, log2_rop=None, failed="timeout after 1 s") for r in found["results"]]
    monkeypatch.setattr(recorded, "find", lambda _: found | {"results": late})
    assert cli._unconfirmed(instance)
