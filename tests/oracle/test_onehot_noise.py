"""Stages of one-hot PIR: sums over diagonals against a simulation, and bounds above the noise of random data."""

import numpy as np
import pytest
from pirlab_estimator.noise import bfv, onehot
from pirlab_estimator.noise.stage import evaluate

PRIMES = [(1 << 28) - 57] * 3
INTEGER = {"kind": "integer", "modulus": 65537}
BINOMIAL = {"kind": "binomial", "slots": 1024, "base": 65280}


def stages(plaintext, special=1 << 28, base=28, **layout):
    """One column, one entry, or what is changed of that."""
    shape = {"column_blocks": 1, "block_columns": 1, "baby_steps": 1, "giant_steps": 1, "plaintext_slots": 1024}
    shape |= {"entries_per_record": 1, "answer_ciphertexts": 1, "plaintext": plaintext, "special_modulus": special}
    shape |= {"automorphism_gadget": {"base_log2": base, "dropped": 0, "digits": 3, "family": "balanced"}} | layout
    ring = {"dimension": 4096, "modulus": " * ".join(map(str, PRIMES)), "secret": {"kind": "ternary"}}
    description = {
        "protocol": "onehot",
        "layout": shape,
        "instances": [ring | {"error_stddev": 3.2}],
        "shape": {"records": 1, "record_bits": 1},
    }
    return {stage["stage"]: stage for stage in evaluate(onehot.chain([description]), 1)[0]}


def squares(found, stage, plaintext):
    """A stage's variance in units of q."""
    q = float(PRIMES[0]) ** 3
    return found[stage]["stddev"] ** 2 * q**2 / bfv.norms(plaintext)[0]


@pytest.mark.parametrize("plaintext", [INTEGER, BINOMIAL, {"kind": "goldilocks"}])
def test_one_column_is_one_product(plaintext):
    fresh = 3.2**2 + 1 / 12
    found = squares(stages(plaintext), "column", plaintext)
    assert found == pytest.approx(4096 * bfv.norms(plaintext)[2] * fresh, rel=1e-3)


def test_diagonals_add_up_as_a_simulation_s():
    """Every diagonal takes a turned selector but those of baby step 0; giant steps but one take a switch more."""
    rng, runs, blocks, baby, giants = np.random.default_rng(1), 4000, 3, 4, 8
    found = stages(INTEGER, column_blocks=blocks, block_columns=32, baby_steps=baby, giant_steps=giants)
    plain = np.sqrt(4096 * bfv.norms(INTEGER)[2])
    switch = 4096 * 3.2**2 * 3 * PRIMES[0] ** 2 / 12 / 2.0**56 + (1 + 4096 * 2 / 3) / 12
    total = np.zeros(runs)
    for _ in range(blocks):
        fresh = rng.normal(0, np.sqrt(3.2**2 + 1 / 12), runs)
        for b in range(baby):
            turned = fresh + (rng.normal(0, np.sqrt(switch), runs) if b else 0)
            for _ in range(giants):
                total += plain * rng.choice([-1, 1], runs) * turned
    for _ in range(giants - 1):
        total += rng.normal(0, np.sqrt(switch), runs)
    assert squares(found, "column", INTEGER) == pytest.approx(total.var(), rel=0.1)


def test_bounds_are_above_the_noise_of_random_data():
    for plaintext in (INTEGER, BINOMIAL, {"kind": "goldilocks"}):
        for shape in ({}, {"block_columns": 64, "baby_steps": 8, "giant_steps": 8, "entries_per_record": 200}):
            stage = stages(plaintext, base=14, **shape)["answer"]
            assert stage["stddev_bound"] > stage["stddev"]
