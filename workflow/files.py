"""Reads, checks and writes the files of a sweep, and has the error for files that cannot be used."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pirlab_estimator.outputs import OutputError, write
from pirlab_estimator.paths import ROOT as ROOT
from pirlab_estimator.records import InputError
from pirlab_estimator.schemas import fault


def figure_code() -> list[str]:
    """The source files of figures, as rules name them."""
    kinds = (".py", ".toml", ".j2", ".mplstyle", ".css", ".js")
    return sorted(str(path) for path in Path("figures").rglob("*") if path.suffix in kinds and "out" not in path.parts)


class PlanError(Exception):
    """A file that cannot be used as it is: one paragraph with file, key, value and remedy."""


def short(path: Path | str) -> str:
    """The path as a user in the repository would write it."""
    path = Path(path)
    return str(path.relative_to(ROOT)) if path.is_absolute() and path.is_relative_to(ROOT) else str(path)


def check(document: Any, schema_path: Path, source: Path | str) -> None:
    """Check a document by a JSON schema; the first error names file, key, value and remedy."""
    found = fault(document, json.loads(schema_path.read_text()))
    if found is not None:
        problem = f"{found.problem} {found.wanted}".strip()
        raise PlanError(f"{short(source)}: {problem} The schema is {short(schema_path)}.")


def read_json(path: Path) -> Any:
    """The JSON in a file; None where there is no file or no JSON."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file, unchecked; empty without one. `records.read` reads what is drawn or judged."""
    found = read_json(path)
    return found if isinstance(found, dict) else {}


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON array or of JSON lines; none where any part of the file is something else."""
    try:
        text = path.read_text(encoding="utf-8")
        lines = json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]
    except (OSError, ValueError):
        return []
    return lines if all(isinstance(line, dict) for line in lines) else []


def write_if_changed(path: Path, text: str) -> None:
    """Write a file whole or not at all; a file that has this content keeps its date."""
    if not path.is_file() or path.read_bytes() != text.encode():
        write(path, text)


def write_json(path: Path, document: Any) -> None:
    """As `write_if_changed`, for a document."""
    write_if_changed(path, json.dumps(document, indent=2) + "\n")


@contextmanager
def naming(path: Path | str) -> Iterator[None]:
    """Within this context errors name this file if they name none, as when a disk is full."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def complain(problem: object) -> None:
    """Print to standard error."""
    print(problem, file=sys.stderr)


def exit_code(work: Callable[[], int], say: Callable[[object], None] = complain) -> int:
    """The exit code of a command: 2, with one paragraph, where a file cannot be used or written."""
    try:
        return work()
    except (InputError, OutputError, PlanError) as error:
        say(error)
    except OSError as error:
        # What is open already can be full, but not forbidden; memory that processes share can be.
        where = error.filename or ("/dev/shm" if isinstance(error, PermissionError) else "standard output")
        say(f"{where}: {error.strerror or error}. Check the path, its permissions and the free space.")
    return 2
