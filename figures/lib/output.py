"""The output files and the escaping of their text; `pirlab_estimator.outputs` writes them."""

import re
from pathlib import Path

import pandas as pd
from pirlab_estimator import outputs
from pirlab_estimator.records import InputError

SUFFIXES = (".pdf", ".svg", ".png", ".csv", ".md", ".tex", ".html", ".caption.rst")
"""What follows the prefix in the names of all that is written."""


def rst_escape(text: str) -> str:
    """Plain text for a reStructuredText caption: nothing in it is markup."""
    return re.sub(r"([*`|_\\])", r"\\\1", text)


def caption_text(title: str, *paragraphs: str) -> str:
    """A caption: its title in bold, run on into the first paragraph, then the other paragraphs that say something."""
    first, *rest = map(rst_escape, paragraphs)
    return "\n\n".join([f"**{title}** {first}", *filter(None, rest)]) + "\n"


def csv_text(data: pd.DataFrame) -> str:
    """A frame as CSV."""
    return str(data.to_csv(index=False, lineterminator="\n"))


def target(prefix: Path, suffix: str) -> Path:
    """`prefix` with `suffix` appended (a prefix may itself contain dots)."""
    if suffix not in SUFFIXES:
        raise ValueError(f"suffix {suffix} is not among {SUFFIXES}, which are checked before any work")
    return prefix.with_name(prefix.name + suffix)


def check(prefix: Path) -> None:
    """OutputError, before any work, if a result cannot be written or is an input."""
    if prefix == outputs.STANDARD:
        raise InputError(prefix, "--out", "it is the beginning of the names of several files", "Give one in a folder")
    outputs.check(*(target(prefix, suffix) for suffix in SUFFIXES))


def write(prefix: Path, suffix: str, content: str | bytes) -> Path:
    """Write the file of that suffix."""
    path = target(prefix, suffix)
    outputs.write(path, content)
    return path


def words(text: str) -> list[str]:
    """The words of a text: long lists of column names stay readable."""
    return text.split()
