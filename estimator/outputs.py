"""Writes the results of every program here. A regular file appears whole or not at all: it is written beside its place,
synced and renamed. Links are followed, devices and pipes are written into, `-` is standard output, and no input is
overwritten."""

import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from typing import TextIO

import jinja2

STANDARD = Path("-")
#: The process's mask of permissions, which can only be read by setting it; and permissions of new files.
_UMASK = os.umask(0)
os.umask(_UMASK)
MODE = 0o666 & ~_UMASK
Identity = tuple[int, int]

#: The files that the running command reads, by device and inode.
_inputs: dict[Identity, Path] = {}
#: Standard output as it was before `beside` redirected printing.
_standard: list[TextIO] = []


class OutputError(ValueError):
    """An output that cannot be written, and why, in one paragraph."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(
            f"output {path}: it cannot be written: {problem}. Give another file in a folder you may write to"
        )


@contextmanager
def protected(inputs: Iterable[Path | None]) -> Iterator[None]:
    """Within this context nothing overwrites these files."""
    before = dict(_inputs)
    for path in filter(None, inputs):
        if (identity := _identity(path)) is not None:
            _inputs[identity] = path
    try:
        yield
    finally:
        _inputs.clear()
        _inputs.update(before)


@contextmanager
def beside(*outputs: Path | None) -> Iterator[None]:
    """Within this context printing goes to standard error if one of the outputs is standard output."""
    if not any(output is not None and is_standard(output) for output in outputs):
        yield
        return
    _standard.append(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _standard.pop()


def is_standard(path: Path) -> bool:
    """Whether it is standard output: `-`, or a name of the file, pipe or device that it is."""
    if path == STANDARD:
        return True
    with suppress(OSError):
        there, standard = path.stat(), os.fstat(1)
        return (there.st_dev, there.st_ino) == (standard.st_dev, standard.st_ino)
    return False


def check(*outputs: Path | None) -> None:
    """OutputError if one of them cannot be written, is an input or equals another; makes their folders."""
    places: dict[Path, Path] = {}
    for path in filter(None, outputs):
        refuse_inputs(path)
        file = _place(path)
        if isinstance(file, Path):
            if file in places:
                raise OutputError(path, f"it is the same file as the output {places[file]}")
            places[file] = path
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryFile(dir=file.parent):
                    pass
            except OSError as error:
                raise OutputError(path, error.strerror or str(error)) from None


def refuse_inputs(*outputs: Path) -> None:
    """OutputError if one of them is a file that the running command reads, under any name."""
    for path in outputs:
        identity = _identity(path)
        if identity is not None and identity in _inputs:
            raise OutputError(path, f"it is {_inputs[identity]}, which is read and would be destroyed")


@cache
def template(path: Path) -> jinja2.Template:
    """The template of a text, in which every name must be known."""
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    environment.keep_trailing_newline = True
    return environment.from_string(path.read_text(encoding="utf-8"))


def write(path: Path, content: str | bytes) -> None:
    """Write an output; OutputError if that fails, and then no part of a regular file is left."""
    refuse_inputs(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        file = _place(path)
        if file is None:
            stream = _standard[-1] if _standard else sys.stdout
            stream.write(data.decode("utf-8"))
            stream.flush()
        elif isinstance(file, str):
            with open(os.open(file, os.O_WRONLY), "wb", buffering=0) as special:
                left = memoryview(data)
                while left:
                    left = left[special.write(left) :]
        else:
            _replace(file, data)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from None


def append(path: Path, text: str) -> None:
    """Add lines to a file, on a new line after one that was cut off; OutputError if that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write("\n" * (file.tell() > 0) + text)
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from None


def _identity(path: Path) -> Identity | None:
    """Device and inode of an existing regular file."""
    with suppress(OSError):
        facts = path.stat()
        if stat.S_ISREG(facts.st_mode):
            return facts.st_dev, facts.st_ino
    return None


def _place(path: Path) -> Path | str | None:
    """The regular file that an output is or becomes, behind all links; the name of a device or pipe as text; None for
    standard output."""
    if is_standard(path):
        return None
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from None
    for test, problem in (
        (stat.S_ISDIR, "it is a folder"),
        (stat.S_ISBLK, "it is a block device: a result would destroy what is on it"),
        (stat.S_ISSOCK, "it is a socket"),
    ):
        if test(mode):
            raise OutputError(path, problem)
    return Path(os.path.realpath(path)) if stat.S_ISREG(mode) else str(path)


def _replace(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".pirlab-", suffix=".part", dir=file.parent)
    try:
        with open(handle, "wb") as part:
            part.write(data)
            part.flush()
            os.chmod(name, stat.S_IMODE(file.stat().st_mode) if file.exists() else MODE)
            os.fsync(part.fileno())
        os.replace(name, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    # Makes the new name survive a power failure, if folders can be synced.
    with suppress(OSError):
        folder = os.open(file.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
