"""Which of our rows measure a column of the InsPIRe paper, and when their bytes are the printed ones."""

from pathlib import Path

import pandas as pd
import pytest
import synthetic_inspire as synthetic
from inspire_rows import build, load
from pirlab_figures.lib import frame as loader
from pirlab_figures.lib import paper as inspire_paper

EXPECTED = Path(__file__).resolve().parents[1] / "experiments" / "expected"
KIB = 1024


@pytest.fixture(scope="module")
def expected() -> pd.DataFrame:
    return loader.load_expected(EXPECTED)


@pytest.fixture(scope="module")
def contradictions() -> pd.DataFrame:
    return inspire_paper.load_contradictions(EXPECTED)


def test_records_are_matched_by_layout_and_not_by_name(tmp_path, expected):
    right = synthetic.inspire(1, 512, 8192, 32, 1)
    other = synthetic.inspire(1, 512, 8192, 16, 2)
    other["parameters"]["name"] = "inspire/1gb-512b-n8192-t32"
    other["id"] = other["row"] = "other"
    found = load(tmp_path, [right, other])
    column = next(c for c in inspire_paper.printed(expected, "9") if (c.record_bits, c.layout.first) == (512, 8192))
    assert [m.row["set"] for m in inspire_paper.matches(column, found)] == ["inspire/1gb-512b-n8192"]
    rest = inspire_paper.unmatched(inspire_paper.printed(expected, "9"), found)
    assert [m.row["set"] for m in rest] == ["inspire/1gb-512b-n8192-t32"]


def test_what_a_plaintext_modulus_loses_is_the_same_layout(tmp_path, expected):
    """p = 65535: 63 records of 64 bytes a polynomial, 1/63 more rows; nine polynomials for a record of 32 KB."""
    found = load(tmp_path, [synthetic.inspire(1, 512, 33289, 8, 1), synthetic.inspire(1, 262144, 4096, 8, 9)])
    columns = [c for c in inspire_paper.printed(expected, "9") if c.database == "1GB"]
    hits = {(c.record_bits, c.layout.first): len(inspire_paper.matches(c, found)) for c in columns}
    assert hits.pop((512, 32768)) == hits.pop((262144, 4096)) == 1 and not any(hits.values())


def test_batches_and_several_threads_are_not_the_papers(tmp_path):
    found = load(tmp_path, [synthetic.inspire(1, 512, 8192, 32, 1, queries=4)])
    assert found == []
    found = load(tmp_path, [synthetic.inspire(1, 512, 8192, 32, 1, threads=2)])
    assert found == []


def test_our_own_simpleypir_has_another_layout_for_other_records(tmp_path, expected, contradictions):
    """Its rows fit the records, so that a line of 32 KB would name a query that the table's records do not have; the
    published set has one layout for all, and keeps its line beside ours."""
    first, answers = 2**14, {"answer_ciphertexts": 19}
    published = synthetic.record("simpleypir", "published", first, 2**33 // first, answers | {"rows": first})
    larger = synthetic.record("simpleypir", "tight", first, 2**33 // first, answers | {"rows": 2 * first})
    fitting = synthetic.record("simpleypir", "tight", 2**33, 1, {"answer_ciphertexts": 13, "rows": 23072})
    for own in (larger, fitting):
        own["parameters"]["source"]["kind"] = own["description"]["parameters"]["source"]["kind"] = "own"

    def lines(documents: list[dict], folder: str) -> list[str]:
        text = build(load(tmp_path / folder, documents), expected, contradictions, "2").markdown()
        return [line for line in text.splitlines() if "SimpleYPIR" in line and "| here" in line and "| 1 GB" in line]

    [line] = lines([published, larger], "a")
    assert "here, published" in line and "ᵉ" in line and "| 112.0 |" in line
    [one, other] = lines([published, larger, fitting], "b")
    assert one == line and "N/t = 23072" in other and "here, tight (ours)" in other and "ᵉ" not in other


def test_what_a_printed_size_leaves_open_is_half_a_unit_of_its_last_digit(tmp_path, expected, contradictions):
    """1.02 MB: from 1039.4 to 1049.6 KiB; 69 KB: half a KB."""
    columns = {column.config["step"]: column for column in inspire_paper.printed(expected, "6")}
    assert columns["content_retrieval"].rounding["total_comm"] == pytest.approx(0.005 * KIB**2)
    assert columns["peer_routing"].rounding["total_comm"] == KIB / 2
    for name, more, mark in (("a", 0, ""), ("b", 1, ""), ("c", 2, "≠"), ("d", -8, ""), ("e", -9, "≠")):
        layout = {"rows": 16384, "degree": 1, "answer_ciphertexts": 64}
        retrieval = synthetic.record("inspire", "ipfs", 2**14, 2**21, layout)
        retrieval["transcript"][0]["payload_bytes"] += more * KIB
        text = build(load(tmp_path / name, [retrieval]), expected, contradictions, "6").markdown()
        assert f"| {1048 + more}{mark} |" in text, name
