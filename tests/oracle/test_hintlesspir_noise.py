"""HintlessPIR's stages: against figures worked out by hand of the authors' parameters, and a toy ring in integers."""

from math import log2, sqrt

import numpy as np
import pytest
from pirlab_estimator.noise import hintlesspir
from pirlab_estimator.noise.stage import NEVER, evaluate, record_noise

PRIMES = [1073692673, 1073668097, 1073651713]
T = [2056193, 1990657]


def description(rotations=512, base_log2=15, primes=PRIMES, n=1400, columns=1 << 15, secret="ternary", **more):
    """The authors' set at 1 GB, or what is changed of it."""
    digits = sum(-(-p.bit_length() // base_log2) for p in primes)
    layout = {"rotations": rotations, "block_rows": 2 * rotations, "slot_moduli": T, "ring_degree": 4096}
    layout |= {"automorphism_gadget": {"digits": digits, "base_log2": base_log2, "dropped": 0, "signed": True}} | more
    layout |= {"rows": 1 << 15, "columns": columns, "entries": columns << 15, "entries_per_record": 1, "scale": 1 << 24}
    layout |= {"plain_modulus": 256, "entry_offset": 128, "records_per_entry": 1}
    lwe = {"dimension": n, "modulus": "2^32", "secret": {"kind": secret}, "error_stddev": sqrt(8)}
    gaussian = {"kind": "gaussian", "stddev": sqrt(8)}
    ring = {"dimension": 4096, "modulus": " * ".join(map(str, primes)), "secret": gaussian, "error_stddev": sqrt(8)}
    shape = {"records": columns << 15, "record_bits": 8}
    return {"protocol": "hintlesspir", "layout": layout, "instances": [lwe, ring], "shape": shape}


def stages(given):
    return {stage["stage"]: stage for stage in evaluate(hintlesspir.chain([given]), 1)[0]}


def test_the_authors_parameters_have_the_known_noise():
    """In units of Q: 2^56.7 with digits of 16 bits of residues of 45, against Q/2t = 2^68; 111 and 39 deviations there
    of 2^23 where entries are from 0 to 255, twice as many where they are centred."""
    primes = [35184371884033, 35184371703809]
    found = stages(description(primes=primes, base_log2=16))["hint"]
    unit = 2.0**90 / np.mean(T)
    assert log2(found["stddev"] * unit) == pytest.approx(56.7, abs=0.4)
    assert log2(found["threshold"] * unit) == pytest.approx(68, abs=0.1)
    for columns, deviations in ((1 << 15, 111), (1 << 18, 39)):
        answer = stages(description(columns=columns))["answer"]
        assert answer["margin"] == pytest.approx(deviations * sqrt(21717.5 / ((2**16 + 2) / 12)), rel=0.02)


def test_every_turn_adds_a_key_switch():
    one, two, many = (stages(description(rotations=m))["hint"]["variance"] for m in (1, 2, 1024))
    assert two / one > 2**40, "the first turn has no key switch"
    assert many / two == pytest.approx(1024 * 1023 / 2, rel=1e-6)


def giant(steps, base_log2):
    digits = sum(-(-p.bit_length() // base_log2) for p in PRIMES)
    gadget = {"digits": digits, "base_log2": base_log2, "dropped": 0, "signed": True}
    return {"giant_steps": steps, "giant_gadget": gadget}


def test_giant_steps_repeat_the_products_of_few_turns():
    """G times the products of S turns; turns of sums add key switches of their own, which no plaintext multiplies."""
    one = stages(description(rotations=64))["hint"]
    found = stages(description(rotations=64, **giant(32, 30)))["hint"]
    assert found["variance"] / one["variance"] == pytest.approx(32, rel=1e-4), "the turns of sums hardly count"
    assert (found["stddev_bound"] / one["stddev_bound"]) ** 2 == pytest.approx(32**2, rel=1e-3)
    assert found["variance"] < stages(description(rotations=2048))["hint"]["variance"] / 30
    # Of single turns, in units of Q: products with the errors of the secret, and 31 key switches of digits of 30 bits.
    alone = stages(description(rotations=1, **giant(32, 30)))["hint"]
    switch, products = 4096 * 8 * 3 * 2.0**60 / 12, 32 * 4096 * (8 + 1 / 12)
    expected = 31 * switch + products * np.mean(T) ** 2 / 12
    assert alone["variance"] * (2.0**90 / np.mean(T)) ** 2 == pytest.approx(expected, rel=0.01)
    # All 31 key switches may be alike, and their digits half of the base.
    bound = 3 * 31**2 * switch + 32 * products * (max(T) // 2) ** 2
    assert (alone["stddev_bound"] * 2.0**90 / max(T)) ** 2 == pytest.approx(bound, rel=0.01)


def errors(samples, plaintexts):
    """Mean squares, by coefficient, of 16 turned errors times plaintexts in the ring of degree 64; and their sums'."""
    rng, n, turns, stddev, switch = np.random.default_rng(1), 64, 16, 3.0, 50.0

    def turned(x):
        out, exponents = np.zeros_like(x), 5 * np.arange(n) % (2 * n)
        out[exponents % n] = np.where(exponents < n, x, -x)
        return out

    def product(x, y):
        full = np.convolve(x, y)
        return full[:n] - np.append(full[n:], 0)

    squares = np.zeros(n)
    for _ in range(samples):
        error, total, plaintext = rng.normal(0, stddev, n), np.zeros(n), plaintexts(rng, n)
        for turn in range(turns):
            if turn:
                error = turned(error + rng.normal(0, switch, n))
                plaintext = turned(plaintext) if plaintexts is alike else plaintexts(rng, n)
            total += product(error, plaintext)
        squares += total**2 / samples
    return squares, turns, n * (turns * stddev**2 + turns * (turns - 1) / 2 * switch**2)


MODULUS = 1009


def uniform(rng, n):
    return rng.integers(-(MODULUS // 2), MODULUS // 2 + 1, n).astype(float)


def alike(rng, n):
    """A plaintext as large as they are, which all turns have, turned: as where all rows of the database are equal."""
    return (MODULUS // 2) * rng.choice([-1.0, 1.0], n)


def test_errors_of_turns_add_up_as_the_formula_says():
    squares, _, total = errors(400, uniform)
    assert np.mean(squares) == pytest.approx(total * (MODULUS**2 - 1) / 12, rel=0.1)


def test_any_database_is_bounded():
    squares, turns, total = errors(400, alike)
    each = total * (MODULUS // 2) ** 2
    assert 4 * each < np.max(squares) < turns * each, "coherent in some coefficients, below the bound in all"
    entry = stages(description())["hint"]
    expected = 3 * 512 * T[0] ** 4 / np.mean(np.power(T, 4.0))
    assert entry["stddev_bound"] / entry["stddev"] == pytest.approx(sqrt(expected), rel=1e-5)
    assert entry["log2_failure_bound"] < -1000 and entry["decisions"] == 2 * 4096


def test_switched_answers_round_masks_and_bodies():
    whole = stages(description())["hint"]["variance"]
    for mask, body in ((1 << 32, 1 << 25), (35184371884033, 35184371884033)):
        found = stages(description(mask_modulus=mask, body_modulus=body))["hint"]
        rounding = np.mean([(t / body) ** 2 / 12 + (t / mask) ** 2 * 4096 * 8 / 12 for t in T])
        assert found["variance"] == pytest.approx(whole + rounding, rel=1e-3)
        assert found["log2_failure_bound"] < -40
    narrow = stages(description(mask_modulus=1 << 27, body_modulus=1 << 25))["hint"]
    assert narrow["log2_failure_bound"] > -40


def test_the_products_with_the_secret_hardly_exceed_their_moduli():
    chance = stages(description())["sum"]
    left = T[0] * T[1] / 2 / (sqrt(1400) * 2.0**31)
    assert chance["log2_failure_bound"] == pytest.approx(1 - left**2 / 2 * log2(np.e), abs=0.01)
    assert chance["log2_failure_bound"] < -400
    assert stages(description(n=900))["sum"]["log2_failure_bound"] == NEVER
    failure = record_noise(evaluate(hintlesspir.chain([description()]), 1)[0], -40)["log2_failure"]
    assert failure < -400
