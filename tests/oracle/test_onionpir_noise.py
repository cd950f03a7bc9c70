"""OnionPIR's chain against its authors' bound, the committed sets against their targets, and runs against the chain."""

from math import log2

import pytest
from pirlab_estimator import noise
from pirlab_estimator.modulus import parse_modulus
from validated import check_run, predicted, stages

STDDEV = 3.2
#: Bits of a plaintext.
SETS = {
    "original": 4096 * 60,
    "small-branch": 8192 * 16,
    "v2-4096": 4096 * 46,
    "v2-2048": 2048 * 16,
    "repaired-40": 4096 * 40,
    "repaired-20": 4096 * 20,
    "secure-27": 4096 * 27,
}


@pytest.fixture(scope="module")
def described(describe):
    """The description of a set at a power of two of plaintexts."""
    return lambda name, log, *more: describe(f"onionpir/{name}", log, *more, record_bits=SETS[name])


@pytest.mark.parametrize("name", [name for name in SETS if name.startswith(("repaired", "secure"))])
@pytest.mark.parametrize("log_plaintexts", [10, 16])
def test_every_set_of_ours_fails_less_often_than_its_target(described, name, log_plaintexts):
    made, _ = predicted(described(name, log_plaintexts))
    assert made["log2_failure"] < noise.FAILURE_TARGET


@pytest.mark.parametrize("name", SETS)
def test_noise_is_below_the_papers_bound(described, name):
    """The paper bounds the coefficients of an expansion by the constant one, 4^h (sigma^2 + V_ks / 3); in the mean they
    have 2^h sigma^2 + (2^h - 1) V_ks. V_ks is of digits as long as the base: shorter ones leave less."""
    description = described(name, 12)
    layout, made = description["layout"], stages(description)
    n, levels, gadget = layout["ring_degree"], layout["expansion_depth"], layout["automorphism_gadget"]
    special = parse_modulus(layout["special_modulus"]) if "special_modulus" in layout else 1
    switch = gadget["digits"] * n * 4.0 ** gadget["base_log2"] / 12 * STDDEV**2 / special**2
    switch += (1 + 2 * n / 3) / 12 if special > 1 else 0
    mean, constant = 2**levels * STDDEV**2 + (2**levels - 1) * switch, 4**levels * (STDDEV**2 + switch / 3)
    leaf, first = (2 * log2(made[stage]["stddev"]) for stage in ("leaf", "first_dimension"))
    assert -0.8 < leaf - log2(mean) < 0.01
    products = layout["rows"] * layout["plain_digits"] * n * layout["plain_modulus"] ** 2 / 12
    assert first - leaf == pytest.approx(log2(products), abs=0.02)
    assert first < log2(constant * products)


def test_unit_vectors_have_four_products_for_one(described):
    """What one product adds is the same; dimensions of four have four, those of two have one."""
    added = {}
    for further in ("one-hot", "binary"):
        made = stages(described("repaired-20", 15, "--with", f'further="{further}"'))
        variances = [made[stage]["stddev"] ** 2 for stage in ("folding", "first_dimension")]
        added[further] = variances[0] - variances[1]
    assert added["one-hot"] / added["binary"] == pytest.approx(2.0, rel=0.02)


#: Sets and further dimensions that run: the first takes seconds.
RUNS = [("repaired-20", "one-hot")]
RUNS += [(name, further) for name in SETS for further in ("one-hot", "binary") if (name, further) not in RUNS]


@pytest.mark.parametrize(
    ("name", "further"), [RUNS[0], *(pytest.param(*run, marks=pytest.mark.slow) for run in RUNS[1:])]
)
def test_runs_have_the_noise_of_the_chain(root, measure, name, further):
    # Eight coordinates of the first dimension, a dimension of two and one of four, or three of two; none is empty.
    options = ["--records", "64", "--record-bits", str(SETS[name]), "--with", "row_bits=3"]
    options += ["--with", f'further="{further}"', "--seed", "7", "--repetitions", "1"]
    # What dropped digits leave is most of the noise of `original`, and comes with the ones of an index: twenty indices.
    seconds = "10" if (name, further) == ("original", "binary") else "1"
    record = measure(root / f"params/onionpir/{name}.toml", *options, "--noise-seconds", seconds)
    check_run(record, {"leaf", "selector_body", "selector_mask", "first_dimension", "folding", "answer"})
