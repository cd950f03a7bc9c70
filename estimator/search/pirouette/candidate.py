"""One candidate set of Pirouette or Pirouette^H, as a parameter file: the binary describes it."""

from dataclasses import dataclass
from math import ceil

from .space import Ring, SmallKey, Space

Table = dict[str, int]


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


def rotation_bits(space: Space, ring: Ring) -> int:
    """v3: a polynomial holds N / N1 records, which the response's ring tells apart by a rotation."""
    return (ring.degree // space.response_degree).bit_length() - 1


def digit_count(space: Space, index_bits: int) -> int:
    """D, digits of the query."""
    return ceil(index_bits / space.digit_bits)
