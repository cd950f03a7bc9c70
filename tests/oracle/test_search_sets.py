"""Searches against the sets that are committed: each finds one that is no worse, and those that list sets of their own
know what they are asked for."""

import itertools
import tomllib
from dataclasses import replace

import pytest
from pirlab_estimator.cost import DEFAULTS, UnitCosts
from pirlab_estimator.modulus import parse_modulus
from pirlab_estimator.noise.digits import gadget_length
from pirlab_estimator.search import depir_sets, pirouette_sets, space_file, trespire_sets
from pirlab_estimator.search.bounds import Bounds
from pirlab_estimator.search.choose import committed
from pirlab_estimator.search.evaluate import Evaluator, Shape
from pirlab_estimator.search.pirouette.circuit import Search
from pirlab_estimator.search.progress import Progress
from pirlab_estimator.search.walk import Least, walk
from pirlab_estimator.sets import resolve

COSTS = UnitCosts.load(DEFAULTS)
#: Descriptions come from the binary.
pytestmark = pytest.mark.usefixtures("binary")


@pytest.mark.slow
@pytest.mark.parametrize("protocol", [pytest.param("pirouette", marks=pytest.mark.verify), "pirouette_h"])
def test_pirouette_is_no_slower_and_no_larger_than_its_repaired_sets(protocol, root, monkeypatch):
    """What the search finds by itself, in two rings with every third small key: no committed set is listed.

    The least small key of ^H that gives 128 bits has too much noise, so that its third keys are counted from the next.
    """
    space_of = pirouette_sets.space_of

    def thinned(*options):
        space = space_of(*options)
        return replace(space, rings=space.rings[:2], small_keys=space.small_keys[protocol == "pirouette_h" :: 3])

    monkeypatch.setattr(pirouette_sets, "space_of", thinned)
    evaluator = Evaluator(Shape(1 << 20, 2048), COSTS, None)
    [given] = evaluator(resolve([root / f"params/{protocol}/2^20.toml"]))
    bounds = Bounds(offline=given.hint_bytes)
    own = pirouette_sets.own(protocol, evaluator, bounds, Progress())
    figures = evaluator([{"protocol": protocol, "title": ""} | each for each in own])
    right = [f for f in figures if bounds.keeps(f)]
    assert len(right) == len(own) > 0, "the search keeps the bounds by itself"
    assert min(f.seconds for f in right) <= given.seconds and max(f.hint_bytes for f in right) <= given.hint_bytes


def test_the_search_of_pirouette_is_asked_for_the_items_of_the_shape(tmp_path, monkeypatch):
    asked = []

    class Recorded(Search):
        def __init__(self, space, units, index_bits, limits, half):
            asked.append((index_bits, limits.offline_bytes, limits.sent, limits.log2_failure, half))
            few = replace(space, rings=space.rings[:1], small_keys=space.small_keys[::6], rotation_bases=(8, 11))
            super().__init__(few, units, index_bits, limits, half)

    monkeypatch.setattr(pirouette_sets, "Search", Recorded)
    evaluator = Evaluator(Shape(1 << 18, 2048), COSTS, tmp_path)  # The same search again is remembered.
    bounds = Bounds(failure=-45.0, offline=2e8)
    found = walk(space_file.load("pirouette_h"), evaluator, bounds, Least(lambda f: f.seconds)).found
    assert asked == [(18, 2e8 - pirouette_sets.SEED_BYTES, True, -45.0, True)]
    own = pirouette_sets.searched("pirouette_h", evaluator, bounds, Progress())
    known = pirouette_sets.committed("pirouette_h", evaluator, bounds, Progress())
    assert len(own) > len(known)
    figures = evaluator([{"protocol": "pirouette_h", "title": ""} | each for each in own])
    right = [f for f in figures if bounds.keeps(f)]
    assert min(each.figures.seconds for each in found) == min(f.seconds for f in right)
    tiny = Evaluator(Shape(100, 8), COSTS, None)
    assert pirouette_sets.searched("pirouette_h", tiny, bounds, Progress()) == known, (
        "too few items for a search of their own"
    )


def test_depir_has_sets_no_worse_than_the_committed_one(root, monkeypatch):
    """Of 330 records, which `short-n8192` is for: all reach the targets, and the best is as fast in the same memory."""
    monkeypatch.setattr(depir_sets, "VARIABLES", (3, 4))
    monkeypatch.setattr(depir_sets, "LOG2_DEGREES", (13,))
    evaluator = Evaluator(Shape(330, 16), COSTS, None)
    [given] = evaluator([tomllib.loads((root / "params/depir/short-n8192.toml").read_text())])
    fits = Bounds(memory=given.server_bytes * 1.1)
    found = walk(space_file.load("depir"), evaluator, fits, Least(lambda figures: figures.seconds)).found
    assert found and all(each.figures.log2_failure <= -40 and each.figures.bits >= 128 for each in found)
    assert min(each.figures.seconds for each in found) <= given.seconds
    query, answer = depir_sets.fewest(4, 7, 8192, -52.0)
    assert depir_sets.least_degree(4, 330) == 7 and answer < query <= 7
    assert depir_sets.fewest(4, 40, 8192, -52.0) is None, "too long a modulus for the ring"


def test_t_respire_s_descent_finds_the_fastest_of_all_combinations(root, monkeypatch):
    """Of a few gadgets, against every combination of them; and no set that was committed is faster."""
    few = {
        "query.rounds.base_log2": (9, 11, 12),
        "query.rounds.dropped": (2, 3, 4),
        "automorphism.base_log2": (4, 5),
        "automorphism.dropped": (1, 2),
        "database.first_bits": (7, 8, 9),
    }
    ladders = {key: [[{key: value} for value in values]] for key, values in few.items()}
    monkeypatch.setattr(trespire_sets, "_ladders", lambda: ladders)
    evaluator = Evaluator(Shape(1 << 20, 2048), COSTS, None)

    def least(sets):
        figures = evaluator([{"protocol": "trespire", "title": ""} | each for each in sets])
        return min(f.seconds for f in figures if Bounds().keeps(f))

    listed = trespire_sets.coarse(evaluator, Bounds(), Progress())
    found = trespire_sets.searched(evaluator, Bounds(), Progress())
    [base] = resolve([root / "params/trespire/2^20.toml"])
    base = {key: value for key, value in base.items() if key not in ("protocol", "title", "source")}
    everything = [trespire_sets._changed(base, dict(zip(few, values))) for values in itertools.product(*few.values())]
    assert least(found) == least(everything) < least(listed)
    assert len(found) < len(listed) + len(everything)
    for each in found[len(listed) :]:
        changed = {key for key in few if space_file.get(each, key) != space_file.get(base, key)}
        assert trespire_sets._changed(each, {k: space_file.get(base, k) for k in changed}) == trespire_sets._whole(base)
    bounds = Bounds(offline=min(e.hint_bytes for e in evaluator([{"protocol": "trespire", "title": ""} | base])) - 1)
    smaller = walk(space_file.load("trespire").narrowed(), evaluator, bounds, Least(lambda f: f.seconds)).found
    assert all(each.figures.hint_bytes <= bounds.offline for each in smaller)
    refused = Evaluator(Shape(1 << 40, 2048), COSTS, None)
    known = trespire_sets.coarse(refused, Bounds(), Progress())
    assert trespire_sets.searched(refused, Bounds(), Progress()) == [trespire_sets._whole(each) for each in known]


@pytest.mark.parametrize(
    ("protocol", "records", "record_bits"),
    [
        ("pirana", 1 << 12, 163840),
        ("pirana", 1 << 18, 2048),
        ("onehot", 1 << 16, 16),
        ("onehot", 1 << 14, 1024),
        ("cwpir", 1 << 8, 163840),
        ("cwpir", 1 << 12, 2048),
        pytest.param("spiral", 1 << 20, 2048, marks=pytest.mark.slow),
    ],
)
def test_a_search_finds_a_set_no_worse_than_the_best_committed_one(protocol, records, record_bits):
    """The one that answers fastest, of those that reach the targets: no more bytes, no later answer."""
    evaluator = Evaluator(Shape(records, record_bits), COSTS, None)
    own = [each for each in committed().values() if each["protocol"] == protocol and "batch" not in each]
    right = [each for each in evaluator(own) if Bounds().keeps(each)]
    best = min(right, key=lambda figures: figures.seconds)
    found = walk(space_file.load(protocol), evaluator, Bounds().no_worse(best), Least(lambda f: f.seconds)).found
    assert found and min(each.figures.seconds for each in found) <= best.seconds


@pytest.mark.parametrize("name", ["pack-256mb", "base-256mb-selector", "stream-256mb"])
def test_spiral_s_space_has_what_its_authors_chose(root, name):
    """For 2^20 records of 256 bytes: everything but the ring, which is not secure, and the bases, which are the least
    with as many digits."""
    space = space_file.load("spiral")
    [given] = resolve([root / f"params/spiral/{name}.toml"])
    modulus = parse_modulus(given["rlwe"]["modulus"])
    for axis in (axis for axis in space.axes if axis.kind != "family" and axis.applies(given)):
        value = space_file.get(given, axis.key)
        if axis.kind == "base":
            value = gadget_length("symmetric", modulus, value, 0)
        elif axis.kind == "above_bits":
            # A prime is below the power of two of its length.
            value = (value - 1).bit_length() - given[axis.of]
        assert value in axis.values, axis.key
