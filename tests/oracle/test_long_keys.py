"""Keys that are longer than a bound on failure allows for: how rare they are, and that every bound counts them."""

import copy
from math import erfc, log2, sqrt

import mpmath
import numpy as np
import pytest
from pirlab_estimator.describe import describe
from pirlab_estimator.modulus import parse_modulus
from pirlab_estimator.noise import PROTOCOLS, predict_noise
from pirlab_estimator.noise.ring_setting import KEY_SQUARES
from pirlab_estimator.noise.stage import Stage
from pirlab_estimator.noise.tails import KeyLength, key_union, log2_subgaussian_tail, longest_key
from pirlab_estimator.paths import ROOT
from pirlab_estimator.sets import every_set
from pirlab_figures.lib import marks
from scipy.stats import chi2
from validated import stages, validate

SHAPES = {"small": (1 << 16, 512), "bits": (1 << 24, 1), "long": (1 << 12, 1 << 15), "wide": (1 << 24, 512)}
SETS = {
    "inspire/repaired": ("small", ["switch"]),
    "inspire/signed": ("small", ["switch"]),
    "inspire/approximate with folding.points=64, folding.rows=4096": ("wide", ["switch"]),
    "inspire/approximate": ("wide", ["switch"]),
    "searched/inspire-table4-8gb-n16384/1": ("wide", ["switch"]),
    "searched/inspire2-table3-1gb-gamma64-f2/1": ("wide", ["second_layer", "first_layer"]),
    "inspire2/published": ("small", ["second_layer", "first_layer"]),
    "inspire2/signed": ("small", ["second_layer", "first_layer"]),
    "inspire0/signed-7byte-packed": ("bits", ["second_layer", "first_layer"]),
    "ypir/signed-7byte": ("bits", ["second_layer", "first_layer"]),
    "simpleypir/signed-tight": ("long", ["answer"]),
    "respire/secure-64mb": ("small", ["answer"]),
}


@pytest.fixture(scope="module")
def described(binary):
    rows = [
        {"id": name, "parameters": str(ROOT / f"params/{file}.toml"), "with": changes}
        | {"records": records, "record_bits": bits}
        for name, (shape, _) in SETS.items()
        for file, changes in [every_set()[name]]
        for records, bits in [SHAPES[shape]]
    ]
    return {each["id"]: each for each in describe(rows)}


def log2_longer(length, squares):
    """log2 of the probability that the mean of a number of squares of Gaussians is above a length, exactly."""
    return float(mpmath.log(mpmath.gammainc(squares / 2, squares * length / 2, regularized=True), 2))


@pytest.mark.parametrize("squares", [512.0, 2048.0, 8192.0])
@pytest.mark.parametrize("log2_long_key", [-5.0, -40.0, -150.0, -800.0])
def test_lengths_against_the_exact_law_of_chi_square(squares, log2_long_key):
    exact = log2_longer(float(longest_key(log2_long_key, squares)), squares)
    assert log2_long_key - 8 < exact <= log2_long_key


def law(kind):
    """Values of a key's coefficient and their probabilities."""
    if kind == "gaussian":
        values = np.arange(-60, 61)
        weights = np.exp(-(values**2) / (2 * 3.2**2))
        return values, weights / weights.sum()
    values = {"binary": [0, 1], "ternary": [-1, 0, 1], "uniform_range": range(-7, 8)}[kind]
    return np.array(values), np.full(len(values), 1 / len(values))


@pytest.mark.parametrize("kind", ["gaussian", "binary", "ternary", "uniform_range"])
def test_keys_are_no_longer_than_the_squares_they_are_bounded_by(kind):
    """E exp(c s^2), summed over the coefficient's law, is below that of a mean of that number of Gaussians' squares."""
    values, weights = law(kind)
    squares, mean = KEY_SQUARES.get(kind, 1.0), np.sum(weights * values**2)
    for share in (0.01, 0.1, 0.3, 0.6, 0.9):
        c = share * squares / (2 * mean)
        if kind == "gaussian":
            c = min(c, 0.8 / (2 * 3.2**2))  # beyond, the sum over the law does not end
        bound = (1 - 2 * c * mean / squares) ** (-squares / 2)
        assert np.sum(weights * np.exp(c * values**2)) <= bound * (1 + 1e-9)


def log2_exact(threshold, variance, key, count):
    """log2 of the failure of Gaussian errors: the union under a key, over the length of the key by its density."""
    squares = float(key.squares)
    lengths = np.linspace(0.3, 4.0, 20001)
    density = chi2.pdf(lengths * squares, squares) * squares
    stddevs = np.sqrt(variance * (1 + key.share * (lengths - 1)))
    fails = np.minimum(1.0, count * np.array([erfc(threshold / s / sqrt(2)) for s in stddevs]))
    return log2(np.trapezoid(density * fails, lengths))


@pytest.mark.parametrize(("squares", "share"), [(64.0, 0.5), (512.0, 0.2), (512.0, 0.9), (2048.0, 0.3), (2048.0, 0.01)])
def test_the_bound_is_above_the_exact_failure_and_the_best_of_its_kind(squares, share):
    key, count = KeyLength(share, squares), 2048.0
    found = key_union(np.array([9.0]), np.ones((1, 1)), key, np.full((1, 1), count))
    exact = log2_exact(9.0, 1.0, key, count)
    assert exact < float(found.failure[0])
    assert float(found.long_key[0]) < float(found.failure[0])
    # No other length is better by a bit.
    for log2_long_key in np.arange(-150, -1, 0.5):
        stddev = np.sqrt(key.growth(np.array([log2_long_key])))
        other = np.logaddexp2(log2_subgaussian_tail(9.0, stddev[0, 0]) + log2(count), log2_long_key)
        assert float(found.failure[0]) < other + 1


def test_drawn_keys_and_errors_fail_less_often_than_the_bound():
    rng, samples = np.random.default_rng(2), 400_000
    key = KeyLength(0.6, 16.0)
    lengths = rng.chisquare(16, samples) / 16
    errors = rng.normal(size=(samples, 4)) * np.sqrt(1 + 0.6 * (lengths - 1))[:, None]
    for threshold in (3.0, 4.0, 5.0):
        observed = np.mean(np.any(np.abs(errors) >= threshold, axis=1))
        found = key_union(np.array([threshold]), np.ones((1, 1)), key, np.full((1, 1), 4.0))
        assert observed < 2.0 ** float(found.failure[0])


def test_two_keys_are_two_events_and_a_fixed_weight_is_not_one():
    one, two = (KeyLength(0.5, 2048.0, keys) for keys in (1, 2))
    growth = [key.growth(np.array([-50.0]))[0, 0] for key in (one, two)]
    assert growth[0] < growth[1] == one.growth(np.array([-51.0]))[0, 0]
    fixed = key_union(np.array([9.0]), np.ones((1, 1)), KeyLength(0.5, np.inf), np.full((1, 1), 4.0))
    assert float(fixed.failure[0]) == pytest.approx(2 + float(log2_subgaussian_tail(9.0, 1.0)))
    assert np.isneginf(fixed.long_key[0])


def drops(description):
    """Whether a gadget drops digits, so that more than the mask's rounding meets the key."""
    gadgets = (value for name, value in description["layout"].items() if name.endswith("_gadget"))
    return any(gadget["dropped"] for gadget in gadgets)


def allowed(description, made, name):
    """The squared length of a key, over its mean, with which the bound's deviation is reached: the mask's rounding.

    Of sets that drop no digits."""
    layout, two_layers = description["layout"], description["protocol"] in ("ypir", "inspire0")
    lwe = two_layers and name == "first_layer"
    instance = description["instances"][0 if lwe else -1 if two_layers else 0]
    q = parse_modulus(instance["modulus"])
    if name == "first_layer":
        mask = body = parse_modulus(layout["switched_modulus"])
        before = layout["columns"] * instance["error_stddev"] ** 2 * layout["entry_offset"] ** 2 if lwe else None
    else:
        mask, body, before = parse_modulus(layout["mask_modulus"]), parse_modulus(layout["body_modulus"]), None
    earlier = {"first_layer": "first_packing", "second_layer": "second_packing", "switch": "evaluation"}.get(name)
    earlier = "packing" if two_layers or name == "answer" else earlier
    before = made[earlier]["stddev_bound"] ** 2 if before is None else before
    still = before * (mask / q) ** 2 + (mask / body) ** 2 / 12
    by_key = instance["dimension"] * instance["secret"]["stddev"] ** 2 / 12
    return (made[name]["stddev_bound"] ** 2 - still) / by_key, instance["dimension"]


@pytest.mark.parametrize("name", [name for name in SETS if not name.startswith("respire")])
def test_no_bound_is_below_the_chance_of_a_key_that_is_longer_than_it_allows_for(described, name):
    """By the exact law of the key's length: a bound of 2^-57 may not rest on keys that one in 2^25 exceeds."""
    made = stages(described[name])
    for stage in SETS[name][1] if not drops(described[name]) else []:
        length, dimension = allowed(described[name], made, stage)
        assert length > 1
        assert log2_longer(length, dimension) <= made[stage]["log2_long_key"] <= made[stage]["log2_failure_bound"]
        validate(made[stage], "noise-stage")


def decisions_of(description, length):
    """Decisions of a description whose keys all have `length` times the mean square: one of other secrets."""
    longer = copy.deepcopy(description)
    for instance in longer["instances"]:
        square = {"ternary": 2 / 3}.get(instance["secret"]["kind"]) or instance["secret"]["stddev"] ** 2
        instance["secret"] = {"kind": "gaussian", "stddev": sqrt(length * square)}
    chain = PROTOCOLS[description["protocol"]]([longer])
    return {stage.name: stage for stage in chain if isinstance(stage, Stage) and stage.decision is not None}


@pytest.mark.parametrize("length", [2.0, 3.0])
@pytest.mark.parametrize("name", SETS)
def test_all_that_grows_with_keys_is_counted_wherever_it_meets_them(described, name, length):
    """The bound of descriptions with longer keys, through the whole chain, is what the key's share says it is."""
    before, after = (decisions_of(described[name], each) for each in (1.0, length))
    assert set(before) == set(SETS[name][1])
    for stage, of_mean_key in before.items():
        share = np.asarray(of_mean_key.decision.key.share)
        grown = np.asarray(after[stage].bound.variance) / np.asarray(of_mean_key.bound.variance)
        assert grown == pytest.approx(1 + (length - 1) * share, rel=1e-9)
        assert np.all(share > 0)


@pytest.mark.parametrize(
    "name", ["inspire/approximate with folding.points=64, folding.rows=4096", "inspire/approximate"]
)
def test_the_share_of_dropped_digits_by_hand(described, name):
    """Rounded digits leave an error of b^2 / 12, which meets the key n - 1 times a packing and once a step."""
    description = described[name]
    [instance], layout = description["instances"], description["layout"]
    n, square, degree = instance["dimension"], instance["secret"]["stddev"] ** 2, layout["points"]
    packing, step = (4.0 ** layout[f"{gadget}_gadget"]["base_log2"] / 12 for gadget in ("packing", "rgsw"))
    shrink = (parse_modulus(layout["mask_modulus"]) / parse_modulus(instance["modulus"])) ** 2
    stage = decisions_of(description, 1.0)["switch"]
    by_key = n * square * (1 / 12 + shrink * (degree * (n - 1) * packing + (degree - 1) * step))
    assert float(stage.decision.key.share[0]) == pytest.approx(by_key / float(stage.bound.variance[0]), rel=1e-3)


def test_respire_s_keys_are_two_events(described):
    entry = stages(described["respire/secure-64mb"])["answer"]
    assert entry["log2_long_key"] < entry["log2_failure_bound"] < -40


def test_tables_print_the_part_of_long_keys(described):
    """Of each set's largest stage; sets whose bounds hold for every key are not named, nor rows without prediction."""
    made = {name: predict_noise([described[name]])[0]["stages"] for name in SETS}
    made = {name: found for name, found in made.items() if not name.startswith("params/")}
    rows = [{"protocol": name.split("/")[0], "set": name, "noise_stages": found} for name, found in made.items()]
    text = marks.long_keys([*rows, {"protocol": "inspire", "set": "inspire/x", "noise_stages": float("nan")}])
    for name, found in made.items():
        largest = max(stage["log2_long_key"] for stage in found if stage["log2_long_key"] is not None)
        assert f"{marks.series_name(name.split('/')[0], name)} 2^{largest:.1f}" in text
    fixed = [{**stage, "log2_long_key": None} for stage in made["simpleypir/signed-tight"]]
    assert marks.long_keys([{"protocol": "simpleypir", "set": "x", "noise_stages": fixed}]) == ""
