"""The search: the pruned walk against the exhaustive one, ordered axes, fronts, bounds, memory of what was tried."""

import itertools
import json
import sys
import tomllib
from dataclasses import replace
from functools import cache

import jsonschema
import numpy as np
import pytest
from pirlab_estimator.cost import DEFAULTS, UnitCosts
from pirlab_estimator.modulus import parse_modulus
from pirlab_estimator.noise.digits import gadget_length
from pirlab_estimator.search import rings, space_file
from pirlab_estimator.search.answer import reasons
from pirlab_estimator.search.bounds import Bounds, BoundsError, Network, Objective, Prices
from pirlab_estimator.search.choose import choose
from pirlab_estimator.search.choose import committed as choose_sets
from pirlab_estimator.search.evaluate import Evaluator, Figures, Shape
from pirlab_estimator.search.files import toml
from pirlab_estimator.search.front import Front, undominated
from pirlab_estimator.search.grid import varied
from pirlab_estimator.search.rings import least_base, quietest_gadget
from pirlab_estimator.search.sensitivity import sensitivity
from pirlab_estimator.search.walk import Found, Least, WholeFront, figures_of, front_of, relaxed, walk
from pirlab_estimator.security.attacks import CIPHER_BITS, FAST_TOLERANCE

SHAPE = Shape(1 << 18, 512)
COSTS = UnitCosts.load(DEFAULTS)
#: Descriptions come from the binary.
pytestmark = pytest.mark.usefixtures("binary")

RINGS = [
    {"degree": 2048, "modulus": rings.two_primes(2048, bits), "secret": {"kind": "ternary"}, "error": {"stddev": s}}
    for bits, s in ((48, 3.2), (56, 3.2), (56, 21.0), (56, 25.6))
]
LWE = [
    {"dimension": n, "modulus": "2^32", "secret": {"kind": "uniform"}, "error": {"stddev": s}}
    for n, s in ((928, 32.0), (1024, 6.4), (1024, 11.0), (1024, 16.0))
]
SHORT = [
    {"dimension": 1024, "modulus": "2^32", "secret": {"kind": "gaussian", "stddev": s}, "error": {"stddev": s}}
    for s in (6.4, 11.0)
]
FEW = {"packing": [3, 2, 1], "switch.mask_modulus": [12, 9, 7], "switch.body_modulus": [7, 3]}
#: Spaces small enough to be looked at as a whole.
SMALL = {
    "simplepir": {"lwe": LWE},
    "frodopir": {"lwe": LWE[1:3], "shards": [1, 16, 256]},
    "doublepir": {"lwe": LWE[1:3], "min_columns": [1, 4096, 65536]},
    "simpleypir": FEW | {"rlwe": RINGS, "entry_bits": [15, 12], "item_step": [2048, 8192]},
    "inspire": FEW
    | {"rlwe": RINGS[:3], "folding.plain_modulus": [65537, 4097], "folding.rows": [1024, 4096], "evaluation": [3, 2]},
    "inspire2": FEW
    | {"rlwe": RINGS[:3], "entry_bits": [16, 14], "gamma0": [32], "gamma1": [1024], "gamma2": [32]}
    | {"rows_factor": [1, 4], "switched_modulus": [12, 9]},
    "ypir": FEW
    | {"rlwe": RINGS[1:3], "lwe": SHORT, "layers.entry_bits": [8], "layers.digit_bits": [15, 12]}
    | {"layers.switched_modulus": [18, 12, 8]},
}
SMALL["hintlesspir"] = {
    "lwe": [
        LWE[0] | {"dimension": n, "secret": {"kind": "ternary"}, "error": {"stddev": s}}
        for n, s in ((1152, 3.2), (1280, 3.2), (1152, 12.8))
    ],
    "plain_moduli": space_file.load("hintlesspir").narrowed().axes[1].values[:1],
    "columns_per_row": [1, 16],
    "block_rows": [1024, 4096],
    "giant.baby_steps": [64, 2048],
    "switch.mask_modulus": [1 << 34, 1 << 31, 1 << 28],
    "switch.body_modulus": [1 << 28, 1 << 25, 1 << 22],
}
SMALL["respire"] = {
    "rlwe": [RINGS[2], RINGS[3] | {"secret": {"kind": "gaussian", "stddev": 4.5}, "error": {"stddev": 4.5}}],
    "plain_bits": [5, 4],
    "row_bits": [6, 8],
    "response": space_file.load("respire").narrowed().axes[3].values[:2],
    "bases.selector": [8, 5, 4],
    "bases.leaf_expansion": [3],
    "bases.selector_expansion": [19, 10, 8],
    "bases.conversion": [4, 3],
    "bases.vector": [3],
    "response.body_modulus": [4, 2],
}
SMALL["spiral"] = {
    "vector_length": [2],
    "variant": ["pack", "stream"],
    "rlwe": [RINGS[2], RINGS[3] | {"secret": {"kind": "gaussian", "stddev": 4.5}, "error": {"stddev": 4.5}}],
    "plain_bits": [8, 4],
    "row_bits": [6, 8],
    "bases.selector": [6, 4],
    "bases.conversion": [4, 3],
    "expansion.leaf": [6, 4],
    "expansion.selector": [14, 10],
    "switch.mask_modulus": [11, 9],
    "switch.body_modulus": [2, 1],
}
SMALL["onionpir"] = {
    "ring": space_file.load("onionpir").narrowed().axes[0].values[:2],
    "plain_bits": [28, 18],
    "row_bits": [6, 8],
    "gadgets.selector": space_file.load("onionpir").narrowed().axes[4].values[1::2],
    "gadgets.conversion": [{"base_log2": 14}, {"base_log2": 20}],
    "switch.mask_modulus": [11, 9],
    "switch.body_modulus": [2, 1],
}
BFV = space_file.load("pirana").axes
SMALL["pirana"] = {
    "ring": [BFV[0].values[i] for i in (1, 3, 4)],
    "ring.plaintext": [BFV[1].values[i] for i in (3, 4, -2)],
    "direct_columns": [1, 16],
    "switch.mask_modulus": [12, 9],
    "switch.body_modulus": [6, 3],
}
SMALL["onehot"] = SMALL["pirana"] | {
    "ring": BFV[0].values[3:5],
    "ring.digit_bits": [14, 28],
    "most_baby_steps": [4, 64],
}
del SMALL["onehot"]["direct_columns"]
SMALL["cwpir"] = {
    "ring": space_file.load("cwpir").axes[0].values[1:4],
    "ring.plaintext": [{"kind": "integer", "modulus": t} for t in (40961, 65537)],
    "selection": [{"operator": "plain", "weight": weight} for weight in (1, 2)],
    "ring.digit_bits": [14, 28],
    "switch.mask_modulus": [12, 9],
    "switch.body_modulus": [6, 3],
}
SMALL["inspire0"] = SMALL["ypir"] | {"body": ["packed", "merged"]}


@pytest.fixture(scope="module")
def evaluator():
    return Evaluator(SHAPE, COSTS, None)


def small(protocol):
    return space_file.load(protocol).narrowed(SMALL[protocol])


def costs(found):
    return sorted(each.figures.costs() for each in found)


def exhaustive(space, evaluator, bounds):
    """The front by evaluating every set of the space, secure or not."""
    space = space.at(evaluator, bounds)
    shape = space.ordered_shape
    everything = [[rings.Secured(table, None) for table in axis.values] for axis in space.families]
    asked = [
        (combination, list(at))
        for combination in space.combinations(everything)
        for at in itertools.product(*(range(n) for n in shape))
    ]
    figures = [each for _, each in figures_of(space, evaluator, asked)]
    right = [
        Found(literal, each)
        for (combination, at), each in zip(asked, figures)
        if bounds.keeps(each) and (literal := space.literal(combination, at)) is not None
    ]
    return front_of(right)


@pytest.mark.parametrize("protocol", sorted(SMALL))
def test_the_pruned_walk_finds_the_front_of_the_exhaustive_one(protocol, evaluator):
    space = small(protocol)
    everything = exhaustive(space, evaluator, Bounds())
    before = evaluator.evaluated
    assert everything, "a front of nothing would show nothing"
    outcome = walk(space, Evaluator(SHAPE, COSTS, None), Bounds())
    assert costs(outcome.found) == costs(everything)
    assert sum(outcome.account.counts.values()) + len(outcome.found) == space.size, "every set has its reason"
    if space.ordered:
        assert outcome.tried < space.size
    middle = sorted(each.figures.upload for each in everything)[len(everything) // 2]
    tight = Bounds(failure=-60.0, upload=middle, memory=max(e.figures.server_bytes for e in everything) - 1)
    assert costs(walk(space, evaluator, tight).found) == costs(exhaustive(space, evaluator, tight))
    for name in ("bytes", "seconds", "dollars", "rate"):
        objective = Objective(name, SHAPE)
        least = min(objective(each.figures) for each in everything)
        found = walk(space, evaluator, Bounds(), Least(objective)).found
        assert min(objective(each.figures) for each in found) == least
    assert evaluator.evaluated == before, "all of it had been described"


@cache
def steps(protocol):
    """Sets a step apart along an ordered axis, the costlier one first, and the power by which failures are rarer."""
    space = space_file.load(protocol)
    kept, _ = space.secure(128.0)
    combinations = list(space.combinations(kept))
    draw = np.random.default_rng(7)
    pairs: list = []
    orders: list[float] = []
    for i in draw.choice(len(combinations), 40):
        at = [int(draw.integers(n)) for n in space.ordered_shape]
        axis = int(draw.integers(len(at)))
        at[axis] = min(at[axis], space.ordered_shape[axis] - 2)
        further = [k + (j == axis) for j, k in enumerate(at)]
        pair = [space.literal(combinations[i], each) for each in (at, further)]
        if None not in pair:  # a base may have no gadget of that length
            pairs += pair
            orders.append(space.ordered[axis].rarer)
    return pairs, orders


@pytest.mark.parametrize("protocol", [p for p in space_file.protocols() if space_file.load(p).ordered])
@pytest.mark.parametrize("shape", [SHAPE, Shape(3000, 70000)], ids=["short", "long"])
def test_a_step_along_an_ordered_axis_costs_no_more_and_fails_no_less(protocol, shape):
    pairs, orders = steps(protocol)
    figures = Evaluator(shape, COSTS, None)(pairs)
    compared = 0
    for dear, cheap, rarer in zip(figures[::2], figures[1::2], orders):
        if cheap.refused is not None:
            assert dear.refused is not None
        elif dear.refused is None:
            assert all(c <= d * (1 + 1e-12) for c, d in zip(cheap.costs(), dear.costs()))
            assert cheap.log2_failure >= dear.log2_failure * rarer * (1 + 1e-9) - np.log2(rarer)
            compared += 1
    assert compared or shape is not SHAPE, "nothing was compared"


@pytest.mark.parametrize("protocol", space_file.protocols())
def test_every_space_reads_and_its_rings_have_their_gadgets(protocol):
    space = space_file.load(protocol)
    if any(axis.kind == "sets" for axis in space.axes):
        assert space.narrowed().axes[0].of != space.axes[0].of, "a look at all protocols lists fewer"
        return
    assert space.narrowed().size < space.size
    assert space_file.load(protocol).narrowed({}).size == space.size
    kept, missed = space.secure(128.0)
    assert all(kept) and bool(missed) == bool(space.families)
    for axis in (axis for axis in space.axes if axis.kind == "gadget"):
        for ring in kept[[family.key for family in space.families].index(axis.of)]:
            for length in axis.values:
                found = quietest_gadget(ring.table, length, "balanced")
                modulus = parse_modulus(ring.table["modulus"])
                base = 1 << found["base_log2"]
                assert gadget_length("balanced", modulus, base, found["dropped"]) == length


@pytest.mark.parametrize(("degree", "bits"), [(1024, 29), (2048, 40), (2048, 53), (4096, 56)])
def test_moduli_take_the_bits_they_promise(degree, bits):
    first, second = (int(p) for p in rings.two_primes(degree, bits).split("*"))
    assert first != second and rings.is_prime(first) and rings.is_prime(second)
    assert first % (2 * degree) == second % (2 * degree) == 1
    assert first.bit_length() + second.bit_length() == bits


def test_a_modulus_that_does_not_exist_is_named():
    with pytest.raises(rings.NoRing, match="have 60 bits together"):
        rings.two_primes(2048, 60)
    with pytest.raises(rings.NoRing, match="1 modulo 8192"):
        rings.two_primes(4096, 24)


def test_a_front_with_a_tolerance_is_near_the_whole_one_and_has_the_best(evaluator):
    """Nothing undercuts all of it by more than the tolerance in every respect, and fewer sets are tried."""
    space, objective = small("spiral"), Objective("seconds", SHAPE)
    whole, near = (
        walk(space, Evaluator(SHAPE, COSTS, None), Bounds(), WholeFront(tolerance, objective))
        for tolerance in (0.0, 0.2)
    )
    assert near.tried < whole.tried and len(near.found) < len(whole.found)
    assert min(objective(f.figures) for f in near.found) == min(objective(f.figures) for f in whole.found)
    for each in whole.found:
        assert any(all(c <= 1.2 * d for c, d in zip(f.figures.costs(), each.figures.costs())) for f in near.found)


def test_the_least_base_of_a_length_has_that_length_and_the_one_below_has_more():
    modulus = parse_modulus(RINGS[1]["modulus"])
    for length in (3, 4, 8, 19):
        base = least_base(modulus, length)
        assert gadget_length("balanced", modulus, base, 0) == length
        assert gadget_length("balanced", modulus, base - 1, 0) > length
    assert least_base(modulus, 2) is None, "bases end at 2^20"
    assert gadget_length("balanced", modulus, least_base(modulus, 30), 0) < 30, "no base has 30 digits: fewer do"


def test_fronts_against_their_definition():
    draw = np.random.default_rng(1)
    for _ in range(30):
        rows = draw.integers(0, 5, (int(draw.integers(1, 40)), 3)).astype(float)
        found = undominated(rows)
        for i, row in enumerate(rows):
            beaten = any(np.all(other <= row) and (np.any(other < row) or j < i) for j, other in enumerate(rows))
            assert (i in found) != beaten
        front = Front()
        for row in rows:
            front.add(row)
        assert all(front.covers(row) for row in rows)
        assert not front.covers(rows.min(axis=0) - 1)
    assert undominated(np.empty((0, 3))) == []


def test_families_are_kept_by_security_and_noise():
    loose, wide = dict(RINGS[1]), dict(RINGS[3])
    family = [loose, RINGS[2], wide]
    found = rings.secured(family)
    assert [rings.reaches(each.bits, 128.0) for each in found] == [False, True, True]
    assert [each.table for each in rings.quietest(found[1:])] == [RINGS[2]]
    assert not rings.reaches(None, 1.0)


def test_what_was_tried_is_remembered_through_a_kill(tmp_path):
    space = small("simplepir")
    first = Evaluator(SHAPE, COSTS, tmp_path)
    found = costs(walk(space, first, Bounds()).found)
    (path,) = tmp_path.glob("*.jsonl")
    again = Evaluator(SHAPE, COSTS, tmp_path)
    assert costs(walk(space, again, Bounds()).found) == found and again.evaluated == 0
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])  # as a killed search leaves it
    resumed = Evaluator(SHAPE, COSTS, tmp_path)
    assert costs(walk(space, resumed, Bounds()).found) == found
    assert 0 < resumed.evaluated < first.evaluated
    assert Evaluator(SHAPE, COSTS, tmp_path)._known.keys() == first._known.keys()
    other = Evaluator(Shape(SHAPE.records * 2, SHAPE.record_bits), COSTS, tmp_path)
    assert not other._known, "another shape is another memory"


def test_parameter_files_are_read_back_and_fit_their_schemas(evaluator, schemas):
    for protocol in sorted(SMALL):
        found = walk(small(protocol), evaluator, Bounds()).found[0]
        written = toml({"source": {"kind": "searched", "note": 'a "quoted" µ'}} | found.literal, "../x.schema.json")
        document = tomllib.loads(written)
        assert document == {"source": {"kind": "searched", "note": 'a "quoted" µ'}} | found.literal
        jsonschema.validate(document, json.loads((schemas / f"{protocol}.schema.json").read_text()))


def test_bounds_that_make_no_sense_are_named():
    for wrong, words in (
        ({"upload": -1.0}, "--max-upload -1 is negative"),
        ({"download": 0.0}, "--max-download 0 contradicts"),
        ({"security": 0.0}, "--security 0"),
        ({"failure": 3.0}, "log2 of a probability"),
        ({"storage": -1.0}, "--max-storage -1"),
    ):
        with pytest.raises(BoundsError, match=words):
            Bounds(**wrong)


def test_budgets_of_a_given_set():
    given = Figures(upload=5, download=7, seconds=2.0)
    assert Bounds(upload=4, memory=9).no_worse(given, 0.05) == Bounds(upload=4, download=7, memory=9, seconds=1.9)
    assert Bounds().no_worse(given).seconds == 2.0


def test_objectives():
    figures = Figures(upload=1000, download=300, hint_bytes=5000, seconds=2.0, client_seconds=0.5)
    network, prices = Network(0.1, 1000.0, 10), Prices(1.0, 0.01, 0.001)
    scores = {n: Objective(n, Shape(8, 800), network, prices)(figures) for n in ("bytes", "seconds", "dollars", "rate")}
    assert scores["bytes"] == 1000 + 300 + 500
    assert scores["seconds"] == pytest.approx(0.1 + 1.8 + 2.5)
    assert scores["dollars"] == pytest.approx(2.0 + 1.0 + 8.0)
    assert scores["rate"] == pytest.approx(8.0)
    with pytest.raises(BoundsError, match="not one of bytes"):
        Objective("beauty", SHAPE)


def test_nothing_found_says_what_to_relax(evaluator):
    space = small("simpleypir")
    least = min(each.figures.upload for each in walk(space, evaluator, Bounds()).found)
    bounds = Bounds(upload=least - 1)
    outcome = walk(space, evaluator, bounds)
    assert not outcome.found
    assert relaxed(space, evaluator, bounds) == {"upload": least}
    text = "\n".join(outcome.account.lines())
    assert "send more than --max-upload" in text and "have an instance below the target. The nearest has" in text
    assert f"Of {space.size} sets" in text
    secure = walk(space, evaluator, Bounds(security=300.0))
    assert not secure.found and "--security 142" in "\n".join(secure.account.lines())
    rough = walk(space.narrowed({"packing": [1]}), evaluator, Bounds())
    assert not rough.found and "The nearest fails with 2^" in "\n".join(rough.account.lines())


def test_sensitivity_says_what_each_change_does(evaluator):
    space = small("inspire")
    objective = Objective("bytes", SHAPE)
    best = min(walk(space, evaluator, Bounds()).found, key=lambda each: objective(each.figures))
    changes = {each.words: each.figures for each in sensitivity(space, best.literal, evaluator)}
    now = changes["as found"]
    assert now == best.figures
    more = next(figures for words, figures in changes.items() if words.startswith("q of 49"))
    assert more.bits < now.bits and more.log2_failure < now.log2_failure and more.upload > now.upload
    fewer = next(figures for words, figures in changes.items() if words.startswith("packing"))
    assert fewer.upload < now.upload and fewer.log2_failure > now.log2_failure and fewer.bits == now.bits
    twice = changes["twice the records"]
    assert twice.seconds > 1.5 * now.seconds and twice.log2_failure > now.log2_failure
    assert changes["switch.mask_modulus: one bit less"].download < now.download


def test_protocols_are_ranked_with_reasons(evaluator, monkeypatch):
    three = {n: s for n, s in choose_sets().items() if s["protocol"] in ("simplepir", "simpleypir", "ypir", "respire")}
    monkeypatch.setattr("pirlab_estimator.search.choose.committed", lambda: three)
    objective = Objective("bytes", SHAPE)
    choices = choose(["simplepir", "simpleypir", "ypir"], evaluator, Bounds(offline=1024.0), objective)
    without = {choice.protocol for choice in choices if choice.best is None}
    assert without == {"simplepir", "respire"}, "its hint is too large, or its keys are"
    scores = [objective(choice.best.figures) for choice in choices if choice.best]
    assert scores == sorted(scores)
    said = {choice.protocol: " ".join(reasons(choice, choices[0], objective)) for choice in choices}
    assert "no set keeps the bounds" in said["simplepir"] and "--max-offline" in said["simplepir"]
    assert "the least traffic" in said[choices[0].protocol] and "times the first's traffic" in said[choices[1].protocol]
    free = choose(
        ["simplepir", "simpleypir"], evaluator, Bounds(), replace(objective, network=Network(0.0, 1e6, 10**6))
    )
    hint = " ".join(reasons(next(c for c in free if c.protocol == "simplepir"), free[0], objective))
    assert "keeps a hint of" in hint
    keys = next(c for c in choose(["respire"], evaluator, Bounds(), objective) if c.protocol == "respire")
    assert keys.best.figures.key_bytes > 1 << 20 and "sends keys of" in " ".join(reasons(keys, keys, objective))


def test_a_grid_puts_tables_before_the_keys_in_them():
    plaintext = {"kind": "binomial", "slots": 512, "base": 65340}
    vary = [{"key": "ring.plaintext", "values": [plaintext]}, {"key": "ring", "values": [{"degree": 4096}]}]
    base = {"ring": {"plaintext": {"kind": "integer", "modulus": 40961}}}
    base |= {"protocol": "pirana", "switch": {"mask_modulus": 1 << 20, "body_modulus": 1 << 18}}
    [(changes, literal), (_, other)] = varied(
        base, [vary[0] | {"values": [plaintext, base["ring"]["plaintext"]]}, vary[1]]
    )
    assert literal["ring"] == {"degree": 4096, "plaintext": plaintext} and list(changes) == ["ring.plaintext", "ring"]
    assert literal["switch"] == base["switch"] == other["switch"], "as many bits above 16 bits"
    [(_, literal)] = varied(
        base, [{"key": "ring.plaintext", "values": [{"kind": "binomial", "slots": 256, "base": 2}]}]
    )
    assert literal["switch"] == {"mask_modulus": 1 << 5, "body_modulus": 1 << 3}


def test_what_is_not_a_space_is_refused():
    families = {"f": []}
    whole = {"protocol": "p", "title": "t", "paper": "q", "set": {}}
    for axis, words in (
        ({"key": "a"}, "axis a has none of values"),
        ({"key": "a", "family": "g"}, "no family 'g'; there are f"),
        ({"values": [1]}, "key 'key' is missing"),
    ):
        with pytest.raises(space_file.SpaceError, match=words):
            space_file.parse("p.toml", whole | {"axis": [axis]}, families)
    with pytest.raises(space_file.SpaceError, match="there is no axis sauce"):
        small("simplepir").narrowed({"sauce": [1]})


def listed_sets(evaluator, bounds, progress):
    """Sets that a module of its own lists for a shape."""
    assert evaluator.shape == SHAPE and bounds == Bounds()
    progress.stage("listing", 1)
    shared = {"title": "listed", "plain_moduli": [{"log2_samples": 32, "modulus": 300}]}
    return [shared | {"lwe": table} for table in LWE]


def test_a_search_of_its_own_can_list_the_sets(evaluator, monkeypatch):
    monkeypatch.setitem(sys.modules, "a_search_of_its_own", sys.modules[__name__])
    document = {"protocol": "simplepir", "title": "", "paper": "", "set": {}}
    space = space_file.parse(
        "x", document | {"axis": [{"key": "set", "sets_of": "a_search_of_its_own:listed_sets"}]}, {}
    )
    outcome = walk(space, evaluator, Bounds())
    assert outcome.found and {each.literal["title"] for each in outcome.found} == {"listed"}
    assert sum(outcome.account.counts.values()) + len(outcome.found) == len(LWE)
    assert "below the target" in "\n".join(outcome.account.lines())
    other = space_file.parse("x", document | {"axis": [{"key": "set", "sets_of": "nowhere:sets"}]}, {})
    with pytest.raises(space_file.SpaceError, match="axis set: 'nowhere:sets' cannot be used"):
        walk(other, evaluator, Bounds())


def test_the_fast_model_has_to_reach_more_than_the_target():
    """By as much as it may lie above the lattice estimator; what rests on a cipher reaches what it says."""
    assert not rings.reaches(128 + FAST_TOLERANCE / 2, 128) and rings.reaches(128 + FAST_TOLERANCE, 128)
    assert rings.reaches(CIPHER_BITS, CIPHER_BITS) and not rings.reaches(None, 1)
