"""Grids: one set with other values of some keys."""

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from itertools import product
from typing import Any

from .bounds import Bounds
from .evaluate import Literal
from .rings import reaches, secured, two_primes, with_error
from .space_file import get, load, put

#: Standard deviations of errors that an axis with `secure` chooses from.
ERRORS = (3.2, 4.0, 4.5, 5.0, 5.66, 6.4, 8.0, 9.0, 10.0, 11.0, 12.8, 16.0, 18.0, 21.0, 25.6, 32.0, 40.0, 51.2)


def varied(base: Literal, vary: Sequence[Mapping[str, Any]]) -> Iterator[tuple[dict[str, Any], Literal]]:
    """Every combination of the axes' values by key, and the set with it.

    A key that ends with `log2_modulus` stands for two primes whose bits add up to it, `plain_modulus` for a table of
    plaintext moduli that has this one alone. A table is put before the keys in it. A modulus that is some bits above
    another in the protocol's space keeps these bits where the other is varied. An axis with `secure = true` gives its
    key's table the least error of `ERRORS` that reaches the security target, or the largest where none does.
    """
    space, keys = load(base["protocol"]), {axis["key"] for axis in vary}
    above = [a for a in space.axes if a.kind.startswith("above") and a.of in keys and a.key not in keys]
    for values in product(*(axis["values"] for axis in vary)):
        literal = deepcopy(base)
        for axis, value in sorted(zip(vary, values), key=lambda pair: pair[0]["key"].count(".")):
            _vary(literal, axis, value)
        for each in above:
            more = each.bits_below(get(literal, each.of)) - each.bits_below(get(base, each.of))
            put(literal, each.key, int(get(base, each.key) * 2.0**more))
        space.put_bytes(literal)
        yield {axis["key"]: value for axis, value in zip(vary, values)}, literal


def _vary(literal: Literal, axis: Mapping[str, Any], value: Any) -> None:
    table, _, last = axis["key"].rpartition(".")
    if last == "log2_modulus":
        put(literal, f"{table}.modulus", two_primes(get(literal, f"{table}.degree"), value))
    elif last == "plain_modulus":
        put(literal, "plain_moduli", [{"log2_samples": 32, "modulus": value}])
    else:
        put(literal, axis["key"], value)
    if axis.get("secure"):
        put(literal, table, json.loads(_secure(json.dumps(get(literal, table)))))


@lru_cache(maxsize=256)
def _secure(text: str) -> str:
    """The table `[rlwe]` or `[lwe]`, as JSON, with the error that it needs."""
    tables = [with_error(json.loads(text), stddev) for stddev in ERRORS]
    good = (each.table for each in secured(tables) if reaches(each.bits, Bounds().security))
    return json.dumps(next(good, tables[-1]))
