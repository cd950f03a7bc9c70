"""The settings of a measured primitive, as `pirlab primitive describe` completed them."""

from collections.abc import Sequence
from typing import Any

from ..modulus import parse_modulus
from . import lattice
from .lattice import GadgetNoise, Noise, Secret


class Settings:
    """Typed access to completed settings; ValueError names the one that is missing or wrong."""

    def __init__(self, values: dict):
        self.values = values

    def __getitem__(self, key: str) -> Any:
        if key not in self.values:
            raise ValueError(f"setting `{key}` is missing: give what `pirlab primitive describe` writes")
        return self.values[key]

    def one_of(self, key: str, choices: Sequence, default: object = None) -> Any:
        """A setting with few values."""
        value = self[key] if default is None else self.values.get(key, default)
        if value not in choices:
            raise ValueError(f"setting `{key}` is {value!r}, not one of {', '.join(map(repr, choices))}")
        return value

    @property
    def n(self) -> int:
        return int(self["n"])

    @property
    def modulus(self) -> int:
        return parse_modulus(self["modulus"])

    @property
    def fresh(self) -> Noise:
        """The noise of inputs and key rows."""
        return lattice.fresh(self["stddev"])

    @property
    def gadget(self) -> GadgetNoise:
        return GadgetNoise.of(self["family"], self.modulus, int(self["base"]), int(self.values.get("dropped", 0)))

    def gadget_of(self, name: str, modulus: int | None = None) -> GadgetNoise:
        """The gadget of the settings `<name>_base` and, if set, `<name>_dropped`; modulo the ring's by default."""
        base, dropped = int(self[f"{name}_base"]), int(self.values.get(f"{name}_dropped", 0))
        return GadgetNoise.of(self["family"], modulus or self.modulus, base, dropped)

    @property
    def joint(self) -> bool:
        """Whether a rotation takes two coefficients of the small key a step."""
        return bool(self.one_of("form", ("cmux", "joint")) == "joint")

    @property
    def ring_secret(self) -> Secret:
        return self.secret(self.n)

    @property
    def digits(self) -> str | None:
        """Which digits, in words."""
        if "family" not in self.values:
            return None
        dropped = self.values.get("dropped", 0)
        return f"{self['family']} digits in base {self['base']}" + (f", {dropped} dropped" if dropped else "")

    def secret(self, dimension: int, key: str = "secret") -> Secret:
        """The moments of the secret key, or of another whose distribution the setting `key` names."""
        match self.one_of(key, ("ternary", "binary", "gaussian", "fixed-weight")):
            case "ternary":
                return Secret.ternary()
            case "binary":
                return Secret.binary()
            case "gaussian":
                return Secret.gaussian(self[f"{key}_stddev"])
        return Secret.fixed_weight(self[f"{key}_weight"], dimension)

    @property
    def message_norm_square(self) -> float:
        """E ||m||^2 of the message of RLWE' or RGSW."""
        norms = {"zero": 0.0, "one": 1.0, "ternary": self.n * 2 / 3}
        return norms[self.one_of("message", tuple(norms))]
