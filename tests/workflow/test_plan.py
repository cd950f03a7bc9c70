"""The plan: what a run will take, and what it leaves out."""

import re
from types import SimpleNamespace

import pytest
from pirlab_estimator import cost
from pirlab_estimator.cost import DEFAULTS, UnitCosts, plan
from pirlab_estimator.cost.plan import FRESH_BYTE_SECONDS, format_bytes, free_memory_bytes, prospect, row_seconds
from pirlab_workflow import reproduce
from pirlab_workflow.experiments import read_profile
from pirlab_workflow.files import write_json
from pirlab_workflow.outlook import OF_A_ROW, Outlook
from pirlab_workflow.plan import Plan


def prediction(seconds, peak_bytes):
    phases = dict.fromkeys(cost.PHASES, 0.0) | {"answer": seconds, "total": seconds}
    names = {"protocol": "simplepir", "parameters": {"name": "simplepir/x"}}
    return names | {"shape": {"records": 4, "record_bits": 8}, "seconds": phases, "peak_bytes": peak_bytes}


def test_plan_says_what_will_be_skipped_and_why():
    row = {"repetitions": 4, "noise_seconds": 5.0}
    small = prospect(prediction(1.0, 100), row, 23 << 30)
    assert (small.peak_bytes, small.skipped) == (100, None) and small.seconds == pytest.approx(13.0)
    long = prospect(prediction(2.0, 150), row, 23 << 30, limit=20.5)
    assert long.skipped == "would take about 21 s; the limit is 20.5 s"
    big = prospect(prediction(1.0, 131 << 30), {}, 23 << 30, limit=0.1)
    assert big.skipped == "needs 131 GiB; 23 GiB free", "memory comes first"
    assert prospect(prediction(1.0, 150), {}, 150).skipped is None and prospect(prediction(1.0, 150), {}, 149).skipped
    assert free_memory_bytes() > 150, "this machine has 150 bytes free"


@pytest.mark.parametrize(
    ("preprocess", "online", "changes", "expected"),
    [
        # A warm-up, five repetitions with an exchange between each two, and 20 keys for the noise.
        (20.0, 0.2, {}, 20 + 10 * 0.2 + 20 * 0.2),
        (0.4, 0.2, {}, 2 * 0.4 + 10 * 0.2 + 20 * 0.2),
        # Long exchanges are made once a repetition.
        (20.0, 5.0, {}, 20 + 10 * 5.0 + 20 * 5.0),
        (20.0, 5.2, {}, 20 + 6 * 5.2 + 20 * 5.2),
        # Warm-ups of 0.2 seconds at most, ten of them, and noise for two seconds at least.
        (0.0, 0.001, {}, 0.01 + 9 * 0.001 + 2),
        (0.0, 0.2, {"noise_seconds": 3.5}, 10 * 0.2 + 3.5),
        (0.0, 0.2, {"noise_seconds": 0.1}, 10 * 0.2 + 0.2),
        # Two updates, each of 2 s and three exchanges: one alone takes more than half a second.
        (0.1, 0.2, {"updates": 2}, 5 * 0.1 + 10 * 0.2 + 20 * 0.2 + 2 + 3 * 0.2),
    ],
)
def test_rows_take_what_the_runner_does(preprocess, online, changes, expected):
    seconds = {"query": online / 2, "answer": online / 4, "extract": online / 4, "total": preprocess + online}
    seconds |= {"update_hint": 1.5, "update_server": 1.5, "update_client": 0.5}
    assert row_seconds({"seconds": seconds, "peak_bytes": 0}, changes) == pytest.approx(expected)


def test_a_row_is_planned_by_the_constants_of_the_runner(root):
    files = [root / "impl/pir/src/core" / name for name in ("runner.rs", "enough.rs")]
    found = re.findall(r"const (\w+): \w+ = ([\d.]+);", "".join(file.read_text() for file in files))
    both = {name: float(value) for name, value in found if hasattr(plan, name)}
    assert len(both) == 8 and both == {name: getattr(plan, name) for name in both}


def test_preprocessing_writes_its_memory_for_the_first_time():
    """Each time that it is repeated, which is fewer times where that takes long."""
    seconds = {"query": 0.1, "answer": 0.0, "extract": 0.0, "total": 0.3}
    row = {"repetitions": 3, "noise_seconds": 0.1}
    taken = [row_seconds({"seconds": seconds, "peak_bytes": size}, row) for size in (0, 10**8, 10**9)]
    # A streamed database is made again for each of seven exchanges, of which the first warm-up is one instead of two.
    streamed = {"seconds": seconds | {"streaming": 2.0}, "peak_bytes": 0}
    kept = row_seconds({"seconds": seconds, "peak_bytes": 0}, row)
    assert row_seconds(streamed, row) == pytest.approx(kept + 7 * 2.0 - 0.1)
    # 0.2 s three times, 0.35 s twice, 1.7 s once; then warm-ups, repetitions and noise.
    online = 0.2 + 5 * 0.1 + 0.1
    assert FRESH_BYTE_SECONDS == 1.5e-9, "of which the times above are"
    assert taken == pytest.approx([3 * 0.2 + online, 2 * 0.35 + online, 1.7 + online])


def test_keys_that_a_client_keeps_are_made_again_for_the_noise():
    seconds = {"query": 0.0, "answer": 0.5, "extract": 0.0, "keys": 1.0, "key_expansion": 0.5, "total": 2.0}
    row = {"seconds": seconds, "peak_bytes": 0}
    assert row_seconds(row, {"repetitions": 2, "noise_seconds": 1}) == 1.5 + 4 * 0.5 + 2.0
    assert row_seconds(row, {"repetitions": 2}) == 1.5 + 4 * 0.5 + 20
    assert row_seconds(row, {"repetitions": 1}) == 1.5 + 0.5 + 20, "one repetition alone has no warm-up"


def test_primitives_take_their_repetitions_and_a_warm_up_or_their_keys():
    seconds = {"seconds": {"repetition": 0.5}}
    assert row_seconds({"primitive": "prg"} | seconds, {"repetitions": 25}) == 13.0
    assert row_seconds({"primitive": "noise", "settings": {"keys": 100}} | seconds, {"repetitions": 25}) == 50.0


def test_a_slower_machine_is_known_by_its_unit_costs():
    costs = UnitCosts.load(DEFAULTS)
    slower = {name: 2 * cost for name, cost in costs.seconds.items() if isinstance(cost, float)}
    assert costs.slowness() == 1.0 and UnitCosts(slower, "x").slowness() == 2.0


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (1536, "1.5 KiB"), (23 << 30, "23 GiB"), (5 << 40, "5120 GiB")]
)
def test_bytes_for_readers(count, text):
    assert format_bytes(count) == text


def planned(folder) -> Outlook:
    """What is left of an experiment whose rows all have one prediction."""
    plan = Plan(read_profile("tiny", results=str(folder), experiments=["smoke/tiny"]))
    lines = [prediction(1.0, 100) | {"id": f"{g.id}/{r.id}", "security": []} for g in plan.measured() for r in g.rows]
    write_json(plan.prediction("smoke/tiny"), lines)
    return Outlook(plan)


def test_the_plan_ends_with_seconds_memory_and_disk(tmp_path, capsys):
    outlook = planned(tmp_path)
    rows = sum(map(len, outlook.todo.values()))
    reproduce.show(outlook)
    said = " ".join(capsys.readouterr().out.split())
    assert f"{rows} rows in {len(outlook.todo)} groups to measure, about " in said
    assert outlook.disk_bytes() == rows * OF_A_ROW and f"up to {rows}00 KiB of disk for records and drawings" in said


@pytest.mark.parametrize("slower", [1.0, 1.5])
def test_a_run_says_how_long_it_took_beside_what_was_said(slower, tmp_path, capsys, monkeypatch):
    """Where every group takes longer than predicted by one factor, what is predicted at half of the run is right."""
    outlook, now = planned(tmp_path), [0.0]
    seconds = [(key, outlook.seconds(key)) for key in sorted(outlook.todo, key=outlook.seconds, reverse=True)]
    waiting = list(seconds)

    def sleep(_):
        key, predicted = waiting.pop(0)
        now[0] += slower * predicted
        write_json(outlook.plan.marker(outlook.plan.groups[key]), {})

    monkeypatch.setattr(reproduce, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
    process = SimpleNamespace(poll=lambda: None if waiting else 0)
    assert len(waiting) == 2 and reproduce.follow(process, outlook) == 0
    said, rest = outlook.total(), seconds[1][1]
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("measuring took ")]
    assert line == (
        f"measuring took {slower * said:.0f} s; {said:.0f} s were predicted at its start ({1 / slower:.0%}); "
        f"its second half took {slower * rest:.0f} s; {slower * rest:.0f} s were predicted at half (100%)"
    )
