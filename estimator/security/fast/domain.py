"""Which instances the fast model speaks about. It was held against the lattice estimator inside these bounds only."""

from math import isinf, log2, sqrt

from ...secret import coordinate
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
#: Bits that an attack takes which succeeds with no block tried: one block of 1754 alone takes 520 under MATZOV.
MOST_BITS = 480


def secret_stddev(instance: Instance) -> float:
    """Standard deviation of a coordinate of the secret about its mean (a constant mean is subtracted by anyone)."""
    return coordinate(dict(instance.secret), instance.dimension).stddev


def secret_support(instance: Instance) -> float:
    """How many values a coordinate of the secret takes; of a Gaussian, those that coded-BKW counts."""
    found = coordinate(dict(instance.secret), instance.dimension)
    return gaussian_support(found.stddev) if isinf(found.values) else found.values


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
