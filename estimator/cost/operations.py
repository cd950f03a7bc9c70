"""Every operation that descriptions count, what it is, and which of a step's three times it adds to."""

import re
from functools import lru_cache
from typing import Literal, NamedTuple

Part = Literal["arithmetic", "traffic", "serial"]


class Operation(NamedTuple):
    """arithmetic and traffic overlap; serial work does neither.

    like: the operation whose unit cost, times `share`, it has where a calibration lacks its own.
    """

    part: Part
    meaning: str
    like: str | None = None
    share: float = 1.0


OPERATIONS: dict[str, Operation] = {
    "multiply_adds_packed": Operation("arithmetic", "an entry of a packed matrix times a 32-bit word, in cache"),
    "batch_multiply_adds_packed": Operation(
        "arithmetic", "the same with several vectors at a time, not in cache", "multiply_adds_packed"
    ),
    "matrix_multiply_adds": Operation("arithmetic", "a packed entry times a word of a dense matrix (the hint)"),
    "multiply_adds_u16": Operation("arithmetic", "a 16-bit entry times a residue modulo one 28-bit prime, in cache"),
    "multiply_adds_u32": Operation("arithmetic", "a 32-bit word times a 32-bit word, in cache"),
    "residue_multiply_adds": Operation("arithmetic", "a 28-bit residue times a 28-bit residue, in cache"),
    "poly_matrix_multiply_adds": Operation(
        "arithmetic", "the same of a matrix of polynomials with several vectors", "residue_multiply_adds"
    ),
    "table_multiply_adds": Operation(
        "arithmetic", "a residue of a packing table times a residue of a query", "multiply_adds_u16"
    ),
    "bytes_read": Operation("traffic", "a byte read once from memory, at the probed bandwidth"),
    "matvec_bytes": Operation(
        "traffic", "a byte of a packed matrix times a vector, not in cache; `bytes_read` of a step that multiplies one"
    ),
    "matvec_u16_bytes": Operation(
        "traffic", "the same of a matrix of 16-bit entries times a vector modulo two primes, with `multiply_adds_u16`"
    ),
    "table_bytes": Operation("traffic", "a byte of packing tables (32-bit residues) streamed through a product"),
    "poly_matrix_bytes": Operation("traffic", "a byte of a matrix of polynomials streamed through the first dimension"),
    "bytes_written": Operation("traffic", "a stored byte of a seeded database: generated, cut into entries, packed"),
    "column_entries": Operation(
        "serial", "a 16-bit entry written by rows into a matrix of columns that is new", "bytes_written", 2.5
    ),
    "scattered_entries": Operation("serial", "an entry of such a matrix changed by itself, from memory", "row_sums", 6),
    "listed_entries": Operation("serial", "the same of a matrix that lists some of its entries beside", "row_sums", 24),
    "widened_entries": Operation("serial", "an entry made ready for a transform", "digits", 8),
    "cut_entries": Operation("serial", "an entry cut from the bits of records", "bytes_written", 2),
    "plane_entries": Operation(
        "serial", "a residue of a polynomial of InsPIRe, whitened and centred", "bytes_written", 1.5
    ),
    "butterflies": Operation("arithmetic", "a residue turned, added and subtracted in an interpolation", "digits", 4),
    "divisions": Operation("arithmetic", "a residue divided by a difference of points", "words_read", 5),
    "hint_words": Operation(
        "serial", "a word of a first layer's hint, switched and cut into digits", "words_read", 5.5
    ),
    "small_table_slots": Operation(
        "serial", "a residue of a packing table of few ciphertexts, made", "automorphism_slots", 4
    ),
    "table_slots": Operation("serial", "a residue of a packing table of InspiRING, made", "automorphism_slots", 5),
    "tree_slots": Operation("serial", "a residue of a packing table of CDKS, made", "automorphism_slots", 15),
    "key_bytes": Operation("serial", "a byte of a rotation key from memory, beyond its products: all waits for it"),
    "row_sums": Operation("serial", "a sum of a packed row with one vector, beside its multiply-adds"),
    "further_row_sums": Operation(
        "serial", "the same for a query that shares the pass over the matrix with another", "row_sums", 0.3
    ),
    "matrix_words": Operation("serial", "a word of a dense matrix made ready for the product with a packed one"),
    "prg_bytes": Operation("serial", "a byte of the pseudorandom generator"),
    "gaussian_samples": Operation("serial", "a sample of the error distribution"),
    "digit_conversions": Operation("serial", "a base-p digit of a record of 2048 bits"),
    "balanced_digits": Operation("serial", "a balanced digit, in any base, of a 32-bit word"),
    "digits": Operation("serial", "a gadget digit of a residue, in a base that is a power of two"),
    "divided_digits": Operation("serial", "a gadget digit of a residue, in any other base", "digits"),
    "coefficients_switched": Operation("serial", "a coefficient of a ciphertext switched to a smaller modulus"),
    "automorphism_slots": Operation("serial", "a residue moved by an automorphism"),
    "words_read": Operation("serial", "a word of a message checked and made ready for a product"),
    "words_written": Operation("serial", "a word written into a message and sealed"),
    "allocated_bytes": Operation("serial", "a byte of memory new to the process"),
    "queries": Operation("serial", "a query of a batch beside the first, with nothing of it in cache", "row_sums"),
    "phases": Operation("serial", "what any phase takes, with nothing of it in cache; counted here, once a phase"),
}

#: What `bytes_read` is charged as in a step with such a product: its kernel reads slower than reading alone.
READ_BY = {
    "multiply_adds_packed": "matvec_bytes",
    "batch_multiply_adds_packed": "matvec_bytes",
    "multiply_adds_u16": "matvec_u16_bytes",
}

_TRANSFORM = re.compile(r"^ntt_(\d+)_(\d+)$")


class Transform(NamedTuple):
    """A negacyclic transform of n points modulo a prime of so many bits: operation `ntt_<n>_<bits>`."""

    n: int
    bits: int


def transform(name: str) -> Transform | None:
    """What `ntt_<n>_<bits>` stands for; None for any other name."""
    match = _TRANSFORM.match(name)
    return Transform(int(match[1]), int(match[2])) if match else None


@lru_cache(maxsize=4096)
def operation(name: str) -> Operation | None:
    """The operation of a name; None where there is none."""
    found = transform(name)
    if found:
        return Operation("arithmetic", f"a transform of {found.n} points modulo a prime of {found.bits} bits")
    return OPERATIONS.get(name)
