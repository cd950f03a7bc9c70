"""The thesis of PIRANA over GBFV: each printed column has rows, each row a column; its crossing, counted again."""

import json
from pathlib import Path

import committed
import pytest
from pirlab_figures.lib import frame
from pirlab_figures.lib.paper import declared
from pirlab_figures.thesis import crossing, tables
from pirlab_workflow.experiments import all_experiments, load_experiment

TABLES = ("2.1", "5.1", "5.2", "5.3", "5.4", "5.5", "5.6")


def columns(expected):
    """The printed columns by our protocol and id."""
    found = [line for table in TABLES for line in tables.printed(expected, table)]
    return {(tables.OWN[line["name"]], line["id"]): line for line in found}


def rows():
    """The columns that rows of the thesis' experiments stand for: (set, records, record bits) by protocol and id."""
    return {
        (place[0].split("/")[0], id): place
        for place, ids in declared().items()
        for id in ids
        if place[0].split("/")[0] in tables.OWN.values()
    }


def test_every_column_has_a_row_of_its_shape(expected):
    printed, held = columns(expected), rows()
    assert len(printed) == 18 + 12 + 12 + 12 + 8 + 4 + 3
    assert printed.keys() == held.keys()
    for key, (_, records, bits) in held.items():
        assert (printed[key]["records"], printed[key]["record_bits"]) == (records, bits), key


def test_experiments_say_which_tables_they_reproduce():
    files = {file for name in all_experiments() for file in load_experiment(name).get("reproduces", [])}
    assert {f"pirana-gbfv-table{table}.csv" for table in TABLES} <= files


@pytest.mark.parametrize("slots", crossing.SLOTS)
def test_pirana_is_shorter_from_two_cubes_on(slots):
    assert crossing.crossing(slots) == 2 * slots**3 + 1


def test_the_published_formula_has_the_printed_crossing():
    pirana, onehot = crossing.published(131_583, 16)
    later_pirana, later_onehot = crossing.published(131_584, 16)
    assert pirana >= onehot and later_pirana < later_onehot


def test_a_plaintext_is_packed_as_its_layout_and_noise_say(tmp_path):
    """GBFV with half the slots has the bits of BFV: seen in committed records, whatever their times."""
    found = [
        (place, document)
        for place, document in committed.of_run("quick").items()
        if place.startswith("pirana/small/2^12x512/")
    ]
    for place, document in found:
        (tmp_path / f"{Path(place).name}.json").write_text(json.dumps(document))
    joined = frame.join(frame.load_records(tmp_path), frame.load_predictions(None), {})
    lines = tables.packing(frame.rows(joined, frame.load_predictions(None))).data.to_dict("records")
    assert len(lines) == len(found)
    slots = [line["slots"] for line in lines]
    assert slots == sorted(slots, reverse=True)
    by_set = {line["set"]: line for line in lines}
    whole, halves = (by_set[f"pirana/gbfv-n4096-{bits}"] for bits in (31, 63))
    assert (whole["slots"], halves["slots"]) == (2048, 1024)
    assert (whole["plaintext_bits"], halves["plaintext_bits"]) == (31 * 2048, 63 * 1024)
    stage = next(
        stage
        for stage in committed.of_run("quick")["pirana/small/2^12x512/pirana-gbfv-n4096-63"]["noise"]
        if stage["stage"] == "sum"
    )
    assert 2 ** halves["noise"] == pytest.approx(stage["stddev"] / stage["threshold"])
    assert halves["noise"] < 0 and halves["selection"] + halves["product"] <= halves["answer"]
