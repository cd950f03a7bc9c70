"""Parameter sets: what they are called, all that there are, and what each holds in full, which the binary says."""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .describe import DescribeError, read_json_lines
from .paths import ROOT, pirlab_binary

Changes = Mapping[str, Any]
"""Values that stand instead of a set's own, by dotted key."""

AS_PUBLISHED = ("published", "reference")
"""The kinds of sets that a paper or its authors' code has."""


def set_name(parameters: Mapping[str, Any]) -> str:
    """The name of a set with a row's changes: `inspire/repaired with folding.rows=8192`."""
    return labelled(str(parameters["name"]), parameters.get("with", {}))


def labelled(name: str, changes: Changes) -> str:
    """A set's name with the values that stand instead of its own, as the binary writes it."""
    values = [f"{key}={json.dumps(value, separators=(',', ':'))}" for key, value in sorted(changes.items())]
    return f"{name} with {', '.join(values)}" if values else name


def options_with(changes: Changes) -> list[str]:
    """The words of a command that change values of a set."""
    return [word for key, value in changes.items() for word in ("--with", f"{key}={value}")]


def parse_with(text: str) -> tuple[str, Any]:
    """A key and its value, as the binary reads them: JSON, or a text that needs no quotes."""
    key, equals, value = text.partition("=")
    if not equals:
        raise ValueError("give KEY=VALUE, such as folding.rows=8192")
    try:
        return key, json.loads(value)
    except json.JSONDecodeError:
        return key, value


def resolve(paths: Sequence[Path], changes: Changes | None = None) -> list[dict[str, Any]]:
    """Parameter files in full: with what they extend, and with the values that stand instead of their own."""
    command = [str(pirlab_binary()), "resolve", *map(str, paths), *options_with(changes or {})]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        raise DescribeError(process.stderr.strip())
    return read_json_lines(process.stdout.splitlines())


def series(folder: Path = ROOT / "experiments") -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every series of the experiments of protocols below a folder, with its experiment."""
    for path in sorted(folder.glob("*/*.toml")):
        experiment = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        if "kind" not in experiment:
            yield from ((experiment, each) for each in experiment.get("series", []))


def every_set() -> dict[str, tuple[str, Changes]]:
    """Name and changes of all sets of params/, and of those that experiments change, by what each is called."""
    folder = ROOT / "params"
    names = (path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.toml"))
    found: list[tuple[str, Changes]] = [(name, {}) for name in names]
    found += [(each["parameters"], each["with"]) for _, each in series() if "with" in each]
    return dict(sorted((labelled(*each), each) for each in found))
