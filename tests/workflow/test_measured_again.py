"""Which rows the next run measures, and when it stops one."""

import json
import re
from pathlib import Path

import pytest
from pirlab_estimator.cost.plan import prospect
from pirlab_workflow import reproduce, steps
from pirlab_workflow.experiments import Group, read_profile
from pirlab_workflow.files import ROOT, PlanError, write_if_changed
from pirlab_workflow.plan import Plan


def recorded(folder: Path, *records: dict) -> tuple[Plan, Group]:
    """A plan and a group of two rows, which have these records."""
    plan = Plan(read_profile("tiny", results=str(folder)))
    group = plan.group("smoke/tiny", "2^10x16")
    for row, record in zip(group.rows, records):
        write_if_changed(plan.record(group, row), json.dumps(record | {"id": f"old {row.id}"}))
    return plan, group


def test_time_limits_are_decided_by_the_plans_seconds(tmp_path):
    plan = Plan(read_profile("tiny", results=str(tmp_path), time_limit_seconds=20))
    group = plan.group("smoke/tiny", "2^10x16")
    assert steps.predicted_seconds(group, []) == {}
    seconds = {"query": 1.0, "answer": 2.0, "extract": 0.5, "total": 4.0}
    repetitions, updates = group.options["repetitions"], group.options["updates"]
    lines = [
        {"id": f"{g.id}/{row.id}", "seconds": seconds, "peak_bytes": 0, "protocol": "p", "parameters": {"name": "n"}}
        | {"shape": {"records": 1, "record_bits": 1}}
        for g in plan.of("smoke/tiny")
        for row in g.rows
    ]
    write_if_changed(plan.prediction("smoke/tiny"), json.dumps(lines))
    found = steps.predicted_seconds(group, lines)
    # Preprocessing for half a second, warm-ups, one exchange for the noise, and one update, which takes longer.
    exchanges = 2 * repetitions + 1 + 1 + updates
    assert updates > 0
    assert found == {row.id: 2 * 0.5 + exchanges * 3.5 for row in group.rows}
    rows = plan.group_file(group, group.rows, found, stretch=50.0)["rows"]
    assert [row["predicted_seconds"] for row in rows] == list(found.values())
    assert {row["time_limit_seconds"] for row in rows} == {3000.0}, "a row has three times what is predicted at most"
    late = plan.group_file(group, group.rows, found, stretch=1.0)["rows"]
    assert {row["time_limit_seconds"] for row in late} == {20.0}, "and what is predicted to take longer is skipped"
    assert not {"predicted_seconds", "time_limit_seconds"} & plan.group_file(group)["rows"][0].keys()
    own = {line["id"].split("/", 1)[1]: line for line in lines if line["id"].startswith(group.id)}
    assert [prospect(own[row["id"]], row, 10).seconds for row in rows] == list(found.values())


def test_time_limits_scale_with_the_machine_and_patience_with_the_rows_so_far(tmp_path):
    plan = Plan(read_profile("tiny", results=str(tmp_path), time_limit_seconds=30))
    assert plan.stretch() == 1.0 and plan.time_limit({}, 1.0) == 30.0
    costs = json.loads((ROOT / "estimator/cost/unit_costs.json").read_text())
    for name, cost in costs["unit_seconds"].items():
        if isinstance(cost, float):
            costs["unit_seconds"][name] = 2 * cost
    write_if_changed(tmp_path / "calibration.json", json.dumps(costs))
    assert plan.stretch() == 2.0, "unit costs twice the committed ones"
    group = plan.group("smoke/tiny", "2^10x16")
    lines = [{"id": f"{group.id}/{row.id}", "seconds": {"answer": 0.5}} for row in group.rows]
    write_if_changed(plan.prediction("smoke/tiny"), json.dumps(lines))
    record = {"status": "ok", "phases": [{"name": "answer", "seconds": [0.7, 0.75, 9.0]}]}
    write_if_changed(plan.record(group, group.rows[0]), json.dumps(record))
    assert plan.lateness() == 1.5, "an answer that took half as long again as predicted"
    assert plan.stretch() == 2.0, "late answers do not let longer rows in"
    seconds = {row.id: 1.0 for row in group.rows}
    row = plan.group_file(group, group.rows, seconds, stretch=2.0)["rows"][0]
    assert row["time_limit_seconds"] == 30 * 2.0 * 3 * 1.5, "but rows that run have more time"
    assert plan.time_limit({"time_limit_seconds": 40}, 3.0) == 120.0, "a row's own limit is longer"
    assert plan.time_limit({"time_limit_seconds": 20}, 3.0) == 90.0, "and never shorter"
    assert plan.time_limit({"time_limit_seconds": 40}, 0.5) == 40.0, "whatever the minutes of a profile"
    assert Plan(plan.profile | {"time_limit_seconds": None}).time_limit({"time_limit_seconds": 40}, 3.0) is None
    two = Plan(plan.profile | {"time_limit_to_1gib_seconds": 80})
    gib, more = ({"records": records, "record_bits": 2048} for records in (1 << 22, (1 << 22) + 1))
    assert (two.time_limit(gib, 1.0), two.time_limit(more, 1.0)) == (80.0, 30.0)
    assert two.time_limit(more | {"time_limit_seconds": 140}, 1.0) == 140.0
    printed = {"columns": ["9/1GB"]}
    assert (two.time_limit(gib, 0.1), two.time_limit(gib | printed, 0.1)) == (8.0, 80.0), "papers' rows come first"
    assert (two.time_limit(more | printed, 0.1), two.time_limit(gib | printed, 2.0)) == (30.0, 160.0)


def test_a_profile_with_minutes_measures_the_rows_that_fit_them(tmp_path):
    settings = read_profile("tiny", results=str(tmp_path), time_limit_seconds=10) | {"experiments": ["smoke/tiny"]}
    plan = Plan(settings | {"minutes": 0.5})
    lines = [
        {"id": f"{group.id}/{row.id}", "seconds": {"repetition": 10.0}, "settings": {"keys": 1 + place}}
        | {"peak_bytes": 0}
        for place, (group, row) in enumerate(plan.measured_rows())
    ]
    write_if_changed(plan.prediction("smoke/tiny"), json.dumps(lines))
    # Rows of 10, 20 and 30 seconds, whose limit is 10.
    assert plan.stretch() == pytest.approx(2.0, abs=0.02) and plan.time_limit({}, plan.stretch()) >= 20.0
    assert Plan(settings | {"minutes": 1.1}).stretch() == pytest.approx(3.0, abs=0.02)
    assert Plan(settings | {"minutes": 1.1, "time_limit_seconds": None}).stretch() == 1.0
    lines[0]["peak_bytes"] = 2**60
    write_if_changed(plan.prediction("smoke/tiny"), json.dumps(lines))
    assert Plan(settings | {"minutes": 50 / 60}).stretch() == pytest.approx(3.0, abs=0.02), (
        "memory does not hold the first"
    )


def test_records_asked_for_again_are_missing_until_replaced(tmp_path, monkeypatch):
    plan, group = recorded(tmp_path, {"status": "ok"}, {"status": "skipped_memory"})
    stale = [{"record": str(plan.record(group, group.rows[0]))}, {"record": str(tmp_path / "records/a/orphan.json")}]
    monkeypatch.setattr(reproduce, "stale_records", lambda _: stale)
    assert plan.missing(group) == []
    assert reproduce.freshen(plan, all_stale=False) == 0 and plan.missing(group) == []
    assert reproduce.freshen(plan, all_stale=True) == 2
    assert plan.missing(group) == group.rows
    assert all(plan.record(group, row).is_file() for row in group.rows), "nothing is removed"
    write_if_changed(plan.record(group, group.rows[0]), json.dumps({"status": "ok", "id": "new"}))
    assert plan.missing(group) == group.rows[1:]
    stale.clear()
    assert reproduce.freshen(plan, all_stale=True) == 1 and list(json.loads(plan.fresh().read_text())) == [
        str(plan.record(group, group.rows[1]))
    ]


def test_rows_that_took_too_long_are_tried_again(tmp_path):
    plan, group = recorded(tmp_path, {"status": "timeout"}, {"status": "skipped_time"})
    assert plan.missing(group) == [], "the run that saw it goes on"
    assert reproduce.freshen(plan, all_stale=False) == 1
    assert plan.missing(group) == group.rows[:1], "the next one tries it"
    write_if_changed(plan.record(group, group.rows[0]), json.dumps({"status": "timeout", "id": "new"}))
    assert plan.missing(group) == [], "once"


def test_records_of_fewer_repetitions_are_measured_again(tmp_path):
    plan, group = recorded(tmp_path)
    asked = group.options["repetitions"]
    recorded(tmp_path, *({"status": "ok", "repetitions": asked + more} for more in (-1, 1)))
    assert plan.missing(group) == group.rows[:1]


def test_records_of_another_number_of_threads_say_only_that(tmp_path, monkeypatch):
    plan = Plan(read_profile("laptop", results=str(tmp_path)))
    group = plan.group("pirouette/table7", "2^12x2048")
    parallel, alone = (next(r for r in group.rows if r.id == id) for id in ("pirouette-20-parallel", "pirouette-20"))
    for row in (parallel, alone):
        write_if_changed(plan.record(group, row), json.dumps({"threads": 64, "staleness_key": f"{row.id} 64"}))

    def keys(_, __, rows):
        return {row.id: f"{row.id} {row.own.get('threads', 1)}" for row in rows}

    monkeypatch.setattr(steps, "staleness_keys", keys)
    found = steps.changed_records(plan, group, [parallel, alone])
    assert [entry["reason"] for entry in found] == ["threads", "changed"]
    said = steps.stale_text(found)
    assert "1 records were measured on another number of threads than this machine has" in said
    assert "1 records are stale (sources, parameters or row changed)" in said


def test_what_lacks_a_row_is_made_again(tmp_path):
    """Descriptions and predictions that a full disk, or another program, left empty, short or broken."""
    plan = Plan(read_profile("tiny", results=str(tmp_path)))
    name = "smoke/tiny"
    ids = [f"{group.id}/{row.id}" for group in plan.of(name) for row in group.rows]
    lines = [json.dumps({"id": id}) for id in ids]
    whole = {plan.description(name): "\n".join(lines), plan.prediction(name): f"[{', '.join(lines)}]"}
    broken = ["", "[]", "{}", "7", "[7]", lines[0], f"[{lines[0]}]", "\n".join(lines)[:-3], "\0"]
    for path, text in whole.items():
        for content in broken:
            write_if_changed(path, content)
            assert plan.prepare() == [path] and not path.exists(), content
        write_if_changed(path, text)
        assert plan.prepare() == []
    whole[plan.prediction(name)] = f"[{lines[0]}]"
    write_if_changed(plan.prediction(name), f"[{lines[0]}]")
    with pytest.raises(PlanError, match=f"tiny.json has no prediction of {re.escape(ids[1])}. Delete it and run again"):
        plan.predictions()
    write_if_changed(plan.fresh(), "[1]")
    assert plan.missing(plan.of(name)[0])


def test_missing_rows_are_those_without_a_finished_record(tmp_path):
    plan, group = recorded(tmp_path, {"status": "ok"}, {"status": "failed"})
    write_if_changed(plan.marker(group), "{}")
    assert plan.missing(group) == group.rows[1:]
    plan.prepare()
    assert not plan.marker(group).exists(), "a marker that is no longer true is dropped"
    recorded(tmp_path, {"status": "ok"}, {"status": "skipped_memory"})
    assert plan.missing(group) == []
