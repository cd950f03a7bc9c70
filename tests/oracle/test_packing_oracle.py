"""The naive packings whose intermediate results the Rust tests are held against: the file is theirs, and they pack."""

import random

import packing_oracle as oracle
import pytest
from pirlab_workflow.files import ROOT

KNOWN = ROOT / "impl/lattice/src/pack/tests/known.json"


def test_the_committed_values_are_the_oracles(capsys):
    oracle.main()
    assert capsys.readouterr().out == KNOWN.read_text()


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize(
    ("method", "gamma"), [("inspiring", g) for g in (64, 32, 8, 2)] + [("cdks", g) for g in (64, 4)]
)
def test_the_oracle_packs(method, gamma, balanced):
    """With keys without errors, coefficient j (CDKS: j N / gamma) of the phase is that of ciphertext j, exactly."""
    draw = random.Random(f"{method} {gamma} {balanced}")

    def uniform() -> list[int]:
        return [draw.randrange(oracle.Q) for _ in range(oracle.N)]

    secret = [draw.choice((-1, 0, 1)) for _ in range(oracle.N)]
    case = oracle.Case(method, gamma, balanced)
    keys = []
    for exponent in oracle.key_exponents(case):
        masks, image = [uniform() for _ in range(case.length)], oracle.automorphism(secret, exponent)
        gadget = [oracle.scale(image, -(case.base**i)) for i in range(case.length)]
        keys.append(
            [(mask, oracle.add(oracle.multiply(mask, secret), g)) for mask, g in zip(masks, gadget, strict=True)]
        )
    ring_masks, bodies = [uniform() for _ in range(gamma)], uniform()
    a, b = oracle.METHODS[method](case, ring_masks, bodies, keys)
    phase = oracle.add(b, oracle.scale(oracle.multiply(a, secret), -1))
    step = 1 if method == "inspiring" else oracle.N // gamma
    for j, mask in enumerate(ring_masks):
        assert phase[j * step] == (bodies[j] - oracle.multiply(mask, secret)[0]) % oracle.Q
    if method == "cdks":
        assert all(x == 0 for i, x in enumerate(phase) if i % step)
