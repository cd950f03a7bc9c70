"""The faults that a schema finds in a document; beside it are the JSON schemas of the documents that Python writes."""

import difflib
from typing import Any, NamedTuple

import jsonschema


class Fault(NamedTuple):
    """A fault that a schema finds: its place, the value, and what the schema requires."""

    key: str
    problem: str
    wanted: str


def fault(document: Any, schema: dict[str, Any]) -> Fault | None:
    """The most specific error; None if the document fits its schema."""
    validator = jsonschema.validators.validator_for(schema)(schema)
    error = jsonschema.exceptions.best_match(validator.iter_errors(document))
    if error is None:
        return None
    parts = [str(part) for part in error.absolute_path]
    place = ".".join(parts) or "the top level"
    if error.validator == "additionalProperties":
        known = sorted(error.schema["properties"])
        extra = next(key for key in error.instance if key not in known)
        near = difflib.get_close_matches(extra, known, 1)
        hint = f'Did you mean "{near[0]}"?' if near else "Remove it."
        problem = f'key "{extra}" (value {short(error.instance[extra])}, in {place}) is not known.'
        return Fault(".".join([*parts, extra]), problem, f"{hint} Known keys: {', '.join(known)}.")
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        about = error.schema.get("properties", {}).get(missing, {}).get("description", "")
        problem = f'key "{missing}" is missing in {place}.'
        return Fault(".".join([*parts, missing]), problem, f"Add it{': ' + about if about else '.'}")
    about = error.schema.get("description", "") if isinstance(error.schema, dict) else ""
    message = error.message.replace(repr(error.instance), "it", 1)
    return Fault(place, f'key "{place}" has the value {short(error.instance)}: {message}.', about)


def short(value: Any) -> str:
    """A value as Python writes it, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + " ..."
