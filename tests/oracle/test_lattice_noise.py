"""Formulas of lattice noise against samples of a schoolbook toy in numpy, with keys, errors and coins of its own."""

import itertools

import numpy as np
import pytest
import toy_lattice
from pirlab_estimator.noise import lattice
from pirlab_estimator.noise.digits import RANDOMISED, gadget
from pirlab_estimator.noise.lattice import GadgetNoise, Noise, Secret
from pirlab_estimator.noise.lattice.inputs import negacyclic_signs
from pirlab_estimator.noise.lattice.switching import rounding

VARIANCE_TOLERANCE = 1 / 16
ENOUGH_SAMPLES, KEYS_FOR_MEANS = 1 << 14, 100
Q = 268435399  # below 2^28
SECRETS = {"ternary": Secret.ternary(), "binary": Secret.binary()}


def build(family="balanced", base=32, dropped=0, keys=300, n=64, **options):
    """A toy ring, a gadget's digits and its predicted noise."""
    toy = toy_lattice.Toy(keys, n, Q, **options)
    length = len(gadget(family, Q, base, dropped).digits)
    return toy, toy_lattice.Digits(family, Q, base, length, dropped), GadgetNoise.of(family, Q, base, dropped)


def holds(errors, noise, tolerance=VARIANCE_TOLERANCE):
    """E[e^2] of at least 2^14 samples over the keys (first axis)."""
    errors = np.asarray(errors, dtype=float)
    assert errors.size >= ENOUGH_SAMPLES and errors.shape[0] >= KEYS_FOR_MEANS
    assert noise.kind == "equality"
    assert np.mean(errors**2) == pytest.approx(float(noise.variance), rel=tolerance)


def test_fresh_add_products_and_extraction():
    toy, _, _ = build()
    s, fresh = toy.secret(), Noise(toy.variance)
    assert lattice.fresh(3.2).variance == pytest.approx(10.24)
    messages, ciphertexts = zip(*((m, toy.encrypt(m, s)) for m in (toy.uniform() for _ in range(3))))
    errors = [toy.centred(toy.phase(c, s) - m) for c, m in zip(ciphertexts, messages)]
    holds(errors[0], fresh)
    total = toy.add(toy.add(ciphertexts[0], ciphertexts[1]), ciphertexts[2], -1)
    holds(toy.centred(toy.phase(total, s) - messages[0] - messages[1] + messages[2]), lattice.sum_of(fresh, 3))
    for balanced, low, high in ((True, -8, 8), (False, 0, 16), (True, -7, 8), (False, 0, 15)):
        plain = toy.rng.integers(low, high, messages[0].shape)
        product = tuple(toy.multiply(x, plain) for x in ciphertexts[0])
        error = toy.centred(toy.phase(product, s) - toy.multiply(messages[0], plain))
        square = lattice.uniform_square(high - low, balanced)
        assert square == pytest.approx(np.mean(np.arange(low, high) ** 2))
        holds(error, lattice.plaintext_product(toy.n, square, fresh))
    fixed = np.zeros_like(messages[0])
    fixed[:, [0, 5, 9]] = 3, -4, 12
    product = tuple(toy.multiply(x, fixed) for x in ciphertexts[0])
    holds(toy.centred(toy.phase(product, s) - toy.multiply(messages[0], fixed)), lattice.norm_product(169, fresh))
    turned = tuple(toy.shift(x, 77) % toy.q for x in ciphertexts[0])
    holds(toy.centred(toy.phase(turned, s) - toy.shift(messages[0], 77)), lattice.monomial_product(fresh))
    a, b = ciphertexts[0]
    for index in (0, 1, toy.n - 1):  # b_i - <a', s> with a' = (a_i, .., a_0, -a_(n-1), .., -a_(i+1))
        mask = np.concatenate([a[:, index::-1], -a[:, :index:-1]], axis=1)
        lwe = toy.centred(b[:, index] - np.sum(mask * s, axis=1) - messages[0][:, index])
        np.testing.assert_array_equal(lwe, errors[0][:, index])
    assert lattice.sample_extraction(fresh) == fresh


GADGETS = [(family, base, 0) for family in ("unsigned", "balanced", *RANDOMISED) for base in (2, 7, 256)]
GADGETS += [("unsigned", 16, 2), ("balanced", 16, 2), ("balanced", 2, 5), ("unsigned", 7, 3)]


@pytest.mark.parametrize(("family", "base", "dropped"), GADGETS)
def test_gadget_and_external_product(family, base, dropped):
    keys = 800 if family in ("unsigned", "jlp21") else 300
    toy, digits, noise = build(family, base, dropped, keys, n=32, seed=base)
    if keys * toy.n < ENOUGH_SAMPLES:
        toy, digits, noise = build(family, base, dropped, 512, n=32, seed=base)
    s, rows = toy.secret(), Noise(toy.variance)
    small = toy.rng.integers(-1, 2, s.shape)
    u = toy.uniform()
    product = toy.gadget_product(toy.prime(small, s, digits), u, digits)
    error = toy.centred(toy.phase(product, s) - toy.multiply(u, small))
    holds(error, lattice.gadget_product(toy.n, noise, rows, toy.n * 2 / 3))

    message = toy.uniform()
    c = toy.encrypt(message, s)
    mask_rows, body_rows = toy.prime(-toy.multiply(s, small), s, digits), toy.prime(small, s, digits)
    product = toy.external_product(c, mask_rows, body_rows, digits)
    phase = toy.phase(product, s)
    norm = toy.n * 2 / 3
    added = lattice.external_product(toy.n, noise, rows, Secret.ternary(), norm)
    holds(toy.centred(phase - toy.multiply(toy.phase(c, s), small)), added)
    output = lattice.external_product(toy.n, noise, rows, Secret.ternary(), norm, Noise(toy.variance))
    holds(toy.centred(phase - toy.multiply(message, small)), output)
    assert float(output.variance) == pytest.approx(float(added.variance) + norm * toy.variance)


@pytest.mark.parametrize("bit", [0, 1])
@pytest.mark.parametrize(("family", "base", "dropped"), [("balanced", 32, 0), ("balanced", 32, 2), ("zy22", 16, 0)])
def test_cmux(family, base, dropped, bit):
    toy, digits, noise = build(family, base, dropped, secret="binary")
    s, rows, fresh = toy.secret(), Noise(toy.variance), Noise(toy.variance)
    messages = toy.uniform(), toy.uniform()
    c = [toy.encrypt(m, s) for m in messages]
    selector = np.zeros_like(s)
    selector[:, 0] = bit
    mask_rows, body_rows = toy.prime(-toy.multiply(s, selector), s, digits), toy.prime(selector, s, digits)
    out = toy.add(c[0], toy.external_product(toy.add(c[1], c[0], -1), mask_rows, body_rows, digits))
    expected = lattice.cmux(toy.n, noise, rows, Secret.binary(), bit, fresh)
    holds(toy.centred(toy.phase(out, s) - messages[bit]), expected)


CHAINS = [("balanced", 16, 0), ("balanced", 16, 2), ("zy22", 16, 0), ("jlp24", 16, 0), ("unsigned", 16, 0)]


@pytest.mark.parametrize("same_selector", [False, True])
@pytest.mark.parametrize("same_input", [False, True])
@pytest.mark.parametrize(("family", "base", "dropped"), CHAINS)
def test_cmux_chain(family, base, dropped, same_input, same_selector):
    length = 8
    toy, digits, noise = build(family, base, dropped, 1200, n=16)
    s, rows = toy.secret(), Noise(toy.variance)
    message = toy.uniform()
    acc = (np.zeros_like(s), np.zeros_like(s)) if same_input else toy.encrypt(message, s)
    constant = np.repeat(toy.uniform()[:, :1], toy.n, axis=1)
    expected = np.zeros_like(message) if same_input else message
    for step in range(length):
        if step == 0 or not same_selector:
            bit = np.ones((toy.keys, 1), int) if same_input else toy.rng.integers(0, 2, (toy.keys, 1))
            selector = np.concatenate([bit, np.zeros((toy.keys, toy.n - 1), int)], axis=1)
            both = [toy.prime(m, s, digits) for m in (-toy.multiply(s, selector), selector)]
        if same_input:
            difference = constant, constant
            expected = expected + toy.phase(difference, s)
        else:
            exponent = int(toy.rng.integers(1, 2 * toy.n))
            difference = toy.add(tuple(toy.shift(x, exponent) for x in acc), acc, -1)
            expected = np.where(bit, toy.shift(expected, exponent), expected)
        acc = toy.add(acc, toy.external_product(difference, *both, digits))
    options = {"same_input": same_input, "same_selector": same_selector}
    start = lattice.NOTHING if same_input else Noise(toy.variance)
    predicted = lattice.cmux_chain(length, toy.n, noise, rows, Secret.ternary(), noise=start, **options)
    few = 3 if same_input or family == "unsigned" else 1  # one input or one sum a key: fewer independent samples
    holds(toy.centred(toy.phase(acc, s) - expected), predicted, few * VARIANCE_TOLERANCE)


SWITCHES = [("balanced", 32, 0), ("balanced", 2, 6), ("unsigned", 4, 5), ("unsigned", 16, 0), ("jlp24", 16, 0)]


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize(("family", "base", "dropped"), SWITCHES)
def test_key_switching_automorphism_and_ring_switching(family, base, dropped, kind):
    toy, digits, noise = build(family, base, dropped, 1100, secret=kind)
    old, new, rows, fresh = toy.secret(), toy.secret(), Noise(toy.variance), Noise(toy.variance)
    message = toy.uniform()
    c = toy.encrypt(message, old)
    out = toy.switch(c, toy.prime(old, new, digits), digits)
    expected = lattice.rlwe_key_switch(toy.n, noise, rows, SECRETS[kind], fresh)
    holds(toy.centred(toy.phase(out, new) - message), expected)

    for exponent in (5, toy.n + 1):
        turned = toy.automorphism(c, exponent, toy.prime(toy.substitute(old, exponent), old, digits), digits)
        error = toy.centred(toy.phase(turned, old) - toy.substitute(message, exponent))
        holds(error, lattice.automorphism(toy.n, noise, rows, SECRETS[kind], exponent, fresh))

    small = np.zeros_like(new)
    small[:, ::4] = toy.secret()[:, ::4]  # s'(X^4): the phase's every fourth coefficient needs those of a and b only
    out = toy.switch(c, toy.prime(old, small, digits), digits)
    few = [np.zeros_like(old), np.zeros_like(old)]
    few[0][:, ::4], few[1][:, ::4] = out[0][:, ::4], out[1][:, ::4]
    phase = toy.phase(few, small)[:, ::4]
    expected = lattice.ring_switch(toy.n, noise, rows, SECRETS[kind], fresh)
    holds(toy.centred(phase - message[:, ::4]), expected)


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_dropped_digits_of_an_lwe_key_switch_add_up_exactly(dimension):
    """Errors of 0 and 3, bits of the key, every combination: a sum has d squares and d (d - 1) products of means."""
    terms = itertools.product(itertools.product((0, 3), (0, 1)), repeat=dimension)
    squares = [sum(error * bit for error, bit in each) ** 2 for each in terms]
    dropped = GadgetNoise(square=0.0, repeated=0.0, mean=0.0, error_square=4.5, error_mean=1.5)
    made = lattice.lwe_key_switch(dimension, dropped, Noise(0.0), SECRETS["binary"])
    assert made.variance == pytest.approx(np.mean(squares), rel=1e-12)


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize(("family", "base", "dropped"), SWITCHES)
def test_lwe_key_switching(family, base, dropped, kind):
    """The errors of the rows are all that matters; the new mask only hides."""
    toy, digits, noise = build(family, base, dropped, ENOUGH_SAMPLES, n=24, secret=kind, seed=3)
    s, a = toy.secret(), toy.uniform()
    error = toy.error()[:, 0].astype(np.int64)
    recomposed = np.zeros_like(a)
    for x, w in zip(digits.decompose(a), digits.weights):
        recomposed += x * w
        error = error - np.sum(x * toy.error(), axis=1)
    phase_change = toy.centred(a - recomposed) * s
    expected = lattice.lwe_key_switch(toy.n, noise, Noise(toy.variance), SECRETS[kind], Noise(toy.variance))
    holds(error + phase_change.sum(axis=1), expected)


def trace(toy, digits, c, s, levels):
    for level in range(1, levels + 1):
        exponent = toy.n // 2 ** (level - 1) + 1
        key = toy.prime(toy.substitute(s, exponent), s, digits)
        c = toy.add(c, toy.automorphism(c, exponent, key, digits))
    return c


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize(("family", "levels"), [("balanced", 5), ("balanced", 2), ("unsigned", 3), ("zy22", 4)])
def test_trace(family, levels, scaled):
    """Mean, kept coefficients, and each class of coefficients where digits have no mean."""
    keys = 4096 if levels == 5 else 2048
    toy, digits, noise = build(family, 16, 0, keys, n=32, stddev=3.2)
    s, step = toy.secret(), 1 << levels
    message, inverse = toy.uniform(), pow(step, -1, toy.q)
    fresh = toy.encrypt(message, s)
    c = tuple(x * inverse % toy.q for x in fresh) if scaled else fresh
    out = toy.phase(trace(toy, digits, c, s, levels), s)
    kept_only = np.zeros(toy.n, int)
    kept_only[::step] = 1 if scaled else step
    switch = lattice.rlwe_key_switch(toy.n, noise, Noise(toy.variance), Secret.ternary())
    expected = lattice.trace(levels, switch, Noise(toy.variance), scaled)
    errors = toy.centred(out - message * kept_only)
    holds(errors, expected.everywhere)
    kept = errors[:, ::step]
    assert kept.shape[0] >= KEYS_FOR_MEANS
    sampling = 4 * np.sqrt(2 / kept.size)
    assert np.mean(kept.astype(float) ** 2) == pytest.approx(float(expected.kept.variance), rel=max(1 / 16, sampling))
    added = toy.centred(out - toy.phase(fresh, s) * kept_only).astype(float)
    assert np.mean(added**2) == pytest.approx(float(lattice.trace(levels, switch).everywhere.variance), rel=1 / 16)
    if family != "unsigned":
        classes = switch_noise_by_valuation(levels, float(switch.variance))
        for v in range(levels):
            got = np.mean(added[:, 1 << v :: 2 << v] ** 2)
            assert got == pytest.approx(classes[v], rel=max(1 / 16, 4 * np.sqrt(2 / (keys * toy.n >> (v + 1))))), v


def switch_noise_by_valuation(levels: int, switch_variance: float) -> list[float]:
    """The variance that the key switches leave on coefficients of valuation 0 .. levels - 1, then on the kept ones."""
    moved = [(2.0 ** (levels - v) - 1) * switch_variance for v in range(levels)]
    return [*moved, (4.0**levels - 1) / 3 * switch_variance]


def test_classes_of_the_trace_average_to_its_mean():
    for levels, n in ((1, 8), (3, 8), (4, 64), (11, 2048)):
        classes = switch_noise_by_valuation(levels, 1.0)
        share = [2.0 ** -(v + 1) for v in range(levels)] + [2.0**-levels]
        assert np.dot(classes, share) == pytest.approx(2.0**levels - 1), n
        assert lattice.trace(levels, Noise(1.0)).everywhere.variance == 2.0**levels - 1


@pytest.mark.parametrize("family", ["balanced", "unsigned", "gmp19"])
def test_expansion(family):
    toy, digits, noise = build(family, 16, 0, 600, n=32)
    levels, s = 3, toy.secret()
    message, inverse = toy.uniform(), pow(8, -1, toy.q)
    fresh = toy.encrypt(message, s)
    outputs = [tuple(x * inverse % toy.q for x in fresh)]
    for i in range(levels):
        exponent = (toy.n >> i) + 1
        key = toy.prime(toy.substitute(s, exponent), s, digits)
        images = [toy.automorphism(c, exponent, key, digits) for c in outputs]
        odd = [toy.add(c, t, -1) for c, t in zip(outputs, images)]
        outputs = [toy.add(c, t) for c, t in zip(outputs, images)]
        outputs += [tuple(toy.shift(x, 2 * toy.n - (1 << i)) % toy.q for x in c) for c in odd]
    switch = lattice.rlwe_key_switch(toy.n, noise, Noise(toy.variance), Secret.ternary())
    expected = lattice.expansion(levels, switch, Noise(toy.variance))
    errors = []
    for j, c in enumerate(outputs):
        wanted = np.zeros_like(message)
        wanted[:, ::8] = message[:, j::8]
        errors.append(toy.centred(toy.phase(c, s) - wanted))
    errors = np.concatenate(errors, axis=1)
    holds(errors, expected.everywhere)
    holds(errors[:, ::8], expected.kept)


def test_conversion_to_rgsw():
    """RLWE(-s m) of RLWE(m), with both components decomposed and with one."""
    toy, digits, noise = build("balanced", 8, 0, 400)
    s = toy.secret()
    square, message = toy.multiply(s, s), toy.uniform()
    c = toy.encrypt(message, s)
    squared = toy.prime(square, s, digits)
    wanted = -toy.multiply(message, s)
    rows, fresh = Noise(toy.variance), Noise(toy.variance)
    both = toy.external_product(c, squared, toy.prime(-s, s, digits), digits)
    expected = lattice.rlwe_to_rgsw_row(toy.n, noise, rows, Secret.ternary(), fresh)
    holds(toy.centred(toy.phase(both, s) - wanted), expected)
    one = toy.add((c[1], np.zeros_like(s)), toy.gadget_product(squared, c[0], digits))
    expected = lattice.rlwe_to_rgsw_row(toy.n, noise, rows, Secret.ternary(), fresh, components=1)
    holds(toy.centred(toy.phase(one, s) - wanted), expected)
    with pytest.raises(ValueError, match="exact gadgets"):
        lattice.rlwe_to_rgsw_row(64, GadgetNoise.of("balanced", Q, 8, 1), rows, Secret.ternary(), fresh)


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize(
    ("to_a", "to_b"), [(1 << 12, 1 << 12), (12289, 12289), (1 << 20, 1 << 8), (61, 53), (4099, 1 << 20)]
)
def test_modulus_switching(to_a, to_b, kind):
    """Reals throughout; (q'/q)^2 of the input noise counts where q' is large."""
    toy, _, _ = build(keys=400, stddev=300.0 if to_b > 1 << 16 else 3.2, secret=kind)
    s, message = toy.secret(), toy.uniform()
    a, b = toy.encrypt(message, s)
    rounded_a, rounded_b = (np.floor(x * (to / toy.q) + 0.5).astype(np.int64) for x, to in ((a, to_a), (b, to_b)))
    product = np.zeros_like(a)
    for j in range(toy.n):
        product += s[:, j, None] * toy.shift(rounded_a, j)
    error = (rounded_b - product * (to_b / to_a) - message * (to_b / toy.q)) % to_b
    error = np.where(error > to_b / 2, error - to_b, error)
    holds(error, lattice.split_modulus_switch(toy.n, toy.q, to_a, to_b, SECRETS[kind], Noise(toy.variance)))
    if to_a == to_b:
        same = lattice.modulus_switch(toy.n, toy.q, to_a, SECRETS[kind], Noise(toy.variance))
        holds(error, same)


def test_rounding_of_all_residues():
    for q, to in [(97, 10), (96, 10), (96, 32), (64, 48), (10, 97), (12, 36), (1 << 20, 3 << 4)]:
        x = np.arange(q, dtype=float)
        error = np.floor((2 * x * to + q) / (2 * q)) - x * to / q
        square, mean = rounding(q, to)
        assert (square, mean) == pytest.approx((np.mean(error**2), np.mean(error)), abs=1e-9)


def test_signs_of_a_negacyclic_product_of_ones():
    for n in (4, 32):
        sums = [sum(1 if j <= t else -1 for j in range(n)) for t in range(n)]
        assert negacyclic_signs(n) == pytest.approx(np.mean(np.square(sums))) == pytest.approx((n * n + 2) / 3)


def test_sweeps_are_one_call():
    bases = np.array([2, 4, 16, 256])
    families = np.array([["unsigned"], ["balanced"], ["zy22"]], dtype=object)
    many = GadgetNoise.of(families, Q, bases)
    assert many.square.shape == (3, 4)
    for row, family in enumerate(families[:, 0]):
        for column, base in enumerate(bases):
            one = GadgetNoise.of(family, Q, base)
            assert many.square[row, column] == one.square
    variances = lattice.external_product(2048, many, lattice.fresh(3.2), Secret.ternary()).variance
    assert variances.shape == (3, 4) and (np.diff(variances, axis=1) > 0).all()
    lengths = lattice.cmux_chain(
        [1, 10, 100],
        2048,
        GadgetNoise.of("zy22", Q, 16),
        lattice.fresh(3.2),
        Secret.ternary(),
        same_input=False,
        same_selector=False,
    )
    assert lengths.variance == pytest.approx(lengths.variance[0] * np.array([1, 10, 100]))
