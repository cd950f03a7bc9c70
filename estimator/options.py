"""Options that have no effect in combination with others: each program refuses them in the same words."""

from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import Any

#: By option: its default, whether the other options use it, and what it requires.
Uses = Mapping[str, tuple[Any, Callable[[Namespace], bool], str]]
#: Sources of security figures that may ask the lattice estimator, for which a time limit has an effect.
ASKING = ("auto", "live")
#: A program that has both --security and --timeout.
TIMEOUT_USES: Uses = {"timeout": (None, lambda o: o.security in ASKING, "--security live or auto")}


def unused(options: Namespace, uses: Uses) -> str | None:
    """Why the first option without effect is refused; None if every given option has an effect."""
    for name, (default, used, by) in uses.items():
        if getattr(options, name) != default and not used(options):
            return f"--{name.replace('_', '-')} changes nothing without {by}: leave it out"
    return None
