"""Noise of whole answers over many keys: every stage from the query to the response, pooled, against its formula.

A key's selectors are shared by all its queries, and a run takes as many keys as its time allows: runs under many seeds
are taken together.
"""

from math import sqrt

import pytest
from pirlab_estimator.compare import ENOUGH_KEYS, ENOUGH_SAMPLES, compare
from pirlab_estimator.predict import predict
from tier import VERIFY

KEYS = 24
#: Values that are smaller than in the smoke set, so that a run takes a second. The first step of a rotation multiplies
#: a polynomial without mask and adds next to no noise; for a key of 64 bits this is 1/32, which is below the tolerance.
SMALLER = [
    ("degree = 1024", "degree = 256"),
    ("dimension = 256", "dimension = 64"),
    ("spacing = 128", "spacing = 32"),
    ("first_bits = 4", "first_bits = 3"),
    ("[response]\ndegree = 256", "[response]\ndegree = 128"),
]
SELECTION = {"row", "row_secret", "selector", "first_product", "folded", "rotated", "response"}


def pooled(records, stage):
    """The noise of one stage over all records, in the form that one record has."""
    each = [next(m for m in record["noise"] if m["stage"] == stage) for record in records]
    samples = sum(m["samples"] for m in each)
    square = sum(m["stddev"] ** 2 * m["samples"] for m in each) / samples
    return each[0] | {"samples": samples, "keys": sum(m["keys"] for m in each), "stddev": sqrt(square)}


def over_many_keys(protocol, smaller, options, folder, root, measure):
    """Records of the protocol's smoke set made smaller, each of another key."""
    text = (root / f"params/{protocol}/smoke.toml").read_text()
    for old, new in smaller:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    parameters = folder / "toy.toml"
    parameters.write_text(text)
    options = ["--record-bits", "512", "--repetitions", "1", *options]
    return [measure(parameters, *options, "--seed", f"{seed:x}") for seed in range(1, KEYS + 1)]


def agree(records):
    """The pooled stages, each of which agrees with its formula."""
    noise = [pooled(records, m["stage"]) for m in records[0]["noise"]]
    (prediction,) = predict([records[0]["description"]], security="recorded")
    rows = [r for r in compare(prediction, records[0] | {"noise": noise}) if r.quantity.startswith("noise")]
    assert len(rows) == len(noise)
    assert all(r.within for r in rows), [(r.quantity, r.ratio, r.verdict, r.tolerance) for r in rows]
    return {m["stage"]: m for m in noise}


@pytest.mark.slow
@pytest.mark.verify
def test_every_stage_of_an_answer_has_its_formulas_noise_over_many_keys(root, measure, tmp_path):
    smaller = [*SMALLER, ("body_bits = 8", "body_bits = 6")]
    records = over_many_keys("pirouette_h", smaller, ["--records", "128"], tmp_path, root, measure)
    assert all(records[0]["description"]["layout"][f"{name}_bits"] for name in ("first", "fold", "rotation"))
    noise = agree(records)
    assert set(noise) == SELECTION | {"rotation", "rgsw_input"}
    assert KEYS >= ENOUGH_KEYS and all(m["samples"] >= ENOUGH_SAMPLES for m in noise.values())


@pytest.mark.slow
def test_floors_digits_and_bits_have_their_formulas_noise_over_many_keys(root, measure, tmp_path):
    """An answer has few of them: three digits, two of them with a floor, and twelve bits."""
    options = ["--records", "4096", "--noise-seconds", "3" if VERIFY else "1"]
    records = over_many_keys("pirouette", SMALLER, options, tmp_path, root, measure)
    noise = agree(records)
    assert set(noise) == SELECTION | {"query", "floor_msb", "floor_rest", "digit", "bit", "rgsw_input", "rotation"}
    layout, queries = records[0]["description"]["layout"], noise["query"]["samples"]
    assert (layout["digits"], layout["index_bits"]) == (3, 12)
    counts = {"floor_msb": 2, "floor_rest": 2, "digit": 3, "bit": 12, "rgsw_input": 12}
    assert {stage: noise[stage]["samples"] for stage in counts} == {s: c * queries for s, c in counts.items()}
