"""Noise of YPIR, SimpleYPIR, InsPIRe_0, InsPIRe^(2) and InsPIRe with published parameters, against known figures."""

from math import log2, pi

import numpy as np
import pytest
from pirlab_estimator.noise import inspire, inspire2, layered, simpleypir
from pirlab_estimator.noise.stage import evaluate, record_noise
from pirlab_estimator.noise.tails import log2_subgaussian_tail

D, Q = 2048, "268369921 * 249561089"
GADGET = {"digits": 3, "base_log2": 19, "dropped": 0, "signed": False}
FIXED = {"kind": "fixed_weight", "plus": 256, "minus": 256}


def second(samples=1 << 15):
    return {"name": "second", "dimension": D, "modulus": Q, "error_stddev": 6.4, "secret": FIXED, "samples": samples}


def two_layers(packing="cdks", answers=1, groups=1 << 15, columns=1 << 15, **changes):
    """YPIR or InsPIRe_0 at 1 GB: 2^15 x 2^15 bytes."""
    layout = {
        "rows": groups,
        "columns": columns,
        "entries": groups * columns,
        "entries_per_record": 1,
        "records_per_entry": 8,
        "plain_modulus": 256,
        "scale": 1 << 24,
        "entry_offset": 128,
        "copies": 1,
        "groups": groups,
        "hint_digits": 1912,
        "answer_digits": 2,
        "answer_ciphertexts": answers,
        "packing": packing,
        "body_gamma": D // 2 if packing == "inspiring" and answers == 2 else D,
        "packing_gadget": GADGET | changes.pop("gadget", {}),
        "digit_bits": 15,
        "switched_modulus": 268369921,
        "mask_modulus": 268369921,
        "body_modulus": "2^20",
    }
    first = {"name": "first", "dimension": 1024, "modulus": "2^32", "error_stddev": 11.0}
    first["secret"] = {"kind": "gaussian", "stddev": 11.0}
    shape = {"records": 8 * groups * columns, "record_bits": 1}
    return {"layout": layout | changes, "instances": [first, second()], "shape": shape}


def stages(chain, *descriptions):
    return [{s["stage"]: s for s in made} for made in evaluate(chain(descriptions), len(descriptions))]


def test_ypir_is_below_its_own_bound():
    """The authors' variance, of digits up to z and width s, is a bound of ours, and not far above."""
    [made] = stages(layered.chain, two_layers())
    width2 = 6.4**2 * 2 * pi
    q, q_a, q_b, z, t = 268369921 * 249561089, 268369921, 1 << 20, 1 << 19, 3
    published = (q_b / q_a) ** 2 * D * width2 / 4
    published += (q_b / q) ** 2 * (width2 / 4) * ((1 << 15) * 4.0**15 + (D**2 - 1) * t * D * z**2 / 3)
    own = made["second_layer"]["stddev"] ** 2 * (q_b / q_a) ** 2
    assert own < published < 8 * own
    assert made["second_layer"]["threshold"] == 268369921 / 2**16
    assert made["second_layer"]["decisions"] == 1914 and made["first_layer"]["decisions"] == 1
    # CDKS: 2^37.2, so 22 below q/(2p) = 2^40.9 in the ring, 2^9.3 in units of q_a.
    assert log2(made["packing"]["stddev"]) == pytest.approx(37.17, abs=0.02)
    assert made["second_product"]["stddev"] < made["packing"]["stddev"] / 1e3


def test_the_first_layer_is_the_lwe_product_and_two_roundings():
    [made] = stages(layered.chain, two_layers())
    scale = 268369921 / 2**32
    product = (1 << 15) * 121 * (256**2 - 1) / 12 + (1 << 15) * 121 / 4
    rounding = (1 + 1024 * 121) / 12
    assert made["first_layer"]["variance"] == pytest.approx(scale**2 * product + rounding)
    assert made["first_layer"]["threshold"] == pytest.approx(268369921 / 512)


def test_ways_to_send_the_answers_digits():
    """Unpacked digits have no packing noise, two packed ones that of half a packing; all share one union."""
    ypir, published, packed, merged = stages(
        layered.chain, two_layers(), *(two_layers("inspiring", ciphertexts) for ciphertexts in (3, 2, 1))
    )
    assert published["packing"]["stddev"] < packed["packing"]["stddev"] < ypir["packing"]["stddev"] / 20
    share = (packed["packing"]["variance"] - published["packing"]["variance"]) / packed["packing"]["variance"]
    assert share == pytest.approx(2 * 0.5 / 1914, rel=0.01)
    assert merged["packing"]["variance"] == pytest.approx(2 * packed["packing"]["variance"], rel=0.01)
    assert log2(packed["packing"]["stddev"]) == pytest.approx(32.46, abs=0.01)
    failures = [record_noise(list(made.values()), -40)["log2_failure"] for made in (ypir, published, packed, merged)]
    assert failures[1:] == sorted(failures[1:]) and max(failures[1:]) < -40
    with pytest.raises(ValueError, match="answer_ciphertexts"):
        layered.chain([two_layers("inspiring", 7)])


def test_ypir_as_published_misses_its_target():
    """q/(2p) = 2^39.9 is 6.6 deviations of the tree's noise, and 4.7 of the traced digits', which have it twice."""
    published, signed = stages(layered.chain, two_layers(), two_layers(gadget={"signed": True}))
    entry = published["second_layer"]
    hints, answer = 4095 / (entry["stddev"] * 1.0), entry["margin"]
    assert hints == pytest.approx(6.56, abs=0.02) and answer == pytest.approx(hints / 2**0.5, rel=0.02)
    assert entry["log2_failure"] == pytest.approx(-17.3, abs=0.1), "two digits decide it"
    assert entry["log2_failure_bound"] == pytest.approx(float(log2_subgaussian_tail(4095, 4095 / answer)) + 1, abs=0.1)
    assert signed["second_layer"]["log2_failure_bound"] < -40, "signed digits repair it"


def test_more_of_everything_is_more_noise():
    sizes = [two_layers(groups=1 << g, columns=1 << c) for g, c in ((12, 12), (15, 15), (17, 18))]
    made = stages(layered.chain, *sizes)
    for name in ("second_product", "second_layer", "first_layer"):
        values = [m[name]["stddev"] for m in made]
        assert values == sorted(values)
    alone = [stages(layered.chain, d)[0] for d in sizes]
    assert alone == made, "one call for many is many calls"
    signed = stages(layered.chain, two_layers("inspiring", 2, gadget={"signed": True}))[0]
    unsigned = stages(layered.chain, two_layers("inspiring", 2))[0]
    assert log2(unsigned["packing"]["stddev"] / signed["packing"]["stddev"]) == pytest.approx(1, abs=0.05)
    assert signed["second_layer"]["common_share"] < 1e-6
    # Of the variance after the switch, whose rounding is most of it here, packing has a tenth.
    assert unsigned["second_layer"]["common_share"] == pytest.approx(0.75 * 0.092, abs=0.002)


def interpolated(degree=32, rows=1 << 15, signed=False, answers=1):
    """InsPIRe with p = 65535."""
    gadget = GADGET | {"signed": signed}
    layout = {"rows": rows, "points": degree, "plain_modulus": 65535, "polynomials_per_record": answers}
    layout |= {"used_coefficients": D, "mask_modulus": 268369921, "body_modulus": "2^20"}
    layout |= {"packing_gadget": gadget, "rgsw_gadget": gadget}
    return {"layout": layout, "instances": [second(rows)]}


def theorem9(degree, rows):
    """The variance that the authors' code takes, sigma a standard deviation."""
    p, z, length = 65535, 1 << 19, 3
    return degree * 6.4**2 * (rows * p**2 + length * D**2 * z**2 / 4 + length * D * z**2 / 2)


def test_inspires_published_figures():
    """Facts: 2^32.47 after packing, 2^24 to 2^28.7 of the product, 2^27.5 of a step; by Theorem 9 a coefficient fails
    before the switch with 2^-165, 2^-82 and 2^-40.5 for t = 32, 64 and 128."""
    threshold = 268369921 * 249561089 / 65535 / 2
    before = {32: -165, 64: -82, 128: -40.5}
    for degree, made in zip(before, stages(inspire.chain, *map(interpolated, before))):
        assert log2(made["packing"]["stddev"]) == pytest.approx(32.46, abs=0.01)
        theorem = theorem9(degree, 1 << 15) ** 0.5
        assert made["evaluation"]["stddev"] == pytest.approx(theorem, rel=0.01), "the mean over the points"
        assert float(log2_subgaussian_tail(threshold, theorem)) == pytest.approx(before[degree], abs=1)
        assert made["switch"]["threshold"] == pytest.approx(268369921 / 65535 / 2)
    long = stages(inspire.chain, interpolated(rows=1 << 10), interpolated(rows=1 << 20))
    products = [log2(m["first_product"]["stddev_bound"]) for m in long]
    assert products == pytest.approx([24 - 1.3, 28.7 - 1], abs=0.4), (
        "the facts bound entries by p, here they are centred"
    )
    step = (long[0]["evaluation"]["variance"] - 32 * long[0]["packing"]["variance"]) / 31
    assert log2(step) / 2 == pytest.approx(27.5, abs=0.1)


def test_offsets_of_unsigned_digits_add_up_at_the_point_one():
    """At t = 8 with Gaussian secrets: 201 at z = 1, 130 over all points (records: 125 to 137)."""
    described = interpolated(8)
    described["instances"][0]["secret"] = {"kind": "gaussian", "stddev": 6.4}
    [made] = stages(inspire.chain, described)
    assert made["switch"]["stddev"] == pytest.approx(130, abs=1)
    assert made["switch"]["threshold"] / made["switch"]["margin"] == pytest.approx(201, rel=0.02)
    # Where all columns agree, the whole error of packing counts t times.
    assert 201 < made["switch"]["stddev_bound"] < 8**0.5 * 130
    assert made["switch"]["common_share"] == pytest.approx(0.198 * (23 / 2) ** 0.5, rel=0.02)
    [single] = stages(inspire.chain, interpolated(1))
    assert single["evaluation"]["stddev_bound"] == pytest.approx(single["evaluation"]["stddev"], rel=0.01)


def test_a_polynomial_of_ones_vanishes_at_all_points_but_one():
    """1 + z + .. + z^(t-1) in Z[X]/(X^d + 1) at z = X^(2 d j / t): what the offsets are multiplied with."""
    d, t = 32, 8
    for j in range(t):
        total = np.zeros(d)
        for k in range(t):
            at = 2 * d // t * j * k % (2 * d)
            total[at % d] += 1 if at < d else -1
        assert total.tolist() == ([t] + [0] * (d - 1) if j == 0 else [0] * d)


def test_degrees_that_reach_the_target():
    """The authors stop at t = 32, where 2 exp(-T^2 / 2 v) <= 2^-40 at T = q/(4p). That overlooks the offsets, and data
    whose t columns agree: for any data t = 8 reaches 2^-40 with unsigned digits, 16 with signed ones."""
    failures = {
        (t, signed): record_noise(list(stages(inspire.chain, interpolated(t, signed=signed))[0].values()), -40)
        for t in (8, 16, 32, 128)
        for signed in (False, True)
    }
    reached = {key: noise["log2_failure"] <= -40 for key, noise in failures.items()}
    assert [reached[t, False] for t in (8, 16, 32)] == [True, False, False]
    assert [reached[t, True] for t in (8, 16, 32, 128)] == [True, True, False, False]
    random = {key: noise["log2_failure_random"] <= -40 for key, noise in failures.items()}
    assert [random[t, False] for t in (8, 16, 32)] == [True, False, False], "offsets hit one record in t"
    assert all(random[t, True] for t in (8, 16, 32, 128))
    quarter = 268369921 * 249561089 / 65535 / 4
    for degree, allowed in ((32, True), (64, False)):
        assert (log2_subgaussian_tail(quarter, theorem9(degree, 1 << 20) ** 0.5) <= -40) == allowed


def test_whitened_data_have_no_columns_that_agree():
    """Then signed digits reach 2^-40 for any data at t = 128 too; unsigned ones still miss it at t = 16 and z = 1."""

    def whitened(degree, signed):
        made = interpolated(degree, signed=signed)
        made["layout"]["whitened"] = True
        return record_noise(list(stages(inspire.chain, made)[0].values()), -40)

    assert [whitened(t, True)["log2_failure"] <= -40 for t in (8, 16, 32, 64, 128)] == [True] * 5
    assert [whitened(t, False)["log2_failure"] <= -40 for t in (8, 16)] == [True, False]
    plain = interpolated(32, signed=True)
    plain["layout"]["whitened"] = True
    [made], [before] = stages(inspire.chain, plain), stages(inspire.chain, interpolated(32, signed=True))
    assert made["switch"]["variance"] == before["switch"]["variance"], "random data are random either way"
    evaluation = made["evaluation"]
    assert evaluation["stddev_bound"] == pytest.approx(evaluation["stddev"], rel=0.05), "any data are as random ones"
    assert before["evaluation"]["stddev_bound"] == pytest.approx(32**0.5 * evaluation["stddev"], rel=0.05)


def test_inspires_union_is_over_a_records_ciphertexts():
    one, eight = stages(inspire.chain, interpolated(8), interpolated(8, answers=8))
    assert eight["switch"]["decisions"] == 8 * one["switch"]["decisions"] == 8 * 2048
    assert eight["switch"]["log2_failure_bound"] == pytest.approx(one["switch"]["log2_failure_bound"] + 3)


def one_layer(bits=262144):
    """SimpleYPIR at 1 GB: 2^14 items of 19 ring elements of 14-bit entries."""
    layout = {"rows": 1 << 14, "items": 1 << 14, "columns": 19 * D, "elements_per_item": 19, "entry_bits": 14}
    layout |= {"records_per_item": (1 << 19) // bits}
    layout |= {"plain_modulus": 1 << 14, "packing_gadget": GADGET}
    layout |= {"mask_modulus": 268369921, "body_modulus": "2^20"}
    return {"layout": layout, "instances": [second()], "shape": {"records": (1 << 33) // bits, "record_bits": bits}}


def test_simpleypir_has_a_bit_more_room_than_ypir():
    """p = 2^14: q/(2p) is 13 deviations, which holds for all the entries of a 32-KB record."""
    wide, bit = stages(simpleypir.chain, one_layer(), one_layer(bits=1))
    assert wide["answer"]["margin"] == pytest.approx(2 * 6.57, rel=0.01)
    assert wide["answer"]["decisions"] == 18726 and bit["answer"]["decisions"] == 1
    assert wide["answer"]["log2_failure_bound"] < -100
    assert log2(wide["packing"]["stddev"]) == pytest.approx(37.17, abs=0.02)
    assert simpleypir.filled_nodes(one_layer()) > 0.9
    few = one_layer(bits=1)
    few["layout"] |= {"records_per_item": 8000, "elements_per_item": 1}
    # 571 of 2048 columns: level 1 has noise in 571 of 1024 nodes, level 2 in all.
    assert simpleypir.filled_nodes(few) == pytest.approx(0.25 + 0.75 * 571.4 / 1024, abs=0.01)
    assert wide["first_product"]["stddev_bound"] > wide["first_product"]["stddev"]


Q53 = "67043329 * 132120577"


def recursive(rows=4096, degree=2048, gamma=64):
    """InsPIRe^(2) at 1 GB."""
    layout = {
        "rows": rows,
        "cell_columns": degree,
        "gammas": [gamma, 1024, gamma],
        "plain_modulus": 1 << 16,
        "digit_bits": 16,
        "copies": 1,
    }
    layout |= {
        "mask_digits": 3584,
        "answer_ciphertexts": 6,
        "body_digits": -(-28 * gamma // 16),
        "switched_modulus": 268369921,
    }
    layout |= {"packing_gadget": GADGET | {"base_log2": 18}, "mask_modulus": 268369921, "body_modulus": "2^20"}
    return {"layout": layout, "instances": [second() | {"modulus": Q53}]}


def test_inspire2s_three_stages_stay_below_the_authors_condition():
    """q > 4p sqrt(2 41 ln 2) sqrt(m p^2 sigma^2 + ell gamma d z^2 sigma^2 / 4), for z = 2^19 and entries up to p."""
    q, factor = 67043329 * 132120577, 4 * 65536 * (2 * 41 * np.log(2)) ** 0.5
    for rows, degree, gamma in ((4096, 2048, 64), (65536, 512, 16), (262144, 2048, 32)):
        [made] = stages(inspire2.chain, recursive(rows, degree, gamma))
        for name, terms, packed in (("first_packing", rows, gamma), ("second_packing", degree, 1024)):
            printed = 6.4**2 * (terms * 65536**2 + 3 * packed * D * 4.0**19 / 4)
            assert made[name]["stddev"] < made[name]["stddev_bound"] < printed**0.5
            assert factor * printed**0.5 < q
        assert record_noise(list(made.values()), -40)["log2_failure"] < -40
        assert made["first_layer"]["decisions"] == gamma
        assert made["second_layer"]["decisions"] == 3584 + 7 * gamma // 4


def test_partial_packing_has_as_many_switches_as_ciphertexts_less_one():
    small, large = stages(inspire2.chain, recursive(gamma=16), recursive(gamma=64))
    added = [m["first_packing"]["variance"] - m["first_product"]["variance"] for m in (small, large)]
    assert added[1] / added[0] == pytest.approx(63 / 15)
    assert small["second_packing"]["variance"] == large["second_packing"]["variance"]


def test_long_records_selected_whole_have_every_digits_error_and_no_packings():
    """A coefficient of a product of polynomials adds the errors of all digits; both beside the same by hand."""
    more = {"groups": 32, "columns": 1 << 17, "copies": 64, "entries_per_record": 64, "records_per_entry": 1}
    packed, whole = two_layers(answers=64, **more), two_layers(answers=64, selected_whole=True, **more)
    for description in (packed, whole):
        description["shape"] = {"records": 1 << 22, "record_bits": 512}
        description["layout"] |= {"rows": 32 * 64, "entries": 64 << 22}
    before, after = stages(layered.chain, packed, whole)
    digits = [min(15, 28672 - 15 * i) for i in range(1912)] + [15, 13]
    squares = [(4.0**b - 1) / 12 + ((2.0**b - 1) / 2 - 2.0**14) ** 2 for b in digits]
    product = 32 * 6.4**2 * sum(squares)
    assert after["second_product"]["variance"] == pytest.approx(product)
    assert after["packing"]["variance"] == pytest.approx(product), "nothing is packed"
    switch = (268369921 / 2**20) ** 2 / 12 + D * 0.25 / 12
    expected = product * (268369921 / (268369921 * 249561089)) ** 2 + switch
    assert after["second_layer"]["variance"] == pytest.approx(expected)
    assert after["second_layer"]["variance"] < before["second_layer"]["variance"]
    assert after["second_layer"]["decisions"] == 64 * 1914 and after["second_layer"]["common_share"] == 0
    assert record_noise(list(after.values()), -40)["log2_failure"] < -40
    assert after["first_layer"]["variance"] == before["first_layer"]["variance"]


def test_inspire2s_long_records_have_two_polynomials_a_cell():
    packed, whole = recursive(8192, 4, 64), recursive(8192, 4, 64)
    whole["layout"] |= {"selected_whole": True, "copies": 256}
    before, after = stages(inspire2.chain, packed, whole)
    square = (2.0**32 - 1) / 12
    assert after["second_product"]["variance"] == pytest.approx(4 * 2048 * 6.4**2 * square, rel=1e-6)
    assert after["second_packing"]["variance"] == after["second_product"]["variance"]
    second = after["second_layer"]
    assert second["decisions"] == 256 * 3696 and second["common_share"] == 0
    # 2048 digits in the first polynomial and 1648 in the other.
    shrink = (268369921 / (67043329 * 132120577)) ** 2
    switch = (268369921 / 2**20) ** 2 / 12 + D * 0.25 / 12
    mean = sum(n * (4 * n * 6.4**2 * square * shrink + switch) for n in (2048, 1648)) / 3696
    assert second["variance"] == pytest.approx(mean, rel=1e-6)
    assert second["variance"] < before["second_layer"]["variance"]
    assert after["first_layer"]["stddev"] == before["first_layer"]["stddev"]
