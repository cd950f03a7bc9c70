"""Prediction records, the cost model, and the command that predicts."""

import io
import json
import subprocess
import sys

import numpy as np
import pytest
from pirlab_estimator import cost, predict
from pirlab_estimator.describe import DescribeError, describe, describe_somewhere, read_descriptions
from validated import validate

SETS = ["simplepir/usenix23", "simplepir/secure-n1088", "simplepir/secure-sd11"]
SETS += ["doublepir/usenix23", "doublepir/usenix23-one-hint", "doublepir/secure-n1088", "doublepir/secure-sd11"]
SHAPES = [(1 << 16, 64), (1000, 1), (1001, 7), (1 << 12, 2048), (7, 100 * 8 * 1024), (1, 1)]


@pytest.fixture(scope="module")
def unit_costs():
    return cost.UnitCosts.load(cost.DEFAULTS)


@pytest.fixture(scope="module")
def descriptions(root, binary):
    """Every committed set at every shape, from the binary."""
    rows = [(name, str(root / f"params/{name}.toml"), *shape) for name in SETS for shape in SHAPES]
    return describe(
        [
            {"id": f"{name} {records}x{bits}", "parameters": path, "records": records, "record_bits": bits}
            for name, path, records, bits in rows
        ]
    )


@pytest.fixture(scope="module")
def predictions(descriptions, unit_costs):
    return predict.predict(descriptions, security="recorded", unit_costs=unit_costs)


def test_records_follow_the_schema_and_keep_their_order(descriptions, predictions):
    for record in predictions:
        validate(record, "prediction")
    assert [p["id"] for p in predictions] == [d["id"] for d in descriptions]
    with pytest.raises(Exception, match="'seconds' is a required property"):
        validate({k: v for k, v in predictions[0].items() if k != "seconds"}, "prediction")


def test_published_sets_miss_the_security_target_and_the_others_reach_it(predictions):
    for record in predictions:
        reached = record["security_bits"] >= record["security_target"]
        assert reached == ("secure" in record["parameters"]["name"]), record["id"]
        assert {e["source"] for e in record["security"]} == {"recorded"}
    assert {round(p["security_bits"], 1) for p in predictions} == {121.5, 128.4, 129.4}


def test_repaired_sets_reach_the_failure_target(predictions):
    """For records of up to 2^12 entries, which all shapes but that of 100 KB have."""
    for record in predictions:
        if "secure" in record["parameters"]["name"] and record["shape"]["record_bits"] <= 2048:
            assert record["noise"]["log2_failure"] <= record["noise"]["failure_target"], record["id"]
        assert record["noise"]["log2_failure_random"] <= record["noise"]["log2_failure"], record["id"]


def test_stages_are_those_of_the_runs(predictions):
    for record in predictions:
        expected = {"simplepir": ["answer"], "doublepir": ["second_layer", "first_layer"]}[record["protocol"]]
        assert [s["stage"] for s in record["noise"]["stages"]] == expected


def test_seconds_are_counts_times_costs(unit_costs):
    operations = {
        "answer": {
            "words_read": 7,
            "first": {"multiply_adds_packed": 10**6, "bytes_read": 4000, "row_sums": 3},
            "second": {"residue_multiply_adds": 10, "table_bytes": 10**6, "digits": 2},
        },
        "query": {"multiply_adds_u32": 100, "prg_bytes": 10, "gaussian_samples": 5},
    }
    description = {"protocol": "simplepir", "operations": operations}
    (seconds,) = cost.predict_seconds([description], unit_costs)
    unit = unit_costs.seconds
    (_, packed_byte), *_ = unit["matvec_bytes"]  # a table smaller than the smallest
    first = max(10**6 * unit["multiply_adds_packed"], 4000 * packed_byte) + 3 * unit["row_sums"]
    second = max(10 * unit["residue_multiply_adds"], 10**6 * unit["table_bytes"]) + 2 * unit["digits"]
    assert first > 4000 * packed_byte + 3 * unit["row_sums"], "the first is bound by arithmetic, the second by traffic"
    assert seconds["answer"] == pytest.approx(unit["phases"] + 7 * unit["words_read"] + first + second)
    assert (seconds["answer_first"], seconds["answer_second"]) == pytest.approx((first, second)), "parts of the answer"
    serial = 10 * unit["prg_bytes"] + 5 * unit["gaussian_samples"]
    assert seconds["query"] == pytest.approx(unit["phases"] + 100 * unit["multiply_adds_u32"] + serial)
    assert seconds["encode"] == seconds["hint"] == seconds["extract"] == 0
    assert seconds["total"] == pytest.approx(seconds["answer"] + seconds["query"])
    twice = cost.predict_seconds([description] * 2, unit_costs)
    assert twice == [seconds] * 2 and cost.predict_seconds([], unit_costs) == []
    description["operations"]["answer"]["teraflops"] = 1
    with pytest.raises(ValueError, match="no unit cost for operation 'teraflops' of phase answer"):
        cost.predict_seconds([description], unit_costs)


def test_unit_costs_of_this_machine_replace_the_defaults(tmp_path):
    path = tmp_path / "calibration.json"
    machine = {"cpu": "x", "cores": 2, "memory_bytes": 3 << 29, "read_bandwidth": [2e10]}
    about = {"machine": machine, "kernel": "avx2"}
    path.write_text(json.dumps(about | {"unit_seconds": {"bytes_read": None, "prg_bytes": 1.0}}))
    costs = cost.UnitCosts.load(path)
    defaults = cost.UnitCosts.load(cost.DEFAULTS)
    assert costs.origin() == {"machine": "x", "read_bandwidth": 2e10} and costs.name == "x, 2 cores, 1.5 GiB, avx2"
    assert defaults.name and defaults.machine.startswith(f"{defaults.name}:"), "not how they came about"
    assert costs.seconds == dict(defaults.seconds) | {"prg_bytes": 1.0}
    measured = {name for name, operation in cost.OPERATIONS.items() if not operation.like}
    assert {n for n in defaults.seconds if not n.startswith("ntt_")} == measured
    assert {operation.like for operation in cost.OPERATIONS.values() if operation.like} <= measured
    for name, operation in cost.OPERATIONS.items():
        if operation.like:
            like = operation.share * defaults.total(operation.like, 3)
            assert defaults.total(name, 3) == like, "what is not calibrated"
    path.write_text(json.dumps(about | {"unit_seconds": {"divided_digits": 2.0}}))
    assert cost.UnitCosts.load(path).total("divided_digits", 3) == 6
    path.write_text(json.dumps({"machine": machine, "unit_seconds": {}}))
    with pytest.raises(ValueError, match="no 'kernel' of its machine"):
        cost.UnitCosts.load(path)
    path.write_text("{}")
    with pytest.raises(ValueError, match="pirlab calibrate"):
        cost.UnitCosts.load(path)
    path.write_text(json.dumps({"unit_seconds": {"teraflops": 1.0}}))
    with pytest.raises(ValueError, match="'teraflops', which is not in"):
        cost.UnitCosts.load(path)


def test_phases_of_a_protocols_own_are_predicted_and_updates_apart(unit_costs):
    operations = {"packing_tables": {"ntt_2048_28": 1000}, "update_hint": {"digits": 0}, "update_packing_tables": {}}
    own = {"protocol": "ypir", "operations": operations}
    plain = {"protocol": "simplepir", "operations": {"answer": {"bytes_read": 8}}}
    seconds = cost.predict_seconds([plain, own], unit_costs)
    unit, fixed = unit_costs.seconds, unit_costs.seconds["phases"]
    tables = fixed + 1000 * unit["ntt_2048_28"]
    assert seconds[1]["packing_tables"] == seconds[1]["total"] == pytest.approx(tables)
    assert "packing_tables" not in seconds[0]
    assert not any(phase.startswith("update") for phase in seconds[1]), "an update of nothing is not predicted"
    operations |= {"update_hint": {"digits": 10**6}, "update_packing_tables": {"ntt_2048_28": 10}}
    (seconds,) = cost.predict_seconds([own], unit_costs)
    hint, remade = fixed + 10**6 * unit["digits"], fixed + 10 * unit["ntt_2048_28"]
    assert (seconds["update_hint"], seconds["update_packing_tables"]) == pytest.approx((hint, remade))
    assert seconds["update_server"] == pytest.approx(hint + remade), "the whole, which a run times too"
    assert seconds["total"] == pytest.approx(tables), "a run of queries has no update"
    whole = {"update_server": {"digits": 5}, "update_client": {"digits": 7}}
    (seconds,) = cost.predict_seconds([{"protocol": "simplepir", "operations": whole}], unit_costs)
    assert seconds["update_server"] == pytest.approx(fixed + 5 * unit["digits"])
    assert seconds["update_client"] == pytest.approx(fixed + 7 * unit["digits"])


FAMILY = ["inspire/repaired", "inspire/lagrange-n1024", "inspire2/published", "simpleypir/usenix24"]
FAMILY += ["ypir/usenix24", "inspire0/published-packed"]


@pytest.mark.parametrize("name", FAMILY)
def test_offline_work_and_updates_are_counted(name, root, binary, unit_costs):
    """Every phase before the query, and of an update every step, takes more the more there is to do."""
    row = {"id": "x", "parameters": str(root / f"params/{name}.toml"), "record_bits": 512}
    shapes = [(1 << 18, 1), (1 << 20, 1), (1 << 20, 64)]
    described = describe([row | {"id": str(i), "records": n, "updates": u} for i, (n, u) in enumerate(shapes)])
    small, large, changed = cost.predict_seconds(described, unit_costs)
    offline = {"encode", "hint", "packing_tables", "second_layer"} & set(described[0]["operations"])
    assert len(offline) == (4 if name.startswith("inspire2") else 3)
    for phase in offline:
        assert large[phase] >= small[phase] > unit_costs.seconds["phases"], phase
        assert changed[phase] == large[phase]
    updates = {phase for phase in large if phase.startswith("update_")}
    assert updates >= {"update_server"} and len(updates) >= 3
    for phase in updates:
        assert changed[phase] >= large[phase] > 0, phase
    assert changed["update_server"] > large["update_server"]


def test_reading_is_charged_by_the_kernel_that_reads():
    costs = {"bytes_read": 1.0, "matvec_bytes": 10.0, "matvec_u16_bytes": 100.0, "phases": 0.0}
    products = ("multiply_adds_packed", "batch_multiply_adds_packed", "multiply_adds_u16")
    units = cost.UnitCosts(costs | dict.fromkeys(products, 0.0), "x")
    answers = [{"bytes_read": 3} | p for p in ({}, *({product: 1} for product in products))]
    descriptions = [{"protocol": "p", "operations": {"answer": answer}} for answer in answers]
    assert [s["answer"] for s in cost.predict_seconds(descriptions, units)] == [3, 30, 30, 300]


def test_every_protocol_counts_what_has_a_cost(root, binary, unit_costs):
    """What the binary counts has unit costs, for every committed set."""
    paths = sorted(root.glob("params/*/*.toml"))
    rows = [{"id": str(p), "parameters": str(p), "records": 1 << 16, "record_bits": 8} for p in paths]
    rows += [row | {"queries": 4} for row in rows if "pirouette" not in row["id"]]
    for row, seconds in zip(rows, cost.predict_seconds(describe_somewhere(rows), unit_costs)):
        assert seconds["answer"] > unit_costs.seconds["phases"], row


def test_costs_by_size_follow_the_logarithm_of_the_size():
    costs = cost.UnitCosts({"matvec_bytes": ((2.0**10, 4.0), (2.0**20, 1.0))}, "x")
    sizes = np.exp2([5.0, 10.0, 15.0, 20.0, 30.0])
    assert costs.total("matvec_bytes", sizes) / sizes == pytest.approx([4, 4, 2.5, 1, 1])


def test_transforms_scale_by_n_log_n_from_the_next_wider_prime():
    costs = cost.UnitCosts({"ntt_1024_28": 1e-6, "ntt_2048_28": 2.2e-6, "ntt_2048_50": 5e-6}, "x")
    assert costs.total("ntt_2048_28", np.array(3.0)) == pytest.approx(6.6e-6)
    assert costs.total("ntt_65536_28", np.array(1.0)) == pytest.approx(2.2e-6 * 32 * 16 / 11)
    assert costs.total("ntt_512_20", np.array(1.0)) == pytest.approx(1e-6 / 2 * 9 / 10)
    assert costs.total("ntt_1024_30", np.array(1.0)) == pytest.approx(5e-6 / 2 * 10 / 11), "30 bits take wider words"
    assert costs.total("ntt_2048_61", np.array(1.0)) == pytest.approx(5e-6), "there is no wider one"
    with pytest.raises(KeyError, match="no transform is calibrated"):
        cost.UnitCosts({}, "x").total("ntt_64_28", np.array(1.0))


def test_calibration_names_the_costs_that_are_used(binary, tmp_path):
    path = tmp_path / "calibration.json"
    subprocess.run([binary, "calibrate", "--quick", "--out", path], check=True, capture_output=True)
    measured = json.loads(path.read_text())["unit_seconds"]
    transforms = {name for name in measured if name.startswith("ntt_")}
    assert len(transforms) >= 9 and set(measured) - transforms <= set(cost.OPERATIONS)
    missing = set(cost.OPERATIONS) - set(measured)
    assert missing <= {"bytes_read"}, "a quick calibration has no bandwidth probe"
    loaded = cost.UnitCosts.load(path).seconds
    assert loaded["prg_bytes"] == measured["prg_bytes"]
    assert [size for size, _ in loaded["matvec_bytes"]] == [at["bytes"] for at in measured["matvec_bytes"]]


def test_command_reads_lines_and_writes_lines_or_an_array(descriptions, tmp_path, monkeypatch, capsys):
    path, lines = tmp_path / "d.jsonl", [json.dumps(d) for d in descriptions[:3]]
    path.write_text("\n".join(lines) + "\n\n")
    out = tmp_path / "new" / "p.json"
    costs = ["--costs", str(cost.DEFAULTS), "--security", "recorded"]
    assert predict.main([str(path), "--out", str(out), *costs]) == 0
    array = json.loads(out.read_text())
    monkeypatch.setattr(sys, "stdin", io.StringIO(path.read_text()))
    assert predict.main(costs) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == array
    assert [p["id"] for p in array] == [d["id"] for d in descriptions[:3]]
    path.write_text(json.dumps([json.loads(line) for line in lines]))
    assert len(read_descriptions(path)) == 3


def test_command_names_what_is_wrong(tmp_path, capsys):
    path = tmp_path / "d.jsonl"
    path.write_text('{"id": "row 1", "error": "records: 0 must be at least 1"}\n')
    assert predict.main([str(path)]) == 2
    assert "row 1: records: 0 must be at least 1" in capsys.readouterr().err
    path.write_text('{"id": 1}\n{"id"\n')
    assert predict.main([str(path)]) == 2
    assert "line 2 is not JSON" in capsys.readouterr().err
    for text, problem in (
        ("", "holds no description"),
        ("\n\n", "holds no description"),
        ('{"id": 1}', "entry 1 is not a"),
    ):
        path.write_text(text)
        assert predict.main([str(path)]) == 2
        error = capsys.readouterr().err
        assert str(path) in error and problem in error and "pirlab describe" in error
    path.write_bytes(b"\xff")
    assert predict.main([str(path)]) == 2
    assert "not UTF-8" in capsys.readouterr().err


def test_command_names_file_and_remedy_of_what_it_cannot_read_or_write(descriptions, tmp_path, monkeypatch, capsys):
    assert predict.main([str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err == (
        f"pirlab-predict: {tmp_path}/none: No such file or directory. Check the path and its permissions.\n"
    )
    path, costs = tmp_path / "d.jsonl", tmp_path / "costs.json"
    path.write_text(json.dumps(descriptions[0]))
    costs.write_text("")
    for options, words in (
        (["--costs", str(costs)], f"{costs} is not JSON"),
        (["--costs", str(tmp_path / "no")], f"{tmp_path}/no: No such file"),
        (["--costs", str(cost.DEFAULTS), "--out", str(path / "p.json")], "Give another file in a folder"),
    ):
        assert predict.main([str(path), "--security", "recorded", *options]) == 2
        assert words in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert predict.main([]) == 2
    assert "standard input holds no description" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--security", "recorded", "--timeout", "4"], "--timeout changes nothing without --security live or auto"),
        (["--security", "fast_only", "--timeout", "4"], "--timeout changes nothing without"),
        (["--timeout", "0"], "--timeout 0 leaves an attack no time"),
        (["--timeout", "nan"], "--timeout nan leaves an attack no time"),
    ],
)
def test_options_that_mean_nothing_are_refused(words, message, capsys):
    assert predict.main(["no-such-file", *words]) == 2
    said = capsys.readouterr().err
    assert said.startswith("pirlab-predict: ") and message in said and said.count("\n") == 1


def test_describe_without_or_against_the_binary(tmp_path, monkeypatch, root, binary):
    with pytest.raises(DescribeError, match="x: "):
        describe([{"id": "x", "parameters": str(root / "params/none.toml"), "records": 1, "record_bits": 1}])
    monkeypatch.setenv("PIRLAB_BINARY", str(tmp_path / "pirlab"))
    with pytest.raises(DescribeError, match="make build"):
        describe([])


def test_a_thousand_descriptions_in_one_call(descriptions, unit_costs):
    many = [d | {"id": str(i)} for i, d in enumerate(descriptions * (1000 // len(descriptions) + 1))]
    records = predict.predict(many, security="recorded", unit_costs=unit_costs)
    assert len(records) == len(many) and np.isfinite([r["noise"]["log2_failure"] for r in records]).all()
