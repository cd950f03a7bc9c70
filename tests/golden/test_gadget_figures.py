"""Tables and figures of primitives, from synthetic records whose right numbers are known."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd
import pytest
import synthetic_primitives as synthetic
from pirlab_estimator.paths import ROOT
from pirlab_estimator.records import InputError
from pirlab_figures.cli import main
from pirlab_figures.gadget import claims as gadget_claims
from pirlab_figures.gadget import figure1 as gadget_figure1
from pirlab_figures.gadget import noise as gadget_noise
from pirlab_figures.gadget import noise_plot as gadget_noise_plot
from pirlab_figures.gadget import operations as gadget_operations
from pirlab_figures.gadget import paper as gadget
from pirlab_figures.gadget import scalar as gadget_scalar
from pirlab_figures.gadget import vector as gadget_vector
from pirlab_figures.lib import frame as loader
from pirlab_figures.lib import primitive as primitives
from pirlab_figures.runs import primitives as primitives_table
from pirlab_figures.runs import primitives_plot
from pirlab_workflow import reference
from places import EXPECTED

#: The source of the claims as measured in the paper's own way.
DIVISION = "here, the paper's way: one coefficient at a time"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("primitives")
    noises, predictions = synthetic.noises()
    documents = synthetic.vectors() + synthetic.scalars(60) + synthetic.scalars(102) + synthetic.operations()
    synthetic.write(place, documents + synthetic.magnitudes() + noises, predictions)
    return place


@pytest.fixture(scope="module")
def records(folder: Path) -> list[primitives.Primitive]:
    return primitives.load([folder / "records"], [folder / "predictions.json"])


def one(path: Path, document: dict, *predictions: dict, stale: dict | None = None) -> primitives.Primitive:
    folder = synthetic.write(path, [document], predictions)
    [record] = primitives.load([folder], [path / "predictions.json"], stale)
    return record


def test_every_record_is_loaded_with_its_settings_completed(records):
    assert len({record.id for record in records}) == len(records) > 300
    vector = gadget.find(records, "decompose", base=4, family="jlp24", digit_bits=16, coins="fresh")
    assert vector.settings["length"] == 30
    assert vector.seconds("decompose") == pytest.approx(2048 * 30 * 16 / 64 * 1e-10 * 1.1 * 1.02)


def test_a_record_that_is_not_ok_has_no_numbers(tmp_path):
    document = synthetic.vectors((2,))[0] | {"status": "failed", "reason": "no | coins"}
    record = one(tmp_path, document)
    assert record.time("decompose") is None and record.values("x") == [] and record.noise("x") is None
    for table in (primitives_table.table([record]), gadget_vector.table([record], loader.load_expected(EXPECTED))):
        assert "failed: no \\| coins" in table.markdown()
        assert not table.data.get("seconds", pd.Series(dtype=float)).notna().any()


def test_marks_of_primitives(tmp_path):
    document = synthetic.vectors((2,))[0] | {"seed": "00"}
    document["build"]["dirty"] = True
    document["measured"]["times"]["decompose"]["samples"] = [1.0, 1.0, 1.5, 2.0, 2.0]
    record = one(tmp_path, document, stale={document["id"]: ""})
    assert record.stale == "2026-11-20"
    assert record.marks(["decompose"]) == "§ˢᵘᵛ"
    table = gadget_vector.table([record], loader.load_expected(EXPECTED))
    text = table.markdown()
    for words in ("§ stale", "ˢ keys from a given seed", "ᵘ built from", "ᵛ times vary"):
        assert words in text
    assert "security" not in text, "a primitive claims no security"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": "pirlab/primitive/2"}, "pirlab/primitive/2"),
        ({"status": "fine"}, "fine"),
        ({"described": {}}, "described.settings"),
        ({"measured": {"times": {}}}, "measured.values"),
    ],
)
def test_records_that_cannot_be_used_are_named(tmp_path, change, words):
    with pytest.raises(InputError, match=words):
        one(tmp_path, synthetic.vectors((2,))[0] | change)


def test_a_wrong_result_with_status_ok_is_refused(tmp_path):
    document = synthetic.vectors((2,))[0]
    document["measured"]["correct"]["right"] = 1
    with pytest.raises(InputError, match=r"measured\.correct: status ok although"):
        one(tmp_path, document)


def test_formulas_are_evaluated():
    assert gadget.evaluate("O(k^2*(ell^2 + ell) + k*ell)", 60, 1) == 60**2 * 2 + 60
    assert gadget.evaluate("k*(2*ell^2 + 5*ell)", 8, 8) == 8 * (2 * 64 + 40)
    for other in ("k*P", "c_1", "p", ""):
        assert gadget.evaluate(other, 60, 1) is None


def test_table1_puts_counts_beside_formulas(records):
    table = gadget_operations.table(records, EXPECTED)
    frame = table.data.set_index(["family", "part", "base"])
    row = frame.loc[("jlp21", "addition", 256)]
    assert (row["formula"], row["formula_value"], row["bit_operations"]) == ("k*(2*ell^2 + 5*ell)", 1344, 800)
    assert row["verdict"] == "outside the bounds"
    assert gadget_operations._verdict([0.61, 1.09]) == "bounded" and gadget_operations._verdict([None]) == ""
    assert frame.loc[("gmp19", "sampling", 2)]["formula"] == "k*P"
    assert len(table.rows) == 2 * 12
    assert "| k·(2·ℓ² + 5·ℓ) |" in table.markdown()
    assert r"k$\cdot$(2$\cdot$$\ell$$^2$ + 5$\cdot$$\ell$)" in table.tex()


def test_tables_2_and_4_have_every_printed_number(records, expected):
    for which, number in (("2", "2"), ("4", "4")):
        data = gadget_scalar.whole(records, expected, which).data
        printed = expected[(expected["paper"] == "gadget") & (expected["table"] == number)]
        own = data[data["part"] == "whole"]
        assert sorted(own["paper_s"].dropna()) == pytest.approx(sorted(printed["seconds"]))
        assert own["here_s"].notna().all()
    ours = own[(own["family"] == "jlp24") & (own["base"] == 2)]
    assert ours["paper_s"].item() == pytest.approx(19.0677e-6)
    assert ours["here_s"].item() == pytest.approx(102 * 4e-9 * 1.1)


def test_tables_3_and_5_have_every_printed_number(records, expected):
    for which, number in (("3", "3"), ("5", "5")):
        data = gadget_scalar.parts(records, expected, which).data
        printed = expected[(expected["paper"] == "gadget") & (expected["table"] == number)]
        assert sorted(data["paper_s"].dropna()) == pytest.approx(sorted(printed["seconds"]))


def test_table6_has_overheads_in_both_worlds(records, expected):
    table = gadget_vector.table(records, expected)
    frame = table.data.set_index(["base", "method", "digit_bits", "family", "coins"])
    row = frame.loc[(16, "vectorised", 16, "jlp24", "fresh")]
    assert row["over_vectorised"] == pytest.approx(1.1 * 1.02 - 1)
    assert row["over_division"] == pytest.approx(1.1 * 1.02 * 0.25e-10 / 2e-9 - 1)
    assert row["store_share"] == pytest.approx(8e-11 / (1e-10 * 1.1 * 1.02))
    assert math.isnan(row["paper_seconds"]), "the paper's digits are words"
    wide = frame.loc[(256, "vectorised", 64, "jlp24", "offline")]
    assert wide["paper_overhead"] == pytest.approx(57.672 / 50.0841 - 1)
    for coins, factor in (("offline", 1.0), ("fresh", 1.5)):
        assert frame.loc[(2, "division", 64, "zy22", coins)]["over_division"] == pytest.approx(1.4 * factor - 1)
        assert frame.loc[(2, "division", 64, "jlp24", coins)]["over_division"] == pytest.approx(1.1 * factor - 1)
    assert math.isnan(frame.loc[(2, "division", 64, "unsigned", "none")]["over_division"])
    assert (256, "vectorised", 8, "jlp24", "fresh") not in frame.index


def test_table6_says_which_targets_hold(records, expected):
    table = gadget_vector.table(records, expected)
    frame = table.data.set_index(["base", "method", "digit_bits", "family", "coins"])["target"]
    # Synthetic: 12 % over unsigned digits with fresh coins at every width, ZY22 43 %; 80 % of the store bandwidth.
    for bits, verdict in ((64, "misses"), (16, "holds"), (8, "holds")):
        assert frame.loc[(16, "vectorised", bits, "jlp24", "fresh")] == verdict
    assert frame.loc[(16, "vectorised", 16, "zy22", "fresh")] == "misses"
    assert frame.loc[(16, "vectorised", 64, "unsigned", "none")] == "holds"
    for row in ((16, "vectorised", 64, "jlp24", "offline"), (16, "division", 64, "jlp24", "fresh")):
        assert frame.loc[row] == ""
    text = table.markdown()
    assert "reach 60 % of the store bandwidth: holds for Unsigned at b = 2^1 (80.0 %)" in text
    assert "64-bit digits with fresh coins cost at most 10 % over vectorised unsigned: holds for none; misses" in text


def verdicts(table) -> dict[tuple[str, str], str]:
    return {(row["id"], row["source"]): row["verdict"] for row in table.data.to_dict("records")}


def test_claims_of_the_paper_come_out_as_its_tables_say(records, expected):
    found = verdicts(gadget_claims.table(records, expected, EXPECTED))
    paper = {name: verdict for (name, source), verdict in found.items() if source == "the paper's tables"}
    assert paper == {
        "G1": "not supported",
        "G2": "supported",
        "G3": "not supported",
        "G4": "not supported",
        "G5": "supported",
        "X32": "not supported",
        "X33": "not supported",
        "X34": "not supported",
        "X35": "not supported",
        "X36": "supported",
    }


def test_claims_are_recomputed_from_what_was_measured(records, expected):
    table = gadget_claims.table(records, expected, EXPECTED)
    found = verdicts(table)
    # Synthetic: 10 % over deterministic digits, 1.4/1.1 slower ZY22, JLP21 slower than JLP24.
    assert found["G1", DIVISION] == "supported"
    assert found["G4", DIVISION] == "not supported"
    assert found["G5", DIVISION] == "not supported"
    assert found["G1", "here, vectorised, 8-bit digits, fresh coins"] == "supported (3 of 4 values known)"
    fresh = table.data[table.data["source"] == f"{DIVISION}, fresh coins"].set_index("id")["values"]
    assert fresh["G1"].startswith("2^1: 65.0 %")
    alike = table.data[(table.data["id"] == "X35") & (table.data["source"] == DIVISION)]
    assert alike["values"].item().startswith("JLP21 2^1: 1.00"), "divisions against divisions"
    [row] = table.data[(table.data["id"] == "G3") & (table.data["source"] == DIVISION)].to_dict("records")
    assert row["values"].startswith("2^1: 21.4 %") and row["values"].count("%") == 6


def test_claims_without_records_are_the_papers_alone(expected):
    table = gadget_claims.table([], expected, EXPECTED)
    assert set(table.data["source"]) == {"the paper's tables"}
    assert set(table.data["id"]) == {*gadget_claims.CLAIMS, "X36"}


def test_figure1_means_are_over_all_repetitions(records):
    data = gadget_figure1.build(records)
    row = data[(data["family"] == "jlp21") & (data["modulus_kind"] == "largest") & (data["modulus_bits"] == 60)]
    assert row["norm_mean"].item() == pytest.approx(math.sqrt(60 * 2), rel=1e-12)
    assert row["norm_mean"].item() == pytest.approx(row["norm_expected"].item())
    assert row["runs"].item() == 10000
    assert row["norm_bound"].item() == pytest.approx(2 * math.sqrt(60))
    figure = gadget_figure1.draw(data)
    left, right = figure.axes
    lines = [line for line in left.lines if len(line.get_xdata()) == 6]
    assert len(lines) == 6 + 1, "a line a sampler, and the bound"
    assert len([line for line in right.lines if len(line.get_xdata()) == 6]) == 6 * 3 + 1
    assert "JLP24 1.73 x" in gadget_figure1.caption(data, records)


def test_noise_stands_beside_its_formula_and_balanced_digits(records):
    data = gadget_noise.build(records)
    assert data["variance_ratio"].to_list() == pytest.approx([1.01] * len(data))
    assert set(data["verdict"]) == {"agrees"}
    assert f"{len(data)} stages held against their formulas, 0 differ." in gadget_noise.table(records).markdown()
    product = data[(data["what"] == "product") & (data["base"] == 256)].set_index("family")
    assert product.loc["zy22", "bits_over_balanced"] == pytest.approx(0.5)
    assert product.loc["jlp24", "bits_over_balanced"] == pytest.approx(1.0)
    chain = data[(data["input"] == "constant") & (data["steps"] == 1000)].set_index("family")
    assert chain.loc["zy22", "bits_over_balanced"] == pytest.approx(0.5 - math.log2(1000) / 2)
    text = gadget_noise.answer(data)
    assert "a product's noise grows by (bits): Unsigned +1.00" in text
    assert "After 1000 steps of the chain 'fixed input, one selector'" in text and "ZY22 -4.48" in text
    panels = gadget_noise_plot.draw(data).axes
    assert [axes.get_title() for axes in panels] == [
        "One external product",
        "Blind rotation, base $2^{8}$",
        "Fixed input, one selector, base $2^{8}$",
    ]


def test_noise_off_its_formula_differs(tmp_path):
    document, prediction = synthetic.noise_record("noise", "zy22", 256, operation="external-product")
    document["measured"]["noise"]["added"]["variance"] *= 1.1
    table = gadget_noise.table([one(tmp_path, document, prediction)])
    assert "DIFFERS" in table.markdown() and "1 stages held against their formulas, 1 differ." in table.markdown()


def test_all_that_a_primitive_measured_stands_beside_its_prediction(tmp_path):
    """A time that no described operation gives says so; one of which some are counted has these and no verdict."""
    document, prediction = synthetic.noise_record("noise", "zy22", 256, operation="external-product")
    document["measured"]["times"] = {"operation": synthetic.times(2e-3), "other": synthetic.times(1e-3)}
    counted = {"seconds": 1e-3, "counted": "transforms"}
    prediction |= {"times": {"operation": counted}, "unit_costs": {"machine": "Synthetic CPU", "read_bandwidth": None}}
    table = primitives_table.table([one(tmp_path, document, prediction)])
    found = table.data.set_index("quantity")
    assert (found.loc["operation", "ratio"], found.loc["operation", "verdict"]) == (2.0, "shown")
    assert found.loc["added", "verdict"] == "agrees" and pd.isna(found.loc["other", "predicted"])
    assert "transforms only" in table.markdown() and "no operation described" in table.markdown()


def test_a_verdict_on_few_keys_shows_its_tolerance(tmp_path):
    document, prediction = synthetic.noise_record("noise", "zy22", 256, operation="external-product")
    document["measured"]["noise"]["added"] |= {"keys": 20, "samples": 2048}
    text = gadget_noise.table([one(tmp_path, document, prediction)]).markdown()
    assert "within 1/16 + sampling error -12.0% to 13.0%" in text and "too few to tell (few samples: 2048)" in text
    assert "1 of them have too few samples or keys for 1/16" in text


def test_noise_without_predictions_has_no_formula(folder):
    data = gadget_noise.build(primitives.load([folder / "records"]))
    assert data["stddev_predicted"].isna().all() and not data.empty


def test_an_experiment_keeps_its_own_primitives(folder, tmp_path):
    kept = folder / "records"

    def lines(*words: str) -> int:
        assert main(["table", "primitives", "--records", str(kept), "--out", str(tmp_path / "out"), *words]) == 0
        return len((tmp_path / "out.csv").read_text().splitlines())

    experiments = {json.loads(path.read_text())["experiment"] for path in kept.rglob("*.json")}
    parts = [lines("--experiment", experiment) for experiment in experiments]
    assert len(parts) > 1 and 1 < max(parts) < lines()


TABLES = ["primitives", "gadget-noise", "gadget-claims", *(f"gadget-table{i}" for i in range(1, 7))]


@pytest.mark.parametrize("which", TABLES)
def test_tables_from_the_command_line(folder, tmp_path, which, capsys):
    arguments = ["--records", str(folder / "records"), "--predictions", str(folder / "predictions.json")]
    arguments += ["--expected", str(EXPECTED), "--out", str(tmp_path / "t")]
    assert main(["table", which, *arguments]) == 0, capsys.readouterr().err
    for end in ("csv", "md", "tex", "html", "caption.rst"):
        assert (tmp_path / f"t.{end}").stat().st_size > 100


@pytest.mark.parametrize("which", ["gadget-figure1", "gadget-noise"])
def test_figures_from_the_command_line(folder, tmp_path, which):
    arguments = ["--records", str(folder / "records"), "--predictions", str(folder / "predictions.json")]
    assert main([which, *arguments, "--out", str(tmp_path / "f")]) == 0
    for end in ("pdf", "svg", "png", "csv", "caption.rst"):
        assert (tmp_path / f"f.{end}").stat().st_size > 100


@pytest.mark.parametrize("which", ["gadget-figure1", "gadget-noise"])
def test_figures_of_nothing(tmp_path, which):
    (tmp_path / "records").mkdir()
    assert main([which, "--records", str(tmp_path / "records"), "--out", str(tmp_path / "f")]) == 0


def test_several_folders_of_records_are_one(folder, tmp_path):
    arguments = ["--records", str(folder / "records/gadget/decompose"), str(folder / "records/gadget/decompose-scalar")]
    arguments += ["--expected", str(EXPECTED), "--out", str(tmp_path / "t")]
    assert main(["table", "gadget-claims", *arguments]) == 0
    frame = pd.read_csv(tmp_path / "t.csv")
    assert (frame["source"] == DIVISION).sum() == 9


def test_protocol_loaders_leave_primitives_alone(folder, tmp_path):
    assert loader.load_records(folder / "records").empty
    assert loader.load_predictions(folder / "predictions.json").empty
    mixed = tmp_path / "p.json"
    mixed.write_text(json.dumps(json.loads((folder / "predictions.json").read_text())[:1]))
    assert loader.load_predictions(mixed).empty


def test_primitives_are_drawn_beside_their_predictions(tmp_path):
    """A point for every twin of the committed records, with the verdict that the table has."""
    folder = tmp_path / "reference"
    every = reference.read_packed(ROOT / reference.packed("quick"))
    reference.write_files({path: each for path, each in every.items() if "/gadget/noise" in path}, folder)
    records = primitives.load([folder / "records/gadget/noise"], [folder / "predictions/gadget/noise.json"])
    data = primitives_plot.build(records)
    twins = [twin for record in records for twin in record.twins().values()]
    assert len(data) == len(twins) > 0 and set(data["kind"]) <= set(primitives_table.TWINS)
    assert not (data["verdict"] == "DIFFERS").any() and (data["ratio"] > 0).all()
    written = primitives_plot.drawing(records).write(tmp_path / "primitives")
    assert {path.suffix for path in written} == {".pdf", ".svg", ".png", ".csv", ".rst"}
    assert primitives_plot.draw(data.iloc[:0]).axes[0].texts, "without a point it says so"
