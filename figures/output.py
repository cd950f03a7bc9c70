"""Names of results, and text in them; how they are written is `pirlab_estimator.outputs`."""

from __future__ import annotations

import re
from pathlib import Path

from pirlab_estimator import outputs

from .errors import InputError


def rst_escape(text: str) -> str:
    """Plain text for a reStructuredText caption: nothing in it is markup."""
    return re.sub(r"([*`|_\\])", r"\\\1", text)


#: What follows the prefix in the names of all that is written.
SUFFIXES = (".pdf", ".svg", ".png", ".csv", ".md", ".tex", ".html", ".caption.rst")


def target(prefix: Path, suffix: str) -> Path:
    """`prefix` with `suffix` appended (a prefix may itself contain dots)."""
    if suffix not in SUFFIXES:
        raise ValueError(f"suffix {suffix} is not among {SUFFIXES}, which are checked before any work")
    return prefix.with_name(prefix.name + suffix)


def check(prefix: Path) -> None:
    """OutputError, before any work, where a result cannot be written or is something that is read."""
    if prefix == outputs.STANDARD:
        raise InputError(prefix, "--out", "it is the beginning of the names of several files", "Give one in a folder")
    outputs.check(*(target(prefix, suffix) for suffix in SUFFIXES))


def write_text(prefix: Path, suffix: str, text: str) -> Path:
    """Writes text."""
    return write_bytes(prefix, suffix, text.encode("utf-8"))


def write_bytes(prefix: Path, suffix: str, data: bytes) -> Path:
    """Writes bytes."""
    path = target(prefix, suffix)
    outputs.write(path, data)
    return path
