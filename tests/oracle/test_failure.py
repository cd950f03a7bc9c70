"""Predicted failure rates against simulation, records held against them, and the figure and table of both."""

import copy
import itertools
import json

import numpy as np
import pandas as pd
import pytest
import synthetic_parts
from pirlab_estimator import predict
from pirlab_estimator.compare import compare, failure_band
from pirlab_estimator.noise.error import Noise
from pirlab_estimator.noise.primitive_failure import FloorInputs, _first_alone
from pirlab_figures.lib import primitive as primitives
from pirlab_figures.pirouette import failure, failure_plot
from validated import validate

COMMON = {"n": 1024, "modulus": "268369921*249561089", "dimension": 256, "form": "joint", "family": "balanced"}
COMMON |= {"secret": "ternary", "stddev": 3.2, "rotation_base": 1 << 19, "trials": 1024, "batch": 16}
RGSW = {"decision": "rgsw", "limit": 32, "input_modulus": "1048576", "input_stddev": 8715.0, "trace_base": 256}
DIGITS = {"limit": 64, "low": 14, "digit_bits": 4, "switch_modulus": "1048576", "switch_base": 16}
BITS = DIGITS | {"decision": "bits", "digits": 1, "switch_stddev": 3.2, "input_stddev": 2811.0}
FLOOR = DIGITS | {"decision": "floor", "digits": 2, "switch_stddev": 3.2, "input_stddev": 2801.0}
DIGIT = DIGITS | {"decision": "digit", "digits": 3, "switch_stddev": 31.3, "input_stddev": 3.2}
EXPECTED = {"rgsw": -4, "bits": -8, "floor": -8, "digit": -8}


def description(settings):
    return {
        "schema": "pirlab/primitive-description/1",
        "id": f"all/{settings['decision']}",
        "primitive": "failure",
        "settings": COMMON | settings,
        "counts": {},
        "predicted_seconds": 1.0,
        "peak_bytes": 1 << 20,
    }


def predicted(settings):
    [made] = predict.predict([description(settings)])
    validate(made, "primitive-prediction")
    return made, {stage["stage"]: stage for stage in made["noise"]["stages"]}


@pytest.mark.parametrize("settings", [RGSW, BITS, FLOOR, DIGIT], ids=lambda s: s["decision"])
def test_rates_are_the_experiments(settings):
    _, stages = predicted(settings)
    assert stages["decision"]["log2_failure"] == pytest.approx(EXPECTED[settings["decision"]], abs=0.02)


def test_the_input_of_a_conversion_by_simulation():
    """Rounding to 2n with the mean taken off, of a binary key, in numpy."""
    rng = np.random.default_rng(1)
    n, dimension, q, trials = 1024, 64, 1 << 20, 20000
    ratio = q // (2 * n)
    a = rng.integers(0, q, (trials, dimension))
    z = rng.integers(0, 2, (trials, dimension))
    fresh = rng.normal(0, 3000.0, trials)
    rounded = (2 * a + ratio) // (2 * ratio)
    off = rounded * ratio - a
    body = np.round((np.sum(a * z, axis=1) + fresh + off.sum(axis=1) / 2) / ratio)
    errors = body - np.sum(rounded * z, axis=1)
    _, stages = predicted(RGSW | {"dimension": dimension, "input_stddev": 3000.0})
    assert np.mean(errors**2) == pytest.approx(stages["input"]["variance"], rel=1 / 16)


def test_rows_of_small_weight_are_not_a_decision():
    """At full size the noise of a row comes near a quarter of the least weight, 4^14: no part of the failure rate."""
    full = {"n": 2048, "modulus": "268369921*67104769", "dimension": 760, "stddev": 5.66, "rotation_base": 2048}
    full |= {"family": "symmetric", "rotation_dropped": 1, "limit": 64, "input_stddev": 8736.0, "trace_base": 16}
    _, stages = predicted(RGSW | full)
    assert stages["row"]["stddev"] == pytest.approx(1.92e7, rel=0.02), "as 2^14 conversions have measured it"
    assert 4**14 / 4 / stages["row"]["stddev"] < 4
    assert stages["decision"]["log2_failure"] == pytest.approx(-4, abs=0.02)
    assert "row" not in predicted(BITS)[1]


@pytest.mark.parametrize("alike", [0.0, 0.5, 0.99])
def test_floors_fail_as_two_rotations_do(alike):
    """A floor of uniform digits, rotation by rotation: which window is read, and what is subtracted."""
    rng = np.random.default_rng(2)
    bits, limit, stddev, trials = 3, 64, 30.0, 400000
    circle, window = 2 * limit << bits, 2 * limit
    message = rng.integers(0, 1 << bits, trials)
    both = rng.normal(0, stddev * alike**0.5, trials)
    first, second = (both + rng.normal(0, stddev * (1 - alike) ** 0.5, trials) for _ in range(2))
    phase = message * window + limit
    upper = np.mod(phase + first, circle) >= circle // 2
    rest = np.mod(phase - upper * (circle // 2) + second, circle)
    half = circle // 2
    read = np.where(rest < half, rest // window, -((rest - half) // window))
    wrong = np.mean(upper * (1 << bits >> 1) + read != message)
    noise = Noise(stddev**2)
    floor = FloorInputs(noise, noise, Noise(stddev**2 * alike))
    rate = np.mean(np.abs(second) >= limit)
    predicted_rate = rate * (1 + _first_alone(floor, limit, bits))
    assert wrong == pytest.approx(predicted_rate, rel=0.05)
    assert predicted_rate > rate * (1.005 if alike > 0.9 else 1.1), "the first rotation shows"


def record(settings, failures, trials=65536, number=0):
    _, stages = predicted(settings)
    noise = {"samples": trials, "keys": 8, "mean": 0.0, "variance": stages["input"]["variance"], "max": 9.0}
    return synthetic_parts.record(
        "failure",
        id=f"{number:032x}",
        experiment="pirouette/failure",
        group="all",
        row=settings["decision"],
        primitive="failure",
        settings=COMMON | settings,
        described={"settings": COMMON | settings, "counts": {}, "predicted_seconds": 1.0, "peak_bytes": 1},
        measured={
            "times": {"trial": {"unit": "s", "per": 8192, "samples": [2e-3, 2e-3]}},
            "values": {},
            "counts": {},
            "noise": {"input": noise},
            "failures": {"decision": {"trials": trials, "failures": failures}},
            "correct": {"compared": trials, "right": trials},
        },
    )


def test_rates_are_compared():
    made, stages = predicted(BITS)
    low, high = failure_band(stages["decision"], 65536, 1 / 16)
    assert low < 2**-8 < high and high / low < 4
    for failures, within in ((256, True), (int(low * 65536) - 2, False), (int(high * 65536) + 2, False), (0, False)):
        [row] = [r for r in compare(made, record(BITS, failures)) if r.quantity == "failure rate decision"]
        assert row.within is within, failures
    few = copy.deepcopy(record(BITS, 0, trials=1024))
    [row] = [r for r in compare(made, few) if r.quantity == "failure rate decision"]
    assert row.within and row.note == "few failures expected"
    # Sampling alone: four deviations of 4 failures are twice that, where a variance 1/16 off makes three tenths.
    few["measured"]["failures"]["decision"]["failures"] = 4
    [row] = [r for r in compare(made, few) if r.quantity == "failure rate decision"]
    assert (row.ratio, row.verdict) == (pytest.approx(1, abs=0.01), "too few to tell")


def test_intervals():
    """Values of the literature: 0 of 100 and 10 of 100."""
    assert failure.interval(0, 100) == pytest.approx((0.0, 0.0362), abs=1e-4)
    assert failure.interval(10, 100) == pytest.approx((0.0490, 0.1762), abs=1e-4)
    assert failure.interval(100, 100)[1] == 1.0


@pytest.fixture
def records(tmp_path):
    shown = [(RGSW, 4096), (BITS, 256), (FLOOR, 900), (DIGIT, 0)]
    folder = tmp_path / "records"
    folder.mkdir()
    for number, (settings, failures) in enumerate(shown):
        (folder / f"{number}.json").write_text(json.dumps(record(settings, failures, number=number)))
    (tmp_path / "predictions.json").write_text(json.dumps([predicted(settings)[0] for settings, _ in shown]))
    return primitives.load([folder], [tmp_path / "predictions.json"])


def test_figure_and_table_show_every_rate(records, tmp_path):
    data = failure.build(records)
    assert list(data["decision"]) == ["rgsw", "floor", "digit", "bits"]
    verdicts = dict(zip(data["decision"], data["verdict"], strict=True))
    assert verdicts == {"rgsw": "agrees", "bits": "agrees", "floor": "DIFFERS", "digit": "DIFFERS"}
    assert "4 rates held against their prediction, 2 differ" in failure.answer(data)
    table = failure.table(records).markdown()
    assert "LWE to RGSW" in table and "DIFFERS" in table and "4096" in table
    drawn = failure_plot.draw(data)
    assert [axes.get_title("left") for axes in drawn.axes] == ["LWE to RGSW", "Floor", "Digits", "Bits of a digit"]
    written = failure_plot.drawing(records).write(tmp_path / "failure")
    assert {path.suffix for path in written} == {".pdf", ".svg", ".png", ".csv", ".rst"}
    assert all(path.stat().st_size for path in written)


def test_rates_of_equal_prediction_stand_side_by_side(records):
    """Few trials, many, and a larger ring, as the three experiments have them."""
    data = failure.build(records)
    one = data[data["decision"] == "rgsw"]
    several = pd.concat([one, one.assign(trials=1 << 20), one.assign(n=2048), one.assign(predicted=2.0**-9)])
    [axes] = failure_plot.draw(several).axes
    markers = [line for line in axes.get_lines() if line.get_marker() == "o"]
    places = [float(line.get_xdata()[0]) for line in markers]
    assert len(places) == 4 and min(b - a for a, b in itertools.pairwise(sorted(places))) > 0.4
    assert [line.get_markerfacecolor() for line in markers].count("white") == 1
    assert max(places) == places[[line.get_markerfacecolor() for line in markers].index("white")]


def test_without_records_the_figure_says_so(tmp_path):
    data = failure.build([])
    assert data.empty and failure.answer(data) == "No failure rate was measured."
    failure_plot.drawing([]).write(tmp_path / "failure")
