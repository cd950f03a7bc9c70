"""Respire's chain against its authors' bound, and the committed sets against their targets."""

from math import log2, pi, sqrt
from random import Random

import numpy as np
import pytest
from pirlab_estimator import noise
from pirlab_estimator.noise import respire
from validated import predicted, stages

SIZES = {"64mb": 18, "256mb": 20, "1gb": 22, "8gb": 25}


@pytest.fixture(scope="module")
def described(describe):
    """The description of a set at its size."""
    return lambda name, log_records=None, *more: describe(f"respire/{name}", log_records or 20, *more)


def authors_bound(log_rows, columns, positions=2):
    """Squared widths of the authors' error estimate up to projection, as log2 of standard deviations, by stage."""
    d, width = 2048, 9.9
    gadget = lambda length, base: length * (base // 2) ** 2  # noqa: E731
    factor = (4**11 - 1) / 3
    leaf = width**2 + factor * d * gadget(4, 16088) * width**2
    row = width**2 + factor * d * gadget(20, 7) * width**2
    mask = d * 49 * row + 2 * d * gadget(4, 16088) * width**2
    first = 2**log_rows * d * 8**2 * leaf
    folded = first + columns * 2 * d * gadget(8, 127) * mask
    turned = folded + positions * 2 * d * gadget(8, 127) * mask
    named = {"leaf": leaf, "selector_mask": mask, "first_dimension": first, "folding": folded, "rotation": turned}
    return {name: log2(sqrt(square / (2 * pi))) for name, square in named.items()}


@pytest.mark.parametrize(
    ("name", "rows", "columns"), [("64mb", 8, 8), ("256mb", 9, 9), ("1gb", 10, 10), ("8gb", 11, 12)]
)
def test_noise_is_five_to_nine_bits_below_the_authors_bound(described, name, rows, columns):
    made = stages(described(name, SIZES[name]))
    for stage, bound in authors_bound(rows, columns).items():
        assert 5 < bound - log2(made[stage]["stddev"]) < 9, stage


@pytest.mark.parametrize("prefix", ["", "secure-"])
def test_every_set_fails_less_often_than_its_target(described, prefix):
    for name, log_records in SIZES.items():
        made, by_name = predicted(described(prefix + name, log_records))
        assert made["log2_failure"] < noise.FAILURE_TARGET, name
        assert by_name["answer"]["margin"] > 8.2, name


def test_one_prime_halves_the_database_and_leaves_room(described):
    two, one = described("8gb", 25), described("secure-8gb", 25)
    assert one["layout"]["stored_bytes"] * 2 == two["layout"]["stored_bytes"] == 16 * two["layout"]["information_bytes"]
    made = stages(one)
    modulus = one["layout"]["ring_modulus"]
    # sqrt(2^11 rows * 2048 * 21.5) times the rounding of a leaf, sqrt(2048 * (2/3) / 12): 2^16.6 of P.
    relative = log2(made["first_dimension"]["stddev"] / modulus * one["layout"]["matrix_modulus"])
    assert relative == pytest.approx(16.6, abs=0.1)
    assert made["answer"]["margin"] > 8.2


def test_batches_share_responses(described):
    single, batch = described("batch-16"), described("batch-16", 20, "--queries", "17")
    size = {m["name"]: m["payload_bytes"] for m in batch["messages"]}
    # Two batches: 50 buckets in 13 bodies, seven to a mask.
    assert size["answer"] == (2 * 2048 * 18 + 13 * 2048 * 7) / 8
    assert stages(single)["answer"]["variance"] <= stages(batch)["answer"]["variance"]


def test_batches_without_buckets_of_their_own_are_counted(described):
    made, by_name = predicted(described("batch-32", 20, "--queries", "32"))
    assert made["log2_failure"] == pytest.approx(by_name["buckets"]["log2_failure_bound"], abs=1e-3)
    assert made["log2_failure"] == pytest.approx(-7.96, abs=0.01)
    assert by_name["answer"]["log2_failure_bound"] < noise.FAILURE_TARGET
    made, _ = predicted(described("secure-batch-32", 20, "--queries", "32"))
    assert made["log2_failure"] < noise.FAILURE_TARGET
    assert "buckets" not in stages(described("256mb"))


def test_the_bound_on_batches_is_above_the_rate_and_near_it():
    random, failed, draws = Random(5), 0, 20_000
    for _ in range(draws):
        failed += not assignable([[3 * j + random.randrange(3) for j in range(3)] for _ in range(8)])
    bound = 2 ** respire.log2_unassigned(8, 9, 3)
    assert failed / draws < bound < 4 * failed / draws
    assert respire.log2_unassigned(1, 9, 3) == -np.inf


@pytest.mark.parametrize(("records", "buckets", "slack"), [(256, 4096, 1e-6), (512, 1024, 1e-6), (256, 409, 5.0)])
def test_of_many_records_the_sum_is_bounded_from_above(monkeypatch, records, buckets, slack):
    exact = respire.log2_unassigned(records, buckets, 3)
    monkeypatch.setattr(respire, "EXACT", 16)
    assert exact <= respire.log2_unassigned(records, buckets, 3) <= exact + slack
    # Numbers beyond those of double precision.
    assert -70 < respire.log2_unassigned(4096, 8192, 3) < -50


def assignable(sets):
    """Whether each set has an element of its own."""
    owners = {}

    def place(i, tried):
        for element in set(sets[i]) - tried:
            tried.add(element)
            if element not in owners or place(owners[element], tried):
                owners[element] = i
                return True
        return False

    return all(place(i, set()) for i in range(len(sets)))
