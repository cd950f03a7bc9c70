"""Searches parameter sets for Pirouette and Pirouette^H, and writes the fastest as parameter files.

python -m pirlab_estimator.search.pirouette 20 22 25 --out params
python -m pirlab_estimator.search.pirouette --half 20 22 25 --out params

Secure by the fast model for every instance that the server sees, wrong with probability at most 2^-42 in all even where
records have 32 KB, with the given margin at each decision for any database, keys within the limit with both halves of
every ciphertext counted.
Objective: seconds of an answer by operation counts and the unit costs (committed, or --costs); among sets within a per
cent of the fastest, the largest margin. A file names the command that finds it alone, and the SHA-256 of the costs.
"""

import argparse
import sys
from collections.abc import Sequence
from hashlib import sha256
from math import log2
from pathlib import Path

from ... import outputs
from ...cost.units import DEFAULTS, UnitCosts
from ..evaluate import CACHE
from ..progress import Bars
from .candidate import Candidate
from .circuit import Search
from .space import Limits, Space, secure_rings, secure_small_keys

DEGREE = 2048
#: A prime of 28 bits for the first dimension, with primes of 25 to 28 bits: Q of 53 to 56 bits. All are 1 modulo 4096.
PRIME_PAIRS = ((268369921, 249561089), (268369921, 134176769), (268369921, 67104769), (268369921, 33550337))
SECRETS = ("ternary",)
SWITCHING_MODULUS_LOG2 = 20
#: Bits of the largest first dimension that is tried. While it answers, the server holds a ciphertext for each row.
MOST_FIRST_BITS = max(Space.first_bits)
#: How many of the fastest sets are considered: of these, the one with the largest margin that is at most SLACK slower.
CONSIDERED, SLACK = 60, 1.01
#: The paper's offline sizes.
OFFLINE_BYTES, OFFLINE_BYTES_HALF = 1.2e9, 650e6


def space_of(
    half: bool,
    body_bits: int = 9,
    modulus_bits: Sequence[int] = (),
    chosen_bits: int = 0,
    most_first_bits: int = MOST_FIRST_BITS,
) -> Space:
    """All secure small keys, and rings; of moduli of `modulus_bits` bits (rounded) only, where any are given."""
    pairs = [pair for pair in PRIME_PAIRS if not modulus_bits or round(log2(pair[0] * pair[1])) in modulus_bits]
    rings = secure_rings(DEGREE, pairs, SECRETS)
    keys = (
        secure_small_keys(range(400, 580, 4), (2 * DEGREE).bit_length() - 1)
        if half
        else secure_small_keys(range(700, 820, 4), SWITCHING_MODULUS_LOG2)
    )
    first_bits = [bits for bits in Space.first_bits if bits <= most_first_bits]
    return Space(rings, keys, first_bits=first_bits, body_bits=body_bits, query_chosen_bits=chosen_bits)


def safest(found: Sequence[Candidate]) -> Candidate:
    """The largest margin among sets that are as good as the fastest, then the least failure probability."""
    close = [c for c in found if c.total <= SLACK * found[0].total]
    return max(close, key=lambda c: (round(c.margin, 2), -c.log2_failure))


def describe(candidate: Candidate) -> str:
    """One line."""
    steps = ", ".join(f"{name} {seconds:.3f}" for name, seconds in candidate.seconds.items())
    return (
        f"2^{candidate.index_bits}: {candidate.total:.3f} s ({steps}), {candidate.offline_bytes / 1e6:.0f} MB, "
        f"failure 2^{candidate.log2_failure:.1f}, margin {candidate.margin:.2f}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="search.pirouette", description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("index_bits", nargs="+", type=int, help="log2 of the number of records of 256 B, one set each")
    add("--half", action="store_true", help="Pirouette^H")
    add("--body-bits", type=int, default=9, help="Pirouette^H: bits of a body (9, as the paper's sizes)")
    add("--margin", type=float, default=8.8, help="standard deviations of every decision, any data (8.8)")
    add("--failure", type=float, default=-42.0, help="log2 of the probability of a wrong record (-42)")
    add("--megabytes", type=float, help="of keys, both halves (the paper's: 1200, and 650 with --half)")
    add("--modulus-bits", nargs="+", type=int, default=[], help="bits of Q to look at (53 54 55 56)")
    add("--chosen-bits", type=int, default=0, help="bits by which seeds are chosen to make roundings smaller (0)")
    most = f"most bits of the first dimension, for less memory while answering ({MOST_FIRST_BITS})"
    add("--first-bits", type=int, default=MOST_FIRST_BITS, help=most)
    add("--show", type=int, default=3, help="how many sets to print of each size (3)")
    add("--costs", type=Path, default=DEFAULTS, help="unit costs (the committed ones)")
    add("--out", type=Path, help="folder params/ to write the fastest set of each size to")
    options = parser.parse_args(arguments)
    protocol = "pirouette_h" if options.half else "pirouette"
    try:
        with outputs.protected([options.costs]):
            outputs.check(*(_path(options.out, protocol, bits) for bits in options.index_bits if options.out))
            return _search(options, arguments or sys.argv[1:])
    except outputs.OutputError as error:
        print(f"search.pirouette: {error}.", file=sys.stderr)
        return 2


def _search(options: argparse.Namespace, given: Sequence[str]) -> int:
    paper = OFFLINE_BYTES_HALF if options.half else OFFLINE_BYTES
    limits = Limits(options.megabytes * 1e6 if options.megabytes else paper, options.failure, options.margin)
    asked = (options.half, options.body_bits, options.modulus_bits, options.chosen_bits, options.first_bits)
    space, units = space_of(*asked), UnitCosts.load(options.costs)
    missing = 0
    for index_bits in options.index_bits:
        search = Search(space, units, index_bits, limits, options.half)
        with Bars() as bars:
            found = search.best(max(options.show, CONSIDERED), bars, CACHE)
        if not found:
            print(f"2^{index_bits}: nothing within the limits; allow more bytes or a smaller margin", file=sys.stderr)
            missing += 1
            continue
        for candidate in found[: options.show]:
            print(describe(candidate))
        chosen = safest(found)
        print(f"chosen: {describe(chosen)}")
        if options.out:
            command = _command(given, options.index_bits, index_bits)
            print(f"  {write(chosen, options.out, command, sha256(options.costs.read_bytes()).hexdigest())}")
    return 1 if missing else 0


def _command(arguments: Sequence[str], sizes: Sequence[int], size: int) -> str:
    """For one size, and without where it writes."""
    kept = list(arguments)
    if "--out" in kept:
        del kept[kept.index("--out") : kept.index("--out") + 2]
    # The sizes stand side by side, as positional arguments do.
    words = [str(each) for each in sizes]
    at = next(i for i in range(len(kept)) if kept[i : i + len(words)] == words)
    kept[at : at + len(words)] = [str(size)]
    return "python -m pirlab_estimator.search.pirouette " + " ".join(kept)


def _path(folder: Path, protocol: str, index_bits: int) -> Path:
    return folder / protocol / f"2^{index_bits}.toml"


def write(candidate: Candidate, folder: Path, command: str, costs: str) -> Path:
    """The candidate's parameter file, params/<protocol>/2^<bits>.toml."""
    name = "Pirouette^H" if candidate.protocol == "pirouette_h" else "Pirouette"
    path = _path(folder, candidate.protocol, candidate.index_bits)
    note = (
        f"Found for 2^{candidate.index_bits} records of 256 bytes: 128 bits for every instance that the server sees, "
        f"wrong with probability 2^{candidate.log2_failure:.1f} at most even where records have 32 KB, every decision "
        f"with a margin of {candidate.margin:.1f} standard deviations for any database. Unit costs: SHA-256 {costs}."
    )
    outputs.write(path, candidate.toml(f"{name}, secure, 2^{candidate.index_bits} records of 256 B", command, note))
    return path
