"""CwPIR's stages: trees of products against a simulation in numpy, and what the stages are made of by hand."""

from math import comb, log2

import numpy as np
import pytest
from pirlab_estimator.noise import cwpir
from pirlab_estimator.noise.stage import evaluate

T, STDDEV, SPECIAL = 257, 3.2, 1 << 60


def description(n, selection, weight, bits, items=1, entry_bits=8, primes=((1 << 50) - 27,) * 4):
    """One full plaintext an item, whole residues as digits of keys without errors to speak of."""
    layout = {
        "selection": selection,
        "codeword_weight": weight,
        "codeword_bits": bits,
        "selector_depth": (bits - 1).bit_length(),
        "entry_bits": entry_bits,
        "entries_per_record": n,
        "answer_ciphertexts": 1,
        "items": items,
        "plaintext": {"kind": "integer", "modulus": T},
        "special_modulus": SPECIAL,
        "automorphism_gadget": {"base_log2": 50, "dropped": 0, "digits": len(primes), "family": "balanced"},
    }
    ring = {"dimension": n, "modulus": " * ".join(map(str, primes)), "secret": {"kind": "ternary"}}
    return {
        "protocol": "cwpir",
        "layout": layout,
        "instances": [ring | {"error_stddev": STDDEV}],
        "shape": {"records": items, "record_bits": n * entry_bits},
    }


def stages(*arguments, **changed):
    found = evaluate(cwpir.chain([description(*arguments, **changed)]), 1)[0]
    modulus = ((1 << 50) - 27) ** 4
    return {stage["stage"]: (stage["stddev"] * modulus / T) ** 2 for stage in found}


class Toy:
    """Polynomials modulo X^N + 1 by their values at its roots, of one key."""

    def __init__(self, n, rng):
        self.n, self.rng, self.twist = n, rng, np.exp(1j * np.pi * np.arange(n) / n)
        self.s = self.at(rng.integers(-1, 2, n))

    def at(self, coefficients):
        return np.fft.fft(coefficients * self.twist)

    def white(self, variance):
        return self.at(self.rng.normal(0, variance**0.5, self.n))

    def rounding(self, *degrees):
        return sum(self.at(self.rng.uniform(-0.5, 0.5, self.n)) * self.s**degree for degree in degrees)

    def square(self, error):
        """The mean square of a coefficient."""
        return np.mean(np.abs(error) ** 2) / self.n

    def product(self, left, right):
        """Errors and the fractions K that phases exceed multiples of q by; a product and its relinearisation."""
        error = left[0] * T * right[1] + right[0] * T * left[1] + self.rounding(0, 1, 2) + self.rounding(0, 1)
        return error, self.rounding(0, 1)

    def tree(self, factors):
        while len(factors) > 1:
            pairs = [factors[i : i + 2] for i in range(0, len(factors), 2)]
            factors = [self.product(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
        return self.square(factors[0][0])


@pytest.mark.parametrize(
    ("operator", "weight"), [*(("plain", k) for k in (2, 3, 4, 5, 8)), *(("arithmetic", k) for k in (2, 4, 8))]
)
def test_trees_of_products_grow_as_a_simulation_s(operator, weight):
    n, rng, found = 512, np.random.default_rng(weight), []
    predicted = stages(n, {"operator": operator, "weight": weight}, weight, bits=16)
    # Of the four levels' roundings four meet the key's own value at a root.
    linear = 4 / 12
    bit = predicted["expansion"] - linear * n * 2 / 3
    for _ in range(40):
        toy = Toy(n, rng)
        fresh = [(toy.white(bit) + toy.white(linear) * toy.s, toy.rounding(0, 1)) for _ in range(weight)]
        if operator == "arithmetic":
            fresh = [tuple(sum(part) for part in zip(*fresh))] * weight
            # A sum of words is a ciphertext like others: its phase exceeds q by fractions that do not add up.
            fresh = [(fresh[0][0], toy.rounding(0, 1))] * weight
        found.append(toy.tree(fresh))
    assert log2(np.mean(found) / predicted["selection"]) / 2 == pytest.approx(0, abs=0.15)


def test_an_expansion_adds_up_level_by_level():
    """The key switch of a level is seen by all later ones, in half of the coefficients each time."""
    n, levels = 512, 5
    switch = (1 + n * 2 / 3) / 12
    total = (STDDEV**2 + 1 / 12) / 2**levels
    total += sum(switch * 4 ** (levels - 1 - i) / 2 ** (levels - 1 - i) for i in range(levels))
    assert stages(n, {"operator": "plain", "weight": 2}, 2, bits=32)["expansion"] == pytest.approx(total, rel=1e-3)


def test_sums_run_over_items_and_coefficients():
    n, items = 512, 100
    found = stages(n, {"operator": "plain", "weight": 2}, 2, bits=15, items=items)
    values = np.arange(256) - 128
    assert found["sum"] == pytest.approx(found["selection"] * n * items * np.mean(values**2.0), rel=1e-3)
    assert comb(15, 2) >= items
