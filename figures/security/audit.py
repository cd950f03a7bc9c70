"""The audit, whole: each published parameter set with security, failure and bytes, claimed and found, and its repair.

A set that cannot run as its paper prints it (Pirouette's tables, the gadget paper's) is a line of security alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, log2
from typing import Any

import pandas as pd
from pirlab_estimator.security.attacks import bits_text, entry_text
from pirlab_estimator.sets import AS_PUBLISHED, set_name

from ..lib import frame
from ..lib import paper as papers
from ..lib.frame import Described, dicts
from ..lib.inputs import Inputs
from ..lib.marks import DEFAULT_FAILURE_TARGET, SYMBOLS
from ..lib.protocols import IDS, PAPERS, protocol, protocol_name, set_short
from ..lib.spec import spec
from ..lib.table import Cell, Table
from ..lib.units import has, human_bytes, shape_text, total
from .document import Audit, load_audit, secret_text, verdict
from .instances import bits_symbols

PAPER_ONLY = {"Pirouette": "Tables 3 to 5", "Gadget": "Table 6"}
"""Papers with sets that are not files of params/, and where they print them."""
INSPIRE_TABLES = ("2", "3", "4", "8", "9")
SAME_BYTES = 0.02
"""Printed sizes are rounded to whole kilobytes or a tenth of one."""
REPAIRED = ("repaired", "own", "searched")
Sizes = dict[str, tuple[str, float, float, str]]
"""By set: the database, what the paper prints for a query's messages, ours, and whether measured or described."""
MESSAGES = ("upload_keys", "upload_query", "download")


@dataclass
class Line:
    """The claims and findings about one published set."""

    paper: str
    location: str
    set: str
    instances: list[dict[str, Any]]
    target: float = 128
    failure: float | None = None
    failure_shape: str = ""
    compared: int = 0
    wrong: int = 0
    claimed_bytes: float | None = None
    found_bytes: float | None = None
    bytes_shape: str = ""
    bytes_source: str = ""
    repaired: str = ""
    faults: list[str] = field(default_factory=list)

    @property
    def claim(self) -> float | None:
        """The level that the paper names."""
        return min((row["claimed_bits"] for row in self.instances if row["claimed_bits"] is not None), default=None)

    @property
    def bits(self) -> float | None:
        """The least over its instances; of several readings of the paper the best, since one of them holds."""
        sure = [row["bits"] for row in self.instances if row["kind"] != "reading"]
        return None if not sure or any(bits is None for bits in sure) else min(sure)


def lines(
    audit: Audit, joined: pd.DataFrame, predictions: pd.DataFrame, described: Described, expected: pd.DataFrame
) -> list[Line]:
    """The published sets, papers in order."""
    predicted: dict[str, list[dict[str, Any]]] = {}
    for row in dicts(predictions):
        predicted.setdefault(row["set"], []).append(row)
    measured: dict[str, list[dict[str, Any]]] = {}
    for row in dicts(joined):
        measured.setdefault(row["set"], []).append(row)
    sizes = claimed_bytes(joined, predictions, described, expected)
    found = []
    groups: dict[str, list[dict[str, Any]]] = {}
    sources = {set_name(d["parameters"]): d["parameters"].get("source") for d in described.values()}
    for row in audit.sets:
        if row["set"] and (row["kind"] in AS_PUBLISHED or _stands_for_a_column(row, sources, sizes)):
            groups.setdefault(row["set"], []).append(row)
    for name, instances in groups.items():
        source = sources.get(name) or {}
        line = Line(source.get("paper", ""), source.get("location", ""), name, instances, audit.target)
        _failure(line, predicted.get(name, []), measured.get(name, []))
        if name in sizes:
            line.bytes_shape, line.claimed_bytes, line.found_bytes, line.bytes_source = sizes[name]
        line.repaired = nearest(name.split("/")[0], name, predicted, described)
        found.append(line)
    for paper, place in PAPER_ONLY.items():
        instances = [row for row in audit.sets if row["set"] is None and row["paper"] == paper]
        if instances:
            line = Line(paper, place, f"{paper}, as printed", instances, audit.target)
            line.repaired = nearest(IDS.get(paper, ""), "", predicted, described)
            found.append(line)
    for line in found:
        line.faults = _faults(line)
    return sorted(found, key=lambda line: (line.paper.lower(), line.set))


def _stands_for_a_column(row: Mapping[str, Any], sources: Mapping[str, Any], sizes: Sizes) -> bool:
    """Whether a set of ours runs a printed column with one change, such as another plaintext modulus, and no published
    set has that column."""
    name, place = row["set"], (sources.get(row["set"]) or {}).get("location", "")
    ours = row["kind"] == "repaired" and name.split("/")[0] in papers.ORDER
    return bool(ours and place.startswith("Table") and name in sizes)


def _failure(line: Line, predicted: list[dict[str, Any]], measured: list[dict[str, Any]]) -> None:
    bounds = [row for row in predicted if has(row["failure_log2"])]
    if bounds:
        worst = max(bounds, key=lambda row: row["failure_log2"])
        line.failure, line.failure_shape = worst["failure_log2"], shape_text(worst["records"], worst["record_bits"])
    for row in measured:
        correct = row["document"].get("correct") or {}
        line.compared += correct.get("compared") or 0
        line.wrong += (correct.get("compared") or 0) - (correct.get("right") or 0)


def claimed_bytes(
    joined: pd.DataFrame, predictions: pd.DataFrame, described: Described, expected: pd.DataFrame
) -> Sizes:
    """Bytes of one query, upload and download together, where a paper prints them for a layout that a set has."""
    found: Sizes = {}

    def add(name: str, place: str, claimed: float | None, sent: Sequence[Mapping[str, float]]) -> None:
        """The first measured size, else the first described one. sent: sizes as measured, and as described."""
        for source, own in zip(("measured", "described"), sent):
            better = name not in found or (source == "measured" and found[name][3] == "described")
            if claimed and better and "total_comm" in own:
                found[name] = (place, claimed, own["total_comm"], source)

    rows = frame.rows(joined, predictions, described)
    family = papers.rows(rows)
    for table in INSPIRE_TABLES:
        for column in papers.printed(expected, table):
            claimed = column.values.get("total_comm") or total(column.values.get(key) for key in MESSAGES)
            hits = [ours for ours in papers.matches(column, family) if ours.known.get("total_comm")]
            off = [abs(log2((ours.known.get("total_comm") or inf) / claimed)) if claimed else 0.0 for ours in hits]
            # A column is of one layout; where several sets have its database, it is that of the closest, and of ours,
            # which may differ in what does not change bytes, that with the plainest name.
            closest = [ours for ours, distance in zip(hits, off) if distance == min(off)]
            published = [ours for ours in closest if ours.row["source_kind"] in AS_PUBLISHED]
            for ours in published or sorted(closest, key=lambda ours: len(ours.row["set"]))[:1]:
                sent = (ours.values, ours.described)
                add(ours.row["set"], f"{column.database}, Table {table}", claimed, sent)
    totals = [(paper, table) for paper, entry in PAPERS.items() for table in entry.get("totals", [])]
    for paper, table in totals:
        printed = papers.printed_totals(expected, paper, table)
        for row in rows:
            key = (row["records"], row["record_bits"], protocol(row["protocol"]).in_print)
            if numbers := printed.get(key, {}).get("threads=1"):
                own = (row["description"] or {}).get("messages", [])
                sizes = papers.query_sizes(row["transcript"]) if row["status"] == "ok" else {}
                claimed = total(numbers.get(key) for key in ("query_size", "response_size"))
                place = f"{shape_text(*key[:2])}, Table {table}"
                add(row["set"], place, claimed, (sizes, papers.query_sizes(own)))
    return found


def nearest(owner: str, name: str, predicted: Mapping[str, list[dict[str, Any]]], described: Described) -> str:
    """The set of ours for the same protocol and shape that reaches both targets and whose messages differ least in
    bytes from the set's own; without a shape in common, or without the set's own, that with the smallest messages."""
    own = {(row["records"], row["record_bits"]): _bytes(row, described) for row in predicted.get(name, [])}
    ranks = []
    for row in (row for candidate, rows in predicted.items() if candidate != name for row in rows):
        source = ((row.get("prediction") or {}).get("parameters") or {}).get("source") or {}
        size = _bytes(row, described)
        reached = row["security_bits"] >= row["security_target"] and row["failure_log2"] <= row["failure_target"]
        if row["protocol"] == owner and source.get("kind") in REPAIRED and reached and size:
            reference = own.get((row["records"], row["record_bits"]))
            ranks.append((not reference, abs(log2(size / reference)) if reference else log2(size), row["set"]))
    return min(ranks)[2] if ranks else ""


def _bytes(row: Mapping[str, Any], described: Described) -> float:
    messages = described.get((row["sha256"], row["records"], row["record_bits"]), {}).get("messages", [])
    return float(sum(message["payload_bytes"] for message in messages))


def _faults(line: Line) -> list[str]:
    """The targets that the set misses, in words."""
    faults = []
    if line.bits is None:
        faults.append("security unknown")
    elif line.bits < line.target:
        claim = line.claim
        met = f" (the claim of {claim:g} is met)" if claim is not None and claim <= line.bits else ""
        faults.append(f"security {verdict(line.bits, line.target)}{met}")
    if line.failure is not None and line.failure > DEFAULT_FAILURE_TARGET:
        faults.append(f"fails with up to 2^{line.failure:.1f}")
    if line.wrong:
        faults.append(f"{line.wrong} records came back wrong")
    if line.claimed_bytes and line.found_bytes:
        off = line.found_bytes / line.claimed_bytes - 1
        if abs(off) > SAME_BYTES:
            faults.append(f"bytes {off:+.0%}")
    return faults


def _name(line: Line) -> Cell:
    owner = line.set.partition("/")[0]
    return Cell(f"{protocol_name(owner)} {set_short(line.set)}" if "/" in line.set else line.set)


def _bits(line: Line) -> Cell:
    unsure = any(row["source"] == "fast_only" for row in line.instances)
    marks = bits_symbols(line.bits, line.target, "fast_only" if unsure else None)
    return Cell(bits_text(line.bits, line.target), marks, line.bits)


def _failure_bound(line: Line) -> Cell:
    if line.failure is None:
        return Cell("–", sort=-inf)
    failing = line.failure > DEFAULT_FAILURE_TARGET
    return Cell(f"{line.failure:.0f}", SYMBOLS["failing"] if failing else "", line.failure)


def _claimed_bytes(line: Line) -> Cell:
    if not line.claimed_bytes or not line.found_bytes:
        return Cell()
    return Cell(f"{human_bytes(line.claimed_bytes)} ({line.bytes_shape})", sort=line.claimed_bytes)


def _found_bytes(line: Line) -> Cell:
    if not line.claimed_bytes or not line.found_bytes:
        return Cell()
    marks = SYMBOLS["described"] if line.bytes_source == "described" else ""
    return Cell(human_bytes(line.found_bytes), marks, line.found_bytes)


def _instances(line: Line) -> Iterator[str]:
    names = [str(row["instance"]).split(":")[0] for row in line.instances]
    for row, name in zip(line.instances, names):
        secret = f" ({secret_text(row['secret'])})" if names.count(name) > 1 else ""
        text = f"{name}{secret} {entry_text(row, line.target)}"
        yield f"[{text}]" if row["kind"] == "reading" else text


SPEC = spec(
    "security/audit",
    paper=lambda line: Cell(line.paper),
    location=lambda line: Cell(line.location),
    set=_name,
    claimed=lambda line: Cell("–" if line.claim is None else f"{line.claim:g}"),
    bits=_bits,
    instances=lambda line: Cell("; ".join(_instances(line))),
    failure=_failure_bound,
    shape=lambda line: Cell(line.failure_shape),
    wrong=lambda line: Cell(f"{line.wrong} of {line.compared}" if line.compared else "not run"),
    claimed_bytes=_claimed_bytes,
    bytes=_found_bytes,
    verdict=lambda line: Cell("; ".join(line.faults) or "holds"),
    repaired=lambda line: Cell(line.repaired if line.faults else "not needed"),
)


def make(inputs: Inputs) -> Table:
    """The table of the audit, with all that was predicted and measured of its sets."""
    audit = load_audit(inputs.arguments.audit)
    return table(audit, inputs.joined, inputs.predictions, inputs.described, inputs.expected_if_given)


def table(
    audit: Audit, joined: pd.DataFrame, predictions: pd.DataFrame, described: Described, expected: pd.DataFrame
) -> Table:
    """A line a published set."""
    found = lines(audit, joined, predictions, described, expected)
    rows = [SPEC.row(line) for line in found]
    meanings = {"insecure": f"below {audit.target:g} bits", "failing": f"above 2^{DEFAULT_FAILURE_TARGET}"}
    said: dict[str, Any] = {"published": len(found), "holding": sum(not line.faults for line in found)}
    said |= {"target": audit.target, "failure": DEFAULT_FAILURE_TARGET, "share": SAME_BYTES}
    return SPEC.table(rows, [_data(line) for line in found], meanings=meanings, **said)


def _data(line: Line) -> dict[str, Any]:
    """The CSV's line."""
    return vars(line) | {
        "claimed_bits": line.claim,
        "bits": line.bits,
        "instances": "; ".join(f"{row['instance'].split(':')[0]}={row['bits']}" for row in line.instances),
        "failure_log2": line.failure,
        "bytes_claimed": line.claimed_bytes,
        "bytes_found": line.found_bytes,
        "verdict": "; ".join(line.faults) or "holds",
        "repaired": line.repaired if line.faults else "",
    }
