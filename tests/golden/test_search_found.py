"""The table of found sets beside published ones: what dominates, what is late, what was not measured."""

import json

import pandas as pd
import pytest
from pirlab_figures.search import found as search_found
from pirlab_workflow.experiments import expand, read_profile


def row(role, **changes):
    spread = {"answer_q1_s": 0.29, "answer_s": 0.30, "answer_q3_s": 0.31}
    sizes = {"upload_bytes": 1000.0, "download_bytes": 500.0, "peak_bytes": 2e9}
    about = {"id": role, "row": f"column-{role}", "status": "ok", "reason": None, "protocol": "inspire", "set": role}
    return about | spread | sizes | {"records": 1024, "record_bits": 8, "seconds": {"answer": 0.2}} | changes


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"upload_bytes": 900.0}, "dominates"),
        ({"upload_bytes": 901.0}, "saves less than 10 %"),
        ({"upload_bytes": 800.0, "download_bytes": 501.0}, "download 0.2 % more"),
        ({"upload_bytes": 800.0, "answer_s": 0.32, "answer_q1_s": 0.305}, "dominates"),
        ({"upload_bytes": 800.0, "answer_s": 0.33, "answer_q1_s": 0.32}, "answer 10.0 % more"),
        ({"answer_s": 0.25}, "dominates"),
        ({"status": "skipped_memory", "reason": "needs 33 GiB"}, "not both measured"),
    ],
)
def test_verdicts(changes, verdict):
    found = search_found.compared(row("found", **changes), row("published"))
    assert found["verdict"] == verdict


def test_a_pair_stands_together_and_the_promise_beside_what_was_measured():
    columns = dict.fromkeys(
        ["queries", "threads", "kernel", "cpu", "commit", "read_bandwidth", "stale", "security_bits", "failure_log2"]
    )
    extra = columns | {"compared": 20, "right": 20, "repetitions": 5, "threads": 1, "security": []}
    late = row("found", seconds={"answer": 0.1}, upload_bytes=500.0)
    records = [late, row("published"), row("published", row="table9-n1024", set="stranger")]
    table = search_found.build(pd.DataFrame([record | extra for record in records]))
    assert [each.cells["series"].text for each in table.rows[:2]] == ["InsPIRe published", "InsPIRe found"]
    assert table.rows[1].cells["saved"].text == "50 %, 0 %, 0 % (50 %)"
    assert list(table.data["role"]) == ["published", "found"], "rows without a partner stay out"
    assert table.data["saved_upload"].iloc[1] == 0.5 and table.notes[0].startswith("1 of 1 found sets dominate")
    json.dumps(table.data.to_dict("records"), default=str)


def test_every_pair_of_the_experiment_is_one_group():
    for group in expand("inspire/found", read_profile("laptop")):
        published, found = group.rows
        assert published.id.removesuffix("-published") == found.id.removesuffix("-found")
        assert found.asked["parameters"].startswith("params/searched/") and group.id.endswith(
            found.id.removesuffix("-found")
        )
