"""Figures and the table of sweeps, drawn from small CSV files of the search."""

import json

import pandas as pd
import pytest
from pirlab_figures.search import best as sweep_best
from pirlab_figures.search import data as sweep_data
from pirlab_figures.search import gadgets as sweep_gadgets
from pirlab_figures.search import sizes as sweep_sizes
from pirlab_figures.search import sweep, sweep_page

FIGURES = {
    "upload": 1024,
    "download": 2048,
    "hint_bytes": 0,
    "hint_serves": None,
    "seconds": 0.5,
    "server_bytes": 4096,
    "refused": None,
}
ABOUT = {"sweep": "s", "objective": "bytes", "protocol": "inspire", "records": 2**14, "record_bits": 262144}
ROW = FIGURES | ABOUT | {"log2_failure": -41.0, "bits": 129.0, "gadget_length": 3, "varied": "{}", "set": "{}"}


def written(tmp_path, rows):
    path = tmp_path / "sweep.csv"
    pd.DataFrame([ROW | row for row in rows]).to_csv(path, index=False)
    assert set(sweep_data.NEEDED) <= set(pd.read_csv(path).columns)
    return path


def legend(figure):
    return [text.get_text() for each in figure.legends for text in each.get_texts()]


def test_sizes_have_ticks_at_their_databases_and_points_only_where_runs_are(tmp_path):
    rows = [{"objective": o, "records": 2**k} for o in ("bytes", "seconds") for k in (14, 18, 22)]
    data = sweep_sizes.found(written(tmp_path, [row | {"kind": "best", "part": "p", "name": "found"} for row in rows]))
    figure = sweep_sizes.draw(data, pd.DataFrame())
    assert list(figure.axes[0].get_xticks()) == [2**14, 2**18, 2**22]
    assert figure.axes[0].get_title() == "records of 32 KiB" and legend(figure) == ["InsPIRe"]
    runs = pd.DataFrame([ABOUT | {"traffic": 3.0, "answer": 0.4}])
    assert legend(sweep_sizes.draw(data, runs))[-1] == "measured, any set"
    assert legend(sweep_sizes.draw(data, runs.assign(record_bits=1))) == ["InsPIRe"], "of another record size"


@pytest.mark.parametrize(
    ("key", "values", "title", "line"),
    [
        ("packing.dropped", (0, 1), "InsPIRe, packing: digits dropped", "1 dropped"),
        ("rlwe.log2_modulus", (48, 50), "InsPIRe, packing: modulus", "q of 50 bits"),
    ],
)
def test_a_panel_says_what_its_lines_are(tmp_path, key, values, title, line):
    rows = [
        {"kind": "grid", "part": "g", "name": "g", "log2_failure": -10.0 * (12 - base) * (value > values[0])}
        | {"varied": json.dumps({key: value, "packing.base_log2": base})}
        for value in values
        for base in (6, 9)
    ]
    (axes,) = sweep_gadgets.draw(sweep_gadgets.frame(written(tmp_path, rows))).axes
    assert axes.get_title() == title and axes.get_legend().get_texts()[1].get_text() == line
    assert [text.get_text() for text in axes.texts] == ["3"], "of the line that reaches the target with one base only"


def along(tmp_path, rows):
    """A table of values, after the found set of each database."""
    about = {"protocol": "inspire", "records": 2**14, "record_bits": 262144, "missed": "", "bits": 129.0}
    about |= {key: FIGURES[key] for key in ("upload", "download", "hint_bytes", "seconds")} | {"log2_failure": -41.0}
    path = tmp_path / "grids.csv"
    pd.DataFrame([about | row for row in rows]).to_csv(path, index=False)
    assert set(sweep_data.ALONG) <= set(pd.read_csv(path).columns)
    return path


BASE, MODULUS, DROPPED = "packing.base_log2", "rlwe.log2_modulus", "packing.dropped"
LINES = [
    {"key": None, "score": 2.0},
    {"key": BASE, "value": 8, "score": 2.5},
    {"key": BASE, "value": 9, "score": 1.0, "missed": "failure", "log2_failure": -39.0},
    {"key": BASE, "value": 10, "score": 4.0},
    {"key": BASE, "value": 11, "missed": "refused: too large", "bits": None, "log2_failure": None, "score": None},
    {"key": MODULUS, "value": 48, "score": 3.0},
    {"key": MODULUS, "value": 48, "score": 2.75},
    {"key": MODULUS, "value": 56, "score": 1.0, "missed": "security", "bits": 127.0},
    {"key": DROPPED, "value": 0, "score": 2.5},
]


def test_of_two_lines_at_one_place_the_better_stands_there(tmp_path):
    found = [
        (row["key"], row["value"], row["score"]) for row in sweep_data.along(along(tmp_path, LINES)).to_dict("records")
    ]
    assert [each for each in found if each[0] == MODULUS] == [(MODULUS, 48.0, 2.75), (MODULUS, 56.0, 1.0)]
    assert {each[0] for each in found} == {BASE, MODULUS, DROPPED}, "the found set is not a value of a key"


def test_a_protocol_has_a_figure_of_all_its_keys_with_hollow_points_where_a_target_is_missed(tmp_path):
    path = along(tmp_path, LINES)
    files = sweep.Sweeps(path).write(tmp_path / "drawn")
    expected = {"drawn.csv", "drawn-inspire.pdf", "drawn-inspire.caption.rst"}
    assert {file.name for file in files} >= expected
    (data,) = sweep.shown(path).values()
    panels = sweep.draw(data).axes
    quantities = 4  # there is no hint
    assert len(panels) == 3 * quantities
    line, full, hollow = panels[0].lines[:3]
    assert list(line.get_xdata()) == [8, 9, 10], "a refused value has no point"
    assert list(full.get_xdata()) == [8, 10] and list(hollow.get_xdata()) == [9]
    assert hollow.get_markerfacecolor() == "white"
    assert [axes.get_xlabel() for axes in panels[-3:]] == ["log2 packing base", "log2 q", "dropped digits"]
    assert "InsPIRe" in sweep.caption(data) and "32 KiB" in sweep.caption(data)


def test_the_page_says_which_values_reach_the_targets(tmp_path):
    path = along(tmp_path, LINES)
    rows = [line for line in sweep_page.page(path, "images").splitlines() if line.startswith("|")]
    assert rows[0] == "| key | values | 2^14 x 32 KiB |"
    assert rows[2:] == [
        f"| `{BASE}` | 8, 9, 10, 11 | 8 (8 to 10) |",
        f"| `{MODULUS}` | 48, 56 | 48 |",
        f"| `{DROPPED}` | 0 | 0 |",
    ]
    missed = along(tmp_path, [LINES[0], LINES[2], LINES[4]])
    assert "| none (failure, refused) |" in sweep_page.page(missed, "images")


def test_published_sets_have_their_names_once(tmp_path):
    rows = [{"kind": "best", "part": "p", "name": name} for name in ("found", "published", "1gb-64b")]
    table = sweep_best.build(written(tmp_path, rows))
    assert {row.cells["set"].text for row in table.rows} == {"found", "published", "published 1gb-64b"}
