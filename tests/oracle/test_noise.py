"""Noise formulas against brute force: moments, variances, tails, unions, and the tables of plaintext moduli."""

import shlex
import tomllib
from fractions import Fraction
from math import ceil, erfc, log2, sqrt

import numpy as np
import pytest
from pirlab_estimator.noise import moments, plain_moduli, predict_noise
from pirlab_estimator.noise.sums import digit_power_sums
from pirlab_estimator.noise.tails import log2_gaussian_tail, log2_subgaussian_tail, log2_union
from pirlab_estimator.sets import resolve

SAMPLES = 1 << 16
VARIANCE_TOLERANCE = 1 / 16


def simplepir_description(records, record_bits, plain_modulus, stddev=6.4, rows=None):
    """A description as `pirlab describe` makes it, for a given plaintext modulus."""
    packed = int(log2(plain_modulus)) // record_bits
    per_record = 1 if packed else moments.record_digit_count(record_bits, plain_modulus)
    entries = ceil(records / max(1, packed)) * per_record
    rows = rows or ceil(int(sqrt(entries)) / per_record) * per_record
    columns = ceil(entries / rows)
    return {
        "protocol": "simplepir",
        "shape": {"records": records, "record_bits": record_bits},
        "layout": {
            "rows": rows,
            "columns": columns,
            "plain_modulus": plain_modulus,
            "scale": 2**32 // plain_modulus,
            "entry_offset": 1 << (packed * record_bits - 1) if packed else plain_modulus // 2,
            "records_per_entry": max(1, packed),
            "entries_per_record": per_record,
            "entries": entries,
            "padding_entries": rows * columns - entries,
        },
        "instances": [{"name": "query", "dimension": 1024, "modulus": "2^32", "error_stddev": stddev}],
    }


def doublepir_description(records, record_bits, plain_modulus, min_columns, **kwargs):
    description = simplepir_description(records, record_bits, plain_modulus, **kwargs)
    layout = description["layout"]
    layout["columns"] = max(layout["columns"], min_columns)
    per_record = layout["entries_per_record"]
    layout["rows"] = ceil(ceil(layout["entries"] / layout["columns"]) / per_record) * per_record
    layout["padding_entries"] = layout["rows"] * layout["columns"] - layout["entries"]
    layout |= {"hint_copies": per_record, "groups": layout["rows"] // per_record, "second_queries": 1}
    layout["digits"] = moments.balanced_digit_count(32, plain_modulus)
    description["instances"] = [description["instances"][0] | {"name": n} for n in ("first_query", "second_query")]
    return description | {"protocol": "doublepir"}


def digits_of(value, base, count):
    return [value // base**i % base for i in range(count)]


@pytest.mark.parametrize(("bits", "base"), [(1, 3), (5, 3), (10, 7), (12, 991), (12, 16), (13, 5)])
def test_digit_moments_are_those_of_all_values(bits, base):
    count = moments.digit_count(bits, base)
    assert base**count >= 2**bits > base ** (count - 1)
    all_digits = np.array([digits_of(v, base, count) for v in range(1 << bits)]) - base // 2
    got = moments.digit_moments(bits, base)
    np.testing.assert_allclose([m.square for m in got], (all_digits**2).mean(axis=0))
    np.testing.assert_allclose([m.mean for m in got], all_digits.mean(axis=0), atol=1e-12)


@pytest.mark.parametrize(("bits", "base"), [(8, 3), (10, 7), (12, 16), (13, 6), (10, 1024), (11, 128)])
def test_balanced_moments_are_those_of_all_values(bits, base):
    count = moments.balanced_digit_count(bits, base)
    rows = []
    for value in range(-(1 << (bits - 1)), 1 << (bits - 1)):
        rest, row = value, []
        for _ in range(count):
            digit = (rest + base // 2) % base - base // 2
            row.append(digit)
            rest = (rest - digit) // base
        assert rest == 0, "as many digits as every value needs"
        rows.append(row)
    got = moments.balanced_moments(bits, base)
    np.testing.assert_allclose([m.square for m in got], (np.array(rows) ** 2).mean(axis=0))
    np.testing.assert_allclose([m.mean for m in got], np.array(rows).mean(axis=0), atol=1e-12)


def test_balanced_digits_of_the_published_moduli():
    assert [moments.balanced_digit_count(32, p) for p in (929, 781, 657, 552, 464, 390, 328, 276)] == [4] * 8
    assert moments.balanced_digit_count(32, 231) == 5, "231^4 < 2^32"
    with pytest.raises(ValueError, match="at least 3"):
        moments.balanced_digit_count(32, 2)


def test_uniform_second_moment():
    for low, high in [(-5, 4), (0, 6), (3, 9), (-9, -2), (0, 0), (-3, -3), (-1, 0), (-8, 7)]:
        values = range(low, high + 1)
        expected = Fraction(sum(v * v for v in values), len(values))
        assert digit_power_sums(low, high + 1, 1, None)[2] / len(values) == pytest.approx(float(expected))


@pytest.mark.parametrize(("bits", "filled"), [(9, 9), (9, 1), (9, 8), (3, 0), (3, 3)])
def test_packed_moments_are_those_of_all_values(bits, filled):
    values = [value - (1 << (bits - 1)) for value in range(1 << filled)]
    square, mean = moments.packed_moments(bits, filled)
    assert square == pytest.approx(sum(v * v for v in values) / len(values))
    assert mean == pytest.approx(sum(values) / len(values))


def test_an_only_entry_that_its_record_does_not_fill_has_its_own_moments():
    """One record of one bit in nine: -256 or -255, thrice the square of all entries."""
    only, many = (simplepir_description(records, 1, 991) for records in (1, 1 << 12))
    variances = [predict_noise([d])[0]["stages"][0]["stddev"] ** 2 / d["layout"]["columns"] for d in (only, many)]
    assert variances[0] == pytest.approx(3 * variances[1], rel=1e-2)


@pytest.mark.parametrize(("bits", "base"), [(13, 7), (31, 2), (2048, 991), (2048 + 800, 552)])
@pytest.mark.parametrize("ones", [False, True])
def test_digits_of_constant_records_are_taken_one_by_one(bits, base, ones):
    squares = []
    for length in [2048] * (bits // 2048) + [bits % 2048] * (bits % 2048 > 0):
        value = int("1" * length, 2) if ones else 0
        digits = moments.digit_count(length, base)
        squares += [(value // base**i % base - base // 2) ** 2 for i in range(digits)]
    assert len(squares) == moments.record_digit_count(bits, base)
    assert moments.constant_second_moment(bits, base, ones) == pytest.approx(sum(squares) / len(squares), rel=1e-12)


def test_record_moments_cover_every_entry():
    for bits, base in [(16, 991), (2048, 833), (2049, 701), (100 * 8 * 1024, 495)]:
        assert sum(count for _, count in moments.record_moments(bits, base)) == moments.record_digit_count(bits, base)


def random_entries(description, generator):
    """The centred database of a description for random records, entry by entry as the layout says."""
    layout, bits = description["layout"], description["shape"]["record_bits"]
    per_record, columns = layout["entries_per_record"], layout["columns"]
    database = np.zeros((layout["rows"], columns), dtype=np.int64)
    for cell in range(layout["entries"] // per_record):
        row, column = cell // columns * per_record, cell % columns
        if per_record == 1:
            entries = [int(generator.integers(0, 1 << (layout["records_per_entry"] * bits)))]
        else:
            value = int.from_bytes(generator.bytes((bits + 7) // 8), "little") % (1 << bits)
            entries = digits_of(value, layout["plain_modulus"], per_record)
        database[row : row + per_record, column] = np.array(entries) - layout["entry_offset"]
    return database


@pytest.mark.parametrize(
    ("records", "bits", "modulus"), [(4096, 1, 991), (1000, 7, 991), (900, 16, 991), (500, 64, 247), (333, 10, 833)]
)
def test_simplepir_variance_is_the_formula(records, bits, modulus):
    """Equality for a random database, padding included; the worst case is never exceeded."""
    description = simplepir_description(records, bits, modulus)
    stage = predict_noise([description])[0]["stages"][0]
    generator = np.random.default_rng(1)
    database = random_entries(description, generator)
    keys = max(20, SAMPLES // description["layout"]["rows"])
    errors = database @ np.rint(generator.normal(0, 6.4, (description["layout"]["columns"], keys))).astype(np.int64)
    assert errors.size >= 1 << 14
    assert errors.std() ** 2 == pytest.approx(stage["stddev"] ** 2, rel=VARIANCE_TOLERANCE)
    assert (errors.std(axis=1) <= stage["stddev_bound"] * (1 + VARIANCE_TOLERANCE)).all()


def test_simplepir_bound_is_reached_by_the_worst_database():
    description = simplepir_description(4096, 1, 991)
    stage = predict_noise([description])[0]["stages"][0]
    layout = description["layout"]
    worst = np.full(layout["columns"], -layout["entry_offset"])
    errors = np.random.default_rng(2).normal(0, 6.4, (SAMPLES, layout["columns"])) @ worst
    assert errors.var() == pytest.approx(stage["stddev_bound"] ** 2, rel=VARIANCE_TOLERANCE)


def test_doublepir_second_layer_variance_is_the_formula():
    description = doublepir_description(1 << 12, 16, 231, min_columns=64)
    stage = predict_noise([description])[0]["stages"][0]
    assert stage["stage"] == "second_layer"
    layout, generator = description["layout"], np.random.default_rng(3)
    values = generator.integers(-(1 << 31), 1 << 31, (128, layout["groups"]))
    pooled, rest = [], values
    for _ in range(layout["digits"]):
        digits = (rest + 115) % 231 - 115
        rest = (rest - digits) // 231
        pooled.append(digits @ np.rint(generator.normal(0, 6.4, (layout["groups"], 200))))
    pooled = np.concatenate(pooled)
    assert pooled.var() == pytest.approx(stage["stddev"] ** 2, rel=VARIANCE_TOLERANCE)
    assert stage["decisions"] == layout["entries_per_record"] * 1025 * 5


@pytest.mark.parametrize("bits", range(4, 9))
def test_gaussian_tail_against_erfc_and_samples(bits):
    threshold = next(t for t in np.linspace(0, 5, 5001) if erfc(t / sqrt(2)) <= 2.0**-bits)
    assert log2_gaussian_tail(threshold, 1.0) == pytest.approx(log2(erfc(threshold / sqrt(2))), abs=1e-9)
    sampled = np.abs(np.random.default_rng(bits).normal(0, 3, 1 << 20)) >= 3 * threshold
    assert sampled.mean() == pytest.approx(2.0**-bits, rel=0.1)
    assert log2_subgaussian_tail(threshold, 1.0) >= log2_gaussian_tail(threshold, 1.0)


def test_tails_are_numbers_far_out():
    assert log2_gaussian_tail(21.0, 1.0) == pytest.approx(-322.97, abs=0.5)
    assert log2_subgaussian_tail(20.45, 1.0) == pytest.approx(-300.7, abs=0.5)
    assert log2_gaussian_tail(1e6, 1.0) < -1e11
    assert log2_gaussian_tail(0.0, 1.0) == 0 and log2_subgaussian_tail(0.0, 1.0) == 0
    assert log2_gaussian_tail(1.0, 0.0) == -np.inf
    np.testing.assert_allclose(log2_subgaussian_tail([0.0, 8.0], [1.0, 1.0]), [0.0, 1 - 32 / np.log(2)])


def test_union():
    assert log2_union([-40.0, -40.0]) == pytest.approx(-39)
    assert log2_union([-40.0], [1024.0]) == pytest.approx(-30)
    assert log2_union([-1.0, -1.0, -1.0]) == 0, "a probability is at most 1"
    assert log2_union([-300.0, -40.0]) == pytest.approx(-40)
    assert log2_union([-400.0] * 2) == pytest.approx(-399)


def test_failure_of_a_record_is_the_union_of_its_decisions():
    one = predict_noise([simplepir_description(1 << 20, 8, 991)])[0]
    wide = predict_noise([simplepir_description(1 << 20, 2048, 833)])[0]
    assert one["stages"][0]["decisions"] == 1 and wide["stages"][0]["decisions"] == 212
    stage = wide["stages"][0]
    alone = log2_subgaussian_tail(stage["threshold"], stage["stddev_bound"])
    assert wide["log2_failure"] == pytest.approx(float(alone) + log2(212))
    assert wide["log2_failure_random"] < wide["log2_failure"]


def test_many_descriptions_at_once_keep_their_order():
    descriptions = [
        simplepir_description(1 << 14, 8, 991),
        doublepir_description(1 << 14, 8, 929, min_columns=65536),
        simplepir_description(1 << 14, 2048, 833),
        doublepir_description(1 << 10, 2048, 552, min_columns=65536),
    ]
    together = predict_noise(descriptions)
    assert together == [predict_noise([d])[0] for d in descriptions]
    assert [len(n["stages"]) for n in together] == [1, 2, 1, 2]
    assert predict_noise([]) == []


def test_one_record_and_one_group():
    noise = predict_noise(
        [simplepir_description(1, 1, 991), doublepir_description(1, 100 * 8 * 1024, 552, min_columns=65536)]
    )
    assert noise[0]["stages"][0]["stddev"] > 0
    assert all(-1e9 <= s["log2_failure_bound"] <= 0 for n in noise for s in n["stages"])


def test_a_layout_that_contradicts_the_digits_is_refused():
    description = simplepir_description(1 << 14, 2048, 833)
    description["layout"]["entries_per_record"] = 211
    with pytest.raises(ValueError, match="entries_per_record is 211"):
        predict_noise([description])
    with pytest.raises(ValueError, match="no noise formulas for protocol 'tiptoe'"):
        predict_noise([description | {"protocol": "tiptoe"}])


def parameter_sets(root, kind):
    paths = sorted(root.glob("params/*/*.toml"))
    for path, content in zip(paths, resolve(paths)):
        if content["source"]["kind"] == kind and content["protocol"] in ("simplepir", "doublepir"):
            yield path.stem, content


def test_published_moduli_reach_the_published_failure(root, binary):
    """Per decision 2^-40 under the subgaussian bound, with entries up to p/2; and no smaller than they need be."""
    sets = list(parameter_sets(root, "published"))
    assert len(sets) == 3
    for name, content in sets:
        for row in content["plain_moduli"]:
            p, samples = row["modulus"], 1 << row["log2_samples"]
            error = sqrt(samples) * content["lwe"]["error"]["stddev"] * p / 2
            threshold = 2**32 // p / 2
            needed = -40 if content["protocol"] == "simplepir" else -40 - log2(4 * 1025)
            assert log2_subgaussian_tail(threshold, error) <= needed, (name, row)
            arguments = {"dimension": 1024, "modulus": 2**32, "stddev": 6.4, "record_entries": 1}
            best = plain_moduli.largest_plain_modulus(content["protocol"], samples, **arguments)
            assert p <= best <= p + 1, "the table takes p/2 where ours takes floor(p/2)"


def test_repaired_moduli_are_what_their_command_prints(root, binary, capsys):
    sets = list(parameter_sets(root, "repaired"))
    assert len(sets) == 4
    for name, content in sets:
        command = shlex.split(content["source"]["command"])
        assert command[:3] == ["python", "-m", "pirlab_estimator.noise.plain_moduli"], name
        assert plain_moduli.main(command[3:]) == 0
        assert tomllib.loads(capsys.readouterr().out)["plain_moduli"] == content["plain_moduli"], name
        dimension, stddev = content["lwe"]["dimension"], content["lwe"]["error"]["stddev"]
        assert command[3:] == shlex.split(
            f"--protocol {content['protocol']} --dimension {dimension} --stddev {stddev}"
        ), f"{name}: the command is for these parameters"
        for row in content["plain_moduli"]:
            arguments = {"dimension": dimension, "modulus": 2**32, "stddev": stddev, "record_entries": 1 << 12}
            worst = plain_moduli.worst_log2_failure(
                content["protocol"], row["modulus"], 1 << row["log2_samples"], **arguments
            )
            assert worst <= -40, (name, row)
            assert row["modulus"] <= 1024


def test_no_modulus_is_an_error():
    with pytest.raises(ValueError, match="no plaintext modulus reaches"):
        plain_moduli.largest_plain_modulus(
            "simplepir", 1 << 40, dimension=1024, modulus=2**32, stddev=1e4, record_entries=1
        )
