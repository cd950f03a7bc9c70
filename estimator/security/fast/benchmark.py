"""Speed of the fast model on one core: python -m pirlab_estimator.security.fast.benchmark [INSTANCES]

Instances are drawn with a fixed seed: dimensions 512 to 8192, moduli that give about 70 to 250 bits, all secrets.
"""

import random
import sys
from time import process_time

from ..attacks import ATTACKS
from ..instance import Instance
from .model import estimate, forget

SECRETS: tuple[dict[str, object], ...] = (
    {"kind": "binary"},
    {"kind": "ternary"},
    {"kind": "uniform"},
    {"kind": "uniform_range", "low": -7, "high": 7},
    {"kind": "fixed_weight", "plus": 256, "minus": 256},
)


def sample(count: int) -> list[Instance]:
    """Distinct instances of the domain."""
    draw = random.Random(1)
    found: dict[Instance, None] = {}
    while len(found) < count:
        dimension = draw.choice((512, 1024, 2048, draw.randrange(512, 4096)))
        modulus = round(2.0 ** (dimension * draw.uniform(0.016, 0.035) + draw.random()))
        secret, stddev = draw.choice(SECRETS), draw.uniform(0.8, 12.0)
        mapping = {"dimension": dimension, "modulus": modulus, "secret": secret, "error_stddev": stddev}
        found.setdefault(Instance.of(mapping))
    return list(found)


def seconds(instances: list[Instance]) -> float:
    start = process_time()
    estimate(instances)
    return process_time() - start


def main(arguments: list[str]) -> None:
    count = int(arguments[0]) if arguments else 2000
    instances = sample(count)
    figures = sum(map(len, ATTACKS.values()))
    print(f"{count} instances, {figures} figures each (attacks x cost models)")
    print(f"compile, or load what is compiled: {seconds(instances[:1]):.2f} s")
    forget()
    whole = seconds(instances)
    print(f"new instances, one call:     {count / whole:10.0f} a second ({1000 * whole / count:.2f} ms each)")
    forget()
    single = sum(seconds([instance]) for instance in instances)
    print(f"new instances, one by one:   {count / single:10.0f} a second")
    print(f"instances asked before:      {count / seconds(instances):10.0f} a second")


if __name__ == "__main__":
    main(sys.argv[1:])
