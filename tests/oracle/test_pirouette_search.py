"""The search for Pirouette's sets: the pruned search against trying everything, one candidate at a time."""

import hashlib
import itertools
import os
import re
import shlex
import signal
import subprocess
import sys
import textwrap
import time
import tomllib
from dataclasses import replace

import numpy as np
import pytest
from pirlab_estimator.cost.units import DEFAULTS, UnitCosts
from pirlab_estimator.describe import describe as describe_rows
from pirlab_estimator.noise import predict_noise
from pirlab_estimator.paths import ROOT
from pirlab_estimator.search.front import frontier
from pirlab_estimator.search.pirouette import block as block_module
from pirlab_estimator.search.pirouette import command as command_module
from pirlab_estimator.search.pirouette import space as space_module
from pirlab_estimator.search.pirouette.candidate import Candidate
from pirlab_estimator.search.pirouette.circuit import Journal, Search
from pirlab_estimator.search.pirouette.command import OFFLINE_BYTES, OFFLINE_BYTES_HALF, main, safest, space_of
from pirlab_estimator.search.pirouette.gadgets import Gadgets
from pirlab_estimator.search.pirouette.space import (
    Limits,
    Ring,
    SmallKey,
    Space,
    secure_rings,
    secure_small_keys,
    security_bits,
)
from pirlab_estimator.search.pirouette_sets import SEED_BYTES
from pirlab_estimator.security.assess import predict_security
from pirouette_seconds import Seconds, tree_automorphisms

SETS = sorted(ROOT.glob("params/pirouette*/2^*.toml"))
SET_NAMES = [f"{path.parent.name}-{path.stem}" for path in SETS]
PRIMES = (268369921, 249561089)
RING = Ring(2048, PRIMES, "ternary", 21.0)
UNITS = UnitCosts.load(DEFAULTS)
KEYS = (SmallKey(740, 20, 12.4), SmallKey(768, 20, 8.0), SmallKey(796, 20, 4.76))
HALF_KEYS = (SmallKey(452, 12, 8.0), SmallKey(504, 12, 3.2))
SMALL = {
    "switching_bases": (2,),
    "rotation_bases": (8, 11),
    "automorphism_bases": (3, 4),
    "squaring_bases": (5, 9),
    "rgsw_bases": (4,),
    "joint": (True,),
    "first_bits": (8, 9),
    "moduli": (1, 2),
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Nothing is remembered from one test to the next."""
    monkeypatch.setattr(command_module, "CACHE", tmp_path / "cache")
    return tmp_path / "cache"


#: Where a parameter file has the gadgets of parts.
PARTS = {
    "switching": lambda written: written["query"]["key_switching"],
    "rotation": lambda written: written["blind_rotation"],
    "automorphism": lambda written: written["automorphism"],
    "rgsw": lambda written: written["rgsw"],
    "squaring": lambda written: written["squaring"],
}
#: Steps of an answer that a search adds up.
STEPS = ("digits", "bits", "rgsw", "selector", "first_dimension", "folding", "rotation")


class OneOperation:
    """Unit costs by which seconds are how often an operation is counted."""

    def __init__(self, name):
        self.name = name

    def total(self, name, count):
        return count if name == self.name else np.zeros_like(count)


def the_set_alone(written, monkeypatch):
    """The space of one set: each part has one gadget, the RGSW gadget one spacing."""

    def only(space, part, modulus):
        table = PARTS[part](written)
        kept, most = space_module.KEPT_BITS.get(part, np.log2(float(modulus))), space_module.MOST_DIGITS[part]
        gadgets = Gadgets.of(modulus, (table["base_log2"],), kept, most)
        return gadgets.at(np.flatnonzero(gadgets.dropped == table.get("dropped", 0)))

    rows = block_module.Block._rows

    def one_spacing(block, gadgets):
        rgsw, spacing, automorphisms = rows(block, gadgets)
        at = np.flatnonzero(spacing == written["rgsw"]["spacing"])
        return rgsw.at(at), spacing[at], automorphisms[at]

    monkeypatch.setattr(Space, "gadgets", only)
    monkeypatch.setattr(block_module.Block, "_rows", one_spacing)
    query, rlwe, database = written["query"], written["rlwe"], written["database"]
    primes = tuple(int(prime) for prime in rlwe["modulus"].split(" * "))
    small = query["key_switching"] if "key_switching" in query else query | {"modulus_log2": 12}
    return Space(
        [Ring(rlwe["degree"], primes, rlwe["secret"]["kind"], rlwe["error"]["stddev"])],
        [SmallKey(written["lwe"]["dimension"], small["modulus_log2"], small["error"]["stddev"])],
        joint=(written["blind_rotation"]["bits_per_step"] == 2,),
        first_bits=(database["first_bits"],),
        moduli=(database["moduli"],),
        query_chosen_bits=query.get("chosen_bits", 0),
    )


@pytest.mark.parametrize("path", SETS, ids=SET_NAMES)
def test_the_search_counts_the_operations_that_descriptions_count(path, describe, monkeypatch):
    written, bits = tomllib.loads(path.read_text()), int(path.stem.removeprefix("2^"))
    described = describe(f"{path.parent.name}/{path.stem}", bits)["operations"]["answer"]
    space = the_set_alone(written, monkeypatch)
    names = {name for step in STEPS for name in described.get(step, {})}
    assert {"ntt_2048_28", "residue_multiply_adds", "digits", "key_bytes", "automorphism_slots"} <= names
    for name in names:
        search = Search(space, OneOperation(name), bits, Limits(1e10, 1e3, 0.0), written["protocol"] == "pirouette_h")
        (found,) = search.best(2)
        for step in STEPS:
            count = described.get(step, {}).get(name, 0)
            assert found.seconds[step] == pytest.approx(count, rel=1e-12), (name, step)


@pytest.mark.parametrize("path", SETS, ids=SET_NAMES)
def test_bytes_that_are_sent_are_those_of_the_messages(path, describe, monkeypatch):
    written, bits = tomllib.loads(path.read_text()), int(path.stem.removeprefix("2^"))
    messages = describe(f"{path.parent.name}/{path.stem}", bits)["messages"]
    sent = sum(m["payload_bytes"] for m in messages if m["phase"] == "offline")
    limits, half = Limits(1e10, 1e3, 0.0, sent=True), written["protocol"] == "pirouette_h"
    (found,) = Search(the_set_alone(written, monkeypatch), UNITS, bits, limits, half).best()
    assert 0 <= sent - found.offline_bytes < SEED_BYTES


def test_nothing_is_dominated_by_what_is_left_out():
    rng = np.random.default_rng(3)
    for columns in (1, 2, 4):
        points = rng.integers(0, 12, (300, columns))
        kept = frontier(*points.T)
        front = points[kept]
        assert len({tuple(p) for p in front}) == len(front)
        for point in points:
            assert any(np.all(f <= point) for f in front)
        for i, point in enumerate(front):
            assert not any(np.all(f <= point) for j, f in enumerate(front) if j != i)


def test_gadgets_keep_what_is_asked():
    gadgets = Gadgets.of(RING.modulus, (4, 8), 30, 12)
    kept = np.log2(float(RING.modulus)) - gadgets.base_log2 * gadgets.dropped
    assert np.all(kept >= 30)
    assert np.all(gadgets.digits <= 12)
    assert {(8, 0, 7), (8, 2, 5)} <= set(zip(gadgets.base_log2, gadgets.dropped, gadgets.digits))
    with pytest.raises(ValueError, match="no base"):
        Gadgets.of(RING.modulus, (2,), 30, 4)


def described(candidates, bits):
    """What the binary says of candidates for 2^bits records of 256 bytes, with the longest records' coefficients."""
    rows = [
        {"id": f"{i}", "parameters": f"{i}.toml", "toml": candidate.toml(), "records": 1 << bits}
        for i, candidate in enumerate(candidates)
    ]
    descriptions = describe_rows([row | {"record_bits": 2048} for row in rows])
    for candidate, description in zip(candidates, descriptions):
        description["layout"]["used_coefficients"] = candidate.space.response_degree * candidate.space.slots
    return descriptions


def everything(search: Search):
    """All candidates of a space, one after the other; the fastest that the noise chain finds right."""
    space, limits, bits = search.space, search.limits, search.index_bits
    seconds = Seconds(UNITS, RING.degree, len(PRIMES))
    digits = 0 if search.half else -(-bits // space.digit_bits)

    def tables(part, modulus=RING.modulus):
        gadgets = space.gadgets(part, modulus)
        return [(gadgets.table(i), int(gadgets.digits[i])) for i in range(len(gadgets))]

    def rotated(small, length, joint):
        groups = [(8, bits), (8, digits), (1, max(0, 2 * (digits - 1)))]
        return sum(float(seconds.rotations(small.dimension, length, joint, *group)) for group in groups)

    def switched(small, length):
        if search.half:
            return 0.0
        tables = float(seconds.digit_tables(digits, 5))
        return float(seconds.key_switches(small.dimension, length, 3 * digits - 2 + bits)) + tables

    switches = [(None, 0)] if search.half else tables("switching", 1 << 20)
    rotations, traces, squares = tables("rotation"), tables("automorphism"), tables("squaring")
    before = [
        ((small, switch, rotation, joint), rotated(small, length, joint) + switched(small, switch_length))
        for small, (switch, switch_length), (rotation, length), joint in itertools.product(
            space.small_keys, switches, rotations, space.joint
        )
    ]
    after = []
    for rgsw, rows in tables("rgsw"):
        spacings = {2048 // rows >> shared << shared for shared in range(1, 12)} - {0}
        product = float(seconds.external_product(rows))
        for (trace, length), (square, square_length) in itertools.product(traces, squares):
            automorphism, squaring = float(seconds.automorphism(length)), float(seconds.squaring(square_length))
            for spacing, first, moduli in itertools.product(spacings, space.first_bits, space.moduli):
                cost = bits * (tree_automorphisms(2048, rows, spacing) * automorphism + rows * squaring)
                cost += (2 ** (bits - 2 - first) - 1 + 2) * product + float(seconds.selector(first, rows, moduli))
                cost += float(seconds.first_dimension(2.0 ** (bits - 2 - first), 2.0**first, moduli))
                after.append(((trace, square, rgsw, spacing, first, moduli), cost))
    order = sorted(((x + y, i, j) for i, (_, x) in enumerate(before) for j, (_, y) in enumerate(after)))
    for start in range(0, len(order), 500):
        some = [
            Candidate(space, bits, RING, *before[i][0], *after[j][0], {"all": total}, 0.0, 0.0, 0.0)
            for total, i, j in order[start : start + 500]
        ]
        for candidate, noise in zip(some, predict_noise(described(some, bits))):
            margins = [s["margin_bound"] for s in noise["stages"] if s["margin_bound"] is not None]
            if noise["log2_failure"] <= limits.log2_failure and min(margins) >= limits.margin:
                return candidate, noise["log2_failure"], min(margins)
    raise AssertionError("nothing is right")


@pytest.mark.parametrize("half", [False, True])
def test_the_pruned_search_finds_what_trying_everything_finds(half, monkeypatch):
    kept = {"switching": 14, "rotation": 38, "automorphism": 46, "rgsw": 26}
    monkeypatch.setattr(space_module, "KEPT_BITS", kept)
    space = Space([RING], HALF_KEYS if half else KEYS[:2], **SMALL)
    search = Search(space, UNITS, 20, Limits(1.2e9), half)
    best = search.best()[0]
    other, failure, margin = everything(search)
    assert best.total == pytest.approx(other.total, rel=1e-9)
    same = ("small", "switching", "rotation", "joint", "automorphism", "squaring", "rgsw", "spacing", "first_bits")
    assert {name: getattr(best, name) for name in same} == {name: getattr(other, name) for name in same}
    assert best.log2_failure == pytest.approx(failure, abs=1e-6)
    assert best.margin == pytest.approx(margin, rel=1e-9)


def test_limits_bind():
    space = Space([RING], KEYS, **(SMALL | {"joint": (False, True)}))
    free = Search(space, UNITS, 20, Limits(1.2e9)).best(50)
    assert [c.total for c in free] == sorted(c.total for c in free)
    tight = Search(space, UNITS, 20, Limits(free[0].offline_bytes * 0.9)).best()[0]
    assert tight.offline_bytes < free[0].offline_bytes <= 1.2e9
    assert tight.total > free[0].total
    sure = Search(space, UNITS, 20, Limits(1.2e9, margin=9.9)).best()[0]
    assert sure.margin >= 9.9 > free[0].margin
    assert not Search(space, UNITS, 20, Limits(1e6)).best()
    assert safest(free).margin >= free[0].margin


class Steps:
    """Progress that remembers, and slows a search down."""

    def __init__(self, seconds=0.0):
        self.seconds, self.names, self.steps, self.totals = seconds, [], [], []

    def stage(self, name, total):
        self.names.append(name)
        self.steps.append(0)
        self.totals.append(total)

    def advance(self, count):
        self.steps[-1] += count
        time.sleep(self.seconds)

    def revise(self, total):
        assert total <= self.totals[-1]
        self.totals[-1] = total


FEW = {
    "rotation_bases": (8, 9, 10, 11),
    "automorphism_bases": (3, 4),
    "squaring_bases": (5, 9),
    "rgsw_bases": (2, 3, 4),
}


def few():
    """A space that takes a second."""
    keys = [SmallKey(n, 20, s) for n, s in ((740, 12.4), (752, 10.1), (768, 8.0), (780, 6.37), (796, 4.76))]
    return Space([RING, replace(RING, stddev=22.0)], keys, **FEW)


def test_progress_says_what_is_left():
    reported = Steps()
    Search(few(), UNITS, 20, Limits(1.2e9)).best(5, reported)
    assert reported.names == ["Pirouette: gadgets of 2 rings", "Pirouette: small keys"]
    assert reported.steps == reported.totals and reported.steps[1] > 20, "what is left is nothing at the end"


KILLED = """
    import sys
    from pathlib import Path
    import test_pirouette_search as tests
    reported = tests.Steps(0.05)
    cache = Path(sys.argv[1])
    found = tests.Search(tests.few(), tests.UNITS, 20, tests.Limits(1.2e9)).best(5, reported, cache)
    print([each.total for each in found], reported.steps[1])
    """


def test_a_killed_search_goes_on(own_cache, monkeypatch):
    """Killed by the operating system in the middle; small keys that had been looked at are not looked at again."""
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(own_cache)]
    environment = os.environ | {"PYTHONPATH": f"{ROOT}/tests/oracle{os.pathsep}{ROOT}/tests/fixtures"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    deadline = time.monotonic() + 60
    while not list(own_cache.glob("pirouette-*.json")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL and not process.stdout.read(), "it was killed while it ran"
    (path,) = own_cache.glob("pirouette-*.json")
    done, best = Journal(path).last()
    assert done >= 10 and len(best) <= 5
    resumed, whole = Steps(), Steps()
    search = Search(few(), UNITS, 20, Limits(1.2e9))
    found = search.best(5, resumed, own_cache)
    assert found == search.best(5, whole) and resumed.steps[1] + done == whole.steps[1] > done
    again = Steps()
    assert search.best(5, again, own_cache) == found and again.steps[1] == 0
    path.write_text('{"done": 3, "be')
    assert search.best(5, again, own_cache) == found and again.steps[-1] == whole.steps[1], (
        "what is cut off is not used"
    )
    Search(few(), UNITS, 21, Limits(1.2e9)).best(5, None, own_cache)
    assert len(list(own_cache.iterdir())) == 2, "what else is asked is another search"


def test_offline_bytes_count_both_halves():
    best = Search(Space([RING], KEYS, **SMALL), UNITS, 20, Limits(1.2e9)).best()[0]
    bits = np.log2(float(RING.modulus))
    digits = {name: len_of(getattr(best, name), RING.modulus) for name in ("rotation", "automorphism", "squaring")}
    selectors = best.small.dimension * (1.5 if best.joint else 1)
    ring_words = 4 * 2048 * selectors * digits["rotation"] + 2 * 2048 * (
        11 * digits["automorphism"] + digits["squaring"]
    )
    switching = 2048 * len_of(best.switching, 1 << 20) * (best.small.dimension + 1) * 20 / 8
    response = 2048 * 24 * 2 * np.log2(16760833) / 8
    assert best.offline_bytes == pytest.approx(ring_words * bits / 8 + switching + response, rel=1e-9)


def len_of(table, modulus):
    gadgets = Gadgets.of(modulus, (table["base_log2"],), 1, 99)
    return int(gadgets.digits[list(gadgets.dropped).index(table["dropped"])])


def test_automorphisms_of_a_tree():
    assert tree_automorphisms(2048, 1, 2048) == 11
    assert tree_automorphisms(2048, 8, 256) == 11 - 3 + 8 - 1
    assert tree_automorphisms(2048, 12, 2) == sum(min(12, max(1, 2 ** (level - 1))) for level in range(11))


def test_spaces_are_secure_and_no_wider_than_needed():
    ring = secure_rings(2048, [PRIMES], ["ternary"])[0]
    secure = security_bits(2048, np.log2(float(RING.modulus)), "ternary", np.array([ring.stddev]))
    assert 128.2 <= secure[0] < 128.6
    keys = secure_small_keys([740, 780], 20)
    assert [k.dimension for k in keys] == [740, 780]
    assert keys[0].stddev > keys[1].stddev
    for key in keys:
        (bits,) = security_bits(key.dimension, 20.0, "binary", np.array([key.stddev]))
        assert 128.2 <= bits < 129


def test_no_space_has_a_key_that_coded_bkw_breaks():
    """Dimension 424 with error 12.9 has 129 bits by every lattice attack and 121.9 by coded-BKW: it was found once."""
    assert secure_small_keys([424, 428, 432, 444], 12) == []
    (key,) = secure_small_keys([452], 12)
    assert key.stddev == 14.1 and security_bits(424, 12.0, "binary", np.array([12.9]))[0] < 122


def test_files_name_their_search(tmp_path, capsys, monkeypatch):
    space = Space([RING], KEYS, **SMALL)
    monkeypatch.setattr("pirlab_estimator.search.pirouette.command.space_of", lambda *options: space)
    assert main(["20", "--out", str(tmp_path)]) == 0
    written = tomllib.loads((tmp_path / "pirouette" / "2^20.toml").read_text())
    assert written["source"]["command"] == "python -m pirlab_estimator.search.pirouette 20"
    assert "commit" not in written["source"]
    assert written["lwe"]["dimension"] in {k.dimension for k in KEYS}
    assert written["rlwe"]["modulus"] == "268369921 * 249561089"
    assert written["query"]["key_switching"]["modulus_log2"] == 20
    assert main(["20", "--megabytes", "1"]) == 1
    assert "nothing within the limits" in capsys.readouterr().err


@pytest.mark.parametrize("path", SETS, ids=SET_NAMES)
def test_sets_name_the_costs_that_they_were_found_with(path):
    (costs,) = re.findall(r"Unit costs: SHA-256 ([0-9a-f]{64})\.", tomllib.loads(path.read_text())["source"]["note"])
    assert costs == hashlib.sha256(DEFAULTS.read_bytes()).hexdigest(), "unit costs changed: search the set again"


def test_the_first_dimension_may_be_bounded():
    assert list(space_of(True).first_bits) == list(Space.first_bits)
    assert max(space_of(True, most_first_bits=12).first_bits) == 12


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "pirouette_h/2^20",
        *(pytest.param(name, marks=pytest.mark.verify) for name in ("pirouette/2^20", "pirouette_h/2^30")),
    ],
)
def test_recorded_commands_find_the_sets_again(name, tmp_path):
    committed = (ROOT / "params" / f"{name}.toml").read_text()
    words = shlex.split(tomllib.loads(committed)["source"]["command"])
    assert words[:3] == ["python", "-m", "pirlab_estimator.search.pirouette"]
    assert main([*words[3:], "--out", str(tmp_path)]) == 0
    assert (tmp_path / f"{name}.toml").read_text() == committed


@pytest.mark.parametrize("path", SETS, ids=SET_NAMES)
def test_sets_hold_for_short_and_for_long_records(path, describe):
    """One bit, 256 bytes and 32 KB; of the last, as many bytes, and as many records as a database may have."""
    bits = int(path.stem.removeprefix("2^"))
    shapes = [(bits, 1), (bits, 2048), (bits - 7, 1 << 18), (min(bits, 28), 1 << 18)]
    name = f"{path.parent.name}/{path.stem}"
    descriptions = [describe(name, records, record_bits=record_bits) for records, record_bits in shapes]
    for (records, record_bits), noise in zip(shapes, predict_noise(descriptions)):
        assert noise["log2_failure"] <= -40, (records, record_bits)
        decisions = {s["stage"]: s["margin_bound"] for s in noise["stages"] if s["decisions"]}
        kinds = set() if path.parent.name == "pirouette_h" else {"floor_msb", "floor_rest", "digit"}
        assert set(decisions) == kinds | {"rgsw_input", "response"}
        assert min(decisions.values()) >= 8.2, (records, record_bits, decisions)
    sizes = {m["name"]: m["payload_bytes"] for m in descriptions[1]["messages"]}
    assert sizes["answer"] <= 2500
    assert sizes["query"] == (36 if path.parent.name == "pirouette" else 32 + -(-9 * bits // 8))


@pytest.mark.parametrize("path", SETS, ids=SET_NAMES)
def test_sets_are_secure_and_no_larger_than_the_papers_keys(path, describe):
    described = describe(f"{path.parent.name}/{path.stem}", int(path.stem.removeprefix("2^")))
    (entries,) = predict_security([described], "fast_only")
    assert min(entry["bits"] for entry in entries) >= 128
    # Both halves, as the server has them: residues of up to 28 bits in words of 32.
    keys = sum(part["bytes"] for part in described["memory"]["server"] if part["name"] != "database")
    assert keys <= (OFFLINE_BYTES_HALF if path.parent.name == "pirouette_h" else OFFLINE_BYTES)
