"""Chains of noise: what stages hand on, decisions and their unions, and the worked example of docs/noise.md."""

import json
import re
import tomllib
from math import log2, sqrt

import jsonschema
import numpy as np
import pytest
from pirlab_estimator import noise, predict
from pirlab_estimator.compare import compare
from pirlab_estimator.noise.error import Noise
from pirlab_estimator.noise.stage import Decision, Stage, by_class, evaluate, record_noise
from pirlab_estimator.noise.tails import log2_gaussian_tail, log2_subgaussian_tail
from tier import VERIFY
from validated import load, validate


def decided(variances, counts, threshold=10.0, **more):
    """A stage with one decision, for as many descriptions as there are rows."""
    union = {"entries": [sum(row) for row in counts]}
    decision = Decision(threshold, union, by_class(counts))
    bound = Noise(np.array([max(row) for row in variances]), "bound")
    return Stage("round", "f", "s", Noise(by_class(variances)), bound, decision=decision, **more)


def test_stages_hand_their_noise_on():
    first = Stage("product", "rows V", "a", Noise(np.array([4.0, 9.0])))
    second = Stage("sum", "V + 1", "b", first.noise + Noise(1.0, "bound"), digits=["x", "y"])
    made = evaluate([first, second], 2)
    assert [[s["stage"] for s in stages] for stages in made] == [["product", "sum"]] * 2
    assert [s["variance"] for s in made[1]] == [9.0, 10.0] and made[0][1]["stddev"] == sqrt(5)
    assert [s["kind"] for s in made[0]] == ["equality", "bound"], "an equality only if every part is one"
    assert [s["digits"] for s in made[1]] == [None, "y"]
    for entry in (s for stages in made for s in stages):
        validate_stage(entry)
        assert entry["decisions"] is entry["threshold"] is entry["log2_failure"] is entry["margin"] is None


def validate_stage(entry):
    """Against the schema that both kinds of predictions refer to."""
    jsonschema.validate(entry, load("noise-stage"))


def test_a_decision_is_the_union_of_its_classes():
    """Against the same sum in numbers, which doubles still hold at this margin."""
    variances, counts = [[1.0, 4.0], [2.0]], [[3, 5], [7]]
    wide, narrow = (stages[0] for stages in evaluate([decided(variances, counts)], 2))
    expected = 3 * 2.0 ** float(log2_gaussian_tail(10, 1)) + 5 * 2.0 ** float(log2_gaussian_tail(10, 2))
    assert wide["log2_failure"] == pytest.approx(log2(expected))
    assert wide["variance"] == pytest.approx((3 * 1 + 5 * 4) / 8) and wide["decisions"] == 8
    assert wide["margin"] == 5 and narrow["margin"] == pytest.approx(10 / sqrt(2)), "of the largest error"
    assert narrow["log2_failure"] == pytest.approx(float(log2_gaussian_tail(10, sqrt(2))) + log2(7))
    assert narrow["log2_failure_bound"] == pytest.approx(float(log2_subgaussian_tail(10, sqrt(2))) + log2(7))
    assert wide["union"] == [{"over": "entries", "count": 8}]


def test_bounds_may_differ_between_classes():
    decision = Decision(10.0, {"entries": [8]}, by_class([[3, 5]]))
    stage = Stage(
        "round", "f", "s", Noise(np.array([[1.0, 2.0]])), Noise(np.array([[1.0, 4.0]]), "bound"), decision=decision
    )
    (entry,) = evaluate([stage], 1)[0]
    expected = 3 * 2.0 ** float(log2_subgaussian_tail(10, 1)) + 5 * 2.0 ** float(log2_subgaussian_tail(10, 2))
    assert entry["log2_failure_bound"] == pytest.approx(log2(expected))
    assert entry["stddev_bound"] == 2 and entry["margin_bound"] == 5


def test_failures_far_below_the_smallest_double_are_numbers():
    for margin in (20.3, 83.2):
        stage = decided([[1.0]], [[4]], threshold=margin)
        (entry,) = evaluate([stage], 1)[0]
        exact = log2(sqrt(2 / np.pi) / margin) - margin**2 / 2 * log2(np.e) + 2
        assert entry["log2_failure"] == pytest.approx(exact, rel=1e-4) and entry["margin"] == margin
    assert entry["log2_failure_bound"] < -4900
    never = evaluate([decided([[0.0]], [[1]])], 1)[0][0]
    validate_stage(never)
    assert json.loads(json.dumps(never))["log2_failure"] < -1e8, "JSON has no infinity"


def test_a_record_is_right_if_every_decision_is():
    stages = [
        Stage("a", "f", "s", Noise(1.0), Noise(1.0), decision=Decision(8.0, {"x": 3, "y": 5})),
        Stage("b", "f", "s", Noise(1e6)),
        Stage("c", "f", "s", Noise(1.0), Noise(4.0), decision=Decision(8.0, {})),
    ]
    (made,) = evaluate(stages, 1)
    assert made[0]["decisions"] == 15 and made[2]["decisions"] == 1
    whole = record_noise(made, -40)
    singles = [2.0 ** s["log2_failure_bound"] for s in made if s["decisions"]]
    assert whole["log2_failure"] == pytest.approx(log2(sum(singles)))
    assert whole["log2_failure_random"] == pytest.approx(float(log2_gaussian_tail(8, 1)) + 4)
    with pytest.raises(ValueError, match="no stage of b takes a decision"):
        record_noise([made[1]], -40)


def test_stages_that_only_some_descriptions_have():
    stage = Stage("a", "f", "s", Noise(np.array([1.0, 2.0, 3.0])), present=np.array([True, False, True]))
    assert [[s["variance"] for s in stages] for stages in evaluate([stage], 3)] == [[1.0], [], [3.0]]


def test_chains_that_contradict_themselves_are_refused():
    one = Stage("a", "f", "s", Noise(1.0))
    with pytest.raises(ValueError, match="different names, not a, a"):
        evaluate([one, one], 1)
    with pytest.raises(ValueError, match="stage a decides, so it must say"):
        evaluate([Stage("a", "f", "s", Noise(1.0), decision=Decision(1.0, {}))], 1)
    with pytest.raises(ValueError, match="need counts alike"):
        evaluate([Stage("a", "f", "s", Noise(np.ones((1, 2))), Noise(1.0), decision=Decision(1.0, {"x": 2}))], 1)
    wrong = Decision(1.0, {"x": 4}, np.array([[1, 2]]))
    with pytest.raises(ValueError, match="do not add up"):
        evaluate([Stage("a", "f", "s", Noise(np.ones((1, 2))), Noise(1.0), decision=wrong)], 1)


# The worked example. The numbers are those of the authors' code: sqrt v ~ 2^32.47 after packing, external products
# 2^27.5, failure of a coefficient before the switch 2^-165, 2^-82 and 2^-40.5 for t = 32, 64 and 128.


@pytest.fixture(scope="module")
def inspire(root):
    """The chain of docs/noise.md, from its text."""
    (code,) = re.findall(r"```python\n(.*?)```", (root / "docs/noise.md").read_text(), re.DOTALL)
    names: dict = {}
    exec(compile(code, "docs/noise.md", "exec"), names)
    return names["chain"]


def inspire_description(degree, rows=1 << 15):
    layout = {"rows": rows, "points": degree, "plain_modulus": 65535, "outputs": 1, "base": 1 << 19, "digits": 3}
    layout |= {"mask_modulus": "268369921", "body_modulus": "2^20"}
    instance = {"name": "query", "dimension": 2048, "modulus": "268369921*249561089", "error_stddev": 6.4}
    return {"protocol": "inspire", "layout": layout, "instances": [instance]}


def test_the_worked_example_gives_the_published_figures(inspire):
    degrees = [32, 64, 128]
    made = evaluate(inspire([inspire_description(t) for t in degrees]), 3)
    assert [s["stage"] for s in made[0]] == ["first_product", "packing", "evaluation", "answer"]
    for stages, degree, failure in zip(made, degrees, (-165, -82, -40.5)):
        by_name = {s["stage"]: s for s in stages}
        assert log2(by_name["packing"]["stddev_bound"]) == pytest.approx(32.47, abs=0.005)
        assert by_name["packing"]["stddev"] == pytest.approx(by_name["packing"]["stddev_bound"], rel=0.01)
        evaluated = by_name["evaluation"]["stddev_bound"]
        assert log2(evaluated / sqrt(degree)) == pytest.approx(32.47, abs=0.005)
        threshold = 268369921 * 249561089 / 65535 / 2
        assert log2_subgaussian_tail(threshold, evaluated) == pytest.approx(failure, abs=0.6)
    # What the final rounding takes: 1/12 against a threshold of 8 units, 2^-71 at t = 64.
    answer = made[1][-1]
    assert answer["threshold"] == pytest.approx(8, rel=1e-4)
    assert answer["log2_failure_bound"] - log2(2048) == pytest.approx(-71, abs=1)
    assert answer["union"] == [{"over": "coefficients", "count": 2048}, {"over": "ciphertexts of a record", "count": 1}]
    assert answer["common_share"] == pytest.approx(0.75, abs=0.01)


def test_the_worked_example_is_one_call_for_many(inspire, monkeypatch):
    monkeypatch.setitem(noise.PROTOCOLS, "inspire", inspire)
    descriptions = [inspire_description(t, rows) for t in (2, 32, 128) for rows in (1 << 12, 1 << 20)]
    together = noise.predict_noise(descriptions)
    assert together == [noise.predict_noise([d])[0] for d in descriptions]
    failures = [n["log2_failure"] for n in together]
    assert failures == sorted(failures), "more products and more rows, more failures"


@pytest.mark.slow
def test_runs_measure_the_stages_of_the_chain(root, measure):
    """Every protocol: a run logs a stage for each decision of its chain, and none that the chain does not have."""
    protocols = {p["protocol"] for p in map(tomllib.loads, (f.read_text() for f in root.glob("params/*/*.toml")))}
    assert protocols == set(noise.PROTOCOLS), "a protocol with parameter sets has a chain"
    for protocol in sorted(protocols):
        # The first of DEPIR's takes 216 GiB, those of the others many seconds for an answer.
        only = dict.fromkeys(("pirouette", "pirouette_h", "trespire"), "smoke") | {"depir": "short-n8192"}
        parameters = sorted(root.glob(f"params/{protocol}/{only.get(protocol, '*')}.toml"))[0]
        # Selections of one row and empty polynomials have no noise; 64 cells of Pirouette are 16 rows or more.
        shape = (
            ("8192", "2048")
            if protocol.startswith(("cwpir", "onionpir", "pirouette", "spiral", "trespire"))
            else ("1000", "8")
        )
        shape = ("330", "16") if protocol == "depir" else shape
        options = ["--records", shape[0], "--record-bits", shape[1], "--seed", "1", "--repetitions", "2"]
        # Stages of few values are held over many keys by tests/binary/test_pooled_noise.py.
        record = measure(parameters, *options, "--noise-seconds", "5" if VERIFY else "1")
        (prediction,) = predict.predict([record["description"]], security="recorded")
        validate(prediction, "prediction")
        stages = {s["stage"]: s for s in prediction["noise"]["stages"]}
        measured = {s["stage"]: s for s in record["noise"]}
        assert set(measured) <= set(stages), protocol
        # What fails without an error, such as a hash without room, has no threshold and is not logged.
        assert {name for name, s in stages.items() if s["threshold"] is not None} <= set(measured), protocol
        for name, s in ((name, s) for name, s in measured.items() if stages[name]["decisions"]):
            assert s["threshold"] == pytest.approx(stages[name]["threshold"]), (protocol, name)
        assert all(t.within for t in compare(prediction, record) if t.quantity.startswith("noise")), protocol
