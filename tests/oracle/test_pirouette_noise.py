"""Pirouette's noise: rotations, the compensated switch, and the chain as a whole."""

from math import sqrt

import numpy as np
import pytest
from pirlab_estimator.noise import circuit, lattice, pirouette, predict_noise
from pirlab_estimator.noise.circuit_selection import Setting
from pirlab_estimator.noise.lattice import GadgetNoise, Noise, Secret
from validated import stages

VARIANCE_TOLERANCE = 1 / 16
Q = 268435399
GADGET = GadgetNoise.of("symmetric", Q, 16)


def gadget_of(base_log2, dropped):
    return {"digits": 0, "base_log2": base_log2, "dropped": dropped, "family": "symmetric"}


def described(protocol="pirouette", **layout):
    """A description as `pirlab describe` makes it, of what the chain reads."""
    standard = {
        "first_dimension_modulus": "268369921",
        "query_body_modulus": "2^32" if protocol == "pirouette" else "2^7",
        "index_bits": 20,
        "digit_bits": 5,
        "digits": 4 if protocol == "pirouette" else 0,
        "plain_modulus": 16,
        "rows": 256,
        "first_bits": 8,
        "fold_bits": 10,
        "rotation_bits": 2,
        "encrypted": False,
        "polynomials_per_record": 1,
        "used_coefficients": 512,
        "bits_per_step": 2,
        "rgsw_window": 256,
        "mask_modulus": "16760833",
        "body_modulus": "256",
        "switching_gadget": gadget_of(2, 2),
        "rotation_gadget": gadget_of(8, 2),
        "automorphism_gadget": gadget_of(3, 2),
        "squaring_gadget": gadget_of(5, 0),
        "rgsw_gadget": gadget_of(4, 7),
        "response_gadget": gadget_of(1, 0),
    }
    ternary, binary = {"kind": "ternary"}, {"kind": "binary"}
    ring = {
        "name": "ring",
        "dimension": 2048,
        "modulus": "268369921 * 249561089",
        "secret": ternary,
        "error_stddev": 21.0,
    }
    response = {
        "name": "response",
        "dimension": 512,
        "modulus": "16760833",
        "secret": {"kind": "gaussian", "stddev": 110.0},
        "error_stddev": 110.0,
    }
    query = {"name": "query", "dimension": 2048, "modulus": "2^56", "secret": ternary, "error_stddev": 24.0}
    switching = {"name": "key_switching", "dimension": 768, "modulus": "2^20", "secret": binary, "error_stddev": 8.0}
    bits = {"name": "query", "dimension": 460, "modulus": "2^12", "secret": binary, "error_stddev": 7.0}
    instances = [ring, query, switching, response] if protocol == "pirouette" else [ring, bits, response]
    return {"protocol": protocol, "layout": standard | layout, "instances": instances}


def test_a_rotation_one_bit_a_step_is_a_chain_of_cmuxes():
    of_gadget = GadgetNoise.of("symmetric", Q, 16, 2)
    rows, secret = Noise(10.0), Secret.ternary()
    rotated = circuit.blind_rotation(300, 64, of_gadget, rows, secret, False)
    chain = lattice.cmux_chain(300, 64, of_gadget, rows, secret, same_input=False, same_selector=False)
    assert float(rotated.variance) == pytest.approx(float(chain.variance))


def test_forms_of_the_rotation_broadcast():
    of_gadget = GadgetNoise.of("symmetric", Q, 16)
    joint, ternary = np.array([False, True, False, True]), np.array([False, False, True, True])
    rotated = circuit.blind_rotation(np.full(4, 300.0), 64, of_gadget, Noise(1.0), Secret.ternary(), joint, ternary)
    np.testing.assert_allclose(rotated.variance / rotated.variance[0], [1, 3, 2, 4])


@pytest.mark.parametrize("weight", [None, 32])
def test_compensation_halves_the_error_of_keys_of_zeros_and_ones(weight):
    rng = np.random.default_rng(2)
    n, samples, ratio = 600, 4000, 1 << 8
    a, z = rng.integers(0, 1 << 20, (samples, n)), rng.integers(0, 2, (samples, n))
    if weight is not None:
        z = rng.permuted(np.tile(np.arange(n) < weight, (samples, 1)), axis=1)
    rounding = np.rint(a / ratio) - a / ratio
    error = -np.sum(rounding * (z - 0.5), axis=1)
    key = Secret.binary() if weight is None else Secret(weight / n, weight / n)
    predicted = circuit.compensated_modulus_switch(n, key, 1.0, Noise(0.0)).variance - 1 / 12
    assert np.mean(error**2) == pytest.approx(predicted, rel=VARIANCE_TOLERANCE)
    assert predicted == pytest.approx(n / 48)


def test_margins_of_a_secure_set():
    found = stages(described())
    for name in ("floor_msb", "floor_rest", "digit", "rgsw_input", "response"):
        assert found[name]["margin_bound"] >= 8.2, name
    assert predict_noise([described()])[0]["log2_failure"] < -40
    assert found["floor_msb"]["decisions"] == 3
    assert found["digit"]["decisions"] == 4
    assert found["rgsw_input"]["decisions"] == 20
    # The switches to the small key: by hand, N (V sum E[x^2] + E[eps^2] E[s^2]) + roundings, in units of 2N.
    # The highest digit rounds numbers from 0 to 2: 0, 1 and 2 in a sixth, a half and a third of them.
    eight = 2048 * 64 * (7 * (4**2 + 2) / 12 + 11 / 6)
    dropped = (2048 * (16**2 + 2) / 12 + 2048) * 2 / 3 / 12  # about: the exact moments are the test of digits
    assert found["digit"]["stddev"] == pytest.approx(sqrt((eight + dropped) / 2**16 + (1 + 768 / 4) / 12), rel=0.01)


def test_what_is_sent_in_fewer_bits_errs_more_and_rows_fewer_than_all_err_less():
    query = stages(described())["query"]["variance"]
    assert query == pytest.approx(24.0**2 + 2.0**48 / 12)
    assert stages(described("pirouette_h"))["rgsw_input"]["stddev"] == pytest.approx(sqrt(49 + (32**2 + 2) / 12))
    full, half = (stages(described(rows=rows))["first_product"]["variance"] for rows in (256, 128))
    assert half == pytest.approx(full / 2, rel=0.01)


def test_one_modulus_in_the_first_dimension_adds_the_rounding_of_leaves():
    whole = stages(described(first_dimension_modulus="268369921 * 249561089"))["first_product"]["variance"]
    one = stages(described())["first_product"]["variance"]
    rounding = 256 * 2048 * 21.5 * (1 + 2048 * 2 / 3) / 12 * 249561089.0**2
    assert one - whole == pytest.approx(rounding, rel=1e-9)


def test_chains_are_one_call():
    found = predict_noise([described(), described("pirouette_h"), described(first_bits=9, fold_bits=9, rows=512)])
    for description, prediction in zip(
        (described(), described("pirouette_h"), described(first_bits=9, fold_bits=9, rows=512)), found
    ):
        assert prediction == predict_noise([description])[0]


@pytest.mark.parametrize("protocol", ["pirouette", "pirouette_h"])
def test_databases_of_one_polynomial_and_of_one_row(protocol):
    """No bit, no digit, no leaf to err: stages that do not exist are left out, and no variance is negative."""
    one = {"index_bits": 0, "digits": 0, "rows": 1, "first_bits": 0, "fold_bits": 0, "rotation_bits": 0}
    assert not {"digit", "floor_msb", "floor_rest", "rgsw_input"} & set(stages(described(protocol, **one)))
    for layout in (one, {"rows": 1, "first_bits": 0}, {"rows": 2, "first_bits": 1}):
        assert all(s["variance"] >= 0 for s in stages(described(protocol, **layout)).values())


def test_trees_without_bits_have_no_error():
    product = lattice.ProductNoise(Noise(100.0), lattice.NOTHING)
    tree = lattice.selector_tree(np.array([0.0, 1.0, 8.0]), product, Noise(3.0))
    assert np.asarray(tree.errors.variance).tolist() == [0, 3, 3 + 254 * 100]
    assert np.asarray(tree.selected.variance).tolist() == [0, 3, 703]


def test_an_encrypted_database_starts_from_fresh_ciphertexts():
    description = described(rows=1, first_bits=0, encrypted=True)
    (ring,) = [i for i in description["instances"] if i["name"] == "ring"]
    found = stages(description)
    assert found["first_product"]["variance"] == pytest.approx(ring["error_stddev"] ** 2)
    plain = stages(described())
    assert found["folded"]["variance"] < plain["folded"]["variance"]


@pytest.mark.parametrize("rows", range(1, 18))
def test_nodes_of_partly_stored_trees_are_counted_one_by_one(rows):
    """Against every node of the tree for every index: which of its two leaves are stored."""
    bits = (rows - 1).bit_length()
    setting = Setting(
        n=1.0,
        modulus=Q,
        fresh=Noise(1.0),
        secret=Secret.ternary(),
        rotated=Noise(1.0),
        automorphism=GADGET,
        squaring=GADGET,
        rgsw=GADGET,
        plain_modulus=16.0,
        first_modulus=Q,
        first_bits=float(bits),
        fold_bits=0.0,
        rotation_bits=0.0,
        rows=float(rows),
    )
    worst = 0
    for index in range(rows):
        met, opposite = 0, 0
        for r in range(bits - 1):
            for prefix in range(1 << (bits - 1 - r)):
                lower = (prefix << (r + 1)) + (index & ((1 << r) - 1))
                meets = 15 if lower + (1 << r) < rows else 8 if lower < rows else 0
                met += meets**2 if r < bits - 2 else 0
                # The root's two children have opposite errors.
                opposite += meets if r == bits - 2 else 0
        worst = max(worst, met + opposite**2)
    assert setting._nodes.sum() == worst
    if rows == 1 << bits and bits > 1:
        assert worst == rows * 15**2


def test_the_response_s_variance_is_mixed_by_the_rows_of_deep_selectors():
    """Shares add up to what selectors make of the bound; the largest is one rotation's or the first key switch's."""
    (made,) = predict_noise([described()])
    response = next(s for s in made["stages"] if s["stage"] == "response")
    fixed = 1 - response["margin_bound"] ** 2 / (2 * np.log(2)) + np.log2(512)
    assert fixed + 1 < response["log2_failure_bound"] < 0
    d = pirouette.Described.of([described()], "key_switching")
    bound, mixture = d.response.bound(d.setting, d.key_squares)
    # Half of the noise is the deepest selector's, whose rows are seven and a short one.
    total = float(np.sum(mixture.shares * mixture.counts))
    assert total * 0.5 / 8 / 6 < mixture.shares.max() < total * 0.5 / 7
    # What is fixed: dropped digits, roundings, and the root's product.
    setting, products = d.setting, 2048 * 256 * 15**2 + 12
    rest = products * setting.product_bound.dropped.variance / 2 + 2048 * 256 * 64 * setting.leaf_rounding.variance
    rest += 2048 * 15**2 * lattice.root_product(setting.rgsw, setting.rows_made).variance
    other = d.response.switched(setting, Noise(rest)).variance / bound.variance
    assert total == pytest.approx(1 - float(other[0]), rel=1e-9)


def test_one_row_is_a_bound_and_says_so():
    one = {s["stage"]: s["kind"] for s in predict_noise([described(rows=1, first_bits=0)])[0]["stages"]}
    many = {s["stage"]: s["kind"] for s in predict_noise([described()])[0]["stages"]}
    for name in ("first_product", "folded", "rotated", "response"):
        assert (one[name], many[name]) == ("bound", "equality")
    assert one["rotation"] == many["rotation"] == "equality"


def test_coefficients_of_a_record_are_counted_once():
    """A description's used coefficients are those of all polynomials of a record."""
    whole = stages(described(used_coefficients=4096, polynomials_per_record=2))
    assert whole["response"]["decisions"] == 4096


def test_selectors_have_the_means_of_digits_of_two_small_bases():
    """Base 4 for both the trace and the product: a third more; with a trace of base 2^8 nothing to speak of."""
    balanced = {"family": "balanced"}
    rgsw = gadget_of(2, 12) | {"digits": 16} | balanced
    fine = stages(described(rgsw_gadget=rgsw, automorphism_gadget=gadget_of(2, 3) | balanced, rgsw_window=128))
    coarse = stages(described(rgsw_gadget=rgsw, automorphism_gadget=gadget_of(8, 0) | balanced, rgsw_window=128))

    def without(found):
        """The white part, by the rows' own stages: 16 digits of base 4, of which the highest is short."""
        rows = found["row"]["variance"] + found["row_secret"]["variance"]
        return 2 * (1 - 2**-7) * 2048 * GadgetNoise.of("balanced", 268369921 * 249561089, 4, 12).square * rows

    assert 1.1 < fine["selector"]["variance"] / without(fine) < 1.8
    assert coarse["selector"]["variance"] / without(coarse) == pytest.approx(1, abs=0.05)
    assert fine["selector"]["common_share"] > 1 / 6 > coarse["selector"]["common_share"] - 0.01
