"""Names of folders as users give them: made plain once, and refused where a rule or a command could not use them."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .files import ROOT, PlanError

#: The keys of a profile that name a place.
PLACES = ("results", "figures", "binary")


def environment() -> dict[str, str]:
    """The environment of Snakemake and its jobs: this interpreter's programs come first."""
    return os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}


def plain(key: str, name: str) -> str:
    """The name without `./`, `//` and a slash at its end; PlanError says in one sentence why it cannot be used."""
    found = os.path.normpath(name)
    if braces := [letter for letter in "{}" if letter in name]:
        reason = f"has `{braces[0]}`, which the workflow's rules take for a wildcard"
    elif not name.isprintable():
        reason = "has a line break or another character that cannot be printed"
    elif found.startswith("-"):
        reason = "begins with `-` and would be taken for an option"
    elif found.startswith("~"):
        reason = "begins with `~`, which the shell did not replace by a home folder"
    elif name != name.strip():
        reason = "begins or ends with a space"
    elif Path(found).resolve() in (ROOT, *ROOT.parents):
        reason = "is this folder itself or one around it"
    else:
        return found
    raise PlanError(f"{key.upper()}={name!r} {reason}: give another name.")


def plain_places(config: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration with its places made plain."""
    return {key: plain(key, value) if key in PLACES else value for key, value in config.items()}
