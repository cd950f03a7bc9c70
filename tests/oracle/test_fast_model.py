"""The fast security model against the lattice estimator's figures, and against a slow evaluation of the formulas."""

from dataclasses import replace
from math import ceil, cosh, exp, inf, lgamma, log, log2, pi, sinh, sqrt, tanh

import fast_model_speed as benchmark
import numpy as np
import pytest
from pirlab_estimator.security import assess, recorded
from pirlab_estimator.security.attacks import ATTACKS, CORE_SVP_MODEL, FAST_TOLERANCE, MODEL
from pirlab_estimator.security.audit import secret_of
from pirlab_estimator.security.fast import coded_bkw, dual_hybrid, primal, reduction
from pirlab_estimator.security.fast.domain import outside, secret_stddev, secret_support
from pirlab_estimator.security.fast.model import _known, estimate, evaluate
from pirlab_estimator.security.instance import Instance
from places import EXPECTED, read_csv
from scipy.special import betainc

#: Bits that figures may differ from the lattice estimator's. Its own search of BDD misses its minimum by up to 0.042,
#: its number of samples in `dual` is rounded to a few bits of precision, which moves the block size by one.
TOLERANCE = {"usvp": 0.01, "bdd": 0.1, "dual_hybrid": 0.01, "dual": 0.3, "coded_bkw": 0.5}
#: Above these bits a figure of coded-BKW is far from the cheapest, and the estimator's search for it misses by tens.
COUNTED_BKW = 200
#: Where the estimator's local search misses its own minimum by much more (its figure is above the true one):
#: (n, log2 q, secret, stddev) of the grid, all of uSVP.
MISSED_IN_GRID = {("600", "12", "binary", "3.19"), ("742", "20", "gauss", "6.4/sqrt(2pi)")}
#: The same in recorded.json: name of the set, attack.
MISSED_RECORDED = {
    ("pirouette-600-q12", "usvp"): 0.2,
    ("gbfv-64-q60", "usvp"): 0.2,
    ("gbfv-64-q105", "usvp"): 0.2,
    # The tool stops at p = 3; its own cost function has 72.3465 at p = 2, zeta = 10, t = 30, beta = 147.
    ("pirouette_h/smoke query", "dual_hybrid"): 0.02,
    # At the end of a row of zeta, the tool's search of blocks ends by chance, at 133.857; its cost function has 132.85.
    ("pirouette_h/2^30 query", "dual_hybrid"): 0.34,
    # There the tool's went on by chance, and is below ours.
    ("pirouette_h/2^20 query", "dual_hybrid"): -0.27,
    # Its search for coded-BKW misses most where few large tables are best; its cost function has ours there.
    ("pirouette-512-ksk42", "coded_bkw"): 3.1,
    ("pirouette-512-Q56", "coded_bkw"): 52.5,
    ("gbfv-64-q60", "coded_bkw"): 63.6,
    ("gbfv-256-q60", "coded_bkw"): 66.5,
    ("pirouette/smoke key_switching", "coded_bkw"): 0.52,
    ("pirouette/smoke response", "coded_bkw"): 1.59,
}
#: The same in security-random.csv: (n, q, attack). Its dual hybrid stops at other guesses than for the dimensions next
#: to these.
MISSED_RANDOM = {
    ("347", "1182154", "usvp"),
    ("391", "71883", "usvp"),
    ("430", "1909", "usvp"),
    ("720", "3603431", "dual_hybrid"),
    ("847", "2205", "dual_hybrid"),
}


def test_the_promised_tolerances():
    """What the tests below hold the model to, with the exceptions above and no others."""
    assert {attack: TOLERANCE[attack] for attack in ("usvp", "dual_hybrid", "bdd", "coded_bkw")} == {
        "usvp": 0.01,
        "dual_hybrid": 0.01,
        "bdd": 0.1,
        "coded_bkw": 0.5,
    }
    assert FAST_TOLERANCE == 0.05


def lwe(dimension=1024, modulus=1 << 32, secret=None, error_stddev=6.4):
    secret = secret or {"kind": "uniform"}
    return Instance.of({"dimension": dimension, "modulus": modulus, "secret": secret, "error_stddev": error_stddev})


def compare(name, own, real, missed):
    """Own figure within the tolerance of the real one; never above it where the real one missed its minimum."""
    assert own is not None, name
    if name[-1] == "coded_bkw":
        assert own < real + 0.01, name
        if real > COUNTED_BKW:
            return
    if missed:
        assert own < real - missed, f"{name}: no longer an exception"
    else:
        assert abs(own - real) <= TOLERANCE[name[-1]], f"{name}: {own} against {real}"


def test_all_rows_of_the_grid():
    grid = read_csv(EXPECTED / "security-grid.csv")
    assert len(grid) == 360
    stddev = np.array([3.19 if r["sigma"] == "3.19" else 6.4 / sqrt(2 * pi) for r in grid])
    secret = np.array([{"binary": 0.5, "ternary": sqrt(2 / 3), "gauss": s}[r["secret"]] for r, s in zip(grid, stddev)])
    n = np.array([float(r["n"]) for r in grid])
    ln_q = np.array([float(r["log2_q"]) for r in grid]) * log(2)
    own = evaluate(n, ln_q, secret, stddev)
    core = evaluate(n, ln_q, secret, stddev, CORE_SVP_MODEL)
    for row, figures, core_figures in zip(grid, own, core):
        key = tuple(row[k] for k in ("n", "log2_q", "secret", "sigma"))
        for attack, figure in zip(("usvp", "bdd", "dual_hybrid"), figures[:, 0]):
            missed = 0.2 * (attack == "usvp" and key in MISSED_IN_GRID)
            compare((*key, attack), figure, float(row[f"{attack}_log2_rop"]), missed)
        compare((*key, CORE_SVP_MODEL, "usvp"), core_figures[0, 0], float(row["usvp_adps16_log2_rop"]), False)
        assert figures[:, 0].min() <= float(row["min_log2_rop"]) + FAST_TOLERANCE, key


@pytest.mark.parametrize("instance", [each for each in recorded.entries() if each.samples is None], ids=str)
def test_recorded_sets(instance):
    names = {use["name"] for use in recorded.entries()[instance]["uses"]}
    real = recorded.find(instance)["results"]
    own = estimate([instance])[instance]["results"]
    if outside(instance):
        assert all(r.log2_rop is None and r.failed for r in own), "refused with its reason"
        return
    figures = {(r.model, r.attack): r.log2_rop for r in own}
    compared = 0
    for result in real:
        if result.log2_rop is not None and result.attack in ATTACKS[result.model]:
            missed = result.model == MODEL and max(MISSED_RECORDED.get((n, result.attack), 0.0) for n in names)
            compare(
                (*names, result.model, result.attack), figures[result.model, result.attack], result.log2_rop, missed
            )
            compared += 1
    assert compared >= 6
    for model in ATTACKS:
        assert assess.best(own, model).log2_rop <= assess.best(real, model).log2_rop + FAST_TOLERANCE


def test_coded_bkw_on_its_grid():
    """The estimator's figure, or where its local search misses its own minimum by more, its own cost function there.

    `there` is that cost function at the tables, steps and sums of samples of our minimum.
    """
    grid = read_csv(EXPECTED / "security-bkw.csv")
    compared = [r for r in grid if r["coded_bkw"]]
    assert len(compared) >= 100 and {r["secret"] for r in compared} == {"binary", "ternary", "gaussian"}
    assert {bool(r["samples"]) for r in compared} == {True, False}
    missed = 0
    for row in grid:
        secret = {"kind": row["secret"]} | ({"stddev": float(row["a"])} if row["a"] else {})
        instance = replace(
            lwe(int(row["n"]), row["q"], secret, float(row["stddev"])), samples=int(row["samples"] or 0) or None
        )
        own = bkw(instance)
        real = min(float(row["coded_bkw"] or inf), float(row["there"] or inf))
        if not row["coded_bkw"]:
            assert own > COUNTED_BKW, row
        elif real < COUNTED_BKW:
            assert own == pytest.approx(real, abs=0.01), row
            missed += own < float(row["coded_bkw"]) - 0.5
        else:
            assert own < real + 0.1, row
    assert missed <= 8, "figures that are more than half a bit below what the estimator's search found"


def bkw(instance):
    """Our coded-BKW, in the domain of the whole model or not."""
    samples = float(instance.samples or inf)
    secret = secret_stddev(instance), instance.error_stddev
    support = secret_support(instance)
    return coded_bkw.coded_bkw(instance.dimension, log(instance.modulus), support, *secret, samples, inf)[0]


def test_the_least_alone_is_that_of_all_attacks():
    n = np.array([64.0, 256.0, 512.0, 1024.0, 2048.0])
    every, least = (
        evaluate(n, 0.03 * n * log(2) + 8.0, 0.8, 3.2, support=3.0, least=least)[:, :, 0] for least in (False, True)
    )
    assert (every.min(axis=1) == least.min(axis=1)).all()
    assert every[0].argmin() == least[0].argmin() == 4, "coded-BKW is the cheapest in a small dimension"
    assert np.isinf(least[-1, 4]) and np.isfinite(every[-1, 4])


def test_coded_bkw_tries_every_table_and_number_of_steps():
    """The least over all of them, one by one, in the space that the lattice estimator searches."""
    n, log2_q, stddev = 432, 12.0, 11.4
    tables = range(2, 3 * 12)
    tried = [
        coded_bkw.cost_at(b, steps, n, log2_q, 2.0, 0.5, stddev)[0]
        for b in tables
        for steps in range(2, max(3, n // b))
    ]
    assert bkw(lwe(n, 1 << 12, {"kind": "binary"}, stddev)) == pytest.approx(min(tried), abs=1e-9)


def test_fewer_samples_never_help():
    """Each sum of k samples is k times as noisy, and there are few of them."""
    instance = lwe(424, 1 << 12, {"kind": "binary"}, 12.9)
    bits = [bkw(replace(instance, samples=1 << k)) for k in (10, 14, 20, 30, 60, 120)] + [bkw(instance)]
    assert bits == sorted(bits, reverse=True) and bits[0] > bits[-1] + 3
    assert bits[-1] == bits[-2] == pytest.approx(121.9374, abs=1e-3)
    assert bkw(replace(instance, samples=20 << 20)) == pytest.approx(123.8342, abs=1e-3)


def test_the_model_counts_coded_bkw_among_its_attacks():
    """The set that was searched before it was: every other attack is above 128 bits."""
    instance = lwe(424, 1 << 12, {"kind": "binary"}, 12.9)
    few = replace(instance, samples=1 << 14)
    answers = estimate([instance, few])
    least = assess.best(answers[instance]["results"], MODEL)
    assert (least.attack, round(least.log2_rop, 1)) == ("coded_bkw", 121.9)
    assert dict(least.details) == {"b": 9, "t1": 0, "t2": 12, "sums": 1}
    others = [{(r.model, r.attack): r for r in answers[i]["results"] if r.attack != "coded_bkw"} for i in answers]
    assert others[0] == others[1] and min(r.log2_rop for (m, _), r in others[0].items() if m == MODEL) > 128
    assert assess.best(answers[few]["results"], MODEL).log2_rop > least.log2_rop + 1


def test_random_instances():
    """Odd dimensions and moduli, every kind of secret. Some of these led to repairs and to the bounds of the domain."""
    sample = read_csv(EXPECTED / "security-random.csv")
    assert len(sample) >= 300 and {r["secret"] for r in sample} >= {"gaussian", "fixed_weight", "uniform_range"}
    instances = [lwe(int(r["n"]), r["q"], secret_of(r), float(r["stddev"])) for r in sample]
    answers = estimate(instances)
    for row, instance in zip(sample, instances):
        for result in answers[instance]["results"]:
            figure = row.get(f"{result.model}_{result.attack}")
            if figure:
                name = (row["n"], row["q"], row["secret"], row["stddev"], result.model, result.attack)
                missed = 0.2 * ((row["n"], row["q"], result.attack) in MISSED_RANDOM and result.model == MODEL)
                compare(name, result.log2_rop, float(figure), missed)
        least = min(float(row.get(f"{MODEL}_{attack}") or inf) for attack in ATTACKS[MODEL])
        assert assess.best(answers[instance]["results"], MODEL).log2_rop <= least + FAST_TOLERANCE


# A slow evaluation of the formulas, in their plainest form, with nothing of the model's own code.


def slow_ln_delta(beta):
    return log((beta / (2 * pi * exp(1)) * (pi * beta) ** (1 / beta)) ** (1 / (2 * (beta - 1))))


def slow_bkz(beta, d):
    a, b = 0.29613500308205365, 20.387885985467914
    sieve = beta - max(0, beta * log(4 / 3) / log(beta / (2 * pi * exp(1))))
    return d**3 + max(d - beta, 1) * 2 ** (a * sieve + b) / (1 - 2**-a) ** 2


def slow_usvp(n, q, xi, sigma, blocks, dimensions):
    best = inf
    for beta in blocks:
        for d in dimensions:
            volume = (d - n - 1) * log(q) + n * log(xi) + log(sigma)
            if d > beta and log(sigma * sqrt(beta)) <= (2 * beta - d - 1) * slow_ln_delta(beta) + volume / d:
                best = min(best, slow_bkz(beta, d))
                break
    return log2(best)


def slow_bdd_at(n, q, xi, sigma, beta, d):
    ln_delta = slow_ln_delta(beta)
    profile = [(d - 1 - 2 * i) * ln_delta + ((d - n) * log(q) + n * log(xi)) / d for i in range(d)]
    for i in range(d):
        k = d - i
        ball = (k + 1) / 2 * log(pi) - lgamma((k + 1) / 2 + 1)
        if 2 * (sum(profile[i:]) + log(sigma) - ball) / (k + 1) < log(sigma**2 * (k + 1)):
            break
    eta = d - (i - 1)
    squares = np.exp(2 * np.array(profile[: d - eta]))
    share = np.minimum(1, squares / (4 * (d - eta) * sigma**2))
    p = np.prod(1 - betainc((d - eta - 1) / 2, 0.5, 1 - share))
    runs = 1 if p > 0.99 else ceil(log(0.01) / log(1 - p))
    return log2(runs * (slow_bkz(beta, d) + slow_bkz(eta + 1, eta + 1) + (d - eta) ** 2))


def slow_dual_hybrid(n, q, sigma_s, sigma_e, p, zeta, t, beta):
    a, b = 0.29613500308205365, 20.387885985467914
    c = 1 / (1 - 2**-a)
    k, m = n - zeta - t, n
    d = k + m
    length = sigma_e ** (m / d) * (sigma_s * q) ** (k / d) * sqrt(4 / 3) * sqrt(beta / (2 * pi * exp(1)))
    length *= exp(slow_ln_delta(beta)) ** (d - beta)
    x = (pi * sigma_s) ** 2
    h = (0.5 + log(sqrt(2 * pi) * sigma_s) + log(cosh(x) / sinh(x))) / log(2)
    count = exp(4 * (pi * length / q) ** 2 + t / 3 * (pi * sigma_s / p) ** 2) * (zeta * h + t * log(p) + log(2))
    first = beta - int(beta * log(4 / 3) / log(beta / (2 * pi * exp(1))))
    last = min(d, int(first + log2((d - beta) * c) / a))
    sample = ceil(count / int(2 ** (0.2075 * last))) * (slow_bkz(beta, d) + c * 2 ** (a * last + b))
    guess = (2 * exp(8 * x * exp(-2 * x) * tanh(x)) / sqrt(exp(1))) ** zeta * 2 ** (zeta * h)
    guess *= (1024 * t * p ** (t + 1) + 640 * count) / (1 - exp(-1 / (2 * sigma_s**2)))
    return log2(sample + guess)


@pytest.mark.parametrize(("n", "q", "sigma_s", "sigma"), [(512, 1 << 18, 0.5, 3.19), (600, 12289 * 7, 2.0, 2.0)])
def test_searches_find_the_minimum(n, q, sigma_s, sigma):
    """uSVP over all blocks and dimensions, BDD over all blocks and dimensions around the optimum."""
    xi = sigma / sigma_s
    usvp, beta, d = primal.usvp(n, log(q), log(xi), sigma, reduction.MATZOV)
    assert usvp == pytest.approx(slow_usvp(n, q, xi, sigma, range(41, beta + 8), range(n, 3 * n)), abs=1e-9)
    bdd, block, eta, dimension = primal.bdd(n, log(q), log(xi), sigma, reduction.MATZOV, beta)
    assert bdd == pytest.approx(slow_bdd_at(n, q, xi, sigma, block, dimension), abs=1e-6)
    near = [(b, dim) for b in range(block - 5, block + 6) for dim in range(dimension - 24, dimension + 25, 6)]
    assert bdd <= min(slow_bdd_at(n, q, xi, sigma, *at) for at in near) + 1e-6
    assert beta > block > 41 and eta > block and d > beta


@pytest.mark.parametrize(("n", "q", "sigma_s", "sigma"), [(512, 1 << 18, 0.5, 3.19), (1024, 1 << 32, 6.4, 6.4)])
def test_dual_hybrid_is_the_formula_at_its_best_block(n, q, sigma_s, sigma):
    cost, beta, zeta, t, p = dual_hybrid.dual_hybrid(n, log(q), sigma_s, sigma, reduction.MATZOV)
    assert cost == pytest.approx(slow_dual_hybrid(n, q, sigma_s, sigma, p, zeta, t, beta), abs=1e-9)
    others = [slow_dual_hybrid(n, q, sigma_s, sigma, p, zeta, t, b) for b in range(beta - 40, beta + 41)]
    assert cost <= min(others) + 1e-9
    for z, u in ((zeta + 10, t), (zeta - 10, t), (zeta, t + 10), (zeta, t - 10)):
        if min(z, u) >= 0:
            assert cost <= slow_dual_hybrid(n, q, sigma_s, sigma, p, z, u, beta) + 1e-9


def test_the_angle_is_the_incomplete_beta_function():
    for a in (7.5, 8, 20, 100, 1000.5, 60000):
        for square in np.linspace(1e-6, 40, 400):
            x = -np.expm1(-square / a)
            assert reduction.within_angle(x, a) == pytest.approx(betainc(0.5, a, x), abs=2e-6)
    assert reduction.within_angle(1.0, 10) == 1.0 and reduction.within_angle(0.0, 10) == 0.0


def test_delta_is_a_table_up_to_40():
    assert [reduction.root_hermite_factor(b) for b in (2, 4, 5, 27, 39, 40)] == [
        1.0219,
        1.0219,
        1.01862,
        1.01342,
        1.01331,
        1.01295,
    ]
    assert reduction.root_hermite_factor(400) == pytest.approx(exp(slow_ln_delta(400)), abs=1e-15)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"secret": {"kind": "fixed_weight", "plus": 32, "minus": 32}}, "very sparse secret, density 0.062"),
        ({"secret": {"kind": "fixed_weight", "plus": 1020, "minus": 0}}, "as narrow as"),
        ({"secret": {"kind": "gaussian", "stddev": 0.2}}, "as narrow as"),
        ({"dimension": 63}, "dimension 63"),
        ({"dimension": 1 << 17}, "dimension 131072"),
        ({"modulus": 128}, "log2 q = 7.00"),
        ({"modulus": 1 << 2001}, "log2 q = 2001"),
        ({"error_stddev": 0.4}, "algebraic attacks"),
        ({"modulus": 1024}, "above q/256"),
    ],
)
def test_outside_its_domain_it_says_so(changed, reason):
    instance = lwe(**changed)
    assert reason in outside(instance)
    answer = estimate([instance])[instance]
    assert all("outside the domain" in r.failed and reason in r.failed for r in answer["results"])
    assert assess.best(answer["results"], MODEL) is None


def test_the_floor_of_block_sizes_is_remarked():
    weak, strong = lwe(256, 1 << 60), lwe()
    answers = estimate([weak, strong])
    for source in ("fast_only", "recorded"):
        weak_entry, strong_entry = (
            assess.security_entry({"name": "x"}, instance, (source, answers[instance]), "")
            for instance in (weak, strong)
        )
        assert any("weaker than the figure says" in remark for remark in weak_entry["remarks"])
        assert all("weaker" not in remark for remark in strong_entry.get("remarks", []))
    assert assess.best(answers[weak]["results"], MODEL).log2_rop < 45


@pytest.mark.parametrize("instance", [lwe(16384, 1 << 14), lwe(2048, 1 << 14), lwe(1275, 42914, None, 25.29)], ids=str)
def test_beyond_the_largest_blocks_it_says_so(instance):
    """There single attacks have no figure, and the least of the others would be hundreds of bits too high."""
    assert outside(instance) is None
    answer = estimate([instance])[instance]
    assert all("uSVP needs blocks above 1600" in r.failed for r in answer["results"])
    assert answer["at_least"] == 480


def test_beyond_the_largest_blocks_no_attack_takes_less_than_it_says():
    """Coded-BKW goes on where lattice attacks do not: an error of a hundredth of q is found with it."""
    instance, known = lwe(1592, 1_000_003, {"kind": "binary"}, 2389.4), lwe()
    figures = evaluate(1592, log(1_000_003), 0.5, 2389.4, support=2)[0, :, 0]
    assert ATTACKS[MODEL][figures.argmin()] == "coded_bkw" and figures[0] > 480
    answers = estimate([instance, known])
    assert answers[instance]["at_least"] == int(figures.min()) < 400 and "at_least" not in answers[known]


@pytest.mark.parametrize("model", ATTACKS)
def test_harder_parameters_cost_more(model):
    """More error or dimension never makes a lattice attack cheaper, a larger modulus never dearer (but for ripples)."""
    ripple = 0.35  # of one block size
    n, ln_q, s = np.full(60, 1024.0), np.full(60, 32 * log(2)), np.full(60, 0.5)
    for arrays, sign in (
        ((n, ln_q, s, np.linspace(1, 40, 60)), 1),
        ((np.linspace(700, 1500, 60).round(), ln_q, s, np.full(60, 3.2)), 1),
        ((n, np.linspace(24, 50, 60) * log(2), s, np.full(60, 3.2)), -1),
        ((n, ln_q, np.linspace(0.4, 6.4, 60), np.full(60, 6.4)), 1),
    ):
        steps = sign * np.diff(evaluate(*arrays, model)[:, :4, 0], axis=0)
        assert steps.min() > -ripple and steps.sum(axis=0).min() > 3


def test_normal_form_and_arrays():
    wide = {"kind": "uniform_range", "low": -50, "high": 50}
    figures = {
        i: {r.attack: r.log2_rop for r in a["results"] if r.model == MODEL}
        for i, a in estimate([lwe(), lwe(secret={"kind": "gaussian", "stddev": 6.4}), lwe(secret=wide)]).items()
    }
    assert len(figures) == 2, "uniform modulo q is the Gaussian of the error"
    for attack in ("usvp", "bdd", "dual_hybrid"):
        assert len({f[attack] for f in figures.values()}) == 1, "a wide secret is replaced by the error"
    whole = evaluate([512, 1024, 2048], np.log(2.0) * np.array([14, 32, 54]), 0.5, 3.19)
    for at, (n, bits) in enumerate(((512, 14), (1024, 32), (2048, 54))):
        assert np.array_equal(whole[at], evaluate(n, bits * log(2), 0.5, 3.19)[0])


def test_stddev_of_secrets():
    for secret, values in (
        ({"kind": "binary"}, [0, 1]),
        ({"kind": "ternary"}, [-1, 0, 1]),
        ({"kind": "uniform_range", "low": -7, "high": 7}, range(-7, 8)),
        ({"kind": "fixed_weight", "plus": 200, "minus": 100}, [1] * 200 + [-1] * 100 + [0] * 724),
    ):
        assert secret_stddev(lwe(secret=secret)) == pytest.approx(np.std(list(values)))
    with pytest.raises(ValueError, match="is unknown to the lattice estimator"):
        secret_stddev(lwe(secret={"kind": "sparse"}))


def test_speed_on_one_core():
    """Instances a second of a core: 100 new ones, 1000 known ones."""
    instances = benchmark.sample(200)
    estimate(instances[:1])  # compiles

    def cold():
        _known.clear()
        return benchmark.seconds(instances)

    assert len(instances) / min(cold() for _ in range(3)) >= 100
    assert len(instances) / min(benchmark.seconds(instances) for _ in range(3)) >= 1000
