"""Files held against their JSON schemas, and the one error for what cannot be used."""

import json
from pathlib import Path
from typing import Any

from pirlab_estimator import records
from pirlab_estimator.schemas import fault

ROOT = Path(__file__).resolve().parents[2]


class PlanError(Exception):
    """A file that cannot be used as it is: one paragraph with file, key, value and remedy."""


def short(path: Path | str) -> str:
    """The path as a user in the repository would write it."""
    path = Path(path)
    return str(path.relative_to(ROOT)) if path.is_absolute() and path.is_relative_to(ROOT) else str(path)


def check(document: Any, schema_path: Path, source: Path | str) -> None:
    """Hold a document against a JSON schema; the first error names file, key, value and remedy."""
    schema = json.loads(schema_path.read_text())
    found = fault(document, schema)
    if found is not None:
        problem = f"{found.problem} {found.wanted}".strip()
        raise PlanError(f"{short(source)}: {problem} The schema is {short(schema_path)}.")


def read_record(path: Path) -> dict[str, Any]:
    """The record in a file; PlanError with file, key and remedy where it does not hold."""
    try:
        return records.read(path)
    except records.InputError as error:
        raise PlanError(str(error)) from None
