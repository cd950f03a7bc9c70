"""Moduli as parameter files write them: products of prime powers, such as `2^32` or `268369921*249561089`."""

import re
from functools import lru_cache

_FACTOR = re.compile(r"^(\d+)(?:\^(\d+))?$")


@lru_cache(maxsize=4096)
def parse_modulus(text: str | int) -> int:
    """The integer that `text` stands for; ValueError names what is wrong."""
    product = 1
    for factor in str(text).replace(" ", "").split("*"):
        match = _FACTOR.match(factor)
        if not match:
            raise ValueError(f"modulus {text!r}: {factor!r} is neither a number nor a power such as 2^32")
        product *= int(match[1]) ** int(match[2] or 1)
    if product < 2:
        raise ValueError(f"modulus {text!r} must be at least 2")
    return product


def format_modulus(value: int) -> str:
    """`2^k` for powers of two, decimal otherwise."""
    exponent = value.bit_length() - 1
    return f"2^{exponent}" if exponent > 0 and value == 1 << exponent else str(value)
