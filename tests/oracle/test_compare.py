"""Predictions held against measurements."""

import copy

import numpy as np
import pytest
from pirlab_estimator import cost, predict
from pirlab_estimator.compare import _independent_samples, compare
from pirlab_estimator.describe import describe
from scipy.stats import chi2, norm


def measured_run(description):
    """A run record that agrees with the description."""
    peak = description["memory"]["peak_bytes"]
    return {
        "status": "ok",
        "database": {"source": "seeded:00"},
        "machine": {"cpu": "this", "read_bandwidth": [2.9e10, 3.1e10]},
        "description": description,
        "transcript": copy.deepcopy(description["messages"]),
        "memory": {"peak_bytes": peak, "peak_anonymous_bytes": peak // 2},
        "noise": [],
        "phases": [
            {"name": "answer", "group": "online", "seconds": [3.0, 1.0, 2.0]},
            {"name": "keygen", "seconds": []},
        ],
    }


@pytest.fixture(scope="module")
def described(root, binary):
    """A description and its prediction."""
    path = str(root / "params/simplepir/usenix23.toml")
    (description,) = describe([{"id": "x", "parameters": path, "records": 1 << 16, "record_bits": 64}])
    unit_costs = cost.UnitCosts.load(cost.DEFAULTS)
    (prediction,) = predict.predict([description], security="recorded", unit_costs=unit_costs)
    return description, prediction


@pytest.fixture
def pair(described):
    """A description's prediction and a run that agrees with it."""
    description, prediction = copy.deepcopy(described)
    record = measured_run(description)
    stage = prediction["noise"]["stages"][0]
    noise = {"stage": "answer", "samples": 1 << 14, "keys": 200, "stddev": stage["stddev"]}
    record["noise"] = [noise]
    prediction["noise"]["stages"][0]["common_share"] = 0.0
    prediction["unit_costs"] = {"machine": "this", "read_bandwidth": 3e10}
    prediction["seconds"]["answer"] = 2.0
    return prediction, record


def by_quantity(pair):
    return {row.quantity: row for row in compare(*pair)}


def test_agreement(pair):
    rows = by_quantity(pair)
    assert {"payload offline hint", "payload query query", "payload answer answer"} <= set(rows)
    assert {"peak memory", "noise stddev answer", "seconds answer"} <= set(rows)
    assert all(row.within for row in rows.values())
    assert rows["seconds answer"].measured == 2.0, "the median"
    assert rows["peak memory"].ratio == pytest.approx(1, abs=1e-6)


def test_one_byte_is_a_contradiction(pair):
    pair[1]["transcript"][0]["payload_bytes"] += 1
    assert by_quantity(pair)["payload offline hint"].within is False
    del pair[1]["transcript"][0]
    assert by_quantity(pair)["payload offline hint"].within is False
    pair[1]["transcript"].append({"name": "surprise", "phase": "query", "payload_bytes": 1})
    assert by_quantity(pair)["payload query surprise"].within is False


@pytest.mark.parametrize(("factor", "within"), [(1.09, True), (0.91, True), (1.11, False), (0.89, False)])
def test_memory_within_a_tenth(pair, factor, within):
    memory = pair[1]["memory"]
    memory["peak_bytes"] = int(pair[0]["peak_bytes"] * factor)
    assert by_quantity(pair)["peak memory"].within is within
    pair[1]["database"]["source"] = "mmap:x"
    memory["peak_bytes"], memory["peak_anonymous_bytes"] = 1 << 50, memory["peak_bytes"]
    assert by_quantity(pair)["peak memory"].within is within, "a mapped file is not the process's own memory"


def test_tables_are_exact(pair):
    """Where the run says what the server kept; a streamed one does not."""
    described = pair[1]["description"]["memory"]["server"]
    names = {f"table {table['name']}" for table in described if table["bytes"]}
    assert names and not names & set(by_quantity(pair))
    pair[1]["memory"]["server"] = copy.deepcopy(described)
    assert all(by_quantity(pair)[name].within for name in names)
    kept = next(table for table in pair[1]["memory"]["server"] if table["bytes"])
    kept["bytes"] += 1
    assert by_quantity(pair)[f"table {kept['name']}"].within is False
    kept["name"] = "surprise"
    assert by_quantity(pair)["table surprise"].within is False


@pytest.mark.parametrize(("predicted", "within"), [(1.61, True), (2.66, True), (1.59, False), (2.67, False)])
def test_answers_within_a_quarter(pair, predicted, within):
    pair[0]["seconds"]["answer"] = predicted
    row = by_quantity(pair)["seconds answer"]
    assert (row.within, row.tolerance, row.note) == (within, "25%", "")
    assert by_quantity(pair).keys() >= {"seconds answer"}
    pair[1]["phases"].append({"name": "query", "group": "online", "seconds": [1e9]})
    row = by_quantity(pair)["seconds query"]
    assert (row.within, row.tolerance) == (None, "for information")


def test_seconds_on_several_threads_give_no_verdict(pair):
    pair[0]["seconds"]["answer"] = 20.0
    pair[1]["threads"] = 2
    row = by_quantity(pair)["seconds answer"]
    assert (row.within, row.note) == (None, "predicted for one thread, run on 2")


def test_seconds_of_another_machine_give_no_verdict(pair):
    pair[0]["seconds"]["answer"] = 20.0
    pair[1]["machine"]["cpu"] = "that"
    row = by_quantity(pair)["seconds answer"]
    assert (row.within, row.note) == (None, "unit costs of another machine: this")
    pair[1]["machine"] |= {"cpu": "this", "read_bandwidth": [2.9e10, 1.5e10]}
    row = by_quantity(pair)["seconds answer"]
    assert (row.within, row.note) == (None, "it read 22.0 GB/s when it ran, 30.0 when it was calibrated")
    for known in ([], [2.9e10]):
        pair[1]["machine"]["read_bandwidth"] = known
        assert by_quantity(pair)["seconds answer"].within is False


@pytest.mark.parametrize(("variance", "within"), [(17.1, False), (16.9, True), (15.1, True), (14.9, False)])
def test_noise_variance_within_a_sixteenth(pair, variance, within):
    stage = pair[0]["noise"]["stages"][0]
    pair[1]["noise"][0]["stddev"] = stage["stddev"] * (variance / 16) ** 0.5
    row = by_quantity(pair)["noise stddev answer"]
    assert (row.within, row.note) == (within, "")
    assert row.tolerance == "variance within 1/16, below the bound"


def test_noise_of_other_data_is_held_against_the_bound_only(pair):
    stage = pair[0]["noise"]["stages"][0]
    pair[1]["database"]["source"] = "file:x"
    sampling = float(chi2.isf(norm.sf(4), 200)) / 200 - 1  # all decisions of one of the 200 keys may be the same one
    for variance, within in ((0.01, True), (1, True), (1 + 0.99 * sampling, True), (1 + 1.01 * sampling, False)):
        pair[1]["noise"][0]["stddev"] = stage["stddev_bound"] * variance**0.5
        assert by_quantity(pair)["noise stddev answer"].within is within


@pytest.mark.parametrize("byte", ["00", "ff"])
def test_noise_of_constant_data_is_that_of_its_entries(pair, byte):
    """All decisions of one of the 200 keys may be the same one. Over zeros, the worst data, the bound has no 1/16."""
    variance = pair[0]["noise"]["stages"][0]["constant_variance"][byte]
    pair[1]["database"]["source"] = f"constant:{byte}"
    sampling = float(chi2.isf(norm.sf(4), 200)) / 200 - 1
    most = min(1 + 1 / 16 + sampling, (1 + sampling) * pair[0]["noise"]["stages"][0]["stddev_bound"] ** 2 / variance)
    for share, within in ((1, True), (0.99 * most, True), (1.01 * most, False), (0.5, False)):
        pair[1]["noise"][0]["stddev"] = (variance * share) ** 0.5
        assert by_quantity(pair)["noise stddev answer"].within is within
    assert by_quantity(pair)["noise stddev answer"].predicted == pytest.approx(variance**0.5)


def test_a_bound_has_no_slack_beyond_sampling_error(pair):
    stage = pair[0]["noise"]["stages"][0]
    stage |= {"kind": "bound", "stddev": stage["stddev"] / 2, "stddev_bound": stage["stddev"]}
    independent = 1 / (1 / 2**14 + 1 / (200 * stage["terms"]) + 1 / (2 * stage["data_values"]))
    sampling = float(chi2.isf(norm.sf(4), independent)) / independent - 1
    for variance, within in ((0.1, True), (1, True), (1 + 0.99 * sampling, True), (1 + 1.01 * sampling, False)):
        pair[1]["noise"][0]["stddev"] = stage["stddev_bound"] * variance**0.5
        assert by_quantity(pair)["noise stddev answer"].within is within


def test_few_samples_widen_the_tolerance(pair):
    pair[1]["noise"][0] |= {"samples": 50, "stddev": pair[0]["noise"]["stages"][0]["stddev"] * 1.25}
    row = by_quantity(pair)["noise stddev answer"]
    assert row.within is True and "1/16 + sampling error -61.0% to 100.7%" in row.tolerance, (
        "chi-square at four deviations"
    )
    assert (row.note, row.verdict) == ("few samples: 50", "too few to tell")
    pair[1]["noise"][0]["stddev"] = pair[0]["noise"]["stages"][0]["stddev"]
    row = by_quantity(pair)["noise stddev answer"]
    assert (row.ratio, row.verdict) == (1, "too few to tell"), "right by chance as much as by law"
    pair[1]["noise"][0]["stddev"] *= 1.5
    assert by_quantity(pair)["noise stddev answer"].verdict == "DIFFERS", "beyond what fifty samples allow"
    pair[1]["noise"][0]["stddev"] /= 1.5
    pair[1]["noise"][0] |= {"samples": 1 << 15, "keys": 19}
    assert by_quantity(pair)["noise stddev answer"].note == "few keys: 19"
    pair[0]["noise"]["stages"][0]["common_share"] = 1.0
    row = by_quantity(pair)["noise stddev answer"]
    assert "sampling error -82.0% to 184.8%" in row.tolerance, "a common error is one sample a key"


@pytest.mark.parametrize(("samples", "verdict"), [(8000, "too few to tell"), (9000, "agrees")])
def test_agreement_needs_a_sampling_error_within_the_tolerance(pair, samples, verdict):
    """Four standard errors of a mean square are 1/16 of it at some 8500 independent samples, by chi-square's tail."""
    stage = pair[0]["noise"]["stages"][0]
    stage |= {"terms": None, "data_values": None, "common_share": 0.0}
    pair[1]["noise"][0] |= {"samples": samples, "keys": 1, "stddev": stage["stddev"]}
    assert by_quantity(pair)["noise stddev answer"].verdict == verdict
    assert (float(chi2.isf(norm.sf(4), samples)) / samples - 1 <= 1 / 16) == (verdict == "agrees")


@pytest.mark.parametrize(("share", "verdict"), [(0.2, "agrees"), (0.8, "too few to tell"), (1.6, "DIFFERS")])
def test_below_a_bound_few_samples_tell_what_is_far_from_it(pair, share, verdict):
    """Two hundred samples: the true variance is at most 1.6 times the measured one."""
    stage = pair[0]["noise"]["stages"][0]
    stage |= {"kind": "bound", "terms": None, "data_values": None, "common_share": 0.0}
    pair[1]["noise"][0] |= {"samples": 200, "keys": 20, "stddev": stage["stddev_bound"] * share**0.5}
    assert by_quantity(pair)["noise stddev answer"].verdict == verdict


def test_the_sampling_error_of_shared_errors_and_data_is_that_of_a_simulation():
    """Random data times one error vector a key, measured on all rows: how a run's mean square varies."""
    rng = np.random.default_rng(5)
    keys, rows, terms, runs = 20, 24, 30, 4000
    measured = []
    for _ in range(runs):
        data = rng.uniform(-1, 1, (rows, terms))
        measured.append(np.mean((data @ rng.normal(size=(terms, keys))) ** 2) / (terms / 3))
    stage = {"terms": terms, "data_values": rows * terms, "common_share": 0.0, "common_samples": 1}
    independent = _independent_samples(stage, rows * keys, keys, random_data=True)
    assert np.mean(measured) == pytest.approx(1, abs=0.01)
    assert np.var(measured) == pytest.approx(2 / independent, rel=0.15)


def test_no_sample_has_no_verdict_and_one_has_finite_bounds(pair):
    pair[1]["noise"][0] |= {"samples": 0, "keys": 0, "stddev": 0.0}
    row = by_quantity(pair)["noise stddev answer"]
    assert (row.within, row.verdict, row.tolerance, row.ratio) == (None, "shown", "nothing was measured", None)
    pair[1]["noise"][0] |= {"samples": 1, "keys": 1, "stddev": pair[0]["noise"]["stages"][0]["stddev"]}
    row = by_quantity(pair)["noise stddev answer"]
    assert row.within and not any(word in row.tolerance for word in ("nan", "inf"))
    failed = {"status": "ok", "measured": {"noise": {}, "times": {}, "failures": {"s": {"trials": 0, "failures": 0}}}}
    (row,) = compare({"primitive": "failure", "noise": {"stages": []}}, failed)
    assert (row.quantity, row.within, row.tolerance) == ("failure rate s", None, "nothing was measured")


def test_an_unknown_stage_is_a_contradiction_and_a_skipped_run_is_not(pair):
    pair[1]["noise"][0]["stage"] = "third_layer"
    assert by_quantity(pair)["noise stddev third_layer"].within is False
    assert compare(pair[0], {"status": "skipped_memory"}) == []
