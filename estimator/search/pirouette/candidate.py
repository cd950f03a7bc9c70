"""One candidate set of Pirouette or Pirouette^H: as a description for the noise chain, and as a parameter file."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from .space import Ring, SmallKey, Space

Table = dict[str, int]
Instance = dict[str, object]


@dataclass(frozen=True)
class Candidate:
    """A choice of everything, for databases of 2^index_bits records of one polynomial's response.

    switching is None for Pirouette^H, whose small key is the query's. spacing: between the rows of the accumulator
    that becomes an RGSW ciphertext. seconds: of an answer, by step. offline_bytes: of keys, as the limits count them.
    """

    space: Space
    index_bits: int
    ring: Ring
    small: SmallKey
    switching: Table | None
    rotation: Table
    joint: bool
    automorphism: Table
    squaring: Table
    rgsw: Table
    spacing: int
    first_bits: int
    moduli: int
    seconds: dict[str, float]
    offline_bytes: float
    log2_failure: float
    margin: float

    @property
    def protocol(self) -> str:
        return "pirouette_h" if self.switching is None else "pirouette"

    @property
    def total(self) -> float:
        return sum(self.seconds.values())

    def description(self) -> dict:
        """What the noise chain reads of `pirlab describe`, with all rows filled and records of the most slots."""
        space, ring, small = self.space, self.ring, self.small
        v3 = rotation_bits(space, ring)
        modulus = " * ".join(map(str, ring.primes))
        gadgets = {
            "rotation": self.rotation,
            "automorphism": self.automorphism,
            "squaring": self.squaring,
            "rgsw": self.rgsw,
            "response": {"base_log2": 1, "dropped": 0},
        }
        layout: dict[str, object] = {
            "first_dimension_modulus": modulus if self.moduli == len(ring.primes) else str(ring.primes[0]),
            "query_body_modulus": f"2^{space.body_bits if self.switching is None else space.query_body_bits}",
            "query_chosen_bits": space.query_chosen_bits if self.switching is not None else 0,
            "index_bits": self.index_bits,
            "digit_bits": space.digit_bits,
            "digits": 0 if self.switching is None else digit_count(space, self.index_bits),
            "plain_modulus": space.plain_modulus,
            "rows": 1 << self.first_bits,
            "first_bits": self.first_bits,
            "fold_bits": self.index_bits - v3 - self.first_bits,
            "rotation_bits": v3,
            "encrypted": False,
            "polynomials_per_record": 1,
            "used_coefficients": space.response_degree * space.slots,
            "bits_per_step": 2 if self.joint else 1,
            "rgsw_window": self.spacing,
            "mask_modulus": str(space.mask_modulus),
            "body_modulus": str(space.body_modulus),
        }
        for name, table in gadgets.items():
            layout[f"{name}_gadget"] = table | {"digits": 0, "family": "symmetric"}
        small_instance = _instance("query", small.dimension, f"2^{small.modulus_log2}", "binary", small.stddev)
        instances = [_instance("ring", ring.degree, modulus, ring.secret, ring.stddev)]
        if self.switching is None:
            instances.append(small_instance)
        else:
            layout["switching_gadget"] = self.switching | {"digits": 0, "family": "symmetric"}
            query_modulus = f"2^{space.query_modulus_log2}"
            instances.append(_instance("query", ring.degree, query_modulus, ring.secret, space.query_stddev))
            instances.append(small_instance | {"name": "key_switching"})
        stddev = space.response_stddev
        response = _instance("response", space.response_degree, str(space.mask_modulus), "gaussian", stddev)
        response["secret"] = {"kind": "gaussian", "stddev": stddev}
        return {"protocol": self.protocol, "layout": layout, "instances": [*instances, response]}

    def toml(self, title: str, command: str, note: str) -> str:
        """The parameter file."""
        space, ring, small = self.space, self.ring, self.small
        if self.switching is None:
            query = f"""[query]
body_bits = {space.body_bits}  # bodies modulo 2N = {2 * ring.degree}, rounded to so many bits
error = {{ stddev = {small.stddev:g} }}
"""
        else:
            bits = space.query_chosen_bits
            chosen = f"chosen_bits = {bits}  # of the rounding, by the choice of the seed\n" if bits else ""
            query = f"""[query]
modulus_log2 = {space.query_modulus_log2}
body_bits = {space.query_body_bits}  # of the body are sent
{chosen}error = {{ stddev = {space.query_stddev:g} }}
digit_bits = {space.digit_bits}

[query.key_switching]  # from the ring's key to the small one
modulus_log2 = {small.modulus_log2}
error = {{ stddev = {small.stddev:g} }}
{_rows(self.switching)}"""
        stddev = space.response_stddev
        return f"""#:schema ../{self.protocol}.schema.json
protocol = "{self.protocol}"
title = "{title}"

[source]
kind = "searched"
command = "{command}"
note = "{note}"

{query}
[rlwe]
degree = {ring.degree}
modulus = "{" * ".join(map(str, ring.primes))}"
secret = {{ kind = "{ring.secret}" }}
error = {{ stddev = {ring.stddev:g} }}

[lwe]  # the small key, of blind rotations
dimension = {small.dimension}
secret = {{ kind = "binary" }}

[blind_rotation]
{_rows(self.rotation)}bits_per_step = {2 if self.joint else 1}

[automorphism]
{_rows(self.automorphism)}
[squaring]
{_rows(self.squaring)}
[rgsw]
{_rows(self.rgsw)}spacing = {self.spacing}

[database]
plain_modulus = {space.plain_modulus}
first_bits = {self.first_bits}
moduli = {self.moduli}

[response]
degree = {space.response_degree}
mask_modulus = {space.mask_modulus}
body_modulus = {space.body_modulus}
secret = {{ kind = "gaussian", stddev = {stddev:g} }}
error = {{ stddev = {stddev:g} }}
base_log2 = 1
"""


def _rows(table: Table) -> str:
    return "".join(f"{name} = {value}\n" for name, value in table.items() if name != "dropped" or value)


def _instance(name: str, dimension: int, modulus: str, secret: str, stddev: float) -> Instance:
    return {
        "name": name,
        "dimension": dimension,
        "modulus": modulus,
        "secret": {"kind": secret},
        "error_stddev": stddev,
    }


def rotation_bits(space: Space, ring: Ring) -> int:
    """v3: a polynomial holds N / N1 records, which the response's ring tells apart by a rotation."""
    return (ring.degree // space.response_degree).bit_length() - 1


def digit_count(space: Space, index_bits: int) -> int:
    """D, digits of the query."""
    return ceil(index_bits / space.digit_bits)
