"""Loading: run records, predictions, staleness and the papers' numbers, as tidy frames in base units.

A frame holds bytes, seconds and bits only; a column name ends in its unit where that is not plain. A measured column of
a record whose status is not `ok` is empty: a number that was not obtained, or belongs to a wrong answer, does not exist
for anything downstream.
"""

import statistics
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
from pirlab_estimator.compare import ANSWER_TOLERANCE
from pirlab_estimator.machine import read_bandwidth
from pirlab_estimator.records import RUN, InputError, read_all, read_json, read_lines
from pirlab_estimator.security.assess import predict_security, weakest
from pirlab_estimator.sets import set_name

from .marks import PREDICTED
from .output import words
from .units import SECONDS, paper_bytes

Described = dict[tuple[str, int, int], dict[str, Any]]
"""Descriptions by (sha256 of the set, records, record bits)."""
NOT_MEASURED = "not measured in this profile (predicted only)"
PREDICTION_SCHEMA = "pirlab/prediction/1"
DESCRIPTION_SCHEMA = "pirlab/description/1"
EXPECTED_COLUMNS = words("paper table protocol database num_records record_bits metric value unit config note")
BORROWED = words("security_target failure_log2 failure_random_log2 failure_target")
SHAPE_KEYS = ["set", "sha256", "records", "record_bits"]
NEEDED = {
    "sha256": "parameters.sha256",
    "records": "shape.records",
    "record_bits": "shape.record_bits",
    "protocol": "protocol",
}
"""What a prediction must have beside its set's name: columns, and their keys in the document."""
REMARKS = {
    "changed": "",
    "threads": " on another number of threads, nothing else changed",
    "orphan": ", whose row is no longer in any experiment file",
}
"""What the date of a stale record is followed by, by the reason why it is stale."""
ANSWER, OFFLINE = "answer", "offline"
ONLINE = ("query", ANSWER, "extract")
"""The phases of a query; the names of their steps begin with theirs."""
CLIENT_PHASES = ("offline_exchange", "precompute", "read_database")
"""Offline phases that are not the server's preprocessing."""


def need(path: Path, document: Any, dotted: str) -> Any:
    """The value at a dotted key that must be there."""
    value = document
    for part in dotted.split("."):
        if not isinstance(value, dict) or part not in value:
            raise InputError(path, dotted, "key is missing", "Measure again with this version of pirlab (FRESH=1)")
        value = value[part]
    return value


def quartiles(samples: list[float]) -> tuple[float, float, float]:
    """First quartile, median, third quartile (inclusive method)."""
    if len(samples) == 1:
        return samples[0], samples[0], samples[0]
    low, middle, high = statistics.quantiles(samples, n=4, method="inclusive")
    return low, middle, high


def _sizes(messages: list[dict[str, Any]], direction: str, *phases: str) -> int:
    return sum(m["payload_bytes"] for m in messages if m["direction"] == direction and m["phase"] in phases)


def _measured(record: dict[str, Any]) -> dict[str, Any]:
    """The measured columns of a record with status ok."""
    phases = {p["name"]: p for p in record["phases"]}
    transcript, memory, correct = record["transcript"], record["memory"], record["correct"]
    low, median, high = quartiles(phases[ANSWER]["seconds"])
    server = [p for p in phases.values() if p["group"] == OFFLINE and p["name"] not in CLIENT_PHASES]
    offline = [p["seconds"] for p in server if p["seconds"]]
    database_bytes = record["database"]["records"] * record["database"]["record_bits"] / 8
    described = record["description"]
    read = described["operations"].get(ANSWER, {}).get("bytes_read") or described["layout"].get("stored_bytes")
    # A memory map's pages count as resident although the system may drop them: there, only the anonymous part counts.
    mapped = record["database"]["source"].startswith("mmap:")
    return {
        "offline_bytes": sum(_sizes(transcript, way, OFFLINE) for way in ("download", "upload")),
        "offline_upload_bytes": _sizes(transcript, "upload", OFFLINE),
        "upload_bytes": _sizes(transcript, "upload", "query", "online"),
        "download_bytes": _sizes(transcript, "download", ANSWER, "online"),
        "preprocess_s": sum(statistics.median(s) for s in offline) if offline else None,
        "answer_s": median,
        "answer_q1_s": low,
        "answer_q3_s": high,
        "throughput_bytes_per_s": record["queries"] * database_bytes / median,
        "answer_read_bytes_per_s": read / median if read else None,
        "peak_bytes": memory["peak_anonymous_bytes" if mapped else "peak_bytes"],
        "described_peak_bytes": memory["described_peak_bytes"],
        "compared": correct["compared"],
        "right": correct["right"],
    }


def _record_row(path: Path, record: dict[str, Any]) -> dict[str, Any]:
    ok, parameters, database = record["status"] == "ok", record["parameters"], record["database"]
    machine, correct = record["machine"], record["correct"]
    reason = record.get("reason")
    if record["status"] == "wrong":
        reason = reason or f"{correct['right']} of {correct['compared']} records right"
    built = {key: record["build"][key] for key in ("kernel", "commit", "source_hash", "dirty")}
    row = {key: record.get(key) for key in PLAIN} | built
    row |= {
        "path": path.as_posix(),
        "reason": reason,
        "set": set_name(parameters),
        "sha256": parameters["sha256"],
        "source_kind": parameters["source"]["kind"],
        "records": database["records"],
        "record_bits": database["record_bits"],
        "database_source": database["source"],
        "seeded": record.get("seed") is not None,
        "cpu": machine["cpu"],
        "read_bandwidth": read_bandwidth(machine),
        "document": record,
    }
    row |= {key: record[key] if ok else [] for key in ("phases", "transcript", "noise")}
    return row | (_measured(record) if ok else {})


#: Statuses of rows that were not run because the plan said what they would need.
SKIPPED = ("skipped_time", "skipped_memory")
MEASURED = words(
    "offline_bytes offline_upload_bytes upload_bytes download_bytes preprocess_s answer_s answer_q1_s "
    "answer_q3_s throughput_bytes_per_s answer_read_bytes_per_s peak_bytes described_peak_bytes compared right"
)
PLAIN = words(
    "id status experiment group row protocol queries threads repetitions streamed started finished description"
)
"""Keys of a record that are columns as they are."""
RECORD_COLUMNS = [
    *PLAIN,
    *words("path reason set sha256 source_kind records record_bits database_source seeded kernel commit source_hash"),
    *words("dirty cpu read_bandwidth phases transcript noise document"),
    *MEASURED,
]


def load_records(folder: Path, experiment: str | None = None) -> pd.DataFrame:
    """Every protocol record below `folder`, one row each, sorted by shape and set.

    `experiment` keeps the records of that experiment. Where several records measure the same row, the one finished last
    stays. A folder that does not exist holds no record.
    """
    rows = [_record_row(path, record) for path, record in read_all(folder, RUN)]
    frame = pd.DataFrame(rows, columns=RECORD_COLUMNS)
    for column in [*MEASURED, "read_bandwidth"]:
        frame[column] = pd.to_numeric(frame[column])
    if experiment is not None:
        frame = frame[frame["experiment"] == experiment]
    identity = ["experiment", "set", "records", "record_bits", "queries", "threads", "database_source", "row"]
    frame = frame.sort_values(["finished", "id"], na_position="first").drop_duplicates(identity, keep="last")
    order = ["records", "record_bits", "protocol", "set", "queries", "threads", "id"]
    return frame.sort_values(order).reset_index(drop=True)


def prediction_documents(path: Path) -> list[tuple[Path, dict[str, Any]]]:
    if path.is_dir():
        return [pair for child in sorted(path.rglob("*.json*")) for pair in prediction_documents(child)]
    if not path.is_file():
        raise InputError(path, None, "no such file of predictions", "Run `make reproduce`, or leave --predictions out")
    found = read_lines(path) if path.suffix == ".jsonl" else read_json(path)
    found = found if isinstance(found, list) else [found]
    wanted = [d for d in found if isinstance(d, dict) and str(d.get("schema", "")).startswith("pirlab/prediction/")]
    for document in wanted:
        if document["schema"] != PREDICTION_SCHEMA:
            problem = f"`{document['schema']}`, not `{PREDICTION_SCHEMA}`"
            raise InputError(path, "schema", problem, "Predict again: delete the file and run `make reproduce`")
    return [(path, document) for document in wanted]


def load_predictions(path: Path | None) -> pd.DataFrame:
    """Predictions of protocols, one row a (set, shape): from a list, JSON lines or a folder of them."""
    rows = []
    for file, document in prediction_documents(path) if path else []:
        if "primitive" in document:
            continue
        noise = document.get("noise") or {}
        need(file, document, "parameters.name")
        row: dict[str, Any] = {"set": set_name(document["parameters"])}
        row |= {name: need(file, document, dotted) for name, dotted in NEEDED.items()}
        row |= {"security_bits": document.get("security_bits"), "predicted_peak_bytes": document.get("peak_bytes")}
        row |= {"security_target": document.get("security_target", 128), "security": document.get("security") or []}
        row |= {"failure_log2": noise.get("log2_failure"), "failure_random_log2": noise.get("log2_failure_random")}
        row |= {"failure_target": noise.get("failure_target", -40), "noise_stages": noise.get("stages") or []}
        rows.append(row | {"seconds": document.get("seconds") or {}, "prediction": document})
    columns = ["set", *NEEDED]
    columns += words(
        "security_bits security_target security failure_log2 failure_random_log2 failure_target noise_stages seconds "
        "predicted_peak_bytes prediction"
    )
    frame = pd.DataFrame(rows, columns=columns)
    for column in ("security_bits", "failure_log2", "failure_random_log2"):
        frame[column] = pd.to_numeric(frame[column])
    return frame.drop_duplicates(SHAPE_KEYS, keep="last").reset_index(drop=True)


def load_descriptions(files: Iterable[Path]) -> Described:
    """The binary's descriptions of rows, from JSON lines."""
    found: Described = {}
    for path in files:
        for document in read_lines(path):
            if document.get("schema") == DESCRIPTION_SCHEMA:
                shape = need(path, document, "shape")
                key = (need(path, document, "parameters.sha256"), shape["records"], shape["record_bits"])
                found[key] = document
    return found


def load_stale(path: Path | None) -> dict[str, str]:
    """Path of a record -> the date it was measured, with the remark of its reason, for records that are stale. The
    workflow writes the file."""
    if path is None:
        return {}
    if not path.is_file():
        raise InputError(path, None, "no such file of stale records", "Leave --stale out if no record is stale")
    entries = read_json(path)
    return {each["record"]: each["date"] + REMARKS[each["reason"]] for each in entries}


def load_expected(folder: Path | None) -> pd.DataFrame:
    """The papers' numbers (tidy CSV of experiments/expected), with `bytes` and `seconds` of the printed value, and the
    bytes that its last digit leaves open: half a unit of it.

    Rows with an empty value are dropped: they say that the paper's number is not recoverable.
    """
    if folder is None:
        return pd.DataFrame(columns=[*EXPECTED_COLUMNS, "bytes", "seconds", "rounding"])
    if not folder.is_dir():
        raise InputError(folder, None, "no such folder of expected numbers", "Give --expected experiments/expected")
    return _expected(tuple((path, path.stat().st_mtime_ns) for path in sorted(folder.glob("*.csv")))).copy()


@lru_cache(maxsize=1)
def _expected(files: tuple[tuple[Path, int], ...]) -> pd.DataFrame:
    """The numbers in files, each with the time of its last change: who draws many tables reads them once."""
    frames = []
    for path, _ in files:
        if path.stem in ("headline", "inconsistencies") or path.stem.startswith("security-"):
            continue
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        missing = [c for c in EXPECTED_COLUMNS if c not in frame.columns]
        if missing:
            raise InputError(path, ", ".join(missing), "column is missing", "Restore the file from the repository")
        frames.append(frame[EXPECTED_COLUMNS])
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=EXPECTED_COLUMNS)
    decimals = frame["value"].str.partition(".")[2].str.len()
    frame["rounding"] = 0.5 * 10.0**-decimals
    for column in ("value", "num_records", "record_bits"):
        frame[column] = pd.to_numeric(frame[column], errors="coerce")
    frame = frame[frame["value"].notna()].reset_index(drop=True)
    sizes = [paper_bytes(*each) for each in zip(frame["paper"], frame["table"], frame["unit"], strict=True)]
    scale = pd.Series(sizes, dtype=float)
    frame["bytes"], frame["rounding"] = frame["value"] * scale, frame["rounding"] * scale
    frame["seconds"] = frame["value"] * frame["unit"].map(SECONDS).astype(float)
    return frame


def dicts(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a frame; a missing text, list or document is None, a missing number stays NaN."""
    numeric = {c for c in frame.columns if pd.api.types.is_float_dtype(frame[c])}
    return [
        {k: v if k in numeric or not (isinstance(v, float) and pd.isna(v)) else None for k, v in row.items()}
        for row in frame.to_dict("records")
    ]


def join(records: pd.DataFrame, predictions: pd.DataFrame, stale: dict[str, str]) -> pd.DataFrame:
    """Records with the prediction of the same parameter file and shape, and the date of stale ones.

    A stale record whose parameter file has changed since has no prediction of its own any more: its security is that of
    the instances that it describes, its failure that of the set's present file (`borrowed`), so that a mark does not
    vanish with an edit.
    """
    keep = [c for c in predictions.columns if c != "protocol"]
    frame = records.merge(predictions[keep], on=SHAPE_KEYS, how="left")
    dates = [stale_date(stale, row["id"], row["path"], row["finished"]) for row in dicts(frame)]
    frame["stale"] = pd.Series(dates, index=frame.index, dtype=object)
    today = {(p["set"], p["records"], p["record_bits"]): p for p in predictions.to_dict("records")}
    frame["borrowed"] = False
    for index, row in frame.iterrows():
        prediction = today.get((row["set"], row["records"], row["record_bits"]))
        if row["stale"] is not None and not isinstance(row["prediction"], dict) and prediction is not None:
            frame.loc[index, BORROWED] = [prediction[column] for column in BORROWED]
            frame.loc[index, "borrowed"] = True
            [entries] = predict_security([row["description"]], "at_hand")
            frame.at[index, "security"] = entries
            frame.loc[index, "security_bits"] = weakest(entries)
    return frame


def stale_date(stale: dict[str, str], name: str, path: str, finished: Any) -> str | None:
    """Date of a stale record, None if it is fresh; paths match by their end, ids exactly."""
    ends = (date for key, date in stale.items() if "/" in key and path.endswith(key))
    hit = stale[name] if name in stale else next(ends, None)
    return str(finished or "date unknown")[:10] + hit if hit is not None and hit in REMARKS.values() else hit


def model_error(tables: Iterable[Path]) -> str:
    """How far the cost model was off the answers that were measured and are judged, from tables of `accuracy`."""
    found = [pd.read_csv(path) for path in tables]
    ratios = [
        ratio for each in found for ratio in each["ratio"][(each["quantity"] == ANSWER) & (each["verdict"] != "shown")]
    ]
    if not ratios:
        return "no measured answer of this run judges the cost model"
    near = sum(abs(ratio - 1) <= ANSWER_TOLERANCE for ratio in ratios)
    low, middle, high = min(ratios), statistics.median(ratios), max(ratios)
    return (
        f"of {len(ratios)} answers that were measured, {near} took within {100 * ANSWER_TOLERANCE:.0f} % of their "
        f"prediction: measured over predicted {low:.2f} to {high:.2f}, median {middle:.2f}"
    )


def rows(
    joined: pd.DataFrame, predictions: pd.DataFrame, described: Described | None = None, error: str = ""
) -> list[dict[str, Any]]:
    """Joined records, then the rows that were predicted, on one thread, and have no record: where there is a record of
    a set at a shape, no prediction takes its place. A row left out for its time or memory counts as one without.

    error: how far the cost model was off, as the footnote of predicted seconds says it.
    """
    described = described or {}
    found, measured = _without_skipped(dicts(joined), dicts(predictions), described)
    for row in found:
        row["description"] = row["description"] or described.get((row["sha256"], row["records"], row["record_bits"]))
    empty = dict.fromkeys(joined.columns) | {key: float("nan") for key in MEASURED}
    empty |= {"threads": 1, "repetitions": 0, "seeded": False, "streamed": False, "dirty": False}
    for predicted in dicts(predictions):
        shape = predicted["records"], predicted["record_bits"]
        if _place(predicted) not in measured:
            machine = (predicted["prediction"].get("unit_costs") or {}).get("machine")
            own = "; ".join(filter(None, (f"unit costs of {machine}" if machine else "", error)))
            row = _predicted(predicted, described.get((predicted["sha256"], *shape)))
            found.append(empty | predicted | row | {"error": own})
    return found


def _place(row: dict[str, Any]) -> tuple[str, int, int]:
    return row["set"], row["records"], row["record_bits"]


def _without_skipped(
    found: list[dict[str, Any]], predictions: list[dict[str, Any]], described: Described
) -> tuple[list[dict[str, Any]], set[tuple[str, int, int]]]:
    """The records, without those of rows that were skipped for their time or memory if another record or a prediction
    with a description replaces them; and the sets and shapes that have a record, which no prediction replaces."""
    ran = {(*_place(row), row["threads"]) for row in found if row["status"] not in SKIPPED}
    measured = {(name, records, bits) for name, records, bits, _ in ran}
    costed = [row for row in predictions if (row["sha256"], row["records"], row["record_bits"]) in described]
    known = {(*_place(row), 1) for row in costed if _place(row) not in measured} | ran
    kept = [row for row in found if row["status"] not in SKIPPED or (*_place(row), row["threads"]) not in known]
    return kept, measured | {_place(row) for row in kept if row["threads"] == 1}


def _predicted(row: dict[str, Any], description: dict[str, Any] | None) -> dict[str, Any]:
    """The replacement of a missing record: the sizes of the description, which are exact, and predicted seconds."""
    source = row["prediction"]["parameters"].get("source") or {}
    found = {"description": description, "source_kind": source.get("kind"), "queries": 1}
    if description is None or ANSWER not in row["seconds"]:
        return found | {"status": "not measured", "reason": NOT_MEASURED}
    peak = description["memory"]["peak_bytes"]
    document = {
        "phases": [
            {"name": name, "group": "online" if name.split("_")[0] in ONLINE else OFFLINE, "seconds": [seconds]}
            for name, seconds in row["seconds"].items()
            if name != "total" and not name.startswith("update")
        ],
        "transcript": description["messages"],
        "memory": {"peak_bytes": peak, "described_peak_bytes": peak},
        "correct": {"compared": float("nan"), "right": float("nan")},
        "database": description["shape"] | {"source": ""},
        "description": description,
        "queries": description.get("queries", 1),
    }
    unknown = {"answer_q1_s": float("nan"), "answer_q3_s": float("nan")}
    shown = {key: document[key] for key in ("phases", "transcript", "queries")}
    return found | shown | _measured(document) | unknown | {"status": PREDICTED}


def status_text(row: dict[str, Any]) -> str | None:
    """Why a row has no numbers; None if it has them."""
    if row["status"] in ("ok", PREDICTED):
        return None
    if row["status"] == "not measured":
        return str(row["reason"])
    name = {"wrong": "WRONG ANSWER"}.get(row["status"], row["status"].replace("_", ", "))
    return f"{name}: {row['reason']}" if row["reason"] else name
