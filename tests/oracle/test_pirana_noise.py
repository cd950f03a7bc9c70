"""PIRANA's stages: against measured noise of GBFV, the formula's table of moduli, and sums over turns by hand."""

from math import log2

import numpy as np
import pytest
from pirlab_estimator.noise import bfv, pirana
from pirlab_estimator.noise.stage import evaluate


def description(n, plaintext, primes, special=None, columns=1, weight=2, **layout):
    """One plaintext a column, no turns, whole residues as digits, or what is changed of that."""
    base = max(p.bit_length() for p in primes)
    shape = {"polynomials_per_record": 1, "answer_ciphertexts": 1, "halves": 1, "baby_steps": 1, "giant_steps": 1}
    shape |= {"columns": columns, "codeword_weight": weight, "plaintext": plaintext} | layout
    shape |= {"automorphism_gadget": {"base_log2": base, "dropped": 0, "digits": len(primes), "family": "balanced"}}
    ring = {"dimension": n, "modulus": " * ".join(map(str, primes)), "secret": {"kind": "ternary"}}
    return {
        "protocol": "pirana",
        "layout": shape | ({} if special is None else {"special_modulus": special}),
        "instances": [ring | {"error_stddev": 3.2}],
        "shape": {"records": 1, "record_bits": 1},
    }


def stages(*arguments, **changed):
    return {stage["stage"]: stage for stage in evaluate(pirana.chain([description(*arguments, **changed)]), 1)[0]}


def binomial(slots, base):
    return {"kind": "binomial", "slots": slots, "base": base}


def primes(bits, total):
    """Numbers of that many bits in all, for the formula alone."""
    count = -(-total // bits)
    return [round(2 ** (total / count))] * int(count)


@pytest.mark.parametrize(
    ("n", "plaintext", "total", "product", "sum_of_four"),
    [
        (4096, binomial(512, 65620), 74, -29.82, -8.66),
        (8192, binomial(1024, 65620), 76, -30.94, -9.25),
    ],
)
def test_a_model_s_measured_noise_is_the_formula_s(n, plaintext, total, product, sum_of_four):
    """Measured once, by a model of GBFV in exact integers."""
    found = stages(n, plaintext, primes(38, total), special=1 << 35, columns=4)
    assert log2(found["selection"]["stddev"]) == pytest.approx(product, abs=0.3)
    assert log2(found["sum"]["stddev"]) == pytest.approx(sum_of_four, abs=0.3)


@pytest.mark.parametrize(
    ("n", "bits", "one", "many"), [(4096, 8, 44.3, 48.3), (4096, 16, 68.3, 72.3), (8192, 16, 69.9, 73.9)]
)
def test_moduli_are_as_long_as_the_table_says(n, bits, one, many):
    """The modulus that leaves 2^-40 of random data, for 1 and for 256 products."""
    for columns, total in ((1, one), (256, many)):
        failures = [
            stages(n, binomial(n // 2, 1 << bits), primes(40, total + more), special=1 << 40, columns=columns)
            for more in (-0.4, 0.4)
        ]
        low, high = (found["answer"]["log2_failure"] for found in failures)
        assert high < -40 < low


def test_degree_2048_holds_products_of_the_goldilocks_trinomial_and_of_binomials_for_short_records():
    """For any data, 2^12 records of 256 bytes and of one entry. The bases are the least of b^e + 1 with 31 bits or more
    in which plaintexts split, for e of 8 to 128; noise grows with b."""

    def failure(plaintext, slots, entries):
        layout = {"columns": 4096 // slots, "giant_steps": entries, "polynomials_per_record": entries}
        found = stages(2048, plaintext, [790529, 786433], special=12289, **layout)
        return found["answer"]["log2_failure_bound"]

    assert failure({"kind": "goldilocks"}, 64, 33) < -40
    for e, base, entries, one_entry in (
        (8, 118, 38, False),
        (16, 44, 24, True),
        (32, 30, 14, True),
        (64, 102, 5, False),
    ):
        plaintext, slots = binomial(2048 // e, base), 2048 // e
        assert failure(plaintext, slots, entries) > -40, base
        assert (failure(plaintext, slots, 1) < -40) == one_entry, base


def test_norms_are_those_of_the_polynomials():
    for plaintext, t in (
        ({"kind": "integer", "modulus": 257}, [257]),
        (binomial(4, 16), [-16, 1]),
        ({"kind": "goldilocks"}, [4, -2, 1]),
    ):
        norm, square, _, worst = bfv.norms(plaintext)
        squared = np.convolve(t, t).astype(float)
        assert (norm, square) == (float(np.dot(t, t)), float(np.dot(squared, squared)))
        assert worst == pytest.approx((np.abs(squared).sum() / 2) ** 2 / norm)


def test_turns_add_up_as_a_simulation_s():
    """Of a chain of baby steps every one adds to all later ones; halves are swapped first."""
    layout = {"polynomials_per_record": 23, "answer_ciphertexts": 2, "halves": 2, "baby_steps": 3, "giant_steps": 2}
    rng = np.random.default_rng(1)
    each, runs = 6, 20000
    sums, common = np.zeros(runs), np.zeros(runs)
    for half in range(2):
        error = rng.normal(size=runs) if half else np.zeros(runs)
        for place in range(min(each, 12 - half * each)):
            if place and place % 2 == 0:
                error = error + rng.normal(size=runs)
            sums += error**2
            common += error
    number, switches, together = pirana.turns(layout, full=True)
    assert number == 12 and switches == pytest.approx(sums.mean(), rel=0.05)
    assert together == pytest.approx(common.var(), rel=0.05)
    assert pirana.turns(layout, full=False)[0] == pytest.approx(23 / 2)


def test_bounds_are_above_the_noise_of_random_data():
    for plaintext in (binomial(1024, 65648), {"kind": "integer", "modulus": 65537}, {"kind": "goldilocks"}):
        for shape in ({}, {"polynomials_per_record": 100, "baby_steps": 10, "giant_steps": 10}):
            stage = stages(4096, plaintext, primes(26, 78), special=1 << 28, columns=5, **shape)["answer"]
            assert stage["stddev_bound"] > stage["stddev"]
