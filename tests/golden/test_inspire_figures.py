"""The InsPIRe paper's tables and figures, from synthetic records whose right numbers are known."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
import synthetic_inspire as synthetic
import synthetic_parts
from inspire_rows import build, load, standing
from pirlab_figures.cli import main
from pirlab_figures.drawings import FIGURES, TABLES
from pirlab_figures.inspire import breakdown as inspire_breakdown
from pirlab_figures.inspire import errata as inspire_notes
from pirlab_figures.inspire import figure1 as inspire_figure1
from pirlab_figures.inspire import packing as inspire_packing
from pirlab_figures.inspire import tables as inspire_tables
from pirlab_figures.lib import frame as loader
from pirlab_figures.lib import paper as inspire_paper
from pirlab_figures.lib import primitive as primitives
from pirlab_figures.lib.spec import spec
from pirlab_figures.lib.table import Table
from pirlab_figures.runs import batches
from places import EXPECTED

KIB = 1024


def skipped() -> dict:
    return synthetic.inspire(8, 512, 8192, 32, 8, status="skipped_memory", reason="needs 31 GiB; 23 free")


DOCUMENTS = synthetic.all_of_table9() + synthetic.all_of_table8() + synthetic.baselines(1) + [skipped()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("inspire")
    synthetic.write(path, DOCUMENTS)
    return path


@pytest.fixture
def declared(monkeypatch):
    """The experiments list these documents."""
    monkeypatch.setattr(inspire_paper, "declared", lambda: standing(DOCUMENTS))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list:
    return load(tmp_path_factory.mktemp("rows"), DOCUMENTS)


@pytest.fixture(scope="module")
def drawn(found, expected, contradictions) -> Callable[[str], Table]:
    """The paper's tables with these rows, each made once."""
    return cache(lambda number: build(found, expected, contradictions, number))


@pytest.mark.parametrize(("number", "columns", "metrics"), [("2", 41, 7), ("3", 39, 7), ("4", 28, 7), ("8", 35, 10)])
def test_every_printed_number_is_in_the_tables(expected, number, columns, metrics):
    """The CSV's own values, each once; columns that the paper leaves blank are left out."""
    found = inspire_paper.printed(expected, number)
    own = expected[(expected["paper"] == "inspire") & (expected["table"] == number)]
    assert len(found) == columns and all(len(column.values) == metrics for column in found)
    assert sum(len(column.values) for column in found) == len(own)


def test_table9_has_48_columns_with_their_layouts(expected):
    found = inspire_paper.printed(expected, "9")
    assert len(found) == 48
    for column in found:
        places = column.layout.first * column.layout.degree * column.layout.answers
        assert places * 4096 * 8 == column.database_bits, "N/t x degree x answers x 4 KB are the database (X12)"


def test_simpleypirs_layout_follows_from_its_bytes(expected):
    layouts = [c.layout for c in inspire_paper.printed(expected, "4") if c.protocol == "simpleypir"]
    assert [(layout.first, layout.answers) for layout in layouts] == [(2**14, 19), (2**16, 37), (2**17, 74)]


def test_table9_compares_sizes_and_times(drawn):
    data = drawn("9").data
    own = data[(data["database"] == "1GB") & data["here"].notna()]
    assert len(own) == 16 * 9
    sizes = own[own["unit"] == "B"]
    assert sizes["size_equal"].eq(True).all(), "formula sizes equal the printed KB after rounding"
    row = own[(own["record_bits"] == 512) & (own["metric"] == "packing")].set_index("layout")
    cell = row.loc["N/t = 32768, t = 8, 1 answer"]
    assert cell["here"] == pytest.approx(0.008 * 8 * 1.005)
    assert cell["paper"] == pytest.approx(0.18) and cell["ratio"] == pytest.approx(0.064 * 1.005 / 0.18)


def test_parts_of_the_answer_stand_beside_memorys_speed(tmp_path, expected, contradictions):
    """13 and 12.5 of the probed 15 GB/s; the fixture's median is 1.005 of its seconds."""
    steady, drifting = synthetic.inspire(1, 512, 8192, 32, 1), synthetic.inspire(1, 512, 16384, 16, 1)
    drifting["machine"] = drifting["machine"] | {"read_bandwidth": [10e9, 20e9]}
    unprobed = synthetic.inspire(1, 512, 32768, 8, 1)
    unprobed["machine"] |= {"read_bandwidth": []}
    table = build(load(tmp_path / "9", [steady, drifting, unprobed]), expected, contradictions, "9")
    lines = [line for line in table.markdown().splitlines() if "| here, 1gb" in line]
    assert "| 83.0 | 86 | 257 | 83 | 6.4 |" in lines[0]
    assert "| 83.0 | 86≈ | 129 | 83≈ | 3.2 |" in lines[1]
    assert "| 83.0 |  | 64.3 |  | 1.6 |" in lines[2], "no probe, no share"
    assert "≈ quartiles of the probed read bandwidth differ" in table.markdown() and "Of bandwidth:" in table.markdown()
    own = table.data[table.data["set"] == "inspire/1gb-512b-n8192"].set_index("metric")
    assert own.loc["matmul", "read_bytes"] == 2**30 and own.loc["packing", "read_bytes"] == 32 * 10**8
    assert own.loc["matmul", "bandwidth_share"] == pytest.approx(13 / 15 / 1.005)
    assert pd.isna(own.loc["poly_eval", "bandwidth_share"]) and pd.isna(own.loc["download", "read_bytes"])
    first = build(load(tmp_path / "8", [synthetic.inspire2(1, 512, 16384)]), expected, contradictions, "8")
    shares = first.data[first.data["here"].notna()].set_index("metric")["bandwidth_share"]
    assert shares["first_matmul"] == pytest.approx(13 / 15 / 1.005) and shares["first_pack"] > 0
    assert "of bandwidth" not in build(load(tmp_path / "2", [steady]), expected, contradictions, "2").markdown()


def test_a_size_that_differs_is_marked(tmp_path, expected, contradictions):
    record = synthetic.inspire(1, 512, 8192, 32, 1)
    record["transcript"][0]["payload_bytes"] -= 28 * KIB
    found = load(tmp_path, [record])
    table = build(found, expected, contradictions, "9")
    line = next(line for line in table.markdown().splitlines() if "here, 1gb-512b-n8192" in line)
    assert "| 56.00≠ | 140.0 | 12.00 | 208.0≠ |" in line
    assert (
        "Sizes of published sets that equal the printed ones after rounding to a KB: 2 of 4 measured."
        in table.markdown()
    )
    assert r"\neq" in table.tex() and r"$\gamma$" not in table.tex()


def test_tables_2_to_4_take_records_of_the_same_layout(drawn):
    """Pareto fronts: 1-bit columns of InsPIRe^(2) were run with 64 or 128 B records; the line says so."""
    table = drawn("2")
    data = table.data[(table.data["metric"] == "server_time") & (table.data["database"] == "1GB")]
    assert data[~data["protocol"].isin(["kspir", "hintlesspir"])]["here"].notna().all()
    bits = data.groupby("protocol")["measured_record_bits"].unique()
    assert set(bits["inspire2"]) == {512, 1024} and set(bits["inspire"]) == {1} and set(bits["simpleypir"]) == {2**19}
    text = table.markdown()
    assert "1024 bit records†ᵉ |" in text and "ᵉ same layout, measured with records of another size" in text
    exact = drawn("3").data
    own = exact[(exact["protocol"] == "inspire") & (exact["database"] == "1GB")]
    assert set(own["measured_record_bits"]) == {512}


def test_cells_that_cannot_be_filled_say_why(drawn):
    text = drawn("9").markdown()
    costed = "8gb-512b-n8192†ᶜ | 121.3† | -82 | 84.00ᵈ | 140.0ᵈ | 96.00ᵈ | 320.0ᵈ |  |  |  |  |  |  | 1000ᶜ | 0.18ᶜ |"
    assert costed in text, "skipped for its memory"
    lines = [line for line in text.splitlines() if line.startswith("| 8 GB, 512 bit") and "| here" in line]
    assert len(lines) == 7 and sum(inspire_tables.NOT_PLANNED in line for line in lines) == 6
    assert sum(inspire_tables.NOT_PLANNED in line for line in text.splitlines()) == 6 + 5 + 4 + 16
    assert "64 of 64 measured, 4 of 4 described" in text and "ᵈ size that the program predicts" in text
    assert "† below 128-bit security (17 sets of InsPIRe 121.3 bit)" in text, "many sets with one figure are counted"
    baselines = drawn("2").markdown()
    assert "| 1 GB | KSPIR |  | paper, Table 2 |  |  | 2352 | 14 |" in baselines


def test_rows_that_a_profile_leaves_out_have_sizes_and_security(tmp_path, expected, contradictions):
    """Predicted and described, without a record: matched by layout like any other."""
    documents = [synthetic.inspire(1, 512, 8192, 32, 1), synthetic.inspire(8, 512, 65536, 32, 1)]
    found = load(tmp_path, documents, measured=1)
    table = build(found, expected, contradictions, "9")
    line = next(line for line in table.markdown().splitlines() if "here, 8gb-512b-n65536" in line)
    assert "| 121.3† | -82 | 84.00ᵈ | 532.0ᵈ | 12.00ᵈ | 628.0ᵈ |  |  |  |  |  |  | 1000ᶜ |" in line
    assert "ᶜ predicted by the cost model, not measured" in table.markdown()
    own = table.data[table.data["set"] == "inspire/8gb-512b-n65536"].set_index("metric")
    assert own.loc["upload_query", "described"] == 7 * 65536 + 6 * 2048 * 7 and pd.isna(own.loc["upload_query", "here"])
    assert own.loc["upload_query", "size_equal"] is True and pd.isna(own.loc["server_time", "described"])
    points = inspire_figure1.build(load(tmp_path / "b", synthetic.baselines(1), measured=1), expected)
    text = inspire_figure1.missing_text(points)
    assert "SimpleYPIR" not in text and "InsPIRe_0" not in text, "predicted"
    assert f"InsPIRe^(2), InsPIRe ({inspire_tables.NOT_PLANNED})" in text


def test_marks_stand_at_our_lines(tmp_path, expected, contradictions):
    record = synthetic.inspire(1, 512, 8192, 32, 1, streamed=True)
    found = load(tmp_path, [record], {f"{'synthetic-inspire-1gb-512b-n8192'}-{2**24}x512": "2026-11-01"})
    found[0].row["failure_log2"] = -35.0
    table = build(found, expected, contradictions, "9")
    text = table.markdown()
    assert "here, 1gb-512b-n8192†‡§¶ | 121.3† | -35‡ |" in text
    for words in ("† below 128-bit security", "‡ failure bound above 2^-40", "§ stale", "¶ streamed"):
        assert words in text


def test_records_of_other_databases_are_lines_of_their_own(tmp_path, expected, contradictions):
    small = synthetic.record("inspire", "small", 2**16, 512, {"rows": 2048, "points": 1, "answer_ciphertexts": 1})
    found = load(tmp_path, [small])
    table = build(found, expected, contradictions, "9")
    assert "| 2^16 x 512 bit | InsPIRe | N/t = 2048, t = 1, 1 answer | here, small† |" in table.markdown()
    line = "| 2^16 x 512 bit | InsPIRe | N/t = 2048, t = 1, 1 answer | here, small† |"
    assert line in build(found, expected, contradictions, "3").markdown()
    assert "2^16" not in build(found, expected, contradictions, "2").markdown(), "its records have another size"
    large = synthetic.record("inspire", "small", 2**31, 512, {"rows": 2048, "points": 1, "answer_ciphertexts": 1})
    found = load(tmp_path / "large", [large])
    assert "2^31 x 512" not in build(found, expected, contradictions, "3").markdown(), "no smaller database"


def test_contradictions_are_footnotes(drawn, contradictions):
    """Each of the paper's contradictions that names a table stands below that table."""
    named = {entry["id"]: inspire_notes.tables_of(entry) for entry in contradictions.to_dict("records")}
    assert [key for key, tables in named.items() if not tables] == ["X31"], "headings of the appendix only"
    assert named["X28"] == {"2", "3", "4"} and named["X29"] == {"3", "4"} and named["X13"] == {"8"}
    for number in "12346789":
        text = drawn(number).markdown()
        for key, tables in named.items():
            assert (f"{key}, " in text) == (number in tables), (key, number)
        listed = {entry["table"] for entry in inspire_notes.CELLS}
        has_cells = number in listed or any(number in tables for tables, _ in inspire_notes.COMPUTED.values())
        assert ("ˣ" in text) == has_cells


def test_contradicted_cells(expected):
    def cells(number: str, key: str) -> set[tuple]:
        columns = [
            (c, name, metric)
            for c in inspire_paper.printed(expected, number)
            for name, metric in inspire_notes.concerned(c)
        ]
        return {(c.database, c.record_bits, c.layout.first, metric) for c, name, metric in columns if name == key}

    assert cells("9", "X12") == {("32GB", 1, 2**20, inspire_notes.CONFIGURATION)}
    assert len(cells("9", "X25")) == 18, "as the list says"
    assert len(cells("8", "X13")) == 3
    assert len(cells("3", "X29")) + len(cells("4", "X29")) == 5
    assert cells("4", "X27") == {("1GB", 262144, 1024, m) for m in ("offline_time", "server_time")}


def test_table1_has_the_papers_parameters_and_ours(drawn):
    table = drawn("1")
    own = table.data[table.data["source"] == "here"].set_index(["protocol", "instance"])
    assert own.loc[("inspire", "ring"), "z_gsw"] == 2**19 and pd.isna(own.loc[("inspire2", "ring"), "z_gsw"])
    assert len(own.loc[("inspire", "ring"), "sets"].split()) == 17 and len(own) == 2 + 1 + 2 + 1 + 1
    assert own["security_bits"].eq(121.3).all()
    text = table.markdown()
    assert "| InsPIRe |  | paper, Table 1 | 2^11 | 56 | 6.4 |  | 65535ˣ | 3 | 2^19 | 3 | 2^19 |" in text
    assert "| InsPIRe | ring | here, 17 sets | 2^11 | 55.9 | 6.4 | 256 ones, 256 minus ones | 65535 |" in text
    assert "| YPIR | first | here, published | 2^10 | 32.0 | 11 | Gaussian, sigma 11 | 256 |" in text
    assert "† security below the target" in text and "X30, Table 1" in text
    assert "| -82 |" in text


def test_sets_of_our_own_are_not_held_against_the_printed_bytes(tmp_path, expected, contradictions):
    record = synthetic.inspire(1, 512, 8192, 32, 1)
    record["parameters"]["source"]["kind"] = "repaired"
    record["transcript"][0]["payload_bytes"] -= 28 * KIB
    table = build(load(tmp_path, [record]), expected, contradictions, "9")
    assert "≠" not in table.markdown() and "no published set of ours has a layout" in table.markdown()


def test_applications_are_matched_by_database(tmp_path, expected, contradictions):
    layout = {"rows": 16384, "points": 1, "answer_ciphertexts": 64}
    retrieval = synthetic.record("inspire", "ipfs", 2**14, 2**21, layout)
    discovery = synthetic.record("inspire", "ipfs", 200_000, 800, {"rows": 4096, "points": 2, "answer_ciphertexts": 1})
    found = load(tmp_path, [retrieval, discovery])
    table = build(found, expected, contradictions, "6")
    own = table.data[table.data["here"].notna()].set_index(["database", "metric"])["here"]
    bytes_sent = 86016 + 7 * 16384 + 6 * 2048 * 7 + 64 * 12288
    place = spec("inspire/table6").words["steps"]["content_retrieval"]
    assert own[place, "total_comm"] == bytes_sent
    assert own[place, "total_comm_improvement"] == pytest.approx(100 * (1 - bytes_sent / (2.1 * 2**20)))
    text = table.markdown()
    assert "here, InsPIRe ipfs, 200000 x 800 bit" in text and inspire_tables.NOT_PLANNED in text
    assert "| 46ˣ |" in text
    enrolment = build(found, expected, contradictions, "7").markdown()
    assert (
        enrolment.count(inspire_tables.NOT_PLANNED) == 3 and "| 20 M | paper, InsPIRe |  |  | 1.19 | 292 |" in enrolment
    )


def test_bytes_of_applications_that_differ_are_marked(tmp_path, expected, contradictions):
    """292 KB are N/t = 16384; at as many rows as the records need there are fewer."""
    rows = {"published": 16384, "tight": 9766}
    gadget = {"dropped": 0, "signed": False}
    layout = {"points": 32, "answer_ciphertexts": 1, "plain_modulus": 65537, "point_sent": True}
    layout |= {"packing_gadget": gadget, "rgsw_gadget": gadget, "body_coefficients": 2048, "ring_degree": 2048}
    found = [synthetic.record("inspire", name, 20_000_000, 512, layout | {"rows": n}) for name, n in rows.items()]
    text = build(load(tmp_path, found), expected, contradictions, "7").markdown()
    lines = {name: next(line for line in text.splitlines() if f"InsPIRe {name}," in line) for name in rows}
    assert "N/t = 16384" in lines["published"] and "≠" not in lines["published"]
    assert "N/t = 9766" in lines["tight"] and "246.8≠" in lines["tight"]
    # A row that was not measured has the sizes that are known of it.
    left_out = build(load(tmp_path / "b", found, measured=0), expected, contradictions, "7")
    text = left_out.markdown()
    for size in ("292.0ᵈ", "246.8ᵈ≠"):
        assert f"| 1.192 | {size} |  | 1000ᶜ |" in text
    known = left_out.data[left_out.data["status"] == "predicted"].set_index("metric")
    assert known.loc["total_comm", "here"].isna().all() and known.loc["total_comm", "described"].notna().all()
    assert known.loc["server_time", "here"].isna().all() and known.loc["server_time", "predicted"].eq(1.0).all()


def test_batches_stand_beside_single_queries_and_updates_beside_preprocessing(tmp_path):
    layout = {"rows": 32768, "points": 8, "answer_ciphertexts": 1, "tables": 8, "tables_rebuilt": 3}
    shape = ("inspire", "one", 2**24, 512, layout)
    seconds = {"update_encode": 0.25, "update_packing_tables": 0.5, "update_server": 1.0, "hint": 3.0, "answer": 0.05}

    def phases(answer):
        kinds = {name: "offline" if name == "hint" else "update" for name in seconds} | {"answer": "online"}
        times = seconds | {"answer": answer}
        return [{"name": name, "group": kinds[name], "seconds": [value]} for name, value in times.items()]

    alone = synthetic.record(*shape) | {"phases": phases(0.05), "updates": 1, "id": "alone"}
    batch = synthetic.record(*shape) | {"phases": phases(0.16), "updates": 1000, "queries": 8, "id": "batch"}
    other = synthetic.record("inspire", "other", 2**24, 512, layout) | {"phases": phases(0.06), "id": "other"}
    buckets = synthetic.record("inspire", "two", 2**24, 512, layout | {"batch_queries": 8})
    buckets |= {"phases": phases(0.1), "queries": 8, "id": "buckets"}
    for document in (alone, batch, other, buckets):
        (tmp_path / f"{document['id']}.json").write_text(json.dumps(document))
    joined = loader.join(loader.load_records(tmp_path), loader.load_predictions(None), {})
    table = batches.build(joined)
    first, second, third = table.data.to_dict("records")
    assert (first["record_id"], second["record_id"]) == ("batch", "alone"), "sets without a batch are left out"
    assert (first["gain"], first["query_s"]) == (pytest.approx(2.5), pytest.approx(0.02)) and pd.isna(second["gain"])
    assert (third["record_id"], third["gain"]) == ("buckets", pytest.approx(4)), "against the fastest of other sets"
    assert first["upload_bytes"] == second["upload_bytes"] / 8, "bytes of a query"
    assert (first["update_s"], first["update_share"]) == (1.0, pytest.approx(1 / 3))
    cells = table.rows[0].cells
    assert (cells["gain"].text, cells["tables"].text, cells["share"].text) == ("2.50x", "3 of 8", "33")
    assert cells["parts"].text == "encode 0.250, packing tables 0.500" and cells["changed"].text == "1000"
    assert cells["failure"].text == "not predicted" and first["marks"] == "unknown"
    document = synthetic.prediction(batch, bits=121.3, failure=-13.4)
    (tmp_path / "predicted").write_text(json.dumps([document]))
    joined = loader.join(loader.load_records(tmp_path), loader.load_predictions(tmp_path / "predicted"), {})
    text = batches.build(joined).markdown()
    assert "| InsPIRe one†‡ | 121.3† | -13‡ | 8 |" in text and "‡ failure bound above 2^-40" in text


PRIMES = [268369921, 249561089]


def test_table5_has_the_papers_columns_and_ours(tmp_path, expected, contradictions):
    """The paper's CDKS and large InspiRING, variants of them, and one of another ring."""
    documents = [
        synthetic.packing("cdks-preprocessed", 2048, PRIMES),
        synthetic.packing("inspiring", 2048, PRIMES),
        synthetic.packing("inspiring", 2048, PRIMES, "balanced", clients=4),
        synthetic.packing("inspiring-online", 512, PRIMES),
    ]
    synthetic_parts.write(tmp_path, documents, map(synthetic.packing_prediction, documents))
    records = primitives.load([tmp_path / "records"], [tmp_path / "predictions.json"])
    table = inspire_packing.table(records, expected, contradictions)
    text = table.markdown()
    parts = [line.rsplit("|", 2) for line in text.splitlines() if line.startswith("| ")][1:]
    lines = [f"{cells}|" for cells, _, _ in parts]
    assert [("`" in record) for _, record, _ in parts] == [" here, " in line for line in lines], "ours have records"
    assert "| HintlessPIR | 10, 32, 8 | paper, Table 5 |  |  | 16 | 360 | 180 | 540 | 2 | 141 |  |  |" in lines
    assert "| InspiRING | 10, 28, 6 | paper, Table 5 |  |  | 14 | 60ˣ | 32ˣ | 92 | 2.4 | 16 |  |  |" in lines
    assert "| InspiRING | 10, 28, 6 | here |  |  | *no experiment of this run has this configuration* |" in text
    assert "| CDKS | 11, 56, 15 | paper, Table 5 |  |  | 56 | 462 | 56 | 518 | 11 | 56 | 38.5 |  |" in lines
    ours = next(line for line in lines if "here, InspiRING, unsigned digits" in line)
    assert ours.endswith("| 56.0 | 84.0 | 56.0 | 140 | 0.502 | 30.1 | 33.5 | 32.5 |"), ours
    assert next(line for line in lines if "4 clients together" in line).endswith("| 30.1 | 33.5 | 32.5 |")
    assert "InspiRING, all online, unsigned digits" in lines[-1], "what no column has stands last"
    assert len(table.data) == 4 + 4 and table.data["noise_max_log2"].notna().sum() == 4
    assert "X15, Table 5" in text and "X14, section 7.4" in text
    assert "| here, CDKS, unsigned digits†‡ | 121.3† | -18‡ | 56.0 |" in text
    assert "| here, InspiRING, unsigned digits† | 121.3† | below -4096 | 56.0 |" in text
    assert "† below 128-bit security (4 sets of packing 121.3 bit)." in text
    assert "‡ failure bound above 2^-40 (packing cdks-preprocessed-2048-unsigned-1 up to 2^-18.2)." in text
    own = table.data[table.data["source"] == "here"]
    assert own["security_bits"].eq(121.3).all() and own["marks"].str.contains("insecure").all()
    alone = inspire_packing.table(primitives.load([tmp_path / "records"]), expected, contradictions).markdown()
    assert "| here, CDKS, unsigned digits? | unknown? | not predicted |" in alone and "? security unknown" in alone
    arguments = ["--records", str(tmp_path / "records"), "--expected", str(EXPECTED), "--out", str(tmp_path / "t")]
    assert main(["table", "inspire-table5", *arguments]) == 0


def test_figure1_has_the_papers_points_and_ours(found, expected):
    data = inspire_figure1.build(found, expected)
    paper = data[data["source"] == "paper"]
    assert len(paper[paper["entries"] == "2"]) == 14 and len(paper[paper["entries"] == "4"]) == 9
    ours = data[(data["source"] == "here") & data["server_s"].notna()]
    assert len(ours) == 12 + 7
    without = f"Without a number of ours: KSPIR, HintlessPIR ({inspire_tables.NOT_PLANNED})."
    assert inspire_figure1.missing_text(data) == without, "these records have none of it"
    [axes] = inspire_figure1.draw(data).axes
    lines = [line for line in axes.lines if len(line.get_xdata())]
    assert len(lines) == 7 + 4 + 5 + 2, "one a protocol, kind of entries and source"


def test_figures_without_records_are_the_papers_alone(tmp_path, expected):
    found = load(tmp_path, [])
    data = inspire_figure1.build(found, expected)
    assert data[data["source"] == "here"]["server_s"].isna().all()
    assert inspire_tables.NOT_PLANNED in inspire_figure1.missing_text(data)
    for which in "23":
        data = inspire_breakdown.build(found, expected, which)
        assert set(data[data["value"].notna()]["source"]) == {"paper"}
        inspire_breakdown.draw(data, which)


@pytest.mark.parametrize(("which", "bars"), [("2", 12), ("3", 16)])
def test_parts_add_up_to_the_total(found, expected, which, bars):
    data = inspire_breakdown.build(found, expected, which)
    assert data[["source", "record_bits", "first"]].drop_duplicates().shape[0] == 2 * bars
    for source, own in data[data["unit"] == "s"].groupby("source"):
        sums = own.groupby(["record_bits", "first"])["value"].sum()
        totals = own.groupby(["record_bits", "first"])["server_s"].first()
        if source == "here":
            assert sums.to_list() == pytest.approx(totals.to_list())
        else:
            # X25: some of the paper's parts exceed their total.
            assert (sums >= totals * 0.999).all()
    paper = data[(data["source"] == "paper") & (data["unit"] == "B")]
    assert paper["value"].min() >= 12 * KIB


@pytest.mark.parametrize(
    "command",
    [
        *(f"table {name}" for name in TABLES if name.startswith("inspire-table") and name != "inspire-table5"),
        *(name for name in FIGURES if name.startswith("inspire-")),
    ],
)
def test_drawings_from_the_command_line(folder, tmp_path, command, capsys, declared):
    arguments = ["--records", str(folder / "records"), "--predictions", str(folder / "predictions.json")]
    arguments += ["--expected", str(EXPECTED), "--out", str(tmp_path / "d")]
    assert main([*command.split(), *arguments]) == 0, capsys.readouterr().err
    texts = ("html", "tex") if command.startswith("table") else ()
    for end in ("csv", "caption.rst", *(("md", *texts) if texts else ("pdf", "svg", "png"))):
        assert (tmp_path / f"d.{end}").stat().st_size > 100
    assert not any("InsPIRe_0" in (tmp_path / f"d.{end}").read_text() for end in texts)


def test_the_papers_numbers_are_needed(folder, tmp_path, capsys):
    arguments = ["--records", str(folder / "records"), "--out", str(tmp_path / "t")]
    assert main(["table", "inspire-table9", *arguments]) == 2
    assert "--expected" in capsys.readouterr().err


def test_predictions_of_one_row_in_two_files_do_not_double_it(folder, tmp_path, declared):
    twice = tmp_path / "again.json"
    twice.write_text(json.dumps(json.loads((folder / "predictions.json").read_text())))
    arguments = ["--records", str(folder / "records"), "--predictions", str(folder / "predictions.json"), str(twice)]
    assert main(["table", "inspire-table9", *arguments, "--expected", str(EXPECTED), "--out", str(tmp_path / "t")]) == 0
    frame = pd.read_csv(tmp_path / "t.csv")
    assert not frame[frame["record_id"].notna()].duplicated(["record_id", "metric"]).any()
