"""Descriptions from `pirlab describe`: layout, sizes, operations and LWE instances, owned by the Rust side."""

import json
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from .inputs import read_text
from .paths import pirlab_binary


class DescribeError(RuntimeError):
    """`pirlab describe` is missing or refused; the message has the remedy."""


def describe(rows: Sequence[dict]) -> list[dict]:
    """One batch call. Rows are {"id", "parameters": path, "records", "record_bits"[, "with", "queries", "updates"]}."""
    descriptions = describe_each(rows)
    refused = [d for d in descriptions if "error" in d]
    if refused:
        raise DescribeError("; ".join(f"{d.get('id')}: {d['error']}" for d in refused))
    return descriptions


def describe_each(rows: Sequence[dict]) -> list[dict]:
    """Like `describe`, but a refused row is {"id", "error"}."""
    binary = pirlab_binary()
    if not binary.is_file():
        raise DescribeError(f"{binary} is not built yet: run `make build`, or set PIRLAB_BINARY")
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    command = [str(binary), "describe", "--batch"]
    process = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    answers = read_json_lines(process.stdout.splitlines())
    if len(answers) != len(rows):
        raise DescribeError(
            f"`pirlab describe --batch` answered {len(answers)} of {len(rows)} sets (exit code {process.returncode}): "
            f"{process.stderr.strip() or 'it said nothing'}. Build it again: make build"
        )
    return answers


def describe_somewhere(rows: Sequence[dict]) -> list[dict]:
    """Like `describe_each`, but a set that does not serve a row's database is described at one record of a bit.

    For instances, where no database is meant. Sets of DEPIR have at most as many records as a polynomial coefficients.
    """
    found = describe_each(rows)
    places = [place for place, each in enumerate(found) if "error" in each]
    again = describe_each([rows[place] | {"records": 1, "record_bits": 1} for place in places]) if places else []
    for place, smallest in zip(places, again, strict=True):
        if "error" not in smallest:
            found[place] = smallest
    return found


def read_json_lines(lines: Iterable[str]) -> list[dict]:
    """Descriptions of JSON lines; empty lines are skipped."""
    result = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            result.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise DescribeError(f"line {number} is not JSON: {error}") from error
    return result


def read_descriptions(path: Path) -> list[dict]:
    """A file of JSON lines, or of one JSON object or array."""
    text = read_text(path)
    try:
        content = json.loads(text)
    except json.JSONDecodeError:
        return read_json_lines(text.splitlines())
    return content if isinstance(content, list) else [content]
