"""An LWE instance as the lattice estimator sees it, and when two of them are the same."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from ..modulus import format_modulus, parse_modulus


@dataclass(frozen=True)
class Instance:
    """LWE dimension n (the ring degree for RLWE), integer modulus q, secret, error stddev (never a width).

    The number of samples is left out: the estimator's default m = infinity is what everyone uses, m = n, 2n and
    infinity were seen to give the same figures, and infinity is the safe side.
    `secret` is a tuple of sorted (key, value) pairs with a `kind`: gaussian {stddev}, ternary, binary,
    uniform_range {low, high}, fixed_weight {plus, minus}.

    A secret uniform modulo q is stated in normal form: Gaussian with the stddev of the error. An attacker can always
    bring it there (subtracting n samples), and so do the estimator's usvp, bdd and dual_hybrid, which give the same
    figures both ways. Its `dual` does not, and would report more than a hundred bits too many for ND.UniformMod(q).
    """

    dimension: int
    modulus: int
    secret: tuple[tuple[str, object], ...]
    error_stddev: float

    @classmethod
    def of(cls, mapping: dict) -> Instance:
        """From an entry of a description's `instances`, or of recorded.json; uniform secrets in normal form."""
        secret = dict(mapping["secret"])
        error = float(mapping["error_stddev"])
        if secret["kind"] == "uniform":
            secret = {"kind": "gaussian", "stddev": error}
        elif secret["kind"] == "gaussian":
            secret = {"kind": "gaussian", "stddev": float(secret.get("stddev", error))}
        return cls(int(mapping["dimension"]), parse_modulus(mapping["modulus"]), tuple(sorted(secret.items())), error)

    def mapping(self) -> dict:
        return {
            "dimension": self.dimension,
            "modulus": format_modulus(self.modulus),
            "log2_modulus": log2(self.modulus),
            "secret": dict(self.secret),
            "error_stddev": self.error_stddev,
        }


def sage_number(value: int) -> str:
    """A modulus as one types it in Sage: 2**32 for powers of two."""
    return format_modulus(value).replace("^", "**")


def sage_secret(secret: dict) -> str:
    """The secret distribution as a constructor of the estimator's module ND."""
    match secret["kind"]:
        case "gaussian":
            return f"ND.DiscreteGaussian({secret['stddev']!r})"
        case "ternary":
            return "ND.Uniform(-1, 1)"
        case "binary":
            return "ND.Uniform(0, 1)"
        case "uniform_range":
            return f"ND.Uniform({int(secret['low'])}, {int(secret['high'])})"
        case "fixed_weight":
            return f"ND.SparseTernary({int(secret['plus'])}, {int(secret['minus'])})"
    raise ValueError(f"secret kind {secret['kind']!r} is none of those the lattice estimator is given")


def sage_call(instance: Instance) -> str:
    """The call to paste in Sage."""
    return (
        f"LWE.Parameters(n={instance.dimension}, q={sage_number(instance.modulus)}, "
        f"Xs={sage_secret(dict(instance.secret))}, Xe=ND.DiscreteGaussian({instance.error_stddev!r}))"
    )
