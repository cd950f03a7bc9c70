"""Spaces: the sets of a protocol that a search tries, as spaces/<protocol>.toml writes them.

A space has what all sets share (`[set]`) and axes. A set takes one value of each axis. Axes are of two kinds:
- free ones: any value may be the best in one respect and the worst in another;
- ordered ones (`cheaper = true`): each value makes no message longer, no table larger and no phase slower than the one
  before it. So where a set is right, those before it cost at least as much. Each value also makes no failure rarer:
  where a set fails, those after it fail too. An axis that says `rarer = r` promises less: log2 of a later value's
  failure is at most r times that of an earlier one, so only what fails far too often tells of those after it.
"""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from math import prod
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from ..modulus import parse_modulus
from .bounds import Bounds
from .evaluate import Evaluator
from .progress import Progress
from .rings import Secured, digits_of, least_base, quietest, quietest_gadget, reaches, secured, tables

SPACES = Path(__file__).with_name("spaces")
FAMILIES = "families"


class SpaceError(ValueError):
    """A space that cannot be used: file, axis, value and remedy."""


@dataclass(frozen=True)
class Axis:
    """One choice of a set.

    key: where the values go, as `table.key`. kind: `values`; `family`, whose values are tables with dimension, modulus,
    secret and error; `sets`, whose values are whole sets, listed by the function `of`; `gadget`, whose values are
    lengths, of gadgets for the ring in the table `of`; `base`, whose values are lengths too, of exact digits in the
    least base that has this length modulo what the key `of` says; `above_modulus` and `above_bits`, whose values are
    bits by which a power of two exceeds the plaintext modulus `of` (of a table: its modulus or base), or 2^`of`.
    rarer: see above. only: values of earlier axes, by key, with which a set has this key; with others, all values of
    this axis give the same set.
    """

    key: str
    values: tuple[Any, ...]
    kind: str = "values"
    cheaper: bool = False
    rarer: float = 1.0
    of: str = ""
    only: dict[str, list[Any]] = field(default_factory=dict)

    def applies(self, literal: dict[str, Any]) -> bool:
        """Whether a set with the earlier axes' values has this key."""
        return all(get(literal, key) in values for key, values in self.only.items())

    def bits_below(self, value: Any) -> int:
        """Of `above_modulus` and `above_bits`: bits of what lies below, of which the key `of` has this value."""
        if isinstance(value, dict):
            value = value.get("modulus", value.get("base"))
        return int(value) if self.kind == "above_bits" else int(value - 1).bit_length()


@dataclass(frozen=True)
class Space:
    """A protocol's space.

    bytes_of: keys whose value is the bytes of another key's modulus. coarse: axes with fewer values, by key, for a look
    at all protocols. tolerance: the share by which a set has to undercut others for a place on the front that is shown.
    """

    protocol: str
    title: str
    paper: str
    shared: dict[str, Any]
    axes: tuple[Axis, ...]
    bytes_of: dict[str, str] = field(default_factory=dict)
    coarse: dict[str, Axis] = field(default_factory=dict)
    tolerance: float = 0.0

    @property
    def families(self) -> list[Axis]:
        return [axis for axis in self.axes if axis.kind == "family"]

    @property
    def free(self) -> list[Axis]:
        return [axis for axis in self.axes if axis.kind != "family" and not axis.cheaper]

    @property
    def ordered(self) -> list[Axis]:
        return [axis for axis in self.axes if axis.cheaper]

    @property
    def size(self) -> int:
        """Number of sets, secure or not."""
        return prod(len(axis.values) for axis in self.axes)

    @property
    def ordered_shape(self) -> tuple[int, ...]:
        return tuple(len(axis.values) for axis in self.ordered)

    def at(self, evaluator: Evaluator, bounds: Bounds, progress: Progress | None = None) -> "Space":
        """The space for a shape, unit costs and bounds: with the sets that a function of another module lists for them,
        where an axis asks for it; that may take minutes, which `progress` shows."""
        if all(axis.kind != "sets" for axis in self.axes):
            return self
        shown = progress or Progress()
        axes = [
            replace(a, values=tuple(_listed(a, evaluator, bounds, shown))) if a.kind == "sets" else a for a in self.axes
        ]
        return replace(self, axes=tuple(axes))

    def combinations(self, kept: Sequence[Sequence[Secured]]) -> Iterator[dict[str, Any]]:
        """Every choice of the families' tables that were kept and of the free axes, as values by key."""
        keys = [axis.key for axis in (*self.families, *self.free)]
        columns = [[each.table for each in tables] for tables in kept] + [list(a.values) for a in self.free]
        for choice in product(*columns):
            yield dict(zip(keys, choice))

    def literal(self, combination: dict[str, Any], at: Sequence[int]) -> dict[str, Any] | None:
        """The set of a combination and of the positions on the ordered axes; None where a gadget does not exist."""
        chosen = combination | {axis.key: axis.values[i] for axis, i in zip(self.ordered, at)}
        literal: dict[str, Any] = {"protocol": self.protocol, "title": self.title} | deepcopy(self.shared)
        for axis in self.axes:
            if not axis.applies(literal):
                continue
            value = chosen[axis.key]
            if axis.kind == "gadget":
                table = literal.setdefault(axis.key, {})
                found = quietest_gadget(chosen[axis.of], value, digits_of(table))
                if found is None:
                    return None
                table.update(found)
            elif axis.kind == "base":
                base = least_base(parse_modulus(str(get(literal, axis.of))), value)
                if base is None:
                    return None
                put(literal, axis.key, base)
            elif axis.kind == "sets":
                literal.update(deepcopy(value))
            elif axis.kind.startswith("above"):
                put(literal, axis.key, 1 << (axis.bits_below(chosen[axis.of]) + value))
            elif axis.kind == "family":
                literal.setdefault(axis.key, {}).update(value)
            else:
                put(literal, axis.key, value)
        self.put_bytes(literal)
        return literal

    def put_bytes(self, literal: dict[str, Any]) -> None:
        """Set the keys that follow from a modulus of the set."""
        for key, modulus in self.bytes_of.items():
            put(literal, key, -(-parse_modulus(get(literal, modulus)).bit_length() // 8))

    def secure(self, target: float) -> tuple[list[list[Secured]], list[Secured]]:
        """The families' tables that reach the target and are no noisier than need be; and those that miss it."""
        kept, missed = [], []
        for axis in self.families:
            all_of_it = secured(axis.values)
            good = [each for each in all_of_it if reaches(each.bits, target)]
            missed += [each for each in all_of_it if not reaches(each.bits, target)]
            kept.append(quietest(good))
        return kept, missed

    def narrowed(self, values: Mapping[str, Sequence[Any]] | None = None) -> "Space":
        """The same with other values on some axes; by default the coarse ones."""
        fewer = dict(self.coarse)
        if values is not None:
            fewer = {a.key: replace(a, values=tuple(values[a.key])) for a in self.axes if a.key in values}
        unknown = {*fewer, *(values or ())} - {axis.key for axis in self.axes}
        if unknown:
            raise SpaceError(f"{self.protocol}: there is no axis {', '.join(sorted(unknown))}; correct the key")
        axes = (
            replace(axis, values=fewer[axis.key].values, of=fewer[axis.key].of or axis.of)
            if axis.key in fewer
            else axis
            for axis in self.axes
        )
        return replace(self, axes=tuple(axes))


def _listed(axis: Axis, evaluator: Evaluator, bounds: Bounds, progress: Progress) -> Iterable[dict[str, Any]]:
    """The list of `module:function`."""
    try:
        lister = resolve_name(axis.of)
    except (ImportError, AttributeError, ValueError) as error:
        raise SpaceError(
            f'axis {axis.key}: {axis.of!r} cannot be used: {error}. Write sets_of = "module:function"'
        ) from None
    sets: Iterable[dict[str, Any]] = lister(evaluator, bounds, progress)
    return sets


def put(literal: dict[str, Any], key: str, value: Any) -> None:
    """Set `table.key`, making the tables on the way."""
    *tables_on_the_way, last = key.split(".")
    for name in tables_on_the_way:
        literal = literal.setdefault(name, {})
    literal[last] = deepcopy(value)


def get(literal: dict[str, Any], key: str) -> Any:
    value: Any = literal
    for name in key.split("."):
        value = value[name]
    return value


def protocols() -> list[str]:
    """Protocols that have a space."""
    return sorted(path.stem for path in SPACES.glob("*.toml") if path.stem != FAMILIES)


@lru_cache(maxsize=64)
def load(protocol: str) -> Space:
    """The space of a protocol; SpaceError if it has none or the file is not a space."""
    path = SPACES / f"{protocol}.toml"
    if protocol not in protocols():
        raise SpaceError(
            f"there is no protocol {protocol!r} to search; there are {', '.join(protocols())}, and `all`. "
            f"A new one needs {SPACES.name}/{protocol}.toml (docs/search.md)"
        )
    own, families = (tomllib.loads((SPACES / f"{name}.toml").read_text("utf-8")) for name in (protocol, FAMILIES))
    return parse(path.name, own, families)


def parse(name: str, document: dict[str, Any], families: dict[str, Any]) -> Space:
    """A space from its document; SpaceError says what is wrong with it."""
    try:
        axes = tuple(_axis(name, axis, families) for axis in document["axis"])
        coarse = {key: _axis(name, {"key": key} | axis, families) for key, axis in document.get("coarse", {}).items()}
        return Space(
            document["protocol"],
            document["title"],
            document["paper"],
            document["set"],
            axes,
            document.get("bytes_of", {}),
            coarse,
            document.get("tolerance", 0.0),
        )
    except KeyError as error:
        raise SpaceError(f"{name}: key {error} is missing; compare with the other spaces") from None


#: By the key of an axis that says its values: the kind of the axis, and the values.
_VALUES: dict[str, tuple[str, Callable[[Any], Iterable[Any]]]] = {
    "values": ("values", lambda values: values),
    "log2": ("values", lambda exponents: (1 << bits for bits in exponents)),
    "log2_plus_one": ("values", lambda exponents: ((1 << bits) + 1 for bits in exponents)),
    "more_bits": ("above_modulus", lambda bits: bits),
    "plain_modulus": ("values", lambda moduli: ([{"log2_samples": 32, "modulus": p}] for p in moduli)),
    "gadget_lengths": ("gadget", lambda lengths: lengths),
    "base_lengths": ("base", lambda lengths: lengths),
    "family": ("family", lambda parts: (table for part in parts for table in tables(part))),
    "sets_of": ("sets", lambda function: ()),
}


def _axis(name: str, axis: dict[str, Any], families: dict[str, Any]) -> Axis:
    key = next((key for key in _VALUES if key in axis), None)
    if key is None:
        raise SpaceError(f"{name}: axis {axis['key']} has none of {', '.join(_VALUES)}")
    kind, values = _VALUES[key]
    given = axis[key]
    if key == "family":
        if given not in families:
            raise SpaceError(f"{name}: axis {axis['key']}: no family {given!r}; there are {', '.join(families)}")
        given = families[given]
    kind = "above_bits" if "above_bits" in axis else kind
    of = next((axis[name] for name in ("of", "above_bits", "above_modulus", "sets_of") if name in axis), "")
    order = axis.get("cheaper", False), axis.get("rarer", 1.0)
    return Axis(axis["key"], tuple(values(given)), kind, *order, of, axis.get("only", {}))
