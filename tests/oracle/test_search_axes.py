"""The small table of a grid: which of all sets with a value stands for it."""

import json

import pytest
from pirlab_estimator.search import axes

VARY = [
    {"key": "base", "values": [8, 16]},
    {"key": "ring", "values": [{"modulus": "65537 * 65537"}, {"modulus": 40961}]},
    {"key": "kind", "values": ["sum", {"weight": 2}]},
]
FIGURES = dict.fromkeys(["upload", "download", "hint_bytes"], 1000) | {"seconds": 0.123456789, "refused": None}


def row(places, score=1.0, bits=130.0, log2_failure=-50.0, **more):
    change = {axis["key"]: axis["values"][place] for axis, place in zip(VARY, places)}
    about = {"protocol": "nopir", "records": 8, "record_bits": 8, "varied": json.dumps(change), "set": "{}"}
    return about | FIGURES | {"score": score, "bits": bits, "log2_failure": log2_failure} | more


def chosen(*others):
    """By key and value: the line's score, and what it misses."""
    found, *lines = axes.lines([row(()), *others], VARY)
    assert found["set"] == "{}" and "key" not in found and found["varied"] == ""
    return {(line["key"], line["value"]): (line.get("score"), line["missed"]) for line in lines}


def test_the_best_that_reaches_both_targets_stands_for_a_value():
    found = chosen(
        row((0, 0, 0), score=3.0),
        row((0, 1, 1), score=2.0),
        row((0, 0, 1), score=1.0, log2_failure=-39.9),
        row((1, 1, 0), score=0.5, bits=127.9),
        row((1, 0, 0), score=4.0),
    )
    assert found == {
        ("base", 8): (2.0, ""),
        ("base", 16): (4.0, ""),
        ("ring", 32): (3.0, ""),
        ("ring", 15): (2.0, ""),
        ("kind", 1): (3.0, ""),
        ("kind", 2): (2.0, ""),
    }


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([{"log2_failure": -20.0, "score": 1.0}, {"log2_failure": -30.0, "score": 9.0}], (9.0, "failure")),
        ([{"bits": 100.0, "score": 1.0}, {"log2_failure": -1.0, "score": 9.0}], (9.0, "failure")),
        (
            [{"bits": 100.0, "score": 1.0}, {"bits": 120.0, "score": 9.0, "log2_failure": 0.0}],
            (9.0, "security and failure"),
        ),
        ([{"refused": "too large", "bits": None}, {"bits": None, "score": 9.0}], (9.0, "security")),
        ([{"refused": "too large", "bits": None}], (None, "refused: too large")),
    ],
)
def test_where_none_reaches_both_the_nearest_stands_with_what_it_misses(others, expected):
    assert chosen(*(row((0, 0, 0), **each) for each in others))["base", 8] == expected


def test_what_is_varied_is_read_as_it_was_written():
    change = {"base": 16, "ring": VARY[1]["values"][1], "kind": "sum"}
    text = axes.written(change, VARY)
    assert text == "base=16 ring=#2 kind=#1" and axes.read(text, VARY) == change
    with pytest.raises(ValueError, match="'ring' where the grid varies 'base'"):
        axes.read("ring=#2 base=16 kind=#1", VARY)


def test_numbers_have_six_digits_and_bytes_all():
    *_, line = axes.lines([row(()), row((0, 0, 0), upload=123456789)], VARY)
    assert line["seconds"] == 0.123457 and line["upload"] == 123456789
