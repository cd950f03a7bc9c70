"""Writing results: folders made on demand, whole files or none."""

from __future__ import annotations

import os
import re
from pathlib import Path

from .errors import InputError


def rst_escape(text: str) -> str:
    """Plain text for a reStructuredText caption: nothing in it is markup."""
    return re.sub(r"([*`|_\\])", r"\\\1", text)


def target(prefix: Path, suffix: str) -> Path:
    """`prefix` with `suffix` appended (a prefix may itself contain dots), its folder made."""
    path = prefix.with_name(prefix.name + suffix)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(path.parent, "--out", f"cannot be made ({error.strerror})", "Choose another folder") from None
    return path


def write_text(prefix: Path, suffix: str, text: str) -> Path:
    """Writes text atomically."""
    return write_bytes(prefix, suffix, text.encode("utf-8"))


def write_bytes(prefix: Path, suffix: str, data: bytes) -> Path:
    """Writes bytes to a neighbour file, then renames it into place."""
    path = target(prefix, suffix)
    neighbour = path.with_name(path.name + ".partial")
    try:
        neighbour.write_bytes(data)
        os.replace(neighbour, path)
    except OSError as error:
        raise InputError(path, "--out", f"cannot be written ({error.strerror})", "Choose another folder") from None
    return path
