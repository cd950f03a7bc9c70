"""The Pirouette paper's tables: every printed number, our sets beside them, from synthetic descriptions and records."""

import pandas as pd
import pytest
from pirlab_estimator.security.audit import printed_security
from pirlab_figures.lib.protocols import IDS, PAPERS
from pirlab_figures.lib.spec import spec
from pirlab_figures.pirouette import keys as pirouette_keys
from pirlab_figures.pirouette import parameters as pirouette_parameters
from pirlab_figures.pirouette import sets
from places import EXPECTED


def gadget(base_log2, digits):
    return {"base_log2": base_log2, "dropped": 0, "digits": digits, "family": "symmetric"}


def instance(name, dimension, log2_modulus, stddev):
    return {"name": name, "dimension": dimension, "log2_modulus": log2_modulus, "error_stddev": stddev}


def description(half=False, bits_per_step=2):
    layout = {
        "ring_degree": 2048,
        "lwe_dimension": 460 if half else 768,
        "plain_modulus": 16,
        "first_bits": 8,
        "fold_bits": 10,
        "rotation_bits": 2,
        "encrypted": False,
        "bits_per_step": bits_per_step,
        "rotation_gadget": gadget(8, 5),
        "automorphism_gadget": gadget(3, 17),
        "squaring_gadget": gadget(5, 12),
        "rgsw_gadget": gadget(4, 7),
        "response_gadget": gadget(1, 24),
    }
    instances = [instance("ring", 2048, 56.0, 21.0), instance("response", 512, 24.0, 110.0)]
    if half:
        instances.append(instance("query", 460, 12.0, 7.0))
    else:
        layout["switching_gadget"] = gadget(2, 8)
        instances += [instance("query", 2048, 56.0, 24.0), instance("key_switching", 768, 20.0, 8.0)]
    names = ["blind_rotation_key", "automorphism_keys", "squaring_key", "ring_switching_key"]
    messages = [{"name": n, "phase": "offline", "direction": "upload", "payload_bytes": 1000} for n in names]
    return {"layout": layout, "instances": instances, "messages": messages}


def row(protocol, records=1 << 20, **more):
    return {
        "set": f"{protocol}/2^20",
        "sha256": protocol,
        "protocol": protocol,
        "records": records,
        "record_bits": 2048,
        "security_bits": 128.3,
        "security_target": 128,
        "security": [],
        "failure_log2": -45.0,
        "failure_random_log2": -60.0,
        "failure_target": -40,
    } | more


@pytest.fixture
def predictions():
    return pd.DataFrame([row("pirouette"), row("pirouette_h", security_bits=100.0)])


@pytest.fixture
def described():
    return {
        ("pirouette", 1 << 20, 2048): description(),
        ("pirouette_h", 1 << 20, 2048): description(half=True, bits_per_step=1),
    }


def cells(table, line):
    return {key: cell.text for key, cell in table.rows[line].cells.items()}


def parameters(number, predictions, described, expected):
    """Table 3, 4 or 5."""
    instances = printed_security(EXPECTED / "security-sets.csv", "Pirouette", number)
    return pirouette_parameters.parameters(sets.rows(predictions, described), expected, number, instances)


def test_every_printed_parameter_is_in_a_table(expected):
    left_out = {"Q_phase1", "selector_B", "selector_ell"}  # of the text, not of the table's columns
    for number in "345":
        keys = {key for key, *_ in spec(f"pirouette/table{number}").words["parameters"]} | {"Q_1"}
        printed = expected[(expected["paper"] == "pirouette") & (expected["table"].astype(str) == number)]
        assert set(printed["metric"]) - left_out <= keys
        assert len(set(printed["metric"]) - left_out) >= 4


def test_parameters_stand_below_the_printed_ones(expected, predictions, described):
    table = parameters("3", predictions, described, expected)
    assert cells(table, 0)["n_in"] == "1300"
    assert cells(table, 0)["B"] == "2^14"
    assert cells(table, 0)["security"] == "118.9", "the ring; readings of the key-switching key do not decide"
    assert "†" in table.rows[0].cells["security"].marks
    assert any("key-switching key to n_out at Q_ksk 48.5" in note for note in table.notes)
    ours = cells(table, 1)
    assert (ours["n_in"], ours["n_out"], ours["log2_q_out"], ours["log2_Q_ksk"]) == ("2^11", "768", "12", "20")
    assert (ours["sigma_squared"], ours["security"], ours["failure"]) == ("441", "128.3", "-45")
    half = cells(table, 2)
    assert (half["log2_Q_ksk"], half["B_ksk"], half["n_in"]) == ("–", "–", "460")
    assert "†" in table.rows[2].cells["security"].marks
    assert any(mark.key == "insecure" for mark, _ in table.footnotes)


def test_table5_has_a_line_for_each_printed_database(expected, predictions, described):
    table = parameters("5", predictions, described, expected)
    printed = [r for r in table.rows if r.cells["series"].text.startswith("paper")]
    assert [r.cells["v_2"].text for r in printed] == ["7", "9", "12"]
    assert {r.cells["v_1"].text for r in printed} == {"11"}
    assert {r.cells["log2_Q_1"].text for r in printed} == {"20"}


def test_table6_evaluates_the_papers_formulas(expected, predictions, described):
    joined = pd.DataFrame([row("pirouette", transcript=[{"name": "squaring_key", "payload_bytes": 999}])])
    table = pirouette_keys.keys(sets.rows(predictions, described), joined, expected)
    data = table.data.set_index(["set", "key"])
    assert data.loc[("pirouette/2^20", "blind_rotation_key"), "both"] == 4 * 768 * 1.5 * 5 * 2048 * 56 / 8
    assert data.loc[("pirouette_h/2^20", "blind_rotation_key"), "both"] == 4 * 460 * 5 * 2048 * 56 / 8
    assert data.loc[("pirouette/2^20", "key_switching_key"), "both"] == 2048 * 8 * 769 * 20 / 8
    assert data.loc[("pirouette/2^20", "automorphism_keys"), "both"] == 11 * 2 * 2048 * 17 * 56 / 8
    assert data.loc[("pirouette/2^20", "squaring_key"), "measured"] == 999
    assert data.loc[("pirouette/2^20", "squaring_key"), "described"] == 1000
    assert ("pirouette_h/2^20", "key_switching_key") not in data.index


def test_table6_sums_the_keys_beside_the_papers_totals(expected, predictions, described):
    keys = [*pirouette_keys.KEYS]
    transcript = [{"name": name, "payload_bytes": 10**i} for i, name in enumerate(keys)]
    described["pirouette", 1 << 20, 2048]["messages"].append(
        {"name": "key_switching_key", "phase": "offline", "payload_bytes": 7}
    )
    joined = pd.DataFrame([row("pirouette", transcript=transcript)])
    table = pirouette_keys.keys(sets.rows(predictions, described), joined, expected)
    data = table.data.set_index(["set", "key"])
    whole, half = (data.loc[(f"{name}/2^20", pirouette_keys.ALL)] for name in ("pirouette", "pirouette_h"))
    singles = data.drop(index=pirouette_keys.ALL, level="key")
    assert whole["both"] == singles.loc["pirouette/2^20", "both"].sum()
    assert (whole["described"], whole["measured"], whole["paper"]) == (4007, 11111, 1.2 * 2**30)
    assert (half["described"], half["paper"]) == (4000, 650 * 2**20)
    assert pd.isna(half["measured"]), "not measured"
    assert singles["paper"].isna().all(), "the paper has formulas for them alone"
    totals = [line.cells for line in table.rows if line.cells["key"].text == "all keys"]
    assert [line["paper"].text for line in totals] == ["1288", "682"]


def test_the_papers_totals_are_the_same_for_every_database(expected):
    rows = expected[(expected["paper"] == "pirouette") & (expected["metric"] == "offline_comm")]
    for name, protocol in IDS.items():
        if protocol not in PAPERS["pirouette"]["own"]:
            continue
        printed = rows[(rows["protocol"] == name) & (rows["table"].astype(str) == "7")]
        assert set(printed["bytes"]) == {pirouette_keys._paper_totals(expected)[protocol]}
