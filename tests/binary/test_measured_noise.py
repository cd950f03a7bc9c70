"""Formulas of lattice noise against the binary: every operation, small dimension, at least 2^14 samples."""

import json
import subprocess
from pathlib import Path

import pytest
from pirlab_estimator import predict
from pirlab_estimator.compare import ENOUGH_KEYS, ENOUGH_KEYS_IN_COMMON, ENOUGH_SAMPLES, compare
from pirlab_estimator.noise.digits import RANDOMISED, gadget
from tier import VERIFY
from validated import validate

#: Settings of every operation for the binary: small dimension, many coefficients.
RING = {"n": 64, "prime_bits": [28, 28], "secret": "ternary", "stddev": 3.2, "samples": 1 << 14}
DIGITS = {"family": "balanced", "base": 256, "dropped": 0}
LWE = {"dimension_from": 200, "dimension_to": 100, "modulus": "1099511627689", "input_stddev": 50.0}
CHAIN = {"lengths": [1, 8], "input": "rotate", "selectors": "fresh"}
OPERATIONS = [
    ("fresh", {}),
    ("fresh", {"secret": "gaussian", "secret_stddev": 3.2}),
    ("add", {"terms": 5}),
    ("plaintext-product", {"plain_modulus": 16, "plain_digits": "unsigned"}),
    ("plaintext-product", {"plain_modulus": 17, "plain_digits": "balanced"}),
    ("monomial-product", {"exponent": 77}),
    ("sample-extraction", {}),
    ("gadget-product", DIGITS | {"message": "zero"}),
    ("gadget-product", DIGITS | {"message": "ternary", "dropped": 2}),
    ("external-product", DIGITS | {"message": "ternary", "dropped": 2}),
    ("cmux", DIGITS | {"base": 16, "dropped": 4, "bit": 1, "secret": "binary"}),
    ("cmux", DIGITS | {"bit": 0}),
    ("rlwe-key-switch", DIGITS | {"base": 10}),
    ("rlwe-key-switch", DIGITS | {"base": 16, "dropped": 5, "secret": "binary"}),
    ("automorphism", DIGITS | {"exponent": 5, "base": 16, "dropped": 5}),
    ("ring-switch", DIGITS | {"n": 256, "n_to": 64}),
    ("trace", DIGITS | {"subring": 8}),
    ("trace", DIGITS | {"subring": 1, "base": 1 << 14}),
    ("expansion", DIGITS | {"depth": 2}),
    ("expansion", DIGITS | {"depth": 6}),
    ("modulus-switch", {"to_modulus": "65536"}),
    ("modulus-switch", {"to_modulus": "1099511627689", "secret": "binary", "prime_bits": [28, 20], "stddev": 2000.0}),
    ("split-modulus-switch", {"to_modulus_a": "1048573", "to_modulus_b": "4096", "secret": "binary"}),
    (
        "split-modulus-switch",
        {"to_modulus_a": "4096", "to_modulus_b": "256", "secret": "fixed-weight", "secret_weight": 16},
    ),
]
OPERATIONS += [("external-product", DIGITS | {"family": f, "base": 16, "message": "one"}) for f in RANDOMISED]
OPERATIONS += [
    ("external-product", DIGITS | {"family": "unsigned", "base": 16, "message": "one", "dropped": d}) for d in (0, 3)
]
RINGLESS = ("lwe-key-switch", DIGITS | LWE), ("lwe-key-switch", DIGITS | LWE | {"family": "zy22", "base": 32})
COMPENSATED = {"dimension": 200, "modulus": "1048576", "to_modulus": "4096", "secret": "binary", "stddev": 300.0}
RINGLESS += (("compensated-modulus-switch", COMPENSATED),)
CHAINS_RUN = [
    DIGITS | CHAIN,
    DIGITS | CHAIN | {"family": "zy22", "selectors": "one"},
    DIGITS | CHAIN | {"input": "constant"},
    DIGITS | CHAIN | {"input": "constant", "selectors": "one"},
    DIGITS | CHAIN | {"input": "constant", "selectors": "one", "family": "jlp24"},
    DIGITS | CHAIN | {"input": "constant", "selectors": "one", "family": "gmp19"},
]
CONVERSION = {"base": 16, "dropped": 6, "trace_base": 16, "squaring_base": 16, "conversions": 2560}
CONVERSIONS = [
    DIGITS | CONVERSION,
    DIGITS | CONVERSION | {"extraction": "traces"},
    DIGITS | CONVERSION | {"trace_base": 256, "squaring_base": 1 << 20, "secret": "binary", "shared": 3},
    DIGITS | CONVERSION | {"dropped": 0, "family": "zy22"},
]
SELECTOR = {"plain_modulus": 16, "plain_digits": "balanced", "trees": 1280}
SELECTORS = [
    DIGITS | SELECTOR | {"base": 16, "dropped": 5, "bits": 4},
    DIGITS | SELECTOR | {"plain_digits": "unsigned", "bits": 3},
    DIGITS | SELECTOR | {"family": "zy22", "base": 16, "bits": 2, "secret": "binary"},
]
SWITCH = {"n": 256, "prime_bits": [28], "n_to": 64, "to_modulus_b": "4096", "switch_stddev": 3.2, "ciphertexts": 1024}
RING_SWITCHES = [
    SWITCH | {"to_modulus_a": "12289", "switch_base": 2},
    SWITCH | {"to_modulus_a": "16760833", "switch_base": 4, "stddev": 16000.0, "secret": "binary"},
    SWITCH | {"to_modulus_a": "16760833", "switch_base": 2048, "small_secret": "gaussian", "small_secret_stddev": 110},
]
ROTATE = {"stddev": 3.2, "base": 256, "dimension": 60, "form": "cmux", "ciphertexts": 1600, "together": 4}
SMALL = {"switch_modulus": str(1 << 20), "switch_base": 4, "switch_stddev": 3.2, "log_modulus": 56, "low": 46}
ROTATIONS_RUN = [
    DIGITS | ROTATE | {"operation": "blind-rotation"} | s
    for s in (
        {},
        {"form": "joint", "dimension": 61},
        {"small_secret": "ternary"},
        {"small_secret": "ternary", "form": "joint", "dropped": 3},
        {"form": "joint", "dropped": 3},
        {"dropped": 3, "secret": "binary"},
        {"family": "zy22", "form": "joint", "prime_bits": [50]},
    )
]
# The first step of a rotation decomposes half of what others do, for its mask is 0: many steps hide that.
DIGIT_TESTS = ROTATE | SMALL | {"ciphertexts": 1 << 14, "dimension": 48}
ROTATIONS_RUN += [
    DIGITS | DIGIT_TESTS | {"digit_bits": 2, "digits": 3} | s
    for s in (
        {"operation": "to-small", "dimension": 100},
        {"operation": "to-small", "dimension": 100, "small_secret": "ternary", "switch_base": 16, "switch_dropped": 2},
        {"operation": "to-small", "dimension": 100, "secret": "binary", "switch_modulus": "1152921504606846883"},
        {"operation": "floor", "form": "joint", "together": 1},
        {"operation": "floor", "small_secret": "ternary", "digit_bits": 1, "together": 1},
        {"operation": "bits", "form": "joint"},
        {"operation": "bits", "digit_bits": 3, "low": 40},
    )
]


def keys_for(settings):
    """Enough that 1/16 of the variance is four deviations of sampling or more, where a key's errors have a part in
    common: means of unsigned digits, an input that is one number. 100 or more where digits have a mean at all; a chain
    has n samples a key.
    """
    if settings.get("input") == "constant":
        return 6000
    if "trees" in settings:
        return 640
    if "conversions" in settings:
        return 160
    if settings.get("family") == "unsigned":
        return 3200
    return {"jlp21": 800, "balanced": 400, "jlp24": 400}.get(settings.get("family"), 400 if "input" in settings else 40)


def rows_of_the_binary():
    """Rows with the numbers that their seeds are: the first of each operation; all of them in `make verify`."""
    rows = [("noise", RING | s | {"operation": name}) for name, s in OPERATIONS]
    lwe = {k: RING[k] for k in ("secret", "stddev", "samples")}
    rows += [("noise", lwe | s | {"operation": name}) for name, s in RINGLESS]
    chain = {k: v for k, v in RING.items() if k != "samples"}
    rows += [("cmux-chain", chain | s | {"n": 64}) for s in CHAINS_RUN]
    rows += [("rgsw-conversion", chain | s) for s in CONVERSIONS]
    rows += [("selector-tree", chain | s) for s in SELECTORS]
    rows += [("ring-switch", chain | s) for s in RING_SWITCHES]
    rows += [("rotation", chain | s) for s in ROTATIONS_RUN]
    numbered = [(number, name, settings | {"keys": keys_for(settings)}) for number, (name, settings) in enumerate(rows)]
    first = {(name, settings.get("operation")): (number, name, settings) for number, name, settings in numbered[::-1]}
    return numbered if VERIFY else list(first.values())


@pytest.mark.slow
def test_the_binary_has_the_noise_of_the_formulas(binary, tmp_path):
    requests, rows = [], []
    for number, primitive, settings in rows_of_the_binary():
        name = f"{number}-{settings.get('operation', primitive)}"
        requests.append({"id": name, "primitive": primitive, "settings": settings})
        rows.append(requests[-1] | {"repetitions": 1, "seed": f"{number:02x}", "out": str(tmp_path / f"{name}.json")})
    lines = "".join(json.dumps(r) + "\n" for r in requests)
    described = subprocess.run(
        [binary, "primitive", "describe", "--batch"], input=lines, capture_output=True, text=True
    )
    descriptions = [json.loads(line) for line in described.stdout.splitlines()]
    assert not [d for d in descriptions if "error" in d]
    predictions = {p["id"]: p for p in predict.predict(descriptions)}
    for made in predictions.values():
        validate(made, "primitive-prediction")

    for d in descriptions:
        s = d["settings"]
        if "family" in s:
            exact = gadget(s["family"], int(s["modulus"]), s["base"], s["dropped"]).digits
            assert s["length"] == len(exact)
            assert s["digit_mean_squares"] == pytest.approx([float(x.square) for x in exact], rel=1e-9)
            assert s["digit_means"] == pytest.approx([float(x.mean) for x in exact], rel=1e-9, abs=1e-9)
            assert s["keys"] >= ENOUGH_KEYS_IN_COMMON or not any(s["digit_means"])

    group = tmp_path / "group.json"
    group.write_text(json.dumps({"experiment": "test/noise", "group": "all", "rows": rows}))
    command = [binary, "primitive", "run", "--group", group]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    failures = []
    for row in rows:
        record = json.loads(Path(row["out"]).read_text())
        assert record["status"] == "ok", record["reason"]
        twins = [t for t in compare(predictions[row["id"]], record) if t.quantity.startswith("noise")]
        stages = {s["stage"]: s["kind"] for s in predictions[row["id"]]["noise"]["stages"]}
        assert {t.quantity.split()[-1] for t in twins} == set(stages)
        strict = {t.quantity.split()[-1] for t in twins if t.tolerance == "variance within 1/16" and not t.note}
        assert strict == {stage for stage, kind in stages.items() if kind == "equality"}, row
        for stage in record["measured"]["noise"].values():
            assert stage["samples"] >= ENOUGH_SAMPLES and stage["keys"] >= ENOUGH_KEYS
        failures += [(row["id"], row["settings"], t) for t in twins if not t.within]
    assert not failures, "\n".join(map(str, failures))


def test_one_repetition_is_one_exchange_whose_noise_is_measured(root, measure):
    """Its streamed database is made for the answer and for a look at its noise, and not for a warm-up."""

    def run(name, shape, *more):
        return measure(root / f"params/{name}.toml", *shape, *more, "--seed", "1", "--noise-seconds", "0")

    toy = ("depir/toy", ("--records", "35", "--record-bits", "16", "--queries", "8"))
    once, twice = (run(*toy, "--repetitions", count) for count in "12")
    assert once["correct"] == {"compared": 8, "right": 8} and twice["correct"]["compared"] >= 3 * 8
    assert [stage["stage"] for stage in once["noise"]] == ["answer", "value"], "of the one answer"
    # Records of many parts, of which the noise of the first is looked at.
    for name in ("spiral/secure-pack-256mb", "respire/64mb", "onionpir/secure-27"):
        shape = ("--records", "37", "--record-bits", "400000")
        whole, streamed = run(name, shape, "--repetitions", "1"), run(name, shape, "--repetitions", "1", "--streamed")
        assert streamed["correct"] == {"compared": 1, "right": 1}
        noise = [{(s["stage"], s["samples"], s["stddev"]) for s in record["noise"]} for record in (whole, streamed)]
        assert noise[0] == noise[1], f"{name}: a database that streams has the same columns"
