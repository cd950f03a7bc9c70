"""Figures and the table of sweeps, drawn from small CSV files of the search."""

import json

import pandas as pd
import pytest
from pirlab_figures.search import best as sweep_best
from pirlab_figures.search import data as sweep_data
from pirlab_figures.search import gadgets as sweep_gadgets
from pirlab_figures.search import grids as sweep_grids
from pirlab_figures.search import sizes as sweep_sizes

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


def test_grids_show_the_best_of_each_base_and_modulus_that_is_right_and_secure(tmp_path):
    rows = [
        {"kind": "grid", "part": "inspire", "name": "inspire", "score": score, "bits": bits, "log2_failure": failure}
        | {"varied": json.dumps({"packing.base_log2": base, "rlwe.log2_modulus": modulus, "packing.dropped": 0})}
        for base, modulus, score, bits, failure in [
            (8, 48, 3.0, 129, -41),
            (8, 56, 2.0, 129, -41),
            (9, 56, 1.0, 127, -41),
            (9, 48, 1.0, 129, -39),
            (10, 56, 4.0, 129, -41),
        ]
    ]
    data = sweep_grids.frame(written(tmp_path, rows))
    assert set(data["least"]) == {2.0}
    points = {(row["key"], row["value"]): row["score"] for row in data.to_dict("records")}
    base, modulus = "packing.base_log2", "rlwe.log2_modulus"
    assert points == {(base, 8.0): 2.0, (base, 10.0): 4.0, (modulus, 48.0): 3.0, (modulus, 56.0): 2.0}
    files = sweep_grids.Grids(sweep_grids.frame(written(tmp_path, rows))).write(tmp_path / "grids")
    assert {file.name for file in files} >= {"grids.csv", "grids-262144.pdf", "grids-262144.caption.rst"}
    above, below = sweep_grids.draw(data).axes
    assert above.get_xlabel() == "log2 packing base" and below.get_xlabel() == "log2 q"
    assert list(above.lines[0].get_ydata()) == [1.0, 2.0]


def test_tables_of_a_grid_stand_at_their_base_and_modulus_in_bits(tmp_path):
    """Of all k that have a b of as many bits, the best."""
    ring = {"degree": 4096, "modulus": "268369921 * 268361729 * 1073153"}
    rows = [
        {"kind": "grid", "part": "pirana", "name": "pirana", "protocol": "pirana", "score": score}
        | {"varied": json.dumps({"ring.plaintext": {"kind": "binomial", "slots": slots, "base": base}, "ring": ring})}
        for slots, base, score in [(512, 65340, 3.0), (1024, 65280, 2.0), (512, 4, 4.0)]
    ]
    rows[2]["varied"] = rows[2]["varied"].replace("268361729 * ", "")
    rows.append(rows[0] | {"varied": json.dumps({"ring.modulus": ring["modulus"]}), "part": "onionpir"})
    rows.append(
        rows[0] | {"varied": json.dumps({"ring.plaintext": {"kind": "integer", "modulus": 65537}, "ring": ring})}
    )
    data = sweep_grids.frame(written(tmp_path, rows))
    points = {(row["part"], row["key"], row["value"]): row["score"] for row in data.to_dict("records")}
    assert points == {
        ("pirana", "ring.plaintext", 16): 2.0,
        ("pirana", "ring.plaintext", 2): 4.0,
        ("pirana", "ring", 76): 2.0,
        ("pirana", "ring", 48): 4.0,
        ("onionpir", "ring.modulus", 76): 3.0,
    }


def test_published_sets_have_their_names_once(tmp_path):
    rows = [{"kind": "best", "part": "p", "name": name} for name in ("found", "published", "1gb-64b")]
    table = sweep_best.build(written(tmp_path, rows))
    assert {row.cells["set"].text for row in table.rows} == {"found", "published", "published 1gb-64b"}
