"""The thesis of PIRANA over GBFV: each printed column has rows, each row a column; its crossing, counted again."""

import pytest
from pirlab_figures.lib import frame
from pirlab_figures.lib.paper import declared
from pirlab_figures.thesis import crossing, tables
from pirlab_workflow.experiments import all_experiments, load_experiment
from pirlab_workflow.files import ROOT

TABLES = ("2.1", "5.1", "5.2", "5.3", "5.4", "5.5", "5.6")


@pytest.fixture(scope="module")
def expected():
    return frame.load_expected(ROOT / "experiments/expected")


def columns(expected):
    """The printed columns by our protocol and id."""
    found = [line for table in TABLES for line in tables.printed(expected, table)]
    return {(tables.OWN[line["name"]], line["id"]): line for line in found}


def rows():
    """The columns that rows of the thesis' experiments stand for: (set, records, record bits) by protocol and id."""
    every = {
        (place[0].split("/")[0], id): place
        for place, ids in declared().items()
        for id in ids
        if place[0].split("/")[0] in tables.OWN.values()
    }
    return every


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
