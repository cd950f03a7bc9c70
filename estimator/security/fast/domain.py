"""Which instances the fast model speaks about. It was held against the lattice estimator inside these bounds only."""

from math import log2, sqrt

from ..attacks import LEAST_DENSITY
from ..instance import Instance
from .coded_bkw import gaussian_support

DIMENSIONS = (64, 1 << 16)
LOG2_MODULI = (10.0, 2000.0)
#: Errors narrower than this fall to algebraic attacks (Arora and Ge, ICALP 2011), which are not modelled.
LEAST_ERROR = 0.5
#: Least q / error stddev. Nearer to uniform, the local searches of the lattice estimator miss their minima by bits.
LEAST_RATIO = 256.0
#: Largest uSVP block (about 480 bits under MATZOV). Beyond, one attack after the other runs into the largest block
#: tried, 1754, and a minimum over those that are left would be too high.
MOST_BLOCK = 1600


def secret_stddev(instance: Instance) -> float:
    """Standard deviation of a coordinate of the secret about its mean (a constant mean is subtracted by anyone)."""
    secret = dict(instance.secret)
    match secret["kind"]:
        case "gaussian":
            return float(str(secret["stddev"]))
        case "binary":
            return 0.5
        case "ternary":
            return sqrt(2 / 3)
        case "uniform_range":
            values = _whole(secret["high"]) - _whole(secret["low"]) + 1
            return sqrt((values * values - 1) / 12)
        case "fixed_weight":
            plus, minus = _whole(secret["plus"]), _whole(secret["minus"])
            mean = (plus - minus) / instance.dimension
            return sqrt((plus + minus) / instance.dimension - mean * mean)
    raise ValueError(f"secret kind {secret['kind']!r} is none of those the lattice estimator is given")


def secret_support(instance: Instance) -> float:
    """How many values a coordinate of the secret takes; of a Gaussian, those within TAIL standard deviations."""
    secret = dict(instance.secret)
    match secret["kind"]:
        case "gaussian":
            return gaussian_support(secret_stddev(instance))
        case "binary":
            return 2.0
        case "ternary":
            return 3.0
        case "uniform_range":
            return float(_whole(secret["high"]) - _whole(secret["low"]) + 1)
        case "fixed_weight":
            return 1.0 + (_whole(secret["plus"]) > 0) + (_whole(secret["minus"]) > 0)
    raise ValueError(f"secret kind {secret['kind']!r} is none of those the lattice estimator is given")


def _whole(value: object) -> int:
    return int(str(value))


def outside(instance: Instance) -> str | None:
    """Why the instance is outside the domain, or None."""
    if not DIMENSIONS[0] <= instance.dimension <= DIMENSIONS[1]:
        return f"dimension {instance.dimension} is not in {DIMENSIONS[0]}..{DIMENSIONS[1]}"
    bits = log2(instance.modulus)
    if not LOG2_MODULI[0] <= bits <= LOG2_MODULI[1]:
        return f"log2 q = {bits:.2f} is not in {LOG2_MODULI[0]:g}..{LOG2_MODULI[1]:g}"
    if not instance.error_stddev >= LEAST_ERROR:
        return f"error stddev {instance.error_stddev:g} is below {LEAST_ERROR:g} (algebraic attacks are not modelled)"
    if log2(instance.error_stddev * LEAST_RATIO) > bits:
        return f"error stddev {instance.error_stddev:g} is above q/{LEAST_RATIO:g}"
    if instance.density < LEAST_DENSITY:
        return (
            f"very sparse secret, density {instance.density:.3f} below {LEAST_DENSITY:g} (hybrid primal attacks are "
            "not modelled)"
        )
    if secret_stddev(instance) < sqrt(LEAST_DENSITY * (1 - LEAST_DENSITY)):
        return f"secret stddev {secret_stddev(instance):.3f} is as narrow as a very sparse one's"
    return None
