"""The largest plaintext modulus for each number of LWE samples: the `plain_moduli` of a parameter set.

    python -m pirlab_estimator.noise.plain_moduli --protocol simplepir --dimension 1088 --stddev 6.4

Criterion: for any data, a record of up to `--record-entries` entries fails with probability at most
2^`--log2-failure`, by the union over all its decisions. `--tail subgaussian` (default) is a bound under the assumptions
of docs/noise.md; `--tail gaussian` takes the error as Gaussian.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from ..modulus import parse_modulus
from .moments import balanced_digit_count
from .tails import log2_gaussian_tail, log2_subgaussian_tail, log2_union

#: Entries must fit ten bits, so that three go in a 32-bit word.
LARGEST_PLAIN_MODULUS = 1024
LOG2_SAMPLES = range(13, 22)
TAILS: dict[str, Callable] = {"subgaussian": log2_subgaussian_tail, "gaussian": log2_gaussian_tail}


def worst_log2_failure(
    protocol: str,
    plain_modulus: int,
    samples: int,
    *,
    dimension: int,
    modulus: int,
    stddev: float,
    record_entries: int,
    tail: str = "subgaussian",
) -> float:
    """log2 failure of a record for the worst data; both layers of DoublePIR with `samples` LWE samples."""
    decisions = [record_entries]
    if protocol == "doublepir":
        digits = balanced_digit_count(modulus.bit_length() - 1, plain_modulus)
        decisions.append(record_entries * (dimension + 1) * digits)
    threshold = (modulus // plain_modulus) / 2
    error = np.sqrt(samples) * stddev * (plain_modulus // 2)
    return float(log2_union(TAILS[tail](threshold, error), decisions))


def largest_plain_modulus(protocol: str, samples: int, *, log2_failure: float = -40.0, **arguments: Any) -> int:
    """The largest p <= 1024 that keeps the worst failure at or below 2^log2_failure; ValueError without one."""
    for candidate in range(LARGEST_PLAIN_MODULUS, 2, -1):
        if worst_log2_failure(protocol, candidate, samples, **arguments) <= log2_failure:
            return candidate
    raise ValueError(f"no plaintext modulus reaches a failure of 2^{log2_failure:g} with {samples} samples")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="pirlab_estimator.noise.plain_moduli", description=__doc__.split("\n")[0])
    parser.add_argument("--protocol", choices=["simplepir", "doublepir"], required=True)
    parser.add_argument("--dimension", type=int, default=1024, help="LWE dimension n (counts for doublepir only)")
    parser.add_argument("--modulus", default="2^32")
    parser.add_argument("--stddev", type=float, required=True, help="standard deviation of the error")
    parser.add_argument("--record-entries", type=int, default=1 << 12, help="entries of the largest record")
    parser.add_argument("--log2-failure", type=float, default=-40.0)
    parser.add_argument("--tail", choices=sorted(TAILS), default="subgaussian")
    parsed = vars(parser.parse_args(arguments))
    parsed["modulus"] = parse_modulus(parsed["modulus"])
    found = {k: largest_plain_modulus(samples=1 << k, **parsed) for k in LOG2_SAMPLES}
    for log2_samples, modulus in found.items():
        print(f"[[plain_moduli]]\nlog2_samples = {log2_samples}\nmodulus = {modulus}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
