"""Compilation by numba, kept on disk.

numba looks only at a function's own file to see whether its stored machine code is current, not at the files of the
functions it calls. So the store is named by the content of all files of this folder.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

import numba

from ...paths import RESULTS

_SOURCES = sorted(Path(__file__).parent.glob("*.py"))
_KEY = hashlib.sha256(b"".join(path.read_bytes() for path in _SOURCES)).hexdigest()[:12]
numba.config.CACHE_DIR = str(RESULTS / "cache" / "compiled" / _KEY)  # type: ignore[attr-defined]

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """The function as machine code, made at its first call; its types stay as written."""
    return cast(Function, numba.njit(cache=True)(function))
