"""An LWE instance as the lattice estimator sees it, and when two of them are the same."""

from dataclasses import dataclass, replace
from math import inf, log2
from typing import Any

from ..modulus import format_modulus, parse_modulus
from ..secret import coordinate
from .attacks import MODEL, SAMPLED, SHAPE, applying

#: Attacks that the estimator has under another name, and their arguments beside parameters and cost model.
SAGE_NAMES = {
    "usvp": "primal_usvp",
    "bdd": "primal_bdd",
    "bdd_hybrid": "primal_hybrid",
    "bdd_mitm_hybrid": "primal_hybrid",
}
SAGE_OPTIONS: dict[str, dict[str, bool]] = {
    "bdd_hybrid": {"mitm": False, "babai": False},
    "bdd_mitm_hybrid": {"mitm": True, "babai": True},
}
#: Attacks that take a basis shape, and those that take no cost model.
SHAPED = ("usvp", "bdd", "bdd_hybrid", "bdd_mitm_hybrid")
UNMODELLED = ("coded_bkw",)


@dataclass(frozen=True)
class Instance:
    """LWE dimension n (the ring degree for RLWE), integer modulus q, secret, error stddev (never a width), samples.

    `samples` are those that an observer can collect under one secret; None: any number. Only coded-BKW counts with
    them: the lattice attacks always have any number, as is usual (m = n, 2n and infinity were seen to give the same
    figures), and infinity is the safe side.
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
    samples: int | None = None

    @classmethod
    def of(cls, mapping: dict) -> "Instance":
        """From an entry of a description's `instances`, or of recorded.json; uniform secrets in normal form."""
        given = dict(mapping["secret"])
        error = float(mapping["error_stddev"])
        if not 0 <= error < inf:
            raise ValueError(f"error_stddev: {error} is not a standard deviation")
        dimension = int(mapping["dimension"])
        if dimension < 1:
            raise ValueError(f"dimension: {dimension} is not a positive number")
        secret = _normal_secret(given, dimension, error)
        samples = None if mapping.get("samples") is None else int(mapping["samples"])
        if samples is not None and samples < 1:
            raise ValueError(f"samples: {samples} is not a positive number")
        return cls(dimension, parse_modulus(mapping["modulus"]), tuple(sorted(secret.items())), error, samples)

    def mapping(self) -> dict:
        return {
            "dimension": self.dimension,
            "modulus": format_modulus(self.modulus),
            "log2_modulus": log2(self.modulus),
            "secret": dict(self.secret),
            "error_stddev": self.error_stddev,
        } | ({} if self.samples is None else {"samples": self.samples})

    def unlimited(self) -> "Instance":
        """The same with any number of samples."""
        return replace(self, samples=None)

    def asked(self, attack: str) -> "Instance":
        """The instance as an attack sees it."""
        return self if attack in SAMPLED else self.unlimited()

    @property
    def density(self) -> float:
        """Share of non-zero coordinates of a secret of fixed weight; 1 for the other kinds."""
        secret: dict[str, Any] = dict(self.secret)
        return (secret["plus"] + secret["minus"]) / self.dimension if secret["kind"] == "fixed_weight" else 1.0

    def attacks(self) -> dict[str, tuple[str, ...]]:
        """The attacks that are asked for, by cost model."""
        return applying(self.dimension, self.density)


def _normal_secret(secret: dict, dimension: int, error: float) -> dict:
    """The secret as Instance states it; KeyError where a key is missing, ValueError where one is wrong."""
    kind = secret["kind"]
    if kind in ("uniform", "gaussian"):
        stddev = error if kind == "uniform" else float(secret.get("stddev", error))
        if not 0 <= stddev < inf:
            raise ValueError(f"secret: {stddev} is not a standard deviation")
        return {"kind": "gaussian", "stddev": stddev}
    if kind == "uniform_range" and not int(secret["low"]) < int(secret["high"]):
        raise ValueError(f"secret: from {secret['low']} to {secret['high']} is not a range")
    if kind == "fixed_weight":
        plus, minus = int(secret["plus"]), int(secret["minus"])
        if min(plus, minus) < 0 or not 0 < plus + minus <= dimension:
            raise ValueError(f"secret: {plus} ones and {minus} minus ones are not a weight in dimension {dimension}")
        return {"kind": kind, "plus": plus, "minus": minus}
    elif kind not in ("ternary", "binary", "uniform_range"):
        raise ValueError(f"secret kind {kind!r} is unknown to the lattice estimator")
    return secret


def unusable(description: object) -> str | None:
    """Why the instances of a description cannot be looked at, with the key that is wrong; None if they can."""
    if not isinstance(description, dict):
        return "not an object; give what `pirlab describe --batch` writes"
    if "error" in description:
        return f"refused: {description['error']}"
    try:
        str(description["parameters"]["name"])
        for mapping in description["instances"]:
            Instance.of(mapping)
            for key in ("name", "protects"):
                mapping[key]
    except KeyError as error:
        return f"key `{error.args[0]}` is missing; give what `pirlab describe --batch` writes"
    except (TypeError, ValueError) as error:
        return f"{error}; give what `pirlab describe --batch` writes"
    return None


def sage_parameters(instance: Instance) -> str:
    """The instance, in the estimator's words."""
    samples = "" if instance.samples is None else f", m={instance.samples}"
    modulus = format_modulus(instance.modulus).replace("^", "**")
    secret = coordinate(dict(instance.secret), instance.dimension).sage
    error = f"ND.DiscreteGaussian({instance.error_stddev!r})"
    return f"LWE.Parameters(n={instance.dimension}, q={modulus}, Xs={secret}, Xe={error}{samples})"


def call_of(attack: str, model: str) -> dict[str, Any]:
    """How the estimator is asked for an attack: its function, cost model and shape if it takes them, options."""
    return {
        "attack": SAGE_NAMES.get(attack, attack),
        "model": None if attack in UNMODELLED else model,
        "shape": SHAPE if attack in SHAPED else None,
        "options": SAGE_OPTIONS.get(attack, {}),
    }


def sage_call(instance: Instance, attack: str) -> str:
    """The input for Sage, beside a checkout of the estimator, that gives the figure of an attack under MODEL."""
    call = call_of(attack, MODEL)
    options = [f"{key}={value}" for key, value in call["options"].items()]
    options += [f"red_cost_model=RC.{call['model']}"] if call["model"] else []
    options += [f'red_shape_model="{call["shape"]}"'] if call["shape"] else []
    arguments = ", ".join([sage_parameters(instance.asked(attack)), *options])
    return f"from estimator import LWE, ND, RC; LWE.{call['attack']}({arguments})"
