"""The CSV files of a sweep (`pirlab-search --sweep`) as frames."""

from pathlib import Path

import pandas as pd
from pirlab_estimator.records import InputError

from ..lib.output import words

NEEDED = words(
    "sweep part kind objective protocol records record_bits name upload download hint_bytes hint_serves seconds "
    "server_bytes log2_failure bits gadget_length varied set"
)
ALONG = words(
    "protocol records record_bits key value missed score upload download hint_bytes seconds bits log2_failure"
)
#: The order of lines that would be drawn at one place, by what they miss: only the first of them is drawn.
RANKS = ("", "failure", "security", "security and failure")


def load(path: Path, kind: str) -> pd.DataFrame:
    """The rows of one kind (best, front, grid); InputError if the file is not a sweep or has none of them."""
    frame = _read(path, NEEDED)
    frame = frame[(frame["kind"] == kind) & frame["refused"].isna()]
    if frame.empty:
        raise InputError(path, "kind", f"holds no row of kind `{kind}`", "Give the CSV of a sweep with such a table")
    return frame.reset_index(drop=True)


def along(path: Path) -> pd.DataFrame:
    """The lines of a sweep's table of values, with `axis`, the place of the key in its grid; InputError if the file is
    not such a table."""
    frame = _read(path, ALONG)
    frame["missed"] = frame["missed"].fillna("")
    database = ["protocol", "records", "record_bits"]
    frame = frame[frame["key"].notna()].copy()
    frame["axis"] = frame.groupby("protocol")["key"].transform(lambda keys: pd.factorize(keys)[0])
    frame["rank"] = [RANKS.index(missed) if missed in RANKS else len(RANKS) for missed in frame["missed"]]
    frame = frame.sort_values(["rank", "score"], kind="stable").drop_duplicates([*database, "key", "value"])
    order = ["protocol", "axis", "record_bits", "records", "value"]
    return frame.drop(columns="rank").sort_values(order, kind="stable").reset_index(drop=True)


def _read(path: Path, needed: list[str]) -> pd.DataFrame:
    try:
        frame = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise InputError(path, None, f"cannot be read as CSV ({error})", "Run `make search`") from None
    missing = [column for column in needed if column not in frame.columns]
    if missing:
        raise InputError(path, missing[0], "column is missing: this is another table of a sweep", "Run `make search`")
    return frame
