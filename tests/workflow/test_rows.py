"""Rows that are run in another way than the rest of their group."""

import os

from pirlab_workflow import steps
from pirlab_workflow.experiments import read_profile
from pirlab_workflow.plan import Plan


def test_a_series_may_be_run_in_a_way_of_its_own(expanded):
    series = """
    [[series]]
    id = "plain"
    parameters = "simplepir/usenix23"
    [[series]]
    id = "own"
    parameters = "simplepir/usenix23"
    threads = "machine"
    repetitions = 100
    streamed = true
    """
    [group] = expanded(series, updates=4)
    plain, own = Plan(read_profile("tiny")).group_file(group)["rows"]
    assert (plain["threads"], plain["repetitions"], plain["updates"]) == (1, 5, 4) and "streamed" not in plain
    assert (own["threads"], own["repetitions"]) == (len(os.sched_getaffinity(0)), 100)
    assert own["streamed"] is True and own["updates"] == 0, "a streamed database cannot be updated"
    assert [row.request(group.options).get("streamed", False) for row in group.rows] == [False, True]
    line = {"seconds": {"query": 0.0, "answer": 1.0, "extract": 0.0, "total": 1.0}, "peak_bytes": 0}
    seconds = steps.predicted_seconds(group, [line | {"id": f"{group.id}/{row.id}"} for row in group.rows])
    # Warm-ups, repetitions, an exchange for the noise, and one update, which takes more than half a second.
    assert seconds == {"plain": 10 + 1 + (1 + 4), "own": 200 + 1}


def test_the_audit_shows_every_protocol_of_the_sweep():
    names = ["security/audit", "pirouette/respire", "gadget/table1"]
    plan = Plan(read_profile("quick", experiments=names))
    assert plan.shown("security/audit") == ["security/audit", "pirouette/respire"]
    assert plan.shown("pirouette/respire") == ["pirouette/respire"]
