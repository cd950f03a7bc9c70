"""What `pirlab-security` is given and cannot use: named by file and key, and no reason to stop."""

import json

import pytest
from pirlab_estimator.security import cli
from pirlab_estimator.security.fast.domain import outside
from pirlab_estimator.security.instance import Instance
from stand_in_estimator import description, lwe


def of(*arguments, **changes):
    """A description of that instance, as text."""
    return json.dumps(description(lwe(*arguments, **changes)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "description 1: key `parameters` is missing"),
        ('{"id": "a", "error": "no such file"}', "description 1: refused: no such file"),
        ("7", "description 1: not an object"),
        ("{", "line 1 is not JSON"),
        (json.dumps(description({"name": "query"})), "description 1: key `secret` is missing"),
        (of(1088, error_stddev=float("nan")), "error_stddev: nan is not a standard deviation"),
        (of(0), "dimension: 0 is not a positive number"),
        (of(secret={"kind": "fixed_weight", "plus": 3}), "key `minus` is missing"),
        (of(secret={"kind": "fixed_weight", "plus": -3, "minus": 9}), "-3 ones and 9 minus"),
        (of(secret={"kind": "fixed_weight", "plus": 1000, "minus": 32}), "1000 ones and 32 "),
        (of(secret={"kind": "weird"}), "description 1: secret kind 'weird' is unknown to the lattice estimator"),
        (of(secret={"kind": "gaussian", "stddev": -1}), "secret: -1.0 is not a standard"),
        (of(secret={"kind": "uniform_range", "low": 2, "high": 2}), "from 2 to 2 is not a range"),
    ],
)
def test_what_is_not_a_description_is_named_and_the_others_go_on(tmp_path, capsys, text, words):
    bad, good = tmp_path / "bad.json", tmp_path / "good.json"
    bad.write_text(text)
    good.write_text(of(1088))
    assert cli.main(["check", "--descriptions", str(bad), str(good)]) == 2
    shown = capsys.readouterr()
    assert str(bad) in shown.err and words in shown.err
    assert "reached, 129.4 bits" in shown.out


def test_a_parameter_file_that_is_refused_stops_no_other(root, tmp_path, capsys):
    bad = tmp_path / "bad.toml"
    bad.write_text("protocol = 3\n")
    assert cli.main(["check", str(bad), str(root / "params/simplepir/usenix23.toml")]) == 2
    shown = capsys.readouterr()
    assert "bad.toml" in shown.err and "simplepir/usenix23" in shown.out


def test_numbers_of_records_are_written_as_everywhere(root, capsys):
    said = []
    for records in ("1048576", "2^20", "1_048_576"):
        assert cli.main(["check", "--records", records, str(root / "params/simplepir/secure-n1088.toml")]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] == said[2] and "simplepir/secure-n1088" in said[0]


def test_an_error_that_is_not_a_number_has_no_figure():
    assert outside(Instance(1024, 1 << 32, (("kind", "ternary"),), float("nan"))) is not None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--timeout", "0", "x.toml"], "--timeout 0: give seconds"),
        (
            ["--security", "recorded", "--timeout", "5", "x.toml"],
            "--timeout changes nothing without --security live or auto",
        ),
        (["--security", "fast_only", "--timeout", "5", "x.toml"], "--timeout changes nothing without"),
        (["x.toml", "--descriptions", "d"], "not both"),
        (["--records", "7", "--descriptions", "d"], "change nothing beside --descriptions"),
    ],
)
def test_options_that_mean_nothing(capsys, arguments, words):
    with pytest.raises(SystemExit):
        cli.main(["check", *arguments])
    assert words in capsys.readouterr().err


def test_the_audit_names_a_description_it_cannot_use(root, tmp_path, capsys):
    bad = tmp_path / "bad.jsonl"
    bad.write_text(of(1088) + "\n{}\n")
    words = ["audit", str(root / "experiments/security/audit.toml"), "--descriptions", str(bad)]
    assert cli.main([*words, "--out", str(tmp_path / "o")]) == 2
    assert "description 2: key `parameters` is missing" in capsys.readouterr().err


def test_the_audit_has_no_use_for_a_limit_where_it_asks_nobody(root, tmp_path, capsys):
    experiment = str(root / "experiments/security/audit.toml")
    words = ["audit", experiment, "--descriptions", "d", "--out", str(tmp_path / "o"), "--security", "at_hand"]
    with pytest.raises(SystemExit) as stopped:
        cli.main([*words, "--timeout", "5"])
    assert stopped.value.code == 2
    assert "--timeout changes nothing without --security live or auto" in capsys.readouterr().err
