"""The CSV of a sweep (`pirlab-search --sweep`) as a frame, and the looks of protocols in its figures."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from .errors import InputError
from .names import words
from .style import Look

NEEDED = words(
    "sweep part kind objective protocol records record_bits name upload download hint_bytes seconds server_bytes "
    "log2_failure bits gadget_length varied set"
)
LOOKS = {
    "simplepir": Look("#0072B2", "o", "-"),
    "doublepir": Look("#56B4E9", "^", "-"),
    "ypir": Look("#E69F00", "v", "-"),
    "simpleypir": Look("#D55E00", "<", "-"),
    "inspire0": Look("#8C8C8C", ">", (0, (1, 1.2))),
    "inspire": Look("#222222", "s", "-"),
    "inspire2": Look("#5B4A8A", "D", "-"),
    "respire": Look("#CC79A7", "P", "-"),
    "pirouette": Look("#009E73", "X", "-"),
    "pirouette_h": Look("#7FC8A9", "h", "-"),
}
ANOTHER = Look("#6e6e6e", "*", "-")


def load(path: Path, kind: str) -> pd.DataFrame:
    """The rows of one kind (best, front, grid); InputError where the file is no sweep or has none of them."""
    try:
        frame = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise InputError(path, None, f"cannot be read as CSV ({error})", "Run `make search`") from None
    missing = [column for column in NEEDED if column not in frame.columns]
    if missing:
        raise InputError(path, missing[0], "column is missing: this is no sweep", "Run `make search`")
    frame = frame[(frame["kind"] == kind) & frame["refused"].isna()]
    if frame.empty:
        raise InputError(path, "kind", f"holds no row of kind `{kind}`", "Give the CSV of a sweep with such a table")
    return frame.reset_index(drop=True)


def look(protocol: str) -> Look:
    return LOOKS.get(protocol, ANOTHER)
