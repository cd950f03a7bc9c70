"""Bytes of every message of the InsPIRe paper's configurations: its printed kilobytes, the reference runs' records and
what the binary describes, each against `fixtures/published_bytes.py`, which knows the paper's parameters alone."""

import copy
import re
from functools import cache

import committed
import pytest
from pirlab_estimator.describe import describe
from pirlab_estimator.sets import AS_PUBLISHED, set_name
from pirlab_workflow.experiments import expand, read_profile
from pirlab_workflow.files import ROOT
from published_bytes import (
    Configuration,
    D,
    by_metric,
    ciphertext,
    configurations,
    differences,
    expected,
    inspire,
    packing_keys,
)

KB = 1024
CONFIGURATIONS = configurations()
each = pytest.mark.parametrize("of", CONFIGURATIONS, ids=lambda of: of.name)
PROTOCOLS = {
    "YPIR": "ypir",
    "SimpleYPIR": "simpleypir",
    "InsPIRe_0": "inspire0",
    "InsPIRe^(2)": "inspire2",
    "InsPIRe": "inspire",
}
#: Names of the sets that send what the paper's send, with either secret; InsPIRe's are modulo 65537, not 65535.
SETS = {
    "ypir": r"ypir/usenix24(-ternary)?",
    "simpleypir": r"simpleypir/usenix24(-ternary)?",
    "inspire0": r"inspire0/published-unpacked",
    "inspire2": r"inspire2/(published|ternary)( with .*)?",
    "inspire": r"inspire/(repaired|ternary)( with .*)?",
}
#: Databases of the reference runs. None has 32 GB, for which there is what the binary describes.
MEASURED = ("1GB", "8GB")
EXPERIMENTS = ("inspire/comparison", "inspire/table8", "inspire/table9")


def measures(of: Configuration, description: dict) -> bool:
    """Whether a description is of a configuration's protocol, set, database and layout, whatever its bytes are.

    Tables 8 and 9 are of one size of records; Tables 2 to 4 also print runs with larger ones.
    """
    shape, layout = description["shape"], description["layout"]
    if description["protocol"] != PROTOCOLS[of.protocol] or shape["database_bits"] != of.database_bits:
        return False
    if not re.fullmatch(SETS[description["protocol"]], description["parameters"]["name"]):
        return False
    if of.table in ("8", "9") and shape["record_bits"] != of.record_bits:
        return False
    if of.protocol not in ("InsPIRe", "InsPIRe^(2)"):
        return True
    if layout["rows"] != of.number("N/t"):
        return False
    if of.protocol == "InsPIRe":
        return bool(layout["points"] == of.number("interp_degree"))
    return bool(layout["gammas"] == [of.number(f"gamma{k}") for k in range(3)])


@cache
def records() -> dict[str, dict]:
    """All records of one query of the family in the reference runs, by their place, skipped ones too."""
    found = {}
    for place, record in committed.all_records().items():
        if record["experiment"].startswith("inspire/") and record.get("protocol") in SETS and record["queries"] == 1:
            found[place] = record
    return found


def faults(of: Configuration, record: dict) -> list:
    """The described messages of a record, and the sent ones if it was measured, that differ from the paper's."""
    sent = [record["description"]["messages"]] + ([record["transcript"]] if record["status"] == "ok" else [])
    return [found for messages in sent if (found := differences(expected(of), messages))]


@each
def test_formulas_give_the_printed_kilobytes(of):
    """This holds for all columns, 32 GB included, within the rounding to a KB."""
    sizes = by_metric(expected(of))
    assert {metric for metric, _ in of.printed} == sizes.keys()
    off = {metric: (sizes[metric] / KB, value / KB) for metric, value in of.printed if abs(sizes[metric] - value) > 512}
    assert not off, "formula, printed (KB)"


@pytest.mark.parametrize("of", [c for c in CONFIGURATIONS if c.database in MEASURED], ids=lambda of: of.name)
def test_records_send_the_published_bytes(of):
    """Each column of 1 and 8 GB has a record in the reference runs, and it and every other one has these bytes."""
    held = {name: record for name, record in records().items() if measures(of, record["description"])}
    assert held, "no record of an experiment of inspire/ in results/reference/ has this layout"
    wrong = {name: found for name, record in held.items() if (found := faults(of, record))}
    assert not wrong, "message: (by the paper's parameters, in the record)"


def test_records_of_published_sets_are_all_held():
    """A record whose layout changed would be compared with nothing, so records that no table prints are named here."""
    unheld = set()
    for record in records().values():
        description = record["description"]
        name, bits = set_name(description["parameters"]), description["shape"]["database_bits"]
        own = description["parameters"]["source"]["kind"] in AS_PUBLISHED
        if bits not in (2**33, 2**36) or not (own or re.fullmatch(SETS.get(record["protocol"], ""), name)):
            continue
        if not any(measures(of, description) for of in CONFIGURATIONS):
            unheld.add((name, description["shape"]["records"]))
    variants = {("inspire0/published-packed", 2**33), ("inspire0/published-packed", 2**36)}
    variants.add(("inspire/published", 2**24))
    assert unheld == variants, "see below"


def test_variants_of_published_sets():
    """The packed bodies of InsPIRe_0 are one ciphertext less, p = 65535 holds 63 records of 64 bytes a polynomial."""
    packed = [r for r in records().values() if r["description"]["parameters"]["name"] == "inspire0/published-packed"]
    sizes = {of.database_bits: expected(of) for of in CONFIGURATIONS if of.protocol == "InsPIRe_0"}
    assert {record["description"]["shape"]["database_bits"] for record in packed} == {2**33, 2**36}
    for record in packed:
        wanted = sizes[record["description"]["shape"]["database_bits"]] | {"answer": 2 * ciphertext()}
        assert not differences(wanted, record["description"]["messages"])
    [odd] = [r for r in records().values() if r["description"]["parameters"]["name"] == "inspire/published"]
    polynomials = -(-(2**24) // 63)
    wanted = inspire(2**33, 2**15, 8) | {"query": 7 * -(-polynomials // 8)}
    assert not differences(wanted, odd["description"]["messages"])


def test_tables_6_and_7():
    """Of what the paper prints there without a layout: N/t = 2^14, and 1, 1, 2 and 64 answers (facts of the authors'
    code). Content discovery is not reproduced."""
    printed = {(of.table, of.records): dict(of.printed)["total_comm"] for of in configurations(("6", "7"))}
    head = sum(inspire(0, 2**14, 1).values())
    for place, answers in {("7", 20_000_000): 1, ("7", 40_000_000): 1, ("7", 80_000_000): 2}.items():
        assert head + answers * ciphertext() == printed[place]
    retrieval = inspire(2**14 * 2**21, 2**14, 1)
    assert sum(retrieval.values()) == pytest.approx(printed["6", 2**14], abs=0.005 * KB**2)
    peer_routing = 2 * 8 * 1024 * 28 // 8 + 256 * 28 // 8 + 2 * ciphertext() // 2
    assert peer_routing == pytest.approx(printed["6", 256], abs=KB / 2)
    [record] = [r for r in records().values() if r["database"]["records"] == 2**14]
    assert record["description"]["layout"]["rows"] == 2**14
    assert not differences(retrieval, record["description"]["messages"])
    assert record["status"] == "skipped_time" or not differences(retrieval, record["transcript"])


def described(name: str, records: int, record_bits: int, **changes: int) -> dict:
    """What the binary describes of one set and shape."""
    row = {"id": "", "parameters": str(ROOT / f"params/{name}.toml"), "records": records, "record_bits": record_bits}
    [line] = describe([row | {"with": {f"folding.{key}": value for key, value in changes.items()}}])
    return line


def test_peer_routing_lacks_only_the_digit_that_is_zero(binary):
    """Table 6's small configuration has keys of eight digits of four bits, and a prime of 28. The digit that is not
    sent is 7 KB, ours being 61.875 KB; a query in whole bytes, 1 KB for 0.875, prints as 69 KB too."""
    line = described("inspire/ipfs-peer-routing", 256, 12288)
    digit = 2 * 1024 * 28 // 8
    wanted = {"keys": 7 * digit, "query": 256 * 28 // 8, "answer": 2 * ciphertext() // 2}
    assert not differences(wanted, line["messages"])
    [printed] = [dict(of.printed)["total_comm"] for of in configurations(("6",)) if of.records == 256]
    for query in (wanted["query"], 256 * 4):
        assert sum(wanted.values()) - wanted["query"] + query + digit == pytest.approx(printed, abs=KB / 2)


@pytest.mark.parametrize("records, answers", [(20_000_000, 1), (40_000_000, 1), (80_000_000, 2)])
def test_enrolment_sends_the_printed_bytes(binary, records, answers):
    """Table 7: N/t = 2^14 whatever the database, t of 64 at most. Our own set has as many rows as the records need, and
    t = 32, so that 40 and 80 million records take an answer more."""
    [printed] = [dict(of.printed)["total_comm"] for of in configurations(("7",)) if of.records == records]
    line = described("inspire/chrome-n16384-t64", records, 512)
    assert line["layout"]["rows"] == 2**14 and line["parameters"]["source"]["kind"] == "published"
    wanted = inspire(0, 2**14, 1) | {"answer": answers * ciphertext()}
    assert not differences(wanted, line["messages"])
    assert sum(wanted.values()) == printed
    own = described("inspire/repaired", records, 512, rows=1 << 14, points=32)
    more = int(records > 20_000_000)
    wanted = inspire(0, own["layout"]["rows"], 1) | {"answer": (answers + more) * ciphertext()}
    assert own["layout"]["rows"] <= 2**14 and not differences(wanted, own["messages"])


def test_descriptions_have_the_published_bytes(binary, monkeypatch):
    """All columns, 32 GB included, by the rows of the whole experiments."""
    rows = {
        f"{name}/{group.id}/{row.id}": row.request(group.options)
        for name in EXPERIMENTS
        for group in expand(name, read_profile("paper"))
        for row in group.rows
    }
    monkeypatch.chdir(ROOT)
    described = describe([{"id": name} | request for name, request in rows.items()])
    for of in CONFIGURATIONS:
        held = [line for line in described if measures(of, line)]
        assert held, f"{of.name}: no row of {', '.join(EXPERIMENTS)}"
        wrong = {line["id"]: found for line in held if (found := differences(expected(of), line["messages"]))}
        assert not wrong, of.name


@pytest.mark.parametrize("message", ["keys", "query", "point", "answer"])
@pytest.mark.parametrize("part", ["description", "transcript"])
def test_a_byte_more_is_seen(part, message):
    """Also one message less, and one that the paper has not."""
    of = next(
        of for of in CONFIGURATIONS if of.name == "table9-InsPIRe-1GB-512bit-N/t=32768-interp_degree=8-response_cts=1"
    )
    right = next(r for r in records().values() if r["status"] == "ok" and measures(of, r["description"]))
    assert not faults(of, right)
    for change in ("longer", "gone", "more"):
        record = copy.deepcopy(right)
        messages = record["transcript"] if part == "transcript" else record["description"]["messages"]
        place = next(i for i, sent in enumerate(messages) if sent["name"] == message)
        if change == "longer":
            messages[place]["payload_bytes"] += 1
        elif change == "gone":
            del messages[place]
        else:
            messages.append(messages[place] | {"name": "hint"})
        assert faults(of, record), change


def test_another_layout_is_another_configuration():
    """Twice the rows: twice the query, and the record no longer counts as the column's."""
    assert inspire(2**33, 2**14, 16)["query"] == 2 * inspire(2**33, 2**13, 32)["query"]
    assert inspire(2**33, 2**12, 32)["answer"] == 2 * inspire(2**33, 2**13, 32)["answer"]
    assert packing_keys(2) == 84 * KB and ciphertext() == 12 * KB and ciphertext(1024) == 7168 + 2560 and D == 2048
    of = next(of for of in CONFIGURATIONS if of.table == "9")
    found = next(r["description"] for r in records().values() if measures(of, r["description"]))
    assert not measures(of, found | {"layout": found["layout"] | {"rows": 2 * found["layout"]["rows"]}})
