"""Rows that a run did not measure: what stands in their place, and how it is marked."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import synthetic
from pirlab_figures.lib import frame as loader
from pirlab_figures.pirouette import figure4, figure4_caption, figure4_table
from pirlab_figures.runs import comparison
from pirlab_workflow.experiments import read_profile
from pirlab_workflow.plan import Plan


def rows_of(folder: Path, documents: list[dict], most: int = 2**22, error: str = "") -> list[dict]:
    """Rows of these documents, of which those of more than `most` records have no record."""
    joined, predictions = synthetic.load(folder, documents)
    described = {(d["parameters"]["sha256"], d["database"]["records"], 256): d["description"] for d in documents}
    return loader.rows(joined[joined["records"] <= most], predictions, described, error)


def partly_measured(folder: Path, error: str = "") -> tuple[list[dict], list[dict]]:
    """Documents of a set at two shapes, and rows where the second has no record."""
    documents = [synthetic.run_record("simplepir/usenix23", 2**n, 256) for n in (18, 22)]
    return documents, rows_of(folder, documents, 2**18, error)


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


def test_a_line_of_markdown_names_its_record(tmp_path: Path, expected: pd.DataFrame) -> None:
    """A line shows the beginning of its record's id; a predicted line shows none."""
    documents, rows = partly_measured(tmp_path)
    lines = [each for each in comparison.build(rows, expected).markdown().splitlines() if each.startswith("|")]
    assert len({line.count("|") for line in lines}) == 1 and lines[0].endswith("| Record |")
    assert [line.rsplit("|", 2)[1].strip() for line in lines[2:]] == [f"`{documents[0]['id'][:8]}`", ""]
    lines = comparison.build(rows[1:], expected).markdown().splitlines()
    assert not any("Record" in line for line in lines), "no column without a record"


@pytest.mark.parametrize("status", ["timeout", "failed", "skipped_time", "skipped_memory"])
def test_only_a_row_left_out_for_its_time_or_memory_is_predicted(tmp_path: Path, status: str) -> None:
    """A row that was measured shows what was measured, one that failed says so."""
    documents = [synthetic.run_record("simplepir/usenix23", 2**n, 256) for n in (18, 22)]
    documents[1] |= {"status": status, "reason": "too much", "phases": [], "transcript": []}
    measured, other = rows_of(tmp_path, documents)
    assert measured["status"] == "ok" and measured["answer_s"] == sorted(documents[0]["phases"][3]["seconds"])[2]
    if status.startswith("skipped"):
        assert other["status"] == "predicted" and other["answer_s"] > 0
    else:
        assert other["status"] == status and pd.isna(other["answer_s"])


def test_a_row_on_more_threads_left_out_for_its_time_hides_no_prediction(tmp_path: Path) -> None:
    """The prediction is of one thread: the other row says why it has no numbers."""
    documents = [synthetic.run_record("simplepir/usenix23", 2**22, 256) for _ in (1, 2)]
    for threads, document in enumerate(documents, 1):
        document |= {"status": "skipped_time", "reason": "too much", "phases": [], "transcript": []}
        document |= {"threads": threads, "id": f"on-{threads}"}
    rows = rows_of(tmp_path, documents)
    assert [(row["status"], row["threads"]) for row in rows] == [("skipped_time", 2), ("predicted", 1)]


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
