"""Noise of whole answers over many keys: every stage from the query to the response, pooled, against its formula.

A run has one key, whose selectors all its queries share, so runs under many seeds are taken together.
"""

import json
import subprocess
from math import sqrt

from pirlab_estimator.compare import ENOUGH_KEYS, ENOUGH_SAMPLES, compare
from pirlab_estimator.predict import predict

KEYS = 24
#: What is smaller than in the smoke set, so that a run takes a second. The first step of a rotation meets a polynomial
#: without mask and adds next to no noise; of a key of 64 bits that is 1/32, less than what is tolerated.
SMALLER = [
    ("degree = 1024", "degree = 256"),
    ("dimension = 256", "dimension = 64"),
    ("body_bits = 8", "body_bits = 6"),
    ("spacing = 128", "spacing = 32"),
    ("first_bits = 4", "first_bits = 3"),
    ("[response]\ndegree = 256", "[response]\ndegree = 128"),
]
SELECTION = {"row", "row_secret", "selector", "first_product", "folded", "rotated", "response"}


def pooled(records, stage):
    """Of one stage in all records, as one record would have it."""
    each = [next(m for m in record["noise"] if m["stage"] == stage) for record in records]
    samples = sum(m["samples"] for m in each)
    square = sum(m["stddev"] ** 2 * m["samples"] for m in each) / samples
    return each[0] | {"samples": samples, "keys": len(each), "stddev": sqrt(square)}


def test_every_stage_of_an_answer_has_its_formulas_noise_over_many_keys(root, binary, tmp_path):
    text = (root / "params/pirouette_h/smoke.toml").read_text()
    for old, new in SMALLER:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    parameters, records = tmp_path / "toy.toml", []
    parameters.write_text(text)
    command = [binary, "run", parameters, "--records", "128", "--record-bits", "512", "--repetitions", "1"]
    for seed in range(1, KEYS + 1):
        out = tmp_path / f"{seed}.json"
        subprocess.run([*command, "--seed", f"{seed:x}", "--no-probe", "--out", out], check=True, capture_output=True)
        records.append(json.loads(out.read_text()))
    described = records[0]["description"]
    assert all(described["layout"][f"{name}_bits"] for name in ("first", "fold", "rotation"))
    noise = [pooled(records, m["stage"]) for m in records[0]["noise"]]
    assert {m["stage"] for m in noise} == SELECTION | {"rotation", "rgsw_input"}
    assert KEYS >= ENOUGH_KEYS and all(m["samples"] >= ENOUGH_SAMPLES for m in noise)
    (prediction,) = predict([described], security="recorded")
    rows = [r for r in compare(prediction, records[0] | {"noise": noise}) if r.quantity.startswith("noise")]
    assert len(rows) == len(noise)
    assert all(r.within for r in rows), [(r.quantity, r.ratio, r.tolerance) for r in rows]
