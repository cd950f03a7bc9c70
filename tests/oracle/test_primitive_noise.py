"""Predictions of primitives from their descriptions, and records held against them."""

import copy

import numpy as np
import pytest
from pirlab_estimator import predict
from pirlab_estimator.compare import compare
from pirlab_estimator.cost import UnitCosts
from pirlab_estimator.cost.primitive import described_times
from pirlab_estimator.cost.units import DEFAULTS
from pirlab_estimator.noise.primitive import OPERATIONS
from validated import validate

COMMON = {"n": 64, "modulus": "268369921*249561089", "secret": "ternary", "stddev": 3.2, "keys": 20, "samples": 16384}
GADGET = {"family": "balanced", "base": 256, "dropped": 0}
SETTINGS = {
    "fresh": {},
    "add": {"terms": 3},
    "plaintext-product": {"plain_modulus": 16, "plain_digits": "unsigned"},
    "monomial-product": {"exponent": 7},
    "sample-extraction": {},
    "gadget-product": GADGET | {"message": "ternary"},
    "external-product": GADGET | {"message": "one"},
    "cmux": GADGET | {"bit": "random", "dropped": 1},
    "lwe-key-switch": GADGET | {"dimension_from": 300, "dimension_to": 200, "modulus": "2^32", "input_stddev": 100.0},
    "rlwe-key-switch": GADGET,
    "automorphism": GADGET | {"exponent": 5},
    "ring-switch": GADGET | {"n_to": 16},
    "trace": GADGET | {"subring": 4},
    "expansion": GADGET | {"depth": 3},
    "modulus-switch": {"to_modulus": "65536"},
    "compensated-modulus-switch": {
        "dimension": 240,
        "modulus": "2^20",
        "to_modulus": "4096",
        "secret": "binary",
        "stddev": 256.0,
    },
    "split-modulus-switch": {"to_modulus_a": "1048576", "to_modulus_b": "256"},
}


def description(operation, primitive="noise", **settings):
    """As `pirlab primitive describe` writes it."""
    return {
        "schema": "pirlab/primitive-description/1",
        "id": operation,
        "primitive": primitive,
        "settings": COMMON | SETTINGS.get(operation, {}) | {"operation": operation} | settings,
        "counts": {},
        "predicted_seconds": 0.25,
        "peak_bytes": 1 << 20,
    }


def chain(**settings):
    defaults = GADGET | {"lengths": [1, 10, 100], "input": "rotate", "selectors": "fresh"}
    return description("chain", "cmux-chain", **(defaults | settings))


def variances(prediction):
    return {s["stage"]: s["variance"] for s in prediction["noise"]["stages"]}


def record(prediction, factor=1.0, samples=1 << 14, keys=100):
    """A record whose noise is the prediction's, times a factor."""
    noise = {
        stage: {"samples": samples, "keys": keys, "mean": 0.0, "variance": factor * variance, "max": 1.0}
        for stage, variance in variances(prediction).items()
    }
    times = {"noise": {"unit": "s", "per": 4, "samples": [0.05, 0.06, 0.07]}}
    return {
        "kind": "primitive",
        "status": "ok",
        "measured": {"noise": noise, "times": times, "values": {}, "counts": {}, "correct": {}},
    }


def test_every_operation_is_predicted_and_valid():
    assert set(SETTINGS) == set(OPERATIONS)
    costs = UnitCosts.load(DEFAULTS)
    records = predict.predict([description(name) for name in OPERATIONS] + [chain()], unit_costs=costs)
    for made in records:
        validate(made, "primitive-prediction")
        assert made["noise"]["stages"] and made["seconds"] == {"repetition": 0.25, "total": 0.25}
    stages = {made["id"]: variances(made) for made in records}
    assert stages["fresh"] == {"output": pytest.approx(10.24)}
    assert stages["add"] == {"output": pytest.approx(30.72)}
    assert stages["plaintext-product"] == {"output": pytest.approx(64 * 10.24 * 15 * 31 / 6)}
    assert stages["external-product"]["output"] - stages["external-product"]["added"] == pytest.approx(10.24, rel=1e-3)
    assert stages["modulus-switch"]["added"] == pytest.approx((1 + 64 * 2 / 3) / 12)
    assert stages["split-modulus-switch"]["added"] == pytest.approx(1 / 12, rel=1e-4)
    assert stages["compensated-modulus-switch"] == {"added": pytest.approx(61 / 12), "output": pytest.approx(73 / 12)}
    added = stages["rlwe-key-switch"]["added"]
    assert stages["automorphism"]["added"] == stages["ring-switch"]["added"] == added
    assert stages["trace"] == {
        "output": pytest.approx(15 * added + 10.24 / 16),
        "kept": pytest.approx(85 * added + 10.24),
        "added": pytest.approx(15 * added),
        "added-kept": pytest.approx(85 * added),
    }
    assert stages["expansion"]["added-kept"] == pytest.approx(21 * added)
    assert list(stages["chain"]) == ["after-1", "after-10", "after-100"]


def test_ring_switches_with_split_moduli():
    """With a small modulus all parts show: two roundings and the key switch at q_a, one rounding at q_b, the input."""
    settings = {"n_to": 16, "to_modulus_a": "12289", "to_modulus_b": "4096", "small_secret": "gaussian"}
    settings |= {"small_secret_stddev": 110.0, "switch_base": 2, "switch_stddev": 0.5, "modulus": "2^28"}

    def stages(**more):
        return variances(predict.predict([description("x", "ring-switch", **(settings | more))])[0])

    quiet, ratio = stages(), (4096 / 12289) ** 2
    loud = stages(stddev=16000.0)
    assert loud["added"] == quiet["added"]
    assert loud["output"] - loud["added"] == pytest.approx((16000 / 2**16) ** 2)
    twice = stages(switch_stddev=1.0)
    keys = (twice["added"] - quiet["added"]) / 3
    assert quiet["added"] - keys == pytest.approx(1 / 12 + ratio * (1 + 64 * 2 / 3) / 12, rel=1e-3)
    # Symmetric bits of 14-bit residues: about half of them are one.
    assert 5 < keys / (ratio * 64 * 0.25) < 8
    assert stages(small_secret_stddev=1.0) == quiet, "masks are not rounded again"


def test_chains_grow_as_their_digits_repeat():
    def growth(**settings):
        after = variances(predict.predict([chain(**settings)])[0])
        return after["after-100"] / after["after-1"]

    for family in ("balanced", "zy22"):
        assert growth(family=family) == pytest.approx(100, rel=1e-3)
    constant = {"input": "constant", "selectors": "one"}
    assert growth(family="balanced", **constant) == pytest.approx(10000)
    assert growth(family="zy22", **constant) == pytest.approx(100)
    assert 100 < growth(family="jlp24", **constant) < 2600
    assert growth(family="balanced", input="constant") == pytest.approx(100)
    stages = predict.predict([chain(family="jlp24", **constant)])[0]["noise"]["stages"]
    shares = [s["common_share"] for s in stages]
    assert 0 < shares[0] < 0.3 and shares[0] < shares[1] < shares[2] and 0.9 < shares[2] < 1


def test_primitives_without_noise_and_protocols_in_one_call():
    made = predict.predict([description("x", "decompose"), description("fresh")])
    assert made[0]["noise"]["stages"] == [] and made[1]["noise"]["stages"]
    validate(made[0], "primitive-prediction")


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (
            description("multiply"),
            "primitive noise, row multiply: setting `operation` is 'multiply', not one of 'fresh'",
        ),
        (description("cmux", secret="uniform"), "setting `secret`"),
        (description("external-product", message="two"), "setting `message`"),
        (description("external-product", family="signed"), "'signed' is not one of"),
        (description("gadget-product", dropped=9), "must leave a digit"),
        (description("cmux", bit=2), "setting `bit` is 2"),
        (chain(selectors="both"), "primitive cmux-chain, row chain: setting `selectors`"),
        (description("modulus-switch", modulus="2**5"), "neither a number nor a power"),
    ],
)
def test_settings_that_cannot_be_predicted_are_named(made, words):
    with pytest.raises(ValueError, match=words):
        predict.predict([made])


def test_a_missing_setting_is_named():
    made = description("expansion")
    del made["settings"]["depth"]
    with pytest.raises(ValueError, match="setting `depth` is missing"):
        predict.predict([made])


def test_defaults_of_the_binary():
    absent = {"add": "terms", "cmux": "bit", "trace": "subring", "external-product": "dropped"}
    present = {"add": 2, "cmux": "random", "trace": 1, "external-product": 0}
    for operation, key in absent.items():
        given, without = (description(operation, **{key: present[operation]}) for _ in range(2))
        del without["settings"][key]
        assert variances(predict.predict([given])[0]) == variances(predict.predict([without])[0])


def test_records_agree_within_a_sixteenth():
    made = predict.predict([description("expansion")])[0]
    good = compare(made, record(made))
    assert [t.within for t in good] == [True] * 4
    assert good[0].quantity == "noise stddev output" and good[0].ratio == pytest.approx(1)
    assert all(t.within for t in compare(made, record(made, 1.06))[:4])
    assert not any(t.within for t in compare(made, record(made, 1.07))[:4])
    assert not any(t.within for t in compare(made, record(made, 0.93))[:4])
    assert compare(made, record(made) | {"status": "failed"}) == []


def test_few_samples_are_said_and_allowed_for():
    made = predict.predict([description("external-product")])[0]
    few = compare(made, record(made, 1.2, samples=1000, keys=5))[0]
    assert few.within and few.note == "few samples: 1000" and "sampling error" in few.tolerance
    assert not compare(made, record(made, 1.4, samples=1000, keys=5))[0].within


def test_digits_with_means_need_more_keys():
    made = predict.predict([description("external-product", family="unsigned")])[0]
    assert made["noise"]["stages"][0]["common_share"] == pytest.approx(0.75, abs=0.01)
    assert compare(made, record(made, 1.1, keys=20))[0].note == "few keys: 20"
    enough = compare(made, record(made, 1.1, keys=100))[0]
    assert enough.within and enough.note == "" and "sampling error" in enough.tolerance
    balanced = predict.predict([description("external-product")])[0]
    assert balanced["noise"]["stages"][0]["common_share"] < 1e-4


def test_bounds_and_unknown_stages():
    made = predict.predict([description("external-product")])[0]
    bound = copy.deepcopy(made)
    for stage in bound["noise"]["stages"]:
        stage["kind"] = "bound"
    assert all(t.within for t in compare(bound, record(made, 0.1))[:2])
    assert not any(t.within for t in compare(bound, record(made, 1.07))[:2])
    del bound["noise"]["stages"][0]
    unknown = compare(bound, record(made))[0]
    assert unknown.within is False and unknown.tolerance == "stage unknown"


def packing(**settings):
    defaults = {
        "n": 2048,
        "gamma": 2048,
        "family": "unsigned",
        "base": 1 << 19,
        "stddev": 6.4,
        "secret": "fixed-weight",
        "ciphertexts": 4096,
        "plain_modulus": 1 << 15,
    }
    return description("packing", "packing", **(defaults | {"secret_weight": 512} | settings))


def test_packings_have_the_published_noise():
    """Standard deviations of facts and paper: InspiRING 2^32.47, 2^31.47 with balanced digits."""

    def bits(**settings):
        return np.log2(variances(predict.predict([packing(**settings)])[0])["packed"]) / 2

    assert bits(method="inspiring") == pytest.approx(32.47, abs=0.02)
    assert bits(method="inspiring", family="balanced") == pytest.approx(31.47, abs=0.02)
    assert bits(method="inspiring-online", gamma=512) == pytest.approx(31.47, abs=0.02)
    assert bits(method="cdks") == pytest.approx(bits(method="cdks-preprocessed"))
    # n^2/3 switches instead of n.
    assert bits(method="cdks") - bits(method="inspiring") == pytest.approx(np.log2(2048 / 3) / 2, abs=0.01)
    # The lowest of three digits dropped: two thirds of the noise, and that of the rounding hardly shows.
    assert bits(method="inspiring", dropped=1) < bits(method="inspiring")
    with pytest.raises(ValueError, match="primitive packing, row packing: setting `method`"):
        predict.predict([packing(method="hintless")])


def test_packings_have_security_and_a_failure_bound():
    """Keys are what an attacker sees: the figures of the lattice estimator for the ring and either secret."""
    gaussian = packing(method="inspiring", secret="gaussian", secret_stddev=6.4)
    small = {"n": 1024, "gamma": 1024, "modulus": "1073479681", "base": 16, "plain_modulus": 64}
    descriptions = [packing(method="inspiring"), gaussian, packing(method="cdks"), packing(method="inspiring", **small)]
    made = predict.predict(descriptions, security="recorded")
    for each in made:
        validate(each, "primitive-prediction")
        assert [entry["instance"] for entry in each["security"]] == ["packing_keys"]
    assert [round(each["security_bits"], 1) for each in made] == [121.3, 131.5, 121.3, 116.5]
    # q/(2p) is 7.3 of CDKS's standard deviations: 2 exp(-(t/s)^2/2) a message, 4096 of them.
    cdks = next(stage for stage in made[2]["noise"]["stages"] if stage["stage"] == "decision")
    threshold = 268369921 * 249561089 / 2**16
    stddev = np.sqrt(variances(made[2])["packed"])
    expected = 1 - (threshold / stddev) ** 2 / 2 / np.log(2) + 12
    assert cdks["threshold"] == pytest.approx(threshold) and cdks["decisions"] == 4096
    assert made[2]["noise"]["log2_failure"] == pytest.approx(expected) and expected > -40
    assert all(each["noise"]["log2_failure"] < -1000 for each in (made[0], made[1], made[3]))
    [other] = predict.predict([description("fresh")])
    assert other["security"] == [] and "security_bits" not in other and list(other["noise"]) == ["stages"]


def rotations(together):
    made = description("blind-rotation", "rotation", n=2048, prime_bits=[28, 28], together=together, form="joint")
    counts = {"rotations": 1.0, "forward_ntts": 7680.0, "inverse_ntts": 1536.0, "expanded_key_bytes": 3e8}
    return made | {"counts": counts}


def test_times_are_of_one_call_and_of_what_is_counted():
    """Budgeted repetitions make keys and measure errors: no record's times may be held against them."""
    units = UnitCosts({"ntt_2048_28": 1e-6, "key_bytes": 1e-11}, "m")
    found = described_times(rotations(2), units)
    counted = "transforms and reading the key"
    assert found == {"operation": {"seconds": pytest.approx(2 * 9216e-6 + 3e-3), "counted": counted}}
    assert described_times(rotations(2) | {"counts": {"rotations": 0.0}}, units) == {}
    assert described_times(description("fresh"), units) == {}
    made = predict.predict([description("fresh")])[0] | {"times": found, "unit_costs": units.origin()}
    measured = record(made)
    measured["measured"]["times"] = {"operation": {"unit": "s", "per": 32, "samples": [0.04, 0.05, 0.06]}}
    measured["machine"] = {"cpu": "m", "read_bandwidth": []}
    (seconds,) = (twin for twin in compare(made, measured) if twin.unit == "s")
    assert (seconds.measured, seconds.within, seconds.note) == (0.05, None, f"{counted} only")
