"""Options of a command line that change nothing beside others: each program refuses them in the same words."""

from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import Any

#: By option: its default, whether the others use it, and what it takes.
Uses = Mapping[str, tuple[Any, Callable[[Namespace], bool], str]]
#: Sources of security figures that may ask the lattice estimator, which a limit of seconds is for.
ASKING = ("auto", "live")
#: A program that has both --security and --timeout.
TIMEOUT_USES: Uses = {"timeout": (None, lambda o: o.security in ASKING, "--security live or auto")}


def unused(options: Namespace, uses: Uses) -> str | None:
    """Why the first option that changes nothing is refused; None if every given option changes something."""
    for name, (default, used, by) in uses.items():
        if getattr(options, name) != default and not used(options):
            return f"--{name.replace('_', '-')} changes nothing without {by}: leave it out"
    return None
