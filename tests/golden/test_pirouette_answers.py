"""Pirouette's Figure 3, Table 7, steps, rotations and margins, from synthetic records whose right numbers are known."""

from argparse import Namespace

import pandas as pd
import pytest
from pirlab_estimator.cost.units import UnitCosts
from pirlab_estimator.records import InputError
from pirlab_figures.drawings import TABLES, make
from pirlab_figures.lib import frame as loader
from pirlab_figures.lib.inputs import Inputs
from pirlab_figures.lib.marks import SYMBOLS, provenance
from pirlab_figures.lib.protocols import STEPS
from pirlab_figures.lib.style import Drawing
from pirlab_figures.pirouette import figure3 as pirouette_figure3
from pirlab_figures.pirouette import figure4
from pirlab_figures.pirouette import margins as pirouette_margins
from pirlab_figures.pirouette import phases as pirouette_phases
from pirlab_figures.pirouette import rotations as pirouette_rotations
from pirlab_figures.pirouette import steps as pirouette_steps
from pirlab_figures.pirouette import table7 as pirouette_totals
from places import EXPECTED

SECONDS = {"digits": 0.3, "bits": 0.2, "rgsw": 1.0, "selector": 0.1, "first_dimension": 0.2, "folding": 0.15}
ROTATION = 380 * (2 * 4 + 2) * 2
CONVERSION = (22 * 16 + 9 * (5 + 2) + 2 * 22) * 2


def listed(rows):
    """Rows as drawings read them, each with all columns."""
    return loader.dicts(pd.DataFrame(rows))


def gadget(digits):
    return {"digits": digits}


def description(k=20, digits=4):
    layout = {"ring_degree": 2048, "lwe_dimension": 760, "bits_per_step": 2, "ring_modulus": "268369921 * 67104769"}
    layout |= {"index_bits": k, "digits": digits, "rgsw_window": 128, "rotation_gadget": gadget(4)}
    layout |= {"automorphism_gadget": gadget(16), "squaring_gadget": gadget(5), "rgsw_gadget": gadget(9)}
    counts = {
        "digits": 2 * (digits - 1) * ROTATION,
        "bits": digits * ROTATION + 96,
        "rgsw": k * (ROTATION + CONVERSION),
    }
    counts |= {"selector": 1000, "first_dimension": 100, "folding": 2000}
    operations = {step: {"ntt_2048_28": count, "digits": 7} for step, count in counts.items()}
    return {"layout": layout, "operations": {"answer": operations}}


def stage(name, stddev, samples, largest, threshold=64.0):
    return {"stage": name, "stddev": stddev, "samples": samples, "keys": 1, "max": largest, "threshold": threshold}


def row(protocol="pirouette", records=1 << 20, seconds=2.0, **more):
    phases = [{"name": f"answer_{step}", "seconds": [value, value, value]} for step, value in SECONDS.items()]
    found = {
        "set": f"{protocol}/2^20",
        "sha256": protocol,
        "protocol": protocol,
        "records": records,
        "record_bits": 2048,
    }
    found |= {"security_bits": 128.3, "security_target": 128, "security": [], "failure_log2": -45.0, "id": "one"}
    found |= {"failure_target": -40, "status": "ok", "reason": None, "threads": 1, "repetitions": 5, "cpu": "some"}
    found |= {"offline_upload_bytes": 2e8, "upload_bytes": 36, "download_bytes": 2048, "answer_s": seconds, "right": 28}
    found |= {"answer_q1_s": seconds, "answer_q3_s": seconds, "stale": None, "streamed": False, "seeded": False}
    found |= {"dirty": False, "read_bandwidth": 15e9, "kernel": "avx2", "commit": "abc", "queries": 1, "compared": 28}
    found |= {"phases": phases, "description": description(), "noise": [], "noise_stages": []}
    return found | more


def cells(table, line):
    return {key: cell.text for key, cell in table.rows[line].cells.items()}


def test_rows_of_a_protocol_from_different_sources_are_named():
    """Not rows of several commits between which the protocol's sources did not change."""
    one, other = row(commit="a", source_hash="1"), row("respire", commit="b", source_hash="2")
    assert "CAUTION" not in provenance([one, row(commit="b", source_hash="1"), other])
    assert "CAUTION: rows of a protocol were built from different sources." in provenance([one, row(source_hash="2")])


def test_table7_puts_measured_lines_below_the_papers(expected):
    skipped = row(records=1 << 25, status="skipped_memory", reason="needs 70 GiB", id="two", answer_s=float("nan"))
    parallel = row(seconds=1.25, threads=2, id="three")
    table = pirouette_totals.table(listed([row(), skipped, parallel]), expected)
    printed = table.data[table.data["source"] == "paper"]
    assert len(printed) == 24
    first = printed[(printed["protocol"] == "Pirouette") & (printed["config"] == "threads=1")].iloc[0]
    assert (first["query_size"], first["server_time"]) == (36, 19)
    ids = [r.record_id for r in table.rows]
    one, three = table.rows[ids.index("one")], table.rows[ids.index("three")]
    assert (one.cells["ratio"].text, one.cells["offline_comm"].text, one.cells["right"].text) == (
        "0.11",
        "200",
        "28 of 28",
    )
    assert table.rows[ids.index("one") - 1].cells["source"].text == "paper"
    assert (three.cells["speedup"].text, three.cells["threads"].text) == ("1.60", "2")
    assert "ratio" not in three.cells or three.cells["ratio"].text == "", (
        "two threads against the paper's 32 say nothing"
    )
    above = table.rows[ids.index("three") - 1]
    assert (above.cells["source"].text, above.cells["speedup"].text) == ("paper, parallel full", "2.71")
    assert table.rows[ids.index("two")].status == "skipped, memory: needs 70 GiB"


def test_table7_splits_the_papers_seconds(expected):
    """Of 19 s: the printed set here, with its transforms, ours with its own, and what is left."""
    fewer = description(k=20, digits=1)
    count = {name: pirouette_steps.answer_transforms(d) for name, d in (("theirs", description()), ("ours", fewer))}
    published = row(seconds=1.4, set="pirouette/published", sha256="printed", id="printed")
    table = pirouette_totals.table(listed([row(seconds=0.74, description=fewer), published]), expected)
    [text] = [note for note in table.notes if note.startswith(SYMBOLS["split"])]
    for part in ("19.0 s", "1.40 s", "0.740 s", "a factor of 14"):
        assert part in text
    for part in count.values():
        assert f"{part / 1e3:.0f} thousand transforms" in text
    assert count["theirs"] > count["ours"] > 0
    marked = [
        line
        for line in table.rows
        if "server_time" in line.cells and SYMBOLS["split"] in line.cells["server_time"].marks
    ]
    assert [(line.cells["source"].text, line.cells["server_time"].text) for line in marked] == [("paper", "19.0")]
    assert SYMBOLS["split"] in table.markdown() and "machine and code" in table.markdown()
    alone = pirouette_totals.table(listed([row()]), expected)
    assert not [note for note in alone.notes if note.startswith(SYMBOLS["split"])], "without a run of the printed set"


def test_table7_says_what_was_not_measured(expected):
    table = pirouette_totals.table(listed([row()]), expected)
    lines = [(r.cells["database"].text, r.cells["series"].text) for r in table.rows if r.status]
    assert ("2^22 x 2048 bit", "Pirouette") in lines and ("2^20 x 2048 bit", "Pirouette") not in lines
    assert ("2^20 x 2048 bit", "T-Respire") in lines


def test_steps_stand_beside_their_transforms():
    costs = UnitCosts({"ntt_2048_28": 1e-6}, "this")
    table = pirouette_phases.table(listed([row(), row(threads=2, id="two")]), costs, pirouette_steps.PIROUETTE)
    data = table.data.set_index(["threads", "step"])
    assert data.loc[(1, "digits"), "ntts"] == 6 * ROTATION
    assert data.loc[(1, "digits"), "bound_s"] == pytest.approx(6 * ROTATION * 1e-6)
    assert data.loc[(2, "digits"), "bound_s"] == pytest.approx(3 * ROTATION * 1e-6)
    assert data.loc[(1, "digits"), "measured_over_bound"] == pytest.approx(0.3 / (6 * ROTATION * 1e-6))
    assert any(note.startswith("CAUTION: measured on some,") for note in table.notes)
    phase0 = next(r for r in table.rows if r.cells["step"].text == "phase 0")
    assert (phase0.cells["measured"].text, phase0.cells["share"].text) == ("1.60 s", "80")


def test_reading_the_database_bounds_a_step_that_has_few_transforms():
    costs = UnitCosts({"ntt_2048_28": 1e-6}, "this")
    described = {
        "operations": {"answer": {"first_dimension": {"ntt_2048_28": 512, "poly_matrix_bytes": 2_000_000_000}}}
    }
    more = {"protocol": "respire", "description": described, "read_bandwidth": 20e9}
    measured = [{"name": "answer_first_dimension", "seconds": [0.125]}]
    joined = listed([row(phases=measured, answer_s=0.5, **more), row(), row(phases=[], id="other", **more)])
    table = pirouette_phases.table(joined, costs, STEPS["respire-phases"])
    [line] = table.data.to_dict("records")
    assert (line["bound_s"], line["measured_over_bound"]) == (pytest.approx(0.1), pytest.approx(1.25))
    assert [r.cells["step"].text for r in table.rows] == ["first dimension", "answer", "answer"], "no phase 0, no keys"
    assert "lower bound" not in " ".join(table.notes) and table.title.startswith("Respire: each step")


def test_keys_stand_above_the_answer_with_their_predictions():
    costs = UnitCosts({"ntt_2048_28": 1e-6}, "this")
    offline = {"keys": 0.5, "key_expansion": 0.25}
    described, measured = description(), row()["phases"] + [{"name": n, "seconds": [s]} for n, s in offline.items()]
    described["operations"] |= {"keys": {"ntt_2048_28": 100_000}, "key_expansion": {"prg_bytes": 7}}
    seconds = {"keys": 0.4, "key_expansion": 0.2} | {f"answer_{step}": value / 2 for step, value in SECONDS.items()}
    more = {"description": described, "phases": measured, "prediction": {"seconds": seconds}}
    table = pirouette_phases.table(
        listed([row(**more), row(threads=2, id="two", **more)]), costs, pirouette_steps.PIROUETTE
    )
    shown = {(r.cells["threads"].text, r.cells["step"].text): r.cells for r in table.rows}
    texts = {
        where: [each[key].text for key in ("predicted", "measured", "ratio", "share")] for where, each in shown.items()
    }
    assert texts["1", "keys"] == ["400 ms", "500 ms", "5.00", "–"]
    assert texts["1", "key expansion"] == ["200 ms", "250 ms", "–", "–"], "no transforms"
    assert texts["1", "phase 0"][:2] == ["800 ms", "1.60 s"], "keys are not part of it"
    assert texts["1", "answer"] == ["975 ms", "2.00 s", texts["1", "answer"][2], "100"]
    assert texts["2", "keys"][:3] == ["–", "500 ms", "5.00"], "one thread makes keys; predictions are of one"


def test_rotations_are_counted_from_transforms():
    described = row() | {"description": description(k=25, digits=5)}
    table = pirouette_rotations.rotation_table([described])
    shown = cells(table, 0)
    assert [shown[key] for key in ("one_bit", "paper", "floors", "bits", "decomposition", "formula")] == [
        *("50", "15"),
        *("8", "5", "13", "13"),
    ]
    assert (shown["rgsw"], shown["all"]) == ("25", "38")


def test_margins_pool_all_records_of_a_set():
    stages = [{"stage": "digit", "stddev": 7.0, "stddev_bound": None, "decisions": 4, "log2_failure_bound": -58.0}]
    first = row(noise=[stage("digit", 6.0, 100, -20.0)], noise_stages=stages)
    second = row(noise=[stage("digit", 8.0, 300, 16.0)], noise_stages=stages, threads=2, id="two")
    table = pirouette_margins.table(listed([first, second]))
    [line] = table.data.to_dict("records")
    assert (line["kind"], line["samples"]) == ("digit", 400)
    assert line["measured_stddev"] == pytest.approx(((36 * 100 + 64 * 300) / 400) ** 0.5)
    assert line["largest_share"] == pytest.approx(20 / 64)
    assert line["predicted_margin"] == pytest.approx(64 / 7)
    assert (line["verdict"], line["decisions"], line["log2_failure"]) == ("8.2 kept", 4, -58)
    wide = row(noise=[stage("digit", 8.0, 100, 20.0)], noise_stages=stages)
    table = pirouette_margins.table(listed([wide]))
    assert cells(table, 0)["verdict"] == "below 8.2, 100 samples"
    assert any("Pirouette: digit 9.14 predicted, 8.00 measured" in note for note in table.notes)


def test_margins_have_every_decision_of_trespire():
    decides = {"round_input": (12.0, 512.0), "rgsw_input": (7.0, 64.0), "response": (0.5, 8.0)}
    noise = [stage(name, deviation, 952, 3 * deviation, limit) for name, (deviation, limit) in decides.items()]
    noise.append(stage("sbox", 1e12, 952, 3e12, 1e16))
    table = pirouette_margins.table(listed([row("trespire", noise=noise), row("respire", noise=noise)]))
    assert set(table.data["stage"]) == set(decides) and set(table.data["protocol"]) == {"trespire"}
    [smallest] = [note for note in table.notes if note.startswith("Smallest margins")]
    for kind, margin in {"round input": "42.7", "RGSW input": "9.14", "final rounding": "16.0"}.items():
        assert f"{kind} – predicted, {margin} measured" in smallest


def test_overlapped_steps_are_one_phase(expected):
    """Several threads convert digits while the next are found: no step of phase 0 is lost."""
    seconds = {"conversion": 0.8, "selector": 0.1, "first_dimension": 0.2}
    phases = [{"name": f"answer_{step}", "seconds": [value] * 3} for step, value in seconds.items()]
    joined = listed([row(threads=2, phases=phases)])
    line = next(line for line in pirouette_figure3.bars(joined, expected) if line["source"] == "here")
    assert line["total_s"] == pytest.approx(0.9)
    counts = [sum(pirouette_steps.transforms(description(), step).values()) for step in ("digits", "bits", "rgsw")]
    assert sum(pirouette_steps.transforms(description(), "conversion").values()) == sum(counts)


def test_figure3_has_the_papers_bars_beside_ours(tmp_path, expected):
    rows = [row(), row(repetitions=100, id="hundred"), row("pirouette_h", threads=2, id="half")]
    rows[2]["phases"] = rows[2]["phases"][2:]
    joined = listed(rows)
    lines = pirouette_figure3.bars(joined, expected)
    at = [(line["records"], line["source"], line["threads"]) for line in lines]
    assert at == [
        *((1 << 20, "paper", 1), (1 << 20, "paper", 32), (1 << 20, "here", 1), (1 << 20, "here", 2)),
        *((1 << 25, "paper", 1), (1 << 25, "paper", 32)),
    ]
    assert [round(line["total_s"], 2) for line in lines] == [17.56, 6.77, 1.6, 1.1, 18.81, 7.55]
    table = pirouette_figure3.table(joined, expected)
    assert (cells(table, 2)["digits"], cells(table, 3)["digits"]) == ("0.300", "")
    assert any("Without bars of ours: 2^25 records" in note for note in table.notes)
    drawing = Drawing(pirouette_figure3.draw(lines), pirouette_figure3.frame(lines), pirouette_figure3.caption(lines))
    written = drawing.write(tmp_path / "figure3")
    assert {path.suffix for path in written} == {".pdf", ".svg", ".png", ".csv", ".rst"}
    data = pd.read_csv(tmp_path / "figure3.csv")
    assert data["record_id"].dropna().tolist() == ["one", "half"]


def inputs(**given):
    """What the command line names: no record, and these."""
    nothing = dict.fromkeys(("predictions", "stale", "experiment", "expected", "costs"))
    return Inputs(Namespace(**nothing | {"records": [EXPECTED / "none"], "descriptions": [], "accuracy": []} | given))


def test_tables_need_the_papers_numbers_and_unit_costs(tmp_path):
    with pytest.raises(InputError, match="--expected"):
        make(TABLES["pirouette-table7"], inputs())
    bad = tmp_path / "costs.json"
    bad.write_text("{}")
    with pytest.raises(InputError, match="unit_seconds"):
        make(TABLES["pirouette-phases"], inputs(expected=EXPECTED, costs=bad))


def test_figure4_joins_the_sets_of_a_protocol_to_one_series(expected):
    small, large = row(), row(records=1 << 22, set="pirouette/2^22", sha256="b", id="large")
    others = [row(threads=2, id="two"), row(repetitions=100, id="hundred"), row(record_bits=8, id="bytes")]
    others += [row(source_kind="published", set="pirouette/published", id="published")]
    respire = [row("respire", source_kind=kind, id=kind, set=f"respire/{kind}") for kind in ("published", "repaired")]
    joined = listed([{"source_kind": "searched"} | each for each in [*others, *respire, large, small]])
    data = figure4.build([each | {"offline_bytes": 0, "throughput_bytes_per_s": 1e8} for each in joined], expected)
    assert [name for _, name, _ in data.series] == ["pirouette/secure", "respire/published", "respire/secure"]
    own = data.ours()
    assert set(own[own["set"] == "pirouette/secure"]["record_id"]) == {"one", "large"}
    assert set(own["parameters"]) == {"pirouette/2^20", "pirouette/2^22", "respire/published", "respire/repaired"}
    assert set(own["record_bits"]) == {2048}
