"""The gallery: figures and tables from synthetic records whose right numbers are known."""

from __future__ import annotations

import csv
import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest
from pirlab_figures.cli import main
from pirlab_figures.lib import cells, marks, units
from pirlab_figures.lib import frame as loader
from pirlab_figures.lib.table import Cell, tex_escape
from pirlab_figures.pirouette import figure4, figure4_caption, figure4_table
from pirlab_figures.runs import accuracy, comparison
from pirlab_figures.security import instances as security
from pirlab_workflow.experiments import read_profile
from pirlab_workflow.plan import Plan

ROOT = Path(__file__).resolve().parents[2]
EXPECTED = ROOT / "experiments" / "expected"


def _synthetic() -> ModuleType:
    spec = importlib.util.spec_from_file_location("synthetic", ROOT / "tests" / "fixtures" / "synthetic.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


synthetic = _synthetic()


def load(folder: Path, documents: list[dict], stale: dict | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Joined records and predictions of written documents."""
    records, predictions = synthetic.write(folder, documents)
    foretold = loader.load_predictions(predictions)
    return loader.join(loader.load_records(records), foretold, stale or {}), foretold


@pytest.fixture(scope="module")
def expected() -> pd.DataFrame:
    return loader.load_expected(EXPECTED)


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep")
    synthetic.write(folder, synthetic.sweep())
    return folder


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
    joined, _ = load(tmp_path, [record])
    built = figure4.build(loader.rows(joined, loader.load_predictions(None)), expected)
    assert value(built, "simplepir/usenix23", 2**20, 256, "throughput") == pytest.approx(2**25 / 2.0 / 2**30)
    assert joined["answer_q1_s"].item() == 1.5 and joined["answer_q3_s"].item() == 4.0
    assert "spread" in marks.marks_of(joined.to_dict("records")[0])


def test_paper_points_are_only_those_that_exist(data: figure4.Figure4) -> None:
    """Table 7: three databases, four quantities, two series; the text: four runtimes at 2^22 x 256 bit; the graphic:
    times of two series at the shapes that are left."""
    paper = data.paper()
    graphic = paper[paper["reference"].str.startswith("Figure 4")]
    assert len(graphic) == 2 * (3 * 4 - 3)
    assert set(graphic["metric"]) == {"throughput"} and (2**22, 256) not in set(
        zip(graphic["records"], graphic["record_bits"])
    )
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
    joined, predictions = load(tmp_path, [wrong, failed, skipped])
    assert joined[loader.MEASURED].isna().all().all()
    built = figure4.build(loader.rows(joined, predictions), expected)
    assert built.ours().empty
    table = comparison.build(loader.rows(joined, predictions), expected)
    assert table.data[["answer_s", "upload_bytes", "throughput_bytes_per_s"]].isna().all().all()
    text = table.markdown()
    assert "WRONG ANSWER: 7 of 8 records right" in text
    assert "skipped, memory: needs" in text and "no memory \\| in_time" in text
    row = next(line for line in text.splitlines() if "WRONG" in line)
    assert row.count("|") == len(table.columns) + 1 and not re.search(r"\| [\d.]+ \| [\d.]+ \|$", row)
    assert "no memory | in\\_time" in table.tex()
    caption = figure4_caption.caption(built)
    assert "No measured record" in caption and "7 of 8 records right" in caption


def test_missing_points_are_named(tmp_path: Path, expected: pd.DataFrame) -> None:
    joined, _ = load(tmp_path, synthetic.sweep((18,)))
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
    assert "Of the 48 points of each of its series those exist: Pirouette" in caption and "Spiral 1" in caption


def partly_measured(folder: Path, error: str = "") -> tuple[list[dict], list[dict]]:
    """Documents of a set at two shapes, and rows where the second has no record."""
    documents = [synthetic.run_record("simplepir/usenix23", 2**n, 256) for n in (18, 22)]
    joined, predictions = load(folder, documents)
    described = {(d["parameters"]["sha256"], d["database"]["records"], 256): d["description"] for d in documents}
    return documents, loader.rows(joined[joined["records"] == 2**18], predictions, described, error)


def test_a_row_without_a_record_has_described_sizes_and_predicted_seconds(tmp_path: Path) -> None:
    documents, [measured, predicted] = partly_measured(tmp_path)
    assert (measured["status"], predicted["status"]) == ("ok", "predicted")
    seconds = synthetic.prediction(documents[1])["seconds"]
    assert (
        predicted["answer_s"] == seconds["answer"] and predicted["preprocess_s"] == seconds["encode"] + seconds["hint"]
    )
    assert predicted["throughput_bytes_per_s"] == 2**27 / seconds["answer"]
    sent = {message["name"]: message["payload_bytes"] for message in documents[1]["transcript"]}
    sizes = [predicted[key] for key in ("offline_bytes", "upload_bytes", "download_bytes")]
    assert sizes == [sent["hint"], sent["query"], sent["answer"]], "what a run sends"
    assert pd.isna(predicted["compared"]) and pd.isna(predicted["answer_q1_s"]), "nothing was compared or timed"


def test_no_prediction_takes_the_place_of_a_record(tmp_path: Path) -> None:
    """Whatever its status: a row that was measured shows what was measured, one that was skipped says why."""
    documents = [synthetic.run_record("simplepir/usenix23", 2**n, 256) for n in (18, 22)]
    documents[1] |= {"status": "skipped_time", "reason": "would take an hour", "phases": [], "transcript": []}
    joined, predictions = load(tmp_path, documents)
    described = {(d["parameters"]["sha256"], d["database"]["records"], 256): d["description"] for d in documents}
    rows = loader.rows(joined, predictions, described)
    assert [row["status"] for row in rows] == ["ok", "skipped_time"] and pd.isna(rows[1]["answer_s"])
    assert rows[0]["answer_s"] == joined["answer_s"][0]


def test_predictions_are_marked_with_the_error_of_the_cost_model(tmp_path: Path, expected: pd.DataFrame) -> None:
    """At the row and at each number; the footnote says whose unit costs they are and how far off."""
    _, rows = partly_measured(tmp_path, "off by a tenth")
    table = comparison.build(rows, expected)
    measured, predicted = table.rows
    assert all(not set("ᶜᵈ") & set(cell.marks) for cell in measured.cells.values())
    for key in ("series", "preprocess", "answer", "throughput"):
        assert "ᶜ" in predicted.cells[key].marks, key
    for key in ("offline", "upload", "download", "memory"):
        assert predicted.cells[key].marks == "ᵈ", key
    assert predicted.status is None and predicted.record_id == "" and predicted.cells["quartiles"].text == ""
    machine = rows[0]["cpu"]
    assert f"not measured in this profile (unit costs of {machine}; off by a tenth)." in table.markdown()
    assert table.data["marks"].tolist() == ["insecure", "insecure predicted"]
    assert "answer 20.0 ms (" in table.markdown() and "ᶜ), pirouette text" in table.markdown()
    data = figure4.build(rows, expected)
    assert set(zip(data.ours()["source"], data.ours()["records"])) == {("measured", 2**18), ("predicted", 2**22)}
    assert "ᶜ predicted by the cost model" in figure4_caption.caption(data)
    [shown] = [row for row in figure4_table.build(data).rows if row.cells["source"].text == "predicted"]
    assert {shown.cells[key].marks for key in ("offline_comm", "query_size", "response_size")} == {"ᵈ"}
    assert shown.cells["throughput"].marks == "ᶜ"


def test_the_error_is_that_of_the_answers_in_the_accuracy_tables(tmp_path: Path) -> None:
    lines = ["quantity,ratio,verdict", "answer,1.2,agrees", "answer,0.5,DIFFERS", "answer,9,shown", "hint,7,shown"]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    (tmp_path / "b.csv").write_text("\n".join([lines[0], "answer,1.0,agrees"]))
    text = loader.model_error([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert text.startswith("of 3 answers that were measured, 2 took within 25 % of their prediction")
    assert text.endswith("measured over predicted 0.50 to 1.20, median 1.00")
    assert loader.model_error([]) == "no measured answer of this run judges the cost model"


@pytest.mark.parametrize("profile", ["tiny", "quick", "laptop", "paper"])
def test_what_a_profile_measures_is_never_predicted_elsewhere(profile: str) -> None:
    """A set at a shape that one experiment measures has its record in every drawing that shows it."""
    plan = Plan(read_profile(profile))
    keys = ("parameters", "with", "records", "record_bits", "queries")
    places: dict[str, list[tuple[str, bool]]] = {}
    for group in plan.groups.values():
        for row in group.rows if group.kind == "protocol" else ():
            asked = row.asked | row.request(group.options)
            place = json.dumps([asked.get(key) for key in keys])
            places.setdefault(place, []).append((group.experiment, group.measured))
    for name in plan.experiments:
        shown = plan.shown(name)
        for place, rows in places.items():
            own = [measured for experiment, measured in rows if experiment in shown]
            if own and not any(own):
                assert not any(measured for _, measured in rows), f"{name} predicts {place}"


def test_the_comparison_is_a_block_a_database_and_names_who_is_absent(tmp_path: Path, expected: pd.DataFrame) -> None:
    names = ("simplepir/usenix23", "doublepir/usenix23")
    documents = [synthetic.run_record(name, 2**18, bits) for name in names for bits in (16, 64)][:3]
    joined, predictions = load(tmp_path, documents)
    table = comparison.build(loader.rows(joined, predictions), expected)
    shown = [(row.cells["database"].text, row.cells["series"].text) for row in table.rows]
    assert [place for place, _ in shown] == sorted(place for place, _ in shown) and len(shown) == 3
    assert "Without a row, since the experiment has none there: DoublePIR at 2^18 x 64 bit." in table.notes


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
    joined, predictions = load(tmp_path, [old, fresh], {old["id"]: ""})
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
    """Least bits in a column, and each key and ciphertext in the notes; a fast model's figure is marked."""
    plain = synthetic.run_record("simplepir/usenix23", 2**18, 16)
    fast = synthetic.run_record("simplepir/secure-n1088", 2**18, 16)
    records, predictions = synthetic.write(tmp_path, [plain, fast])
    documents = [synthetic.prediction(plain), synthetic.prediction(fast)]
    documents[1]["security"][0]["source"] = "fast_only"
    documents[1]["security"].append({"instance": "switching_key", "bits": None})
    predictions.write_text(json.dumps(documents))
    foretold = loader.load_predictions(predictions)
    joined = loader.join(loader.load_records(records), foretold, {})
    data = figure4.build(loader.rows(joined, foretold), expected)
    shown = {
        "comparison": comparison.build(loader.rows(joined, foretold), expected),
        "figure4": figure4_table.build(data),
        "accuracy": accuracy.table(accuracy.build(joined), joined),
    }
    for name, table in shown.items():
        text = table.markdown()
        assert "Security in bits of every key and ciphertext an attacker sees" in text, name
        assert "SimplePIR usenix23: query 121.5 (bdd, recorded)" in text, name
        assert "SimplePIR secure-n1088: query 129.4 (bdd, fast only), switching key unknown" in text, name
        if name != "accuracy":
            assert "| SimplePIR usenix23† | " in text and " 121.5† |" in text, name
            assert "| SimplePIR secure-n1088° | " in text and " 129.4° |" in text, name
            assert "° security by the fast model only; `make confirm`" in text, name
            assert r"\num{129.4}$^{\circ}$" in table.tex(), name
    caption = figure4_caption.caption(data)
    assert "query 121.5 (bdd, recorded)" in caption


def test_unknown_security_is_marked(tmp_path: Path, expected: pd.DataFrame) -> None:
    """Neither a record without a prediction nor a prediction without a figure passes for a secure set."""
    bare, empty = (
        synthetic.run_record("simplepir/usenix23", 2**18, 16),
        synthetic.run_record("doublepir/usenix23", 2**18, 16),
    )
    records, predictions = synthetic.write(tmp_path, [bare, empty])
    documents = [synthetic.prediction(empty)]
    documents[0]["security_bits"] = documents[0]["security"][0]["bits"] = None
    predictions.write_text(json.dumps(documents))
    foretold = loader.load_predictions(predictions)
    joined = loader.join(loader.load_records(records), foretold, {})
    assert [marks.marks_of(row) for row in loader.dicts(joined)] == [["unknown"], ["unknown"]]
    table = comparison.build(loader.rows(joined, foretold), expected)
    note = "security unknown: no estimate for this parameter file (SimplePIR usenix23; DoublePIR usenix23)"
    assert f"? {note}" in table.markdown() and "| SimplePIR usenix23? | unknown? |" in table.markdown()
    assert note.replace("SimplePIR", r"\SimplePIR{}").replace("DoublePIR", r"\DoublePIR{}") in table.tex()
    assert "$^{?}$" in table.tex()
    data = figure4.build(loader.rows(joined, foretold), expected)
    assert "? security unknown" in figure4_caption.caption(data)
    from pirlab_figures.pirouette.figure4_plot import draw

    labels = [text.get_text() for legend in draw(data).legends for text in legend.get_texts()]
    assert {"SimplePIR usenix23?", "DoublePIR usenix23?"} <= set(labels)
    text = security.build(foretold, joined).markdown()
    assert "| unknown? |" in text and "? security unknown" in text


def test_stale_records_of_an_edited_parameter_file_keep_their_marks(tmp_path: Path, expected: pd.DataFrame) -> None:
    old = synthetic.run_record("simplepir/usenix23", 2**18, 16)
    old["parameters"] = old["parameters"] | {"sha256": "0" * 64}
    records, predictions = synthetic.write(tmp_path, [old])
    predictions.write_text(json.dumps([synthetic.prediction(synthetic.run_record("simplepir/usenix23", 2**18, 16))]))
    foretold, loaded = loader.load_predictions(predictions), loader.load_records(records)
    stale = loader.join(loaded, foretold, {old["id"]: "2026-11-01"})
    assert marks.marks_of(loader.dicts(stale)[0]) == ["insecure", "stale"]
    assert accuracy.build(stale).empty, "another file's prediction is no twin"
    text = comparison.build(loader.rows(stale, foretold), expected).markdown()
    assert (
        "(SimplePIR usenix23 121.5 bit)" in text
        and "failure is that of today's file (1 measured on 2026-11-01)" in text
    )
    assert marks.marks_of(loader.dicts(loader.join(loaded, foretold, {}))[0]) == ["unknown"], "only of stale ones"


def test_printed_numbers_are_found_by_the_protocol_they_are_of(expected: pd.DataFrame) -> None:
    """Also where the paper writes its name in another way."""
    row = {"records": 2**20, "record_bits": 2048, "protocol": "pirouette_h"}
    found = comparison.paper_numbers(row, expected)
    assert found["offline_comm"] == (650 * 1024**2, "pirouette table 7") and "server_time" in found


def test_orphans_say_so(tmp_path: Path, expected: pd.DataFrame) -> None:
    record = synthetic.run_record("simplepir/usenix23", 2**18, 16)
    path = tmp_path / "stale.json"
    path.write_text(
        json.dumps([{"record": f"{record['experiment']}/{record['id']}.json", "reason": "orphan", "date": ""}])
    )
    joined, predictions = load(tmp_path, [record], loader.load_stale(path))
    text = comparison.build(loader.rows(joined, predictions), expected).markdown()
    assert "1 measured on 2026-11-20, its row in no experiment file any more" in text


def test_few_noise_samples_are_labelled(tmp_path: Path) -> None:
    record = synthetic.run_record("simplepir/usenix23", 2**18, 16)
    record["noise"][0]["samples"] = 600
    joined, _ = load(tmp_path, [record])
    frame = accuracy.build(joined)
    assert frame[frame["kind"] == "noise"]["note"].tolist() == ["few samples: 600"]
    assert "few samples: 600" in accuracy.table(frame, joined).markdown()


def test_comparison_has_the_papers_number_beside_ours(tmp_path: Path, expected: pd.DataFrame) -> None:
    joined, predictions = load(tmp_path, [synthetic.run_record("simplepir/usenix23", 2**22, 256)])
    table = comparison.build(loader.rows(joined, predictions), expected)
    row = table.data.iloc[0]
    assert row["paper_answer_s"] == pytest.approx(0.020) and row["paper_reference"] == "pirouette text"
    assert row["record_id"].startswith("synthetic-") and row["bandwidth_share"] == pytest.approx(
        joined["answer_read_bytes_per_s"].item() / joined["read_bandwidth"].item()
    )
    assert "answer 20.0 ms (" in table.markdown()


def test_a_row_that_is_not_described_says_that_it_was_not_measured(tmp_path: Path, expected: pd.DataFrame) -> None:
    documents = [synthetic.run_record("simplepir/usenix23", 2**n, 256) for n in (18, 22)]
    joined, predictions = load(tmp_path, documents)
    table = comparison.build(loader.rows(joined[joined["records"] == 2**18], predictions), expected)
    assert [row.status for row in table.rows] == [None, loader.NOT_MEASURED]
    assert table.data["answer_s"].notna().tolist() == [True, False]
    assert table.data["marks"].tolist() == ["insecure", "insecure"]


def test_security_table(tmp_path: Path) -> None:
    joined, predictions = load(tmp_path, synthetic.sweep((18,), (16, 64)))
    table = security.build(predictions, joined)
    assert table.data.set_index("set")["bits"].to_dict() == {n: s["bits"] for n, s in synthetic.SETS.items()}
    assert table.data.set_index("set")["below_target"].to_dict() == {
        n: s["bits"] < 128 for n, s in synthetic.SETS.items()
    }
    assert set(table.data["shapes"]) == {2} and set(table.data["source"]) == {"recorded"}
    assert "| 121.5† |" in table.markdown() and "arora-gb: needs more memory" in table.markdown()
    # Of sets that were only predicted, descriptions tell the parameters.
    described = {(row["sha256"], 1, 1): row["description"] for row in joined.to_dict("records")}
    foretold = security.build(predictions, joined.iloc[:0], described)
    assert (foretold.data["dimension"] == table.data["dimension"]).all() and foretold.data["record_id"].isna().all()


def test_accuracy_twins_and_verdicts(tmp_path: Path) -> None:
    good, bad, wrong = (synthetic.run_record("simplepir/usenix23", 2**n, 16) for n in (18, 20, 22))
    bad["transcript"] = [m | {"payload_bytes": m["payload_bytes"] + 4} for m in bad["transcript"]]
    bad["noise"][0]["stddev"] *= 2
    for key in ("peak_bytes", "peak_anonymous_bytes"):
        bad["memory"][key] *= 2
    answer = next(phase for phase in bad["phases"] if phase["name"] == "answer")
    answer["seconds"] = [2 * seconds for seconds in answer["seconds"]]
    wrong["status"], wrong["correct"] = "wrong", {"compared": 2, "right": 1}
    joined, _ = load(tmp_path, [good, bad, wrong])
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


@pytest.mark.parametrize(
    ("command", "suffixes"),
    [
        (["figure4"], [".pdf", ".svg", ".png", ".csv", ".caption.rst"]),
        (["table", "figure4"], [".csv", ".md", ".tex", ".html", ".caption.rst"]),
        (["table", "comparison"], [".csv", ".md", ".tex", ".html", ".caption.rst"]),
        (["table", "security"], [".csv", ".md", ".tex", ".html", ".caption.rst"]),
        (["accuracy"], [".pdf", ".svg", ".png", ".csv", ".md", ".tex", ".caption.rst"]),
    ],
)
def test_commands_write_their_files(command: list[str], suffixes: list[str], sweep: Path, tmp_path: Path) -> None:
    options = ["--records", str(sweep / "records"), "--predictions", str(sweep / "predictions.json")]
    assert main([*command, *options, "--expected", str(EXPECTED), "--out", str(tmp_path / "a.b" / "out")]) == 0
    written = {path.name: path for path in (tmp_path / "a.b").iterdir()}
    for suffix in suffixes:
        assert written[f"out{suffix}"].stat().st_size > 0
    if ".pdf" in suffixes:
        pdf = written["out.pdf"].read_bytes()
        assert (
            pdf.startswith(b"%PDF") and b"/CIDFontType2" in pdf and b"/Type3" not in pdf and b"CreationDate" not in pdf
        )
    rows = list(csv.DictReader(written["out.csv"].open(encoding="utf-8")))
    assert rows and all(row.get("record_id") or row.get("source") == "paper" for row in rows)
    if ".tex" in suffixes:
        tex = re.sub(r"\\[{}%&_#$]", "", written["out.tex"].read_text(encoding="utf-8"))
        assert tex.count("{") == tex.count("}") and tex.count(r"\begin{tabular}") == tex.count(r"\end{tabular}") == 1
        assert tex.isascii()
    core = pytest.importorskip("docutils.core")
    caption = written["out.caption.rst"].read_text(encoding="utf-8")
    core.publish_string(caption, settings_overrides={"halt_level": 2, "report_level": 2})
    if ".html" in suffixes:
        page = written["out.html"].read_text(encoding="utf-8")
        assert "http" not in page and "<script src" not in page


def test_output_is_deterministic(sweep: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        options = ["--records", str(sweep / "records"), "--predictions", str(sweep / "predictions.json")]
        assert main(["figure4", *options, "--expected", str(EXPECTED), "--out", str(tmp_path / name)]) == 0
    for suffix in (".pdf", ".svg", ".png", ".csv"):
        one, two = ((tmp_path / (name + suffix)).read_bytes() for name in ("one", "two"))
        assert one == two, suffix


def test_no_record_at_all_still_draws_the_papers_points(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for command in (["figure4"], ["table", "figure4"], ["table", "comparison"], ["accuracy"]):
        assert (
            main([*command, "--records", str(tmp_path / "records"), "--expected", str(EXPECTED), "--out", str(out)])
            == 0
        )
    assert "No point was measured" in main_caption(tmp_path) or "No record" in main_caption(tmp_path)


def main_caption(folder: Path) -> str:
    return (folder / "out.caption.rst").read_text(encoding="utf-8")


def test_bad_paths_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    for options in (
        ["figure4", "--records", str(tmp_path / "file")],
        ["figure4", "--records", str(tmp_path), "--predictions", str(tmp_path / "none.json")],
        ["figure4", "--records", str(tmp_path), "--expected", str(tmp_path / "none")],
        ["figure4", "--records", str(tmp_path), "--stale", str(tmp_path / "none.json")],
        ["table", "security", "--records", str(tmp_path)],
    ):
        assert main([*options, "--out", str(tmp_path / "out")]) == 2
        assert capsys.readouterr().err.startswith("error: ")
    assert main(["table", "comparison", "--records", str(tmp_path), "--out", str(tmp_path / "file" / "x")]) == 2


def test_the_newest_record_of_a_row_counts(tmp_path: Path) -> None:
    old = synthetic.run_record("simplepir/usenix23", 2**18, 16, id="old", finished="2026-01-01T00:00:00Z")
    new = synthetic.run_record("simplepir/usenix23", 2**18, 16, id="new")
    joined, _ = load(tmp_path, [new, old])
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


@pytest.mark.parametrize("option", ["--costs", "--audit", "--stale", "--expected", "--descriptions", "--predictions"])
def test_a_path_that_is_not_there_is_refused_whether_or_not_it_is_needed(option, tmp_path, capsys):
    missing = tmp_path / "missing.json"
    words = ["table", "comparison", "--records", str(tmp_path / "records"), "--out", str(tmp_path / "out")]
    (tmp_path / "records").mkdir()
    assert main([*words, option, str(missing)]) == 2
    message = capsys.readouterr().err
    assert message.startswith(f"error: {missing}: ") and message.count("\n") == 1, message
    assert not list(tmp_path.glob("out*"))


def test_a_file_that_a_figure_does_not_need_is_accepted(tmp_path):
    (tmp_path / "records").mkdir()
    words = ["table", "comparison", "--records", str(tmp_path / "records"), "--out", str(tmp_path / "out")]
    assert main([*words, "--costs", str(ROOT / "results/reference/calibration-quick.json")]) == 0


@pytest.mark.parametrize("command", [["table", "comparison"], ["table", "primitives"], ["accuracy"]])
def test_an_experiment_that_does_not_exist_is_refused(command, tmp_path, capsys):
    document = synthetic.run_record("simplepir/usenix23", 2**18, 16) | {"experiment": "my/own"}
    (tmp_path / "records").mkdir()
    (tmp_path / "records/r.json").write_text(json.dumps(document))
    words = [*command, "--records", str(tmp_path / "records"), "--out", str(tmp_path / "out"), "--experiment"]
    assert main([*words, "nope/none"]) == 2
    message = capsys.readouterr().err
    assert "nope/none" in message and "no such experiment" in message and message.count("\n") == 1, message
    assert not list(tmp_path.glob("out*"))
    # An experiment of a user's own is known by its records, one of this repository by its file.
    for known in ("my/own", "pirouette/figure4"):
        assert main([*words, known]) == 0
