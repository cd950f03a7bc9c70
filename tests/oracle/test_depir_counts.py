"""Counts and estimates of DEPIR's data structure: against whole products of integers, and the figures of section 6."""

from math import comb, log, prod

import pytest
from pirlab_figures.depir import counting, propositions
from pirlab_figures.depir.counting import Shape
from pirlab_figures.depir.table2 import FOURIER, ONE, RING_DEGREE, TOTAL_DEGREE, TWO, Case


def primes(bound):
    return [p for p in range(2, bound) if all(p % d for d in range(2, int(p**0.5) + 1))]


SMALL = primes(3000)


def fewest(shape, modulus):
    """By multiplying primes until 2^D times their product is 2 N |f| q^D."""
    needed = 2 * comb(shape.degree + shape.variables, shape.variables) * int(shape.coefficient) * modulus**shape.degree
    found, product = 0, 2**shape.degree
    while product < needed:
        product *= SMALL[found]
        found += 1
    return found


@pytest.mark.parametrize("shape", [Shape(4, 2, 3), Shape(10, 3, 2**19), Shape(18, 4, 2**15), Shape(30, 5, 2**15)])
def test_counts_are_those_of_whole_products(shape):
    moduli = [2**20, 1048573, 786433]
    first = [fewest(shape, q) for q in moduli]
    second = [fewest(shape, p) for p in SMALL[: max(first)]]
    one, two = counting.one_step(shape, moduli), counting.two_steps(shape, moduli)
    assert one.reads == sum(first)
    assert one.entries == sum(p**shape.variables for p in SMALL[: max(first)])
    assert two.reads == sum(second[i] for count in first for i in range(count))
    assert two.entries == sum(p**shape.variables for p in SMALL[: max(second)])


@pytest.mark.parametrize(
    ("m", "degree", "r", "r_model", "entries", "entries_model", "reads", "reads_model", "stored", "stored_model"),
    [
        (3, 10, 39, 28, 4.0e7, 1.9e7, 705, 425, 2.0e6, 3.6e5),
        (3, 80, 186, 158, 5.8e10, 5.4e10, 16500, 14300, 4.0e9, 3.9e9),
        (4, 30, 87, 69, 6.4e11, 4.1e11, 3390, 2540, 1.4e10, 7.4e9),
        (5, 10, 40, 28, 9.2e11, 2.4e11, 746, 425, 1.1e10, 5.8e8),
        (6, 80, 187, 158, 4.8e19, 4.2e19, 16900, 14300, 4.8e17, 3.9e17),
    ],
)
def test_figure_3_is_as_worked_out_apart(
    m, degree, r, r_model, entries, entries_model, reads, reads_model, stored, stored_model
):
    """Figures of another program, to the digits it was read to."""
    shape = Shape(degree, m, 2**19)
    one, two = counting.one_step(shape, [2**20]), counting.two_steps(shape, [2**20])
    first = propositions.one_step(degree, m, log(2**20))
    second = propositions.two_steps(degree, m, log(2**20), log(2**19))
    assert (one.reads, first.reads) == (r, pytest.approx(r_model, abs=0.5))
    near = pytest.approx([entries, entries_model, reads, reads_model, stored, stored_model], rel=0.03)
    assert [one.entries, first.entries, two.reads, second.reads, two.entries, second.entries] == near


def test_the_printed_sum_of_powers_is_less_than_the_power_of_the_sum():
    found = propositions.two_steps(30, 5, log(2**20), log(2**19))
    last = log(2**19) + 30 * log(30 * log(2**20))
    assert found.whole == pytest.approx(last**6 / (6 * log(last))) and found.recipe == pytest.approx(6 * found.whole)
    assert found.entries < 0.7 * found.whole


@pytest.mark.parametrize(
    ("optimisation", "m", "degree", "k", "largest"),
    [(FOURIER, 5, 80, 83, 2023489537), (TOTAL_DEGREE, 5, 39, 41, 1222574081), (TOTAL_DEGREE, 4, 69, 71, 1493630977)],
)
def test_parameters_follow_from_those_of_the_table(optimisation, m, degree, k, largest):
    """35 primes 1 modulo n k: the largest that section 6 names for k = 41 is that for k = 71."""
    case = Case(ONE, optimisation, m)
    found = case.primes(1)
    assert (case.shape.degree, case.k, len(found), max(found)) == (degree, k, 35, largest)
    assert all(p % (RING_DEGREE * k) == 1 for p in found)
    stated = case.primes(2)
    assert len(stated) == 34 and all(p % (2 * RING_DEGREE * k) == 1 for p in stated)
    assert prod(stated) >= 2**1000 > prod(stated[:-1])
    assert max(stated) == {83: 3405119489, 41: 2386034689, 71: 3387424769}[k]


@pytest.mark.parametrize(
    ("algorithm", "optimisation", "m", "reads", "entries"),
    [
        (ONE, FOURIER, 5, 4.9e10, 7.1e17),
        (ONE, TOTAL_DEGREE, 5, 1.33e10, 1.2e16),
        (ONE, TOTAL_DEGREE, 4, 3.6e10, 2.4e14),
        (TWO, FOURIER, 5, 4.6e12, 1.27e15),
        (TWO, TOTAL_DEGREE, 5, 6.7e11, 1.65e13),
        (TWO, TOTAL_DEGREE, 4, 3.0e12, 1.18e12),
    ],
)
def test_table_2_is_as_counted_apart(algorithm, optimisation, m, reads, entries):
    counted = Case(algorithm, optimisation, m).counted()
    assert (counted.reads, counted.entries) == (pytest.approx(reads, rel=0.015), pytest.approx(entries, rel=0.015))


def test_too_large_a_modulus_is_refused():
    with pytest.raises(ValueError, match="degree 800 modulo 1e\\+300 needs primes above 2\\^16"):
        Shape(800, 5, 2**15).primes(1e300)
    with pytest.raises(ValueError, match="too few primes below 2\\^32 are 1 modulo 2147483648"):
        counting.ciphertext_primes(2**31, 1000)
