"""The Pirouette paper's Table 7: sizes and times of every printed line, and below them what was measured here.

Rows are matched by protocol and database, never by a file's name. A line of ours follows the paper's of one thread,
or, run on several, below the paper's parallel ones.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from ..lib.cells import number, predicted_cells, security
from ..lib.frame import status_text
from ..lib.marks import SYMBOLS, failing, footnotes, insecure, marks_of, of_value, provenance, symbols
from ..lib.output import words
from ..lib.paper import PRINTED_TOTALS, Key, printed_totals
from ..lib.protocols import PAPERS, paper_name, protocol, series_name
from ..lib.spec import spec
from ..lib.table import Cell, Row, Table
from ..lib.units import has, shape_text, significant
from .sets import PAPER
from .steps import answer_transforms, steps

METRICS = PRINTED_TOTALS
OWN = dict(zip(METRICS, words("offline_upload_bytes upload_bytes download_bytes answer_s")))
PAPER_NAMES = {name: protocol(name).in_print for name in PAPERS[PAPER]["compared"]}
ONE = "threads=1"
SPLIT = SYMBOLS["split"]
PRINTED_SET = "published"
"""The set of the printed parameters, as far as they run, by its file's name."""
ENCIPHERED, PLAIN = PAPERS[PAPER]["enciphered"]
BLOCK_BYTES = 16
CIPHER = "cipher"
"""The step of an answer that deciphers its queries."""
NOT_PLANNED = "no experiment of this run has this database"
SPEC = spec("pirouette/table7")


def table(rows: Iterable[dict[str, Any]], expected: pd.DataFrame) -> Table:
    """The table; lines of databases that the paper does not have come last."""
    paper = printed_totals(expected, PAPER, "7")
    rows = list(rows)
    blocks = [row for row in rows if _is_block(row) and row["status"] == "ok"]
    rows = [row for row in rows if not _is_block(row)]
    sizes = {record_bits for _, record_bits, _ in paper}
    ours: dict[Key, list[dict[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: (row["set"], row["repetitions"] or 0)):
        if row["protocol"] in PAPER_NAMES and row["record_bits"] in sizes:
            ours.setdefault((row["records"], row["record_bits"], PAPER_NAMES[row["protocol"]]), []).append(row)
    lines: list[Row] = []
    data: list[dict[str, Any]] = []
    for key in [*paper, *sorted(key for key in ours if key not in paper)]:
        found = list(_block(key, paper.get(key, {}), ours.get(key, [])))
        if key in paper and key[2] == PAPER_NAMES[ENCIPHERED]:
            found += _costed(key, paper[key], blocks, ours.get((*key[:2], PAPER_NAMES[PLAIN]), []))
        for line, values in found:
            lines.append(line)
            data.append({"database": shape_text(*key[:2]), "protocol": key[2]} | values)
    split = {key: _split(paper[key], ours.get(key, [])) for key in paper}
    splits = [f"{SPLIT} {paper_name(key[2])}, {shape_text(*key[:2])}: {text}." for key, text in split.items() if text]
    shown = [row for found in ours.values() for row in found]
    return SPEC.table(lines, data, footnotes(shown), provenance=provenance(shown), splits=splits)


def _block(
    key: Key, configs: Mapping[str, dict[str, float]], rows: list[dict[str, Any]]
) -> Iterator[tuple[Row, dict[str, Any]]]:
    """The lines of a protocol and database with their data: one thread first, the paper's before ours."""
    split = SPLIT if _split(configs, rows) else ""
    printed_one = configs.get(ONE, {}).get("server_time")
    of_one = [row for row in reversed(rows) if row["threads"] == 1 and row["status"] == "ok"]
    own_one = {row["sha256"]: row["answer_s"] for row in of_one}
    for single in (True, False):
        for config, numbers in configs.items():
            if (config == ONE) == single:
                speedup = None if single or not printed_one else printed_one / numbers["server_time"]
                yield _paper_line(key, config, numbers, speedup, split if single else "")
        for row in rows:
            if (row["threads"] == 1) == single:
                one = None if single else own_one.get(row["sha256"])
                yield _our_line(key, row, printed_one if single else None, one)
    if not rows:
        yield Row(_head(key) | {"source": Cell("here")}, "", NOT_PLANNED), {"source": "here", "status": NOT_PLANNED}


def _is_block(row: Mapping[str, Any]) -> bool:
    """Whether a run evaluates a whole block of a cipher, to tell what one costs."""
    described = row.get("description") or {}
    return bool(described.get("layout", {}).get("keystream_bytes") == BLOCK_BYTES)


def _costed(
    key: Key, configs: Mapping[str, dict[str, float]], blocks: list[dict[str, Any]], plain: list[dict[str, Any]]
) -> Iterator[tuple[Row, dict[str, Any]]]:
    """The paper's form: as many blocks as its query has bytes for, each at the seconds of one that was measured here,
    and the answer without a cipher, as measured on one thread, of a set that reaches its targets if one ran."""
    count = configs[ONE]["query_size"] / BLOCK_BYTES
    answers = [row for row in plain if row["threads"] == 1 and row["status"] == "ok"]
    answers.sort(key=lambda row: insecure(row) or failing(row))
    if not answers:
        return
    one = None
    for block in sorted(blocks, key=lambda row: row["threads"]):
        each, answer = steps(block, [CIPHER])[CIPHER], answers[0]
        seconds = count * each + answer["answer_s"]
        printed = configs[ONE]["server_time"] if block["threads"] == 1 else None
        one = seconds if block["threads"] == 1 else one
        speedup = one / seconds if one and block["threads"] > 1 else None
        beside = series_name(answer["protocol"], answer["set"])
        marks = dict.fromkeys([*marks_of(block), *marks_of(answer)])
        what = f"here, costed: {count:.0f} blocks of {significant(each, 3)} s and {beside}"
        cells = {
            "source": Cell(what, symbols(marks)),
            "threads": Cell(str(block["threads"])),
            "security": security(block),
            "query_size": _total("query_size", count * BLOCK_BYTES),
            "response_size": _total("response_size", answer["download_bytes"]),
            "server_time": _total("server_time", seconds),
            "speedup": _ratio(speedup),
            "ratio": _ratio(seconds / printed if printed else None),
        }
        line = {"source": "costed", "config": f"threads={block['threads']}", "server_time": seconds, "status": "costed"}
        line |= {"speedup": speedup, "marks": " ".join(marks), "record_id": block["id"]}
        yield Row(_head(key) | cells, block["id"] or ""), line


def _split(configs: Mapping[str, dict[str, float]], rows: list[dict[str, Any]]) -> str:
    """The paper's seconds of one thread as those of its set here, and what is left; empty where its set did not run."""
    whole = configs.get(ONE, {}).get("server_time")
    of_one = [row for row in rows if row["threads"] == 1 and row["status"] == "ok"]
    theirs = [row for row in of_one if row["set"].endswith(f"/{PRINTED_SET}")]
    ours = [row for row in of_one if row not in theirs]
    if whole is None or not theirs or not ours:
        return ""
    printed_set, own = theirs[0], ours[0]

    def cost(row: Mapping[str, Any]) -> str:
        count = answer_transforms(row["description"]) / 1e3
        return f"{significant(row['answer_s'], 3)} s and {count:.0f} thousand transforms"

    left = significant(whole / printed_set["answer_s"], 2)
    return (
        f"of the paper's {significant(whole, 3)} s, the printed set under our query takes {cost(printed_set)} here, "
        f"ours {cost(own)}; what is left, a factor of {left}, is machine and code (docs/pirouette.md)"
    )


def _head(key: Key) -> dict[str, Cell]:
    return {"database": Cell(shape_text(*key[:2]), sort=float(key[0])), "series": Cell(paper_name(key[2]))}


def _paper_line(
    key: Key, config: str, numbers: dict[str, float], speedup: float | None, split: str
) -> tuple[Row, dict[str, Any]]:
    threads, _, parallel = config.removeprefix("threads=").partition(";parallel=")
    source = f"paper, parallel {parallel.replace('phase0', 'phase 0')}" if parallel else "paper"
    cells = {"source": Cell(source), "threads": Cell(threads), "speedup": _ratio(speedup)}
    cells |= {name: _total(name, numbers.get(name)) for name in METRICS}
    cells["server_time"] = replace(cells["server_time"], marks=split)
    return Row(_head(key) | cells), {"source": "paper", "config": config, "speedup": speedup} | numbers


def _our_line(
    key: Key, row: dict[str, Any], printed_one: float | None, own_one: float | None
) -> tuple[Row, dict[str, Any]]:
    """A line of what was measured here, compared with the paper's seconds of one thread, or our own of one."""
    values = {name: row.get(own) for name, own in OWN.items()}
    seconds = values["server_time"]
    speedup = own_one / seconds if own_one and seconds else None
    cells = {
        "source": Cell(f"here, {series_name(row['protocol'], row['set'])}", symbols(marks_of(row))),
        "threads": Cell(str(row["threads"])),
        **predicted_cells(row),
        "speedup": _ratio(speedup),
        "ratio": _ratio(seconds / printed_one if printed_one and seconds else None, of_value(row, size=False)),
    }
    if row["status"] == "ok":
        cells["right"] = Cell(f"{row['right']:.0f} of {row['compared']:.0f}", sort=float(row["right"]))
    line = {"source": row["set"], "config": f"threads={row['threads']}", "speedup": speedup, "status": row["status"]}
    line |= {name: row.get(name) for name in ("compared", "right", "repetitions")}
    line |= {"marks": " ".join(marks_of(row)), "record_id": row["id"]}
    cells |= {name: _total(name, value, of_value(row, name != "server_time")) for name, value in values.items()}
    return Row(_head(key) | cells, row["id"] or "", status_text(row)), line | values


def _ratio(value: float | None, marks: str = "") -> Cell:
    return Cell(significant(value, 2 if value < 1 else 3), marks, value) if value is not None and has(value) else Cell()


def _total(key: str, value: float | None, marks: str = "") -> Cell:
    if key.endswith("_size") and has(value):
        return Cell(f"{value:.0f}", marks, value)
    return number(value, 1e6 if key == "offline_comm" else 1, missing="–", marks=marks)
