"""The plan: what a run will take, and what it leaves out."""

import pytest
from pirlab_estimator import cost
from pirlab_estimator.cost.plan import format_bytes, plan, row_seconds, summary


def prediction(seconds, peak_bytes):
    phases = dict.fromkeys(cost.PHASES, 0.0) | {"answer": seconds, "total": seconds}
    names = {"protocol": "simplepir", "parameters": {"name": "simplepir/x"}}
    return names | {"shape": {"records": 4, "record_bits": 8}, "seconds": phases, "peak_bytes": peak_bytes}


def test_plan_says_what_will_be_skipped_and_why():
    predictions = {"small": prediction(1.0, 100), "other": prediction(2.0, 150), "big": prediction(1.0, 131 << 30)}
    rows = [
        {"id": "small", "repetitions": 4},
        {"id": "other", "repetitions": 4, "time_limit_seconds": 39.5},
        {"id": "big"},
    ]
    (group,) = plan(predictions, [{"group": "2^2x8", "rows": rows}], free_memory=23 << 30)
    assert [r.action for r in group.rows] == ["run", "skipped_time", "skipped_memory"]
    assert group.rows[2].reason == "needs 131 GiB; 23 GiB free"
    assert group.rows[1].reason == "would take about 40 s; the limit is 39.5 s"
    assert (group.mode, group.seconds, group.peak_bytes) == ("interleaved", 20.0, 100)
    totals = summary([group])
    assert (totals["jobs"], totals["rows"], totals["seconds"], totals["peak_bytes"]) == (1, 1, 20.0, 100)
    assert [s["id"] for s in totals["skipped"]] == ["other", "big"]


@pytest.mark.parametrize(
    ("preprocess", "updates", "expected"),
    [(20.0, 0, 20 + 20 * 0.2), (3.0, 0, 2 * 3 + 20 * 0.2), (0.1, 2, 5 * 0.1 + 3 * 2 + (20 + 5 * 3) * 0.2)],
)
def test_rows_take_what_the_runner_does(preprocess, updates, expected):
    seconds = {"query": 0.1, "answer": 0.05, "extract": 0.05, "total": preprocess + 0.2}
    seconds |= {"update_hint": 1.5, "update_server": 1.5, "update_client": 0.5}
    assert row_seconds({"seconds": seconds}, 5, updates) == pytest.approx(expected)


def test_primitives_take_their_repetitions_and_a_warm_up():
    described = {"primitive": "prg", "settings": {"bytes": 16}, "seconds": {"repetition": 0.5}, "peak_bytes": 16}
    (group,) = plan({"a": described}, [{"group": "all", "rows": [{"id": "a", "repetitions": 25}]}], free_memory=1 << 30)
    assert (group.rows[0].seconds, group.rows[0].subject, group.rows[0].about) == (13.0, "prg", {"bytes": 16})


def test_a_group_that_does_not_fit_together_runs_in_turn():
    predictions = {"a": prediction(1.0, 100), "b": prediction(1.0, 150)}
    groups = [{"group": "g", "rows": [{"id": "a"}, {"id": "b"}]}]
    modes = [plan(predictions, groups, free_memory=free)[0] for free in (250, 249, 10)]
    assert [g.mode for g in modes] == ["interleaved", "in_turn", "nothing_to_run"]
    assert [g.peak_bytes for g in modes] == [250, 150, 0]
    assert plan(predictions, groups)[0].mode == "interleaved", "this machine has 250 bytes free"


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (1536, "1.5 KiB"), (23 << 30, "23 GiB"), (5 << 40, "5120 GiB")]
)
def test_bytes_for_readers(count, text):
    assert format_bytes(count) == text
