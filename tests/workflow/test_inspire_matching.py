"""Which of our rows measure a column of the InsPIRe paper, and when their bytes are the printed ones."""

import pytest
import synthetic_inspire as synthetic
from inspire_rows import build, load
from pirlab_figures.lib import paper as inspire_paper

KIB = 1024


def test_a_row_stands_for_the_columns_of_its_experiment_alone(tmp_path, expected):
    """Whatever its name and layout: the other row has those of the column."""
    declared, other = synthetic.inspire(1, 512, 16384, 16, 1), synthetic.inspire(1, 512, 8192, 32, 1)
    columns = {(declared["parameters"]["name"], 2**24, 512): frozenset({"3/1GB/1", "9/1GB/64B/8192"})}
    found = load(tmp_path, [declared, other], columns=columns)
    printed = inspire_paper.printed(expected, "9")
    column = next(c for c in printed if (c.record_bits, c.layout.first) == (512, 8192))
    assert column.id == "9/1GB/64B/8192"
    assert [m.row["set"] for m in inspire_paper.matches(column, found)] == [declared["parameters"]["name"]]
    assert [m.row["set"] for m in inspire_paper.unmatched(printed, found)] == [other["parameters"]["name"]]
    ypir = [c for c in inspire_paper.printed(expected, "2") if c.protocol == "ypir"]
    assert not any(inspire_paper.matches(column, found) for column in ypir)


def test_batches_and_several_threads_are_not_the_papers(tmp_path):
    found = load(tmp_path, [synthetic.inspire(1, 512, 8192, 32, 1, queries=4)])
    assert found == []
    found = load(tmp_path, [synthetic.inspire(1, 512, 8192, 32, 1, threads=2)])
    assert found == []


def test_records_of_another_size_are_marked(tmp_path, expected, contradictions):
    """SimpleYPIR's published set has one layout for all records, and keeps its line beside ours."""
    first, answers = 2**14, {"answer_ciphertexts": 19}
    published = synthetic.record("simpleypir", "published", first, 2**33 // first, answers | {"rows": first})
    larger = synthetic.record("simpleypir", "tight", first, 2**33 // first, answers | {"rows": 2 * first})
    fitting = synthetic.record("simpleypir", "tight", 2**33, 1, {"answer_ciphertexts": 13, "rows": 23072})
    for own in (larger, fitting):
        own["parameters"]["source"]["kind"] = own["description"]["parameters"]["source"]["kind"] = "own"

    places = (("simpleypir/published", first, 2**33 // first), ("simpleypir/tight", 2**33, 1))
    columns = dict.fromkeys(places, frozenset({"2/1GB"}))

    def lines(documents: list[dict], folder: str) -> list[str]:
        found = load(tmp_path / folder, documents, columns=columns)
        text = build(found, expected, contradictions, "2").markdown()
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
        layout = {"rows": 16384, "points": 1, "answer_ciphertexts": 64}
        retrieval = synthetic.record("inspire", "ipfs", 2**14, 2**21, layout)
        retrieval["transcript"][0]["payload_bytes"] += more * KIB
        text = build(load(tmp_path / name, [retrieval]), expected, contradictions, "6").markdown()
        assert f"| {1048 + more}{mark} |" in text, name
