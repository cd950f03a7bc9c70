"""The CSV of a sweep (`pirlab-search --sweep`) as a frame."""

from pathlib import Path

import pandas as pd
from pirlab_estimator.records import InputError

from ..lib.output import words

TARGET_BITS, TARGET_FAILURE = 128.0, -40.0
NEEDED = words(
    "sweep part kind objective protocol records record_bits name upload download hint_bytes hint_serves seconds "
    "server_bytes log2_failure bits gadget_length varied set"
)


def load(path: Path, kind: str) -> pd.DataFrame:
    """The rows of one kind (best, front, grid); InputError if the file is not a sweep or has none of them."""
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
