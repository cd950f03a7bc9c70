"""The attacks that are run, and their cost models of lattice reduction."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: The model whose minimum is called the security of an instance, and the basis shape.
MODEL = "MATZOV"
SHAPE = "GSA"
#: Core-SVP: 2^(0.292 beta) whatever the dimension. About 25 to 30 bits lower; not comparable with MODEL.
CORE_SVP_MODEL = "ADPS16"

#: Attacks on every instance, by cost model. Coded-BKW reduces no lattice, so that it has none; it stands under MODEL.
ATTACKS: dict[str, tuple[str, ...]] = {
    MODEL: ("usvp", "bdd", "dual_hybrid", "dual", "coded_bkw"),
    CORE_SVP_MODEL: ("usvp", "bdd", "dual_hybrid", "dual"),
}
#: Attacks that guess a part of the secret, without and with a meet in the middle: minutes to hours each.
HYBRIDS = ("bdd_hybrid", "bdd_mitm_hybrid")
#: They are asked for below this dimension, and in any for a secret that is sparser than the density below: at n = 1024,
#: q = 2^28 and stddev 6.4 the primal hybrid beats BDD from 3/32 down, and every other attack at 1/16, by 9 bits.
HYBRID_DIMENSION = 1100
LEAST_DENSITY = 1 / 8
#: Attacks whose figure depends on the number of samples. The others are counted for any number of samples, because they
#: use little more than n.
SAMPLED = ("coded_bkw",)
ATTACK_LIMIT_SECONDS = 600.0
HYBRID_LIMIT_SECONDS = 1800.0
#: The help text of an option that sets a limit.
TIMEOUT = f"seconds an attack ({ATTACK_LIMIT_SECONDS:g}, hybrids {HYBRID_LIMIT_SECONDS:g})"
SECURITY_TARGET = 128
#: Bits of AES-128, on which a protocol without a lattice rests alone, and the generators of all others rest too.
CIPHER_BITS = 128.0
#: The smallest block size tried, by the estimator and by the fast model.
LEAST_BLOCK = 40
#: Instances that a smaller block size would break all show about this figure.
BROKEN_BELOW = 45.0
AT_FLOOR = (
    f"the smallest block size tried, {LEAST_BLOCK}, suffices: the instance is weaker than the figure says (no attack "
    "is counted below about 2^38 under MATZOV, 2^12 under ADPS16)"
)
#: Bits by which the fast model's minimum over attacks may exceed the lattice estimator's.
FAST_TOLERANCE = 0.05


@dataclass(frozen=True)
class AttackResult:
    """log2 of the ring operations, or the reason why there is no figure (exactly one of the two)."""

    model: str
    attack: str
    log2_rop: float | None = None
    failed: str | None = None
    details: tuple[tuple[str, float], ...] = ()

    def mapping(self) -> dict:
        if self.failed is not None:
            return {"failed": self.failed}
        return {"log2_rop": self.log2_rop, **dict(self.details)}

    @classmethod
    def of(cls, model: str, attack: str, mapping: dict) -> "AttackResult":
        if "failed" in mapping:
            return cls(model, attack, failed=mapping["failed"])
        details = tuple((k, v) for k, v in mapping.items() if k != "log2_rop")
        return cls(model, attack, log2_rop=mapping["log2_rop"], details=details)


def applying(dimension: int, density: float) -> dict[str, tuple[str, ...]]:
    """The attacks that are asked for on an instance, by cost model. density: share of the secret that is not 0."""
    if dimension >= HYBRID_DIMENSION and density >= LEAST_DENSITY:
        return ATTACKS
    return ATTACKS | {MODEL: ATTACKS[MODEL] + HYBRIDS}


def time_limit(attack: str, limit: float | None) -> float:
    """Seconds of an attack: as given, else by its kind."""
    return limit if limit is not None else HYBRID_LIMIT_SECONDS if attack in HYBRIDS else ATTACK_LIMIT_SECONDS


def needed(density: float) -> tuple[str, ...]:
    """The attacks under MODEL that need a figure before a set counts as secure: hybrids decide for sparse secrets."""
    return ATTACKS[MODEL] + (HYBRIDS if density < LEAST_DENSITY else ())


def entry_text(entry: Mapping[str, Any], target: float = SECURITY_TARGET) -> str:
    """The bits of an instance, or that it has at least these."""
    return f"at least {entry['bits']:g}" if entry.get("at_least") else bits_text(entry["bits"], target)


def bits_text(bits: float | None, target: float = SECURITY_TARGET) -> str:
    """One decimal, two where one would hide that the target is missed."""
    if bits is None:
        return "unknown"
    return f"{bits:.2f}" if bits < target <= round(bits, 1) else f"{bits:.1f}"
