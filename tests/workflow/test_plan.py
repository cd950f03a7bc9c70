"""The plan: what a run will take, and what it leaves out."""

import pytest
from pirlab_estimator import cost
from pirlab_estimator.cost.plan import format_bytes, free_memory_bytes, prospect, row_seconds


def prediction(seconds, peak_bytes):
    phases = dict.fromkeys(cost.PHASES, 0.0) | {"answer": seconds, "total": seconds}
    names = {"protocol": "simplepir", "parameters": {"name": "simplepir/x"}}
    return names | {"shape": {"records": 4, "record_bits": 8}, "seconds": phases, "peak_bytes": peak_bytes}


def test_plan_says_what_will_be_skipped_and_why():
    small = prospect(prediction(1.0, 100), {"repetitions": 4}, 23 << 30)
    assert (small.seconds, small.peak_bytes, small.skipped) == (20.0, 100, None)
    long = prospect(prediction(2.0, 150), {"repetitions": 4, "time_limit_seconds": 39.5}, 23 << 30)
    assert long.skipped == "would take about 40 s; the limit is 39.5 s"
    big = prospect(prediction(1.0, 131 << 30), {"time_limit_seconds": 0.1}, 23 << 30)
    assert big.skipped == "needs 131 GiB; 23 GiB free", "memory comes first"
    assert prospect(prediction(1.0, 150), {}, 150).skipped is None and prospect(prediction(1.0, 150), {}, 149).skipped
    assert free_memory_bytes() > 150, "this machine has 150 bytes free"


@pytest.mark.parametrize(
    ("preprocess", "updates", "expected"),
    [(20.0, 0, 20 + 20 * 0.2), (3.0, 0, 2 * 3 + 20 * 0.2), (0.1, 2, 5 * 0.1 + 3 * 2 + (20 + 5 * 3) * 0.2)],
)
def test_rows_take_what_the_runner_does(preprocess, updates, expected):
    seconds = {"query": 0.1, "answer": 0.05, "extract": 0.05, "total": preprocess + 0.2}
    seconds |= {"update_hint": 1.5, "update_server": 1.5, "update_client": 0.5}
    assert row_seconds({"seconds": seconds}, 5, updates) == pytest.approx(expected)


def test_primitives_take_their_repetitions_and_a_warm_up():
    assert row_seconds({"primitive": "prg", "seconds": {"repetition": 0.5}}, 25) == 13.0


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (1536, "1.5 KiB"), (23 << 30, "23 GiB"), (5 << 40, "5120 GiB")]
)
def test_bytes_for_readers(count, text):
    assert format_bytes(count) == text
