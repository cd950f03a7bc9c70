"""Files held against their JSON schemas, and the one error for what cannot be used."""

import difflib
import json
from pathlib import Path
from typing import Any

import jsonschema

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
    validator = jsonschema.validators.validator_for(schema)(schema)
    error = jsonschema.exceptions.best_match(validator.iter_errors(document))
    if error is None:
        return
    place = ".".join(str(part) for part in error.absolute_path) or "the top level"
    if error.validator == "additionalProperties":
        known = sorted(error.schema["properties"])
        extra = next(key for key in error.instance if key not in known)
        near = difflib.get_close_matches(extra, known, 1)
        hint = f'Did you mean "{near[0]}"?' if near else "Remove it."
        problem = f'key "{extra}" (value {error.instance[extra]!r}, in {place}) is not known. {hint} '
        problem += f"Known keys: {', '.join(known)}."
    elif error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        about = error.schema.get("properties", {}).get(missing, {}).get("description", "")
        problem = f'key "{missing}" is missing in {place}. Add it{": " + about if about else "."}'
    else:
        about = error.schema.get("description", "") if isinstance(error.schema, dict) else ""
        problem = f'key "{place}" has the value {error.instance!r}: {error.message}. {about}'
    raise PlanError(f"{short(source)}: {problem.strip()} The schema is {short(schema_path)}.")
