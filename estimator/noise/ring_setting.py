"""Ring, secret, gadget and answers in descriptions of protocols over rings, as arrays over descriptions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..modulus import parse_modulus
from ..secret import coordinate
from . import lattice
from .error import NOTHING, Noise, ratio
from .lattice import GadgetNoise, Secret
from .tails import KeyLength

Floats = NDArray[np.float64]
Objects = NDArray[np.object_]


def numbers(documents: Sequence[dict], key: str) -> Floats:
    """One number of each description."""
    return np.array([d[key] for d in documents], dtype=float)


def moduli(documents: Sequence[dict], key: str) -> Objects:
    """One modulus of each description, as integers of any size."""
    return np.array([parse_modulus(d[key]) for d in documents], dtype=object)


def secret_of(instances: Sequence[dict]) -> Secret:
    """Moments of the secrets' coefficients, as the instances name their distributions."""
    kinds = {instance["secret"]["kind"] for instance in instances}
    if "uniform" in kinds:
        raise ValueError("secret.kind 'uniform': answers are switched, so the secret must be short; take gaussian")
    found = [coordinate(instance["secret"], instance["dimension"]) for instance in instances]
    return Secret(np.array([each.square for each in found]), np.array([each.mean for each in found]))


#: By the key's kind, squares a coefficient whose mean varies like that of s^2, 2 E[s^2]^2 / Var s^2, and whose
#: moment-generating function is above that of s^2. Other kinds count as Gaussian.
KEY_SQUARES = {"ternary": 4.0, "binary": 2.0, "fixed_weight": np.inf}


def key_squares(instances: Sequence[dict]) -> Floats:
    """The number of Gaussian squares whose mean varies at least as much as the key's |s|^2 / (n E[s^2])."""
    return np.array([KEY_SQUARES.get(i["secret"]["kind"], 1.0) * i["dimension"] for i in instances])


@dataclass(frozen=True)
class Keys:
    """A gadget of keys: its digits' moments and their words."""

    gadget: GadgetNoise
    words: list[str]

    @staticmethod
    def of(layouts: Sequence[dict], name: str, modulus: Objects) -> "Keys":
        """From `{digits, base_log2, dropped, signed}`, or with a `family` in place of the last, in `<name>_gadget`."""
        gadgets = [o[f"{name}_gadget"] for o in layouts]
        family = np.array(
            [g.get("family") or ("balanced" if g["signed"] else "unsigned") for g in gadgets], dtype=object
        )
        base = np.array([1 << g["base_log2"] for g in gadgets], dtype=object)
        dropped = np.array([g["dropped"] for g in gadgets], dtype=object)
        words = [
            f"{f} base-2^{g['base_log2']} digits of uniform masks" + (f", {g['dropped']} dropped" * bool(g["dropped"]))
            for f, g in zip(family, gadgets)
        ]
        return Keys(GadgetNoise.of(family, modulus, base, dropped), words)


@dataclass(frozen=True)
class Rings:
    """A ring, its modulus, fresh errors, the secret, and how its length varies."""

    n: Floats
    modulus: Objects
    fresh: Noise
    secret: Secret
    key_squares: Floats

    @staticmethod
    def of(descriptions: Sequence[dict], instance: int = 0) -> "Rings":
        """From the instances of the ring's ciphertexts, in this place of the descriptions."""
        instances = [d["instances"][instance] for d in descriptions]
        return Rings(
            numbers(instances, "dimension"),
            moduli(instances, "modulus"),
            lattice.fresh(numbers(instances, "error_stddev")),
            secret_of(instances),
            key_squares(instances),
        )

    @property
    def encoded(self) -> Floats:
        """The variance of a fresh ciphertext whose message q z / t is rounded."""
        return np.asarray(np.asarray(self.fresh.variance) + 1 / 12)

    @property
    def key(self) -> Floats:
        """N E[s^2], the mean of |s(zeta)|^2 over the roots zeta of X^N + 1."""
        return np.asarray(self.n * np.asarray(self.secret.square))

    @property
    def rounding(self) -> Floats:
        """The variance of the rounding of a mask and a body."""
        return np.asarray((1 + self.key) / 12)

    def inspiring(self, keys: Keys, gamma: Floats | float, noise: Noise = NOTHING) -> Noise:
        """Noise after packing gamma ciphertexts by InspiRING."""
        return lattice.inspiring(self.n, gamma, keys.gadget, self.fresh, self.secret, noise)

    def cdks(self, keys: Keys, noise: Noise = NOTHING) -> Noise:
        """Noise after packing by CDKS."""
        return lattice.cdks(self.n, keys.gadget, self.fresh, self.secret, noise)

    def product(self, terms: Floats, p: Floats) -> tuple[Noise, Noise]:
        """Fresh ciphertexts times `terms` centred residues modulo p: over random ones, and the bound for any."""
        bound = terms * np.asarray(self.fresh.variance) * np.floor(p / 2) ** 2
        return self.fresh.scaled(terms * lattice.uniform_square(p, balanced=True)), Noise(bound, "bound")

    @property
    def twice(self) -> "Rings":
        """The rings with a key of twice the squared length."""
        return replace(self, secret=Secret(2 * np.asarray(self.secret.square), self.secret.mean))


def bound_by_key(noise: Callable[..., Noise], *rings: Rings) -> tuple[Noise, KeyLength]:
    """A decision's error for any data, a function of all rings whose keys it meets, and how it grows with their length.

    Keys meet the roundings of masks and what digits that are dropped leave of masks, wherever in the chain that is: so
    the function begins with the first of them. It is linear in the squared lengths, of which a second value is enough.
    """
    variance = np.asarray(noise(*rings).variance)
    longer = np.asarray(noise(*(each.twice for each in rings)).variance)
    squares = np.minimum.reduce([each.key_squares for each in rings])
    return Noise(variance, "bound"), KeyLength(longer / variance - 1, squares, keys=len(rings))


@dataclass(frozen=True)
class Answers:
    """Moduli to which answers are switched: `mask` for a, `body` for b."""

    mask: Objects
    body: Objects

    @staticmethod
    def of(layouts: Sequence[dict], rings: Rings | None = None) -> "Answers":
        """From layouts, of which those without these moduli keep that of the rings."""
        if rings:
            layouts = [{"mask_modulus": q, "body_modulus": q} | o for o, q in zip(layouts, rings.modulus)]
        return Answers(moduli(layouts, "mask_modulus"), moduli(layouts, "body_modulus"))

    def at_body(self, rings: Rings, noise: Noise) -> Noise:
        """Noise after the switch, in units of the body's modulus."""
        return lattice.split_modulus_switch(rings.n, rings.modulus, self.mask, self.body, rings.secret, noise)

    def messages(self, rings: Rings, noise: Noise, number: Floats) -> Noise:
        """The same in units of the distance of messages, of which there are `number`."""
        return self.at_body(rings, noise).scaled((number / np.asarray(ratio(self.body, 1))) ** 2)

    def switched(self, rings: Rings, noise: Noise) -> Noise:
        """Noise after the switch, in units of the mask's modulus, in which runs log it.

        (q_a/q)^2 V + (q_a/q_b)^2 / 12 + n E[s^2] / 12.
        """
        units = np.asarray(ratio(self.mask, self.body)) ** 2
        if np.ndim(noise.variance) < 2:
            return self.at_body(rings, noise).scaled(units)
        secret = Secret(np.asarray(rings.secret.square)[:, None], np.asarray(rings.secret.mean)[:, None])
        n, q = rings.n[:, None], rings.modulus[:, None]
        switched = lattice.split_modulus_switch(n, q, self.mask[:, None], self.body[:, None], secret, noise)
        return switched.scaled(units[:, None])

    def switched_bound(self, rings: Rings, noise: Callable[[Rings], Noise]) -> tuple[Noise, KeyLength]:
        """The same as a bound, and how it grows with the key. noise: before the switch, for any data."""
        return bound_by_key(lambda under: self.switched(under, noise(under)), rings)

    def share(self, rings: Rings, part: Noise, noise: Noise) -> Floats:
        """The share that a part of the noise before the switch has in the variance after it."""
        shrink = np.asarray(ratio(self.mask, rings.modulus)) ** 2
        return np.asarray(part.variance) * shrink / np.asarray(self.switched(rings, noise).variance)

    def threshold(self, plain_modulus: Floats) -> Floats:
        """Half the distance of neighbouring messages, in the same units."""
        return self.mask.astype(float) / (2 * plain_modulus)
