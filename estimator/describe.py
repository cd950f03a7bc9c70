"""Descriptions from `pirlab describe`: layout, sizes, operations and LWE instances, owned by the Rust side."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from .paths import pirlab_binary


class DescribeError(RuntimeError):
    """`pirlab describe` is missing or refused; the message says what helps."""


def describe(rows: Sequence[dict]) -> list[dict]:
    """One batch call. Rows are {"id", "parameters": path, "records", "record_bits"[, "with", "queries", "updates"]}."""
    descriptions = describe_each(rows)
    refused = [d for d in descriptions if "error" in d]
    if refused:
        raise DescribeError("; ".join(f"{d.get('id')}: {d['error']}" for d in refused))
    return descriptions


def describe_each(rows: Sequence[dict]) -> list[dict]:
    """The same, where a row that is refused is {"id", "error"}."""
    binary = pirlab_binary()
    if not binary.is_file():
        raise DescribeError(f"{binary} is not built yet: run `make build`, or set PIRLAB_BINARY")
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    command = [str(binary), "describe", "--batch"]
    process = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    if process.returncode not in (0, 1) or (process.returncode and not process.stdout):
        raise DescribeError(f"pirlab describe --batch: exit code {process.returncode}: {process.stderr.strip()}")
    return read_json_lines(process.stdout.splitlines())


def read_json_lines(lines: Iterable[str]) -> list[dict]:
    """Descriptions of JSON lines; empty lines are passed over."""
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
    text = path.read_text(encoding="utf-8")
    try:
        content = json.loads(text)
    except json.JSONDecodeError:
        return read_json_lines(text.splitlines())
    return content if isinstance(content, list) else [content]
