"""The gallery: figures and tables from synthetic records whose right numbers are known."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
import synthetic
from pirlab_figures.lib import cells, marks, units
from pirlab_figures.lib import frame as loader
from pirlab_figures.lib.table import Cell, tex_escape
from pirlab_figures.pirouette import figure4, figure4_caption, figure4_table
from pirlab_figures.runs import accuracy, comparison
from pirlab_figures.security import instances as security


@pytest.fixture(scope="module")
def data(sweep: Path, expected: pd.DataFrame) -> figure4.Figure4:
    predictions = loader.load_predictions(sweep / "predictions.json")
    joined = loader.join(loader.load_records(sweep / "records"), predictions, {})
    return figure4.build(loader.rows(joined, predictions), expected)


def value(data: figure4.Figure4, name: str, records: int, bits: int, metric: str) -> float:
    points = data.points
    hit = points[(points["set"] == name) & (points["records"] == records) & (points["record_bits"] == bits)]
    return hit[hit["metric"] == metric]["value"].item()


def test_measured_points_have_the_formulas_sizes(data: figure4.Figure4) -> None:
    """2^22 x 256 bit: 10665 x 10619 entries (facts: 41.7 MB hint, 41.5 KB query, 41.7 KB answer)."""
    place = ("simplepir/usenix23", 2**22, 256)
    assert value(data, *place, "offline_comm") == pytest.approx((4 * 10665 * 1024 + 16) / 2**20)
    assert value(data, *place, "query_size") == pytest.approx(4 * 10619 / 1024)
    assert value(data, *place, "response_size") == pytest.approx(4 * 10665 / 1024)


def test_throughput_is_information_over_the_median_answer(tmp_path: Path, expected: pd.DataFrame) -> None:
    record = synthetic.run_record("simplepir/usenix23", 2**20, 256)
    for phase in record["phases"]:
        if phase["name"] == "answer":
            phase["seconds"] = [9.0, 1.0, 2.0, 1.5, 4.0]
    joined, _ = synthetic.load(tmp_path, [record])
    built = figure4.build(loader.rows(joined, loader.load_predictions(None)), expected)
    assert value(built, "simplepir/usenix23", 2**20, 256, "throughput") == pytest.approx(2**25 / 2.0 / 2**30)
    assert joined["answer_q1_s"].item() == 1.5 and joined["answer_q3_s"].item() == 4.0
    assert "spread" in marks.marks_of(joined.to_dict("records")[0])


def test_paper_points_are_only_those_that_exist(data: figure4.Figure4) -> None:
    """Table 7: three databases, four quantities, two series; the text: four runtimes at 2^22 x 256 bit; the figure
    itself: what is left of twelve shapes, of Pirouette times and offline communication alone."""
    paper = data.paper()
    graphic = paper[paper["reference"].str.startswith("Figure 4")]
    counts = graphic.groupby(["set", "metric"]).size().to_dict()
    for name, times in (("Spiral", 11), ("SimplePIR", 5)):
        assert [counts[name, metric.key] for metric in figure4.METRICS] == [12, 12, 12, times]
    for name in ("Pirouette", "PirouetteH"):
        assert counts[name, "offline_comm"] == 10 and counts[name, "throughput"] == 9
    assert len(graphic) == 47 + 41 + 2 * 19
    paper = paper.drop(graphic.index)
    assert len(paper) == 2 * 3 * 4 + 4
    assert set(paper["set"]) == {"Pirouette", "PirouetteH", "Spiral", "SimplePIR"}
    assert set(zip(paper["records"], paper["record_bits"])) == {(2**22, 256), *((2**n, 2048) for n in (20, 22, 25))}
    hit = paper[(paper["set"] == "SimplePIR")]
    assert hit["value"].item() == pytest.approx(2**27 / 0.020 / 2**30)
    printed = paper[(paper["set"] == "Pirouette") & (paper["records"] == 2**20)].set_index("metric")
    assert printed.loc["offline_comm", "value"] == pytest.approx(1.2 * 1024)  # 1.2 GB, binary, in MiB
    assert printed.loc["query_size", "value_base"] == 36
    assert printed.loc["throughput", "value_base"] == 13 * 2**20


def test_skipped_and_wrong_records_have_no_number(tmp_path: Path, expected: pd.DataFrame) -> None:
    wrong = synthetic.run_record("simplepir/usenix23", 2**18, 16, status="wrong")
    wrong["correct"] = {"compared": 8, "right": 7}
    failed = synthetic.run_record("doublepir/usenix23", 2**18, 16, status="failed", reason="no memory | in_time")
    skipped = synthetic.run_record("doublepir/secure-n1088", 2**25, 2048)
    assert skipped["status"] == "skipped_memory"
    joined, predictions = synthetic.load(tmp_path, [wrong, failed, skipped])
    assert joined[loader.MEASURED].isna().all().all()
    built = figure4.build(loader.rows(joined, predictions), expected)
    assert built.ours().empty
    table = comparison.build(loader.rows(joined, predictions), expected)
    assert table.data[["answer_s", "upload_bytes", "throughput_bytes_per_s"]].isna().all().all()
    text = table.markdown()
    assert "WRONG ANSWER: 7 of 8 records right" in text
    assert "skipped, memory: needs" in text and "no memory \\| in_time" in text
    row = next(line for line in text.splitlines() if "WRONG" in line)
    assert row.count("|") == len(table.columns) + 2, "and the column of records"
    assert not re.search(r"\| [\d.]+ \| [\d.]+ \|$", row)
    assert "no memory | in\\_time" in table.tex()
    caption = figure4_caption.caption(built)
    assert "No measured record" in caption and "7 of 8 records right" in caption


def test_missing_points_are_named(tmp_path: Path, expected: pd.DataFrame) -> None:
    joined, _ = synthetic.load(tmp_path, synthetic.sweep((18,)))
    missing = figure4_caption.missing_points(
        figure4.build(loader.rows(joined, loader.load_predictions(None)), expected)
    )
    assert set(missing) == {figure4_caption.NOT_PLANNED}
    assert {(n, b) for _, n, b in missing[figure4_caption.NOT_PLANNED]} == {
        (2**n, b) for n in (22, 25) for b in figure4.RECORD_SIZES
    }
    caption = figure4_caption.caption(figure4.build(loader.rows(joined, loader.load_predictions(None)), expected))
    for name in ("SimplePIR usenix23", "DoublePIR secure-n1088"):
        assert f"{name} at 2^22 x 16 bit, 2^22 x 64 bit, 2^22 x 256 bit, 2^22 x 2048 bit, 2^25 x 16 bit" in caption
    assert "Of the 48 points of each of its series those exist: Pirouette" in caption and "Spiral 48" in caption


def test_the_comparison_is_a_block_a_database_and_names_who_is_absent(tmp_path: Path, expected: pd.DataFrame) -> None:
    names = ("simplepir/usenix23", "doublepir/usenix23")
    documents = [synthetic.run_record(name, 2**18, bits) for name in names for bits in (16, 64)][:3]
    joined, predictions = synthetic.load(tmp_path, documents)
    table = comparison.build(loader.rows(joined, predictions), expected)
    shown = [(row.cells["database"].text, row.cells["series"].text) for row in table.rows]
    assert [place for place, _ in shown] == sorted(place for place, _ in shown) and len(shown) == 3
    assert "Without a row, since the experiment has none there: DoublePIR at 2^18 x 64 bit." in table.notes


def test_the_note_of_absent_rows_is_short() -> None:
    shown = [("spiral", 1), ("respire", 1), ("depir", 1), ("spiral", 2), ("respire", 2), ("depir", 3), ("depir", 4)]
    rows = [{"protocol": name, "records": 2**18, "record_bits": bits} for name, bits in shown]
    assert comparison.absent(rows) == (
        "Without a row, since the experiment has none there: DEPIR at 2^18 x 2 bit; "
        "all but DEPIR at 2^18 x 3 bit, 2^18 x 4 bit."
    )
    assert comparison.absent(rows[:3]) == ""


@pytest.mark.parametrize(("bits", "log2"), [(128.0, -40.0), (127.9, -40.0), (128.0, -39.9), (None, None)])
def test_a_target_is_met_exactly_or_marked_at_its_cell(bits: float | None, log2: float | None) -> None:
    row = {"security_bits": bits, "failure_log2": log2}
    insecure, failing = (bits or 128) < 128, (log2 or -40) > -40
    assert (marks.insecure(row), marks.failing(row), marks.unknown(row)) == (insecure, failing, bits is None)
    symbol = "insecure" if insecure else "unknown" if bits is None else ""
    assert cells.security(row).marks == marks.SYMBOLS.get(symbol, "")
    assert cells.failure(row).marks == (marks.SYMBOLS["failing"] if failing else "")


def test_marks_carry_their_figures(tmp_path: Path, expected: pd.DataFrame) -> None:
    old = synthetic.run_record("simplepir/usenix23", 2**18, 16, seed="00", streamed=True)
    old["build"]["dirty"] = True
    fresh = synthetic.run_record("simplepir/secure-n1088", 2**18, 16)
    joined, predictions = synthetic.load(tmp_path, [old, fresh], {old["id"]: ""})
    joined.loc[joined["set"] == "simplepir/secure-n1088", "failure_log2"] = -31.25
    rows = {row["set"]: row for row in loader.dicts(joined)}
    assert marks.marks_of(rows["simplepir/usenix23"]) == ["insecure", "stale", "streamed", "seeded", "dirty"]
    assert marks.marks_of(rows["simplepir/secure-n1088"]) == ["failing"]
    text = comparison.build(loader.rows(joined, predictions), expected).markdown()
    assert "† below 128-bit security (SimplePIR usenix23 121.5 bit)" in text
    assert "‡ failure bound above 2^-40 (SimplePIR secure-n1088 up to 2^-31.2)" in text
    assert "1 measured on 2026-11-20" in text
    assert "| SimplePIR usenix23†§¶ˢᵘ | 121.5† |" in text


def test_every_table_says_how_secure_its_sets_are(tmp_path: Path, expected: pd.DataFrame) -> None:
    """Least bits in a column; the weakest of the sets that reach their target in the notes, as far as it is known."""
    records = [synthetic.run_record(f"simplepir/{name}", 2**18, 16) for name in ("usenix23", "secure-n1088")]
    predictions = list(map(synthetic.prediction, records))
    predictions[1]["security"][0]["source"] = "fast_only"
    joined, predicted = synthetic.load(tmp_path, records, predictions=predictions)
    data = figure4.build(loader.rows(joined, predicted), expected)
    shown = {
        "comparison": comparison.build(loader.rows(joined, predicted), expected),
        "figure4": figure4_table.build(data),
        "accuracy": accuracy.table(accuracy.build(joined), joined),
    }
    for name, table in shown.items():
        text = table.markdown()
        assert "target, SimplePIR secure-n1088 has the least: 129.4 bits (query, bdd, fast only)." in text, name
        if name != "accuracy":
            assert "| SimplePIR usenix23† | " in text and " 121.5† |" in text, name
            assert "| SimplePIR secure-n1088° | " in text and " 129.4° |" in text, name
            assert "° security by the fast model only; `make confirm`" in text, name
            assert r"\num{129.4}$^{\circ}$" in table.tex(), name
    assert "129.4 bits (query, bdd, fast only)" in figure4_caption.caption(data)
    rows = [row | {"security": [*row["security"], {"instance": "key", "bits": None}]} for row in loader.dicts(joined)]
    assert not marks.weakest(rows), "a set with an unknown key is not said to reach its target"


def test_unknown_security_is_marked(tmp_path: Path, expected: pd.DataFrame) -> None:
    """Neither a record without a prediction nor a prediction without a figure passes for a secure set."""
    bare, empty = (synthetic.run_record(f"{name}/usenix23", 2**18, 16) for name in ("simplepir", "doublepir"))
    prediction = synthetic.prediction(empty)
    prediction["security_bits"] = prediction["security"][0]["bits"] = None
    joined, predicted = synthetic.load(tmp_path, [bare, empty], predictions=[prediction])
    assert [marks.marks_of(row) for row in loader.dicts(joined)] == [["unknown"], ["unknown"]]
    table = comparison.build(loader.rows(joined, predicted), expected)
    note = "security unknown: no estimate for this parameter file (SimplePIR usenix23; DoublePIR usenix23)"
    assert f"? {note}" in table.markdown() and "| SimplePIR usenix23? | unknown? |" in table.markdown()
    assert note.replace("SimplePIR", r"\SimplePIR{}").replace("DoublePIR", r"\DoublePIR{}") in table.tex()
    assert "$^{?}$" in table.tex()
    data = figure4.build(loader.rows(joined, predicted), expected)
    assert "? security unknown" in figure4_caption.caption(data)
    from pirlab_figures.pirouette.figure4_plot import draw

    labels = [text.get_text() for legend in draw(data).legends for text in legend.get_texts()]
    assert {"SimplePIR usenix23?", "DoublePIR usenix23?"} <= set(labels)
    text = security.build(predicted, joined).markdown()
    assert "| unknown? |" in text and "? security unknown" in text


def test_stale_records_of_an_edited_parameter_file_keep_their_marks(tmp_path: Path, expected: pd.DataFrame) -> None:
    now = synthetic.run_record("simplepir/usenix23", 2**18, 16)
    old = now | {"parameters": now["parameters"] | {"sha256": "0" * 64}}
    predictions = [synthetic.prediction(now)]
    stale, predicted = synthetic.load(tmp_path, [old], {old["id"]: "2026-11-01"}, predictions)
    assert marks.marks_of(loader.dicts(stale)[0]) == ["insecure", "stale"]
    assert accuracy.build(stale).empty, "another file's prediction is not a twin"
    text = comparison.build(loader.rows(stale, predicted), expected).markdown()
    assert (
        "(SimplePIR usenix23 121.5 bit)" in text
        and "failure is that of today's file (1 measured on 2026-11-01)" in text
    )
    fresh, _ = synthetic.load(tmp_path, [old], predictions=predictions)
    assert marks.marks_of(loader.dicts(fresh)[0]) == ["unknown"], "only of stale ones"


def test_printed_numbers_are_found_by_the_protocol_they_are_of(expected: pd.DataFrame) -> None:
    """Also where the paper writes its name in another way."""
    row = {"records": 2**20, "record_bits": 2048, "protocol": "pirouette_h"}
    found = comparison.paper_numbers(row, expected)
    assert found["offline_comm"] == (650 * 1024**2, "pirouette table 7") and "server_time" in found


@pytest.mark.parametrize(
    ("reason", "remark"),
    [
        ("changed", ")"),
        ("threads", " on another number of threads, nothing else changed)"),
        ("orphan", ", whose row is no longer in any experiment file)"),
    ],
)
@pytest.mark.parametrize("date", ["", "2026-11-20"])
def test_tables_say_why_a_record_is_stale(
    reason: str, remark: str, date: str, tmp_path: Path, expected: pd.DataFrame
) -> None:
    record = synthetic.run_record("simplepir/usenix23", 2**18, 16)
    path = tmp_path / "stale.json"
    path.write_text(
        json.dumps([{"record": f"{record['experiment']}/{record['id']}.json", "reason": reason, "date": date}])
    )
    joined, predictions = synthetic.load(tmp_path, [record], loader.load_stale(path))
    text = comparison.build(loader.rows(joined, predictions), expected).markdown()
    assert f"1 measured on 2026-11-20{remark}" in text


def test_few_noise_samples_are_labelled(tmp_path: Path) -> None:
    record = synthetic.run_record("simplepir/usenix23", 2**18, 16)
    record["noise"][0]["samples"] = 600
    joined, _ = synthetic.load(tmp_path, [record])
    frame = accuracy.build(joined)
    assert frame[frame["kind"] == "noise"]["note"].tolist() == ["few samples: 600"]
    assert "few samples: 600" in accuracy.table(frame, joined).markdown()


def test_comparison_has_the_papers_number_beside_ours(tmp_path: Path, expected: pd.DataFrame) -> None:
    joined, predictions = synthetic.load(tmp_path, [synthetic.run_record("simplepir/usenix23", 2**22, 256)])
    table = comparison.build(loader.rows(joined, predictions), expected)
    row = table.data.iloc[0]
    assert row["paper_answer_s"] == pytest.approx(0.020)
    assert row["paper_reference"] == "pirouette figure 4; pirouette text"
    assert row["record_id"].startswith("synthetic-") and row["bandwidth_share"] == pytest.approx(
        joined["answer_read_bytes_per_s"].item() / joined["read_bandwidth"].item()
    )
    assert "answer 20.0 ms (" in table.markdown()


def test_a_row_that_is_not_described_says_that_it_was_not_measured(tmp_path: Path, expected: pd.DataFrame) -> None:
    documents = [synthetic.run_record("simplepir/usenix23", 2**n, 256) for n in (18, 22)]
    joined, predictions = synthetic.load(tmp_path, documents)
    table = comparison.build(loader.rows(joined[joined["records"] == 2**18], predictions), expected)
    assert [row.status for row in table.rows] == [None, loader.NOT_MEASURED]
    assert table.data["answer_s"].notna().tolist() == [True, False]
    assert table.data["marks"].tolist() == ["insecure", "insecure"]


def test_security_table(tmp_path: Path) -> None:
    joined, predictions = synthetic.load(tmp_path, synthetic.sweep((18,), (16, 64)))
    table = security.build(predictions, joined)
    assert table.data.set_index("set")["bits"].to_dict() == {n: s["bits"] for n, s in synthetic.SETS.items()}
    assert table.data.set_index("set")["below_target"].to_dict() == {
        n: s["bits"] < 128 for n, s in synthetic.SETS.items()
    }
    assert set(table.data["shapes"]) == {2} and set(table.data["source"]) == {"recorded"}
    assert "| 121.5† |" in table.markdown() and "arora-gb: needs more memory" in table.markdown()
    # Of sets that were only predicted, descriptions tell the parameters.
    described = {(row["sha256"], 1, 1): row["description"] for row in joined.to_dict("records")}
    predicted = security.build(predictions, joined.iloc[:0], described)
    assert (predicted.data["dimension"] == table.data["dimension"]).all() and predicted.data["record_id"].isna().all()


def test_what_an_instance_has_at_least_is_not_a_figure(tmp_path: Path) -> None:
    joined, predictions = synthetic.load(tmp_path, [synthetic.run_record("doublepir/usenix23", 2**18, 16)])
    bound = {"bits": 480, "attack": None, "attacks": {}, "source": "fast_only", "at_least": True}
    predictions["security"] = [[entry | bound for entry in entries] for entries in predictions["security"]]
    table = security.build(predictions, joined)
    assert "| at least 480° |" in table.markdown() and table.data["at_least"].tolist() == [True]
    bounds = predictions["security"]
    rows = [row | {"security": own, "security_bits": 480} for row, own in zip(loader.dicts(joined), bounds)]
    assert re.search(r"has the least: at least 480 bits \(\w+, fast only\)", marks.weakest(rows))


def test_accuracy_twins_and_verdicts(tmp_path: Path) -> None:
    good, bad, wrong = (synthetic.run_record("simplepir/usenix23", 2**n, 16) for n in (18, 20, 22))
    bad["transcript"] = [m | {"payload_bytes": m["payload_bytes"] + 4} for m in bad["transcript"]]
    bad["noise"][0]["stddev"] *= 2
    for key in ("peak_bytes", "peak_anonymous_bytes"):
        bad["memory"][key] *= 2
    answer = next(phase for phase in bad["phases"] if phase["name"] == "answer")
    answer["seconds"] = [2 * seconds for seconds in answer["seconds"]]
    wrong["status"], wrong["correct"] = "wrong", {"compared": 2, "right": 1}
    joined, _ = synthetic.load(tmp_path, [good, bad, wrong])
    frame = accuracy.build(joined)
    assert set(frame["records"]) == {2**18, 2**20}
    judged = (frame["kind"] != "seconds") | (frame["quantity"] == "answer")
    assert set(frame[~judged]["verdict"]) == {"shown"}
    twins = frame[judged].set_index(["records", "quantity"])
    for quantity in ("offline hint", "peak memory", "noise stddev answer", "answer"):
        assert twins.loc[(2**18, quantity), "verdict"] == "agrees"
        assert twins.loc[(2**20, quantity), "verdict"] == "DIFFERS"
    assert twins.loc[(2**18, "offline hint"), "ratio"] == 1
    table = accuracy.table(frame, joined)
    assert set(frame["security_bits"]) == {synthetic.SETS["simplepir/usenix23"]["bits"]}
    assert set(frame["marks"]) == {"insecure"} and "SimplePIR usenix23†" in table.markdown()
    assert [mark.key for mark, _ in table.footnotes] == ["insecure"]
    summary = accuracy.summary(frame)
    assert "3 outside tolerance" in summary and "1 of 2 judged outside tolerance" in summary


def test_the_newest_record_of_a_row_counts(tmp_path: Path) -> None:
    old = synthetic.run_record("simplepir/usenix23", 2**18, 16, id="old", finished="2026-01-01T00:00:00Z")
    new = synthetic.run_record("simplepir/usenix23", 2**18, 16, id="new")
    joined, _ = synthetic.load(tmp_path, [new, old])
    assert joined["id"].tolist() == ["new"]


def test_stale_records_are_listed_by_path(tmp_path: Path) -> None:
    path = tmp_path / "stale.json"
    path.write_text(json.dumps([{"record": "results/records/a/b/c/x.json", "date": "2026-11-01", "reason": "changed"}]))
    assert loader.load_stale(path) == {"results/records/a/b/c/x.json": "2026-11-01"}
    assert loader.load_stale(None) == {}


def test_units() -> None:
    assert units.paper_bytes("pirouette", "7", "GB") == 2**30
    assert units.paper_bytes("pirana-gbfv", "2.1", "MB") == 10**6
    assert units.paper_bytes("pirouette", "7", "x") is None
    assert units.SECONDS["ms"] == 1e-3
    assert [units.significant(v) for v in (9.999, 0.0123456, 123456.0, 0.0, 1e-9)] == [
        "10.0", "0.0123", "123456", "0", "0.00000000100",
    ]  # fmt: skip
    assert units.human_bytes(123_604) == "120.7 KiB" and units.human_seconds(0.0712) == "71.2 ms"
    assert units.shape_text(2**22, 256) == "2^22 x 256 bit" and units.shape_text(1000, 8 * 102400) == "1000 x 100 KiB"


def test_latex_escapes() -> None:
    assert tex_escape("50 % of a_b & 2^-40 #1 {x}") == r"50 \% of a\_b \& $2^{-40}$ \#1 \{x\}"
    assert tex_escape("\\~^") == r"\textbackslash{}\textasciitilde{}\textasciicircum{}"
    assert Cell("121.5", "†§").tex() == r"\num{121.5}$^{\dagger,\S}$"
    assert Cell("2^22 x 256 bit").tex() == r"$2^{22}$ $\times$ 256 bit"
    assert Cell("SimplePIR a_b").tex() == r"\SimplePIR{} a\_b"
