"""KSPIR's stage: against figures worked out by hand of the authors' parameters, and a toy ring in integers."""

from math import log2, sqrt

import numpy as np
import pytest
from pirlab_estimator.noise import kspir
from pirlab_estimator.noise.stage import evaluate

PRIMES = [268369921, 249561089]
Q = float(np.prod([float(p) for p in PRIMES]))
T = 65537


def gadget(base_log2, dropped, digits):
    return {"base_log2": base_log2, "dropped": dropped, "digits": digits, "family": "symmetric"}


def description(steps=128, keys=64, giants=16, classes=64, parts=1, stddev=3.2, **switch):
    """The repaired set at 1 GB, or what is changed of it."""
    layout = {"baby_steps": steps, "baby_keys": keys, "giant_steps": giants, "classes": classes, "parts": parts}
    layout |= {"special_modulus": 16760833, "slot_moduli": [T], "baby_gadget": gadget(20, 0, 3)} | switch
    layout |= {
        "giant_gadget": gadget(19, 1, 2),
        "selector_gadget": gadget(19, 1, 2),
        "packing_gadget": gadget(14, 0, 4),
    }
    ring = {"dimension": 4096, "modulus": " * ".join(map(str, PRIMES)), "secret": {"kind": "ternary"}}
    shape = {"records": 2048 * classes, "record_bits": parts << 16}
    return {
        "protocol": "kspir",
        "layout": layout,
        "instances": [ring | {"error_stddev": stddev}],
        "shape": shape,
    }


def answer(**changed):
    [stage] = evaluate(kspir.chain([description(**changed)]), 1)[0]
    return stage


def in_q(stddev):
    return log2(stddev * Q / T)


def test_the_authors_parameters_have_the_known_noise():
    """A turn has 2^4 of noise, 128 products 2^28, 16 giant steps 2^29.9, against q / 2t = 2^38.9."""
    assert in_q(answer(classes=1)["stddev"]) == pytest.approx(29.9, abs=0.2)
    one = in_q(answer(classes=1, giants=1)["stddev"])
    assert one == pytest.approx(28, abs=0.3)
    assert in_q(answer()["threshold"]) == pytest.approx(38.9, abs=0.1)
    assert 400 < answer()["margin"] < 600


def test_switched_answers_have_the_known_margins():
    """To 26 bits 34 deviations are left, to 24 bits 8.5."""
    for bits, deviations in ((26, 34), (24, 8.5)):
        modulus = 1 << bits
        assert answer(mask_modulus=modulus, body_modulus=modulus)["margin"] == pytest.approx(deviations, rel=0.03)


def test_sets_fail_rarely_for_any_data():
    for switch in (
        {},
        {"mask_modulus": 1 << 26, "body_modulus": 1 << 26},
        {"mask_modulus": 1 << 26, "body_modulus": 1 << 19},
    ):
        for classes, parts in ((1, 1), (64, 1), (16, 4), (2048, 1), (512, 4)):
            for steps in (128, 256):
                stage = answer(steps=steps, giants=2048 // steps, classes=classes, parts=parts, **switch)
                assert stage["log2_failure_bound"] < -40


def test_bounds_are_above_the_noise_of_random_data():
    for steps, keys in ((1, 0), (128, 127), (128, 64), (128, 4), (2048, 64)):
        stage = answer(steps=steps, keys=keys, giants=2048 // steps)
        assert stage["stddev_bound"] > stage["stddev"]


def joined_errors(classes, rng, runs, n=64):
    """The errors that key switches of unit variance leave in packings of the inputs' phases, in integers."""

    def mapped(x, exponent):
        out, exponents = np.zeros_like(x), exponent * np.arange(n) % (2 * n)
        out[:, exponents % n] = np.where(exponents < n, x, -x)
        return out

    def turned(x, places):
        return np.concatenate([-x[:, n - places :], x[:, : n - places]], axis=1)

    errors, half = [np.zeros((runs, n)) for _ in range(classes)], classes // 2
    while half:
        for j in range(half):
            other = turned(errors[j + half], half)
            switch = rng.normal(size=(runs, n))
            errors[j] = errors[j] + other + mapped(errors[j] - other, n // half + 1) + switch
        half //= 2
    return errors[0]


def test_a_packing_s_key_switches_double_with_every_level():
    rng = np.random.default_rng(1)
    for classes in (2, 8, 64):
        found = np.mean(joined_errors(classes, rng, 2000) ** 2)
        assert found == pytest.approx((classes**2 - 1) / 3, rel=0.05)
    few, many = (answer(classes=classes)["variance"] for classes in (1, 2048))
    switch = 4096 * 10.24 * 4 * (2**28 + 2) / 12
    assert (many - few) * (Q / T) ** 2 == pytest.approx((2048**2 - 1) / 3 * switch, rel=0.2)


def test_turns_of_turns_have_the_noise_of_both():
    """A base has the noise of its turns, and so have all that turn it further."""
    rng = np.random.default_rng(1)
    steps, keys, giants, fresh, turn = 16, 4, 2, 2.0, 3.0
    turns = kspir._Turns(*(np.array([float(x)]) for x in (steps, steps // keys, keys)))
    errors = np.zeros((4000, steps))
    for run in errors:
        base = rng.normal(0, sqrt(fresh))
        for h in range(steps // keys):
            own = rng.normal(0, sqrt(turn)) if h else 0
            run[h * keys : (h + 1) * keys] = base + own + np.r_[0, rng.normal(0, sqrt(turn), keys - 1)]
    assert np.sum(errors.var(axis=0)) == pytest.approx(float(turns.random(fresh, turn)[0]), rel=0.05)
    # Plaintexts of one sign at their largest add all of them up; those of one turn have the same error.
    together = float(turns.any_data(np.array([1.0 * giants]), np.array([fresh]), np.array([turn]))[0])
    assert giants**2 * errors.sum(axis=1).var() == pytest.approx(together, rel=0.1)
