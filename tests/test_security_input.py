"""What `pirlab-security` is given and cannot use: named by file and key, and no reason to stop."""

import json

import pytest
from pirlab_estimator.security import cli
from pirlab_estimator.security.fast.domain import outside
from pirlab_estimator.security.instance import Instance
from stand_in_estimator import description, lwe

pytestmark = pytest.mark.usefixtures("no_estimator")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "description 1: key `parameters` is missing"),
        ('{"id": "a", "error": "no such file"}', "description 1: refused: no such file"),
        ("7", "description 1: no object"),
        ("{", "line 1 is not JSON"),
        (json.dumps(description({"name": "query"})), "description 1: key `secret` is missing"),
        (json.dumps(description(lwe(1088, error_stddev=float("nan")))), "error_stddev: nan is no standard deviation"),
    ],
)
def test_what_is_no_description_is_named_and_the_others_go_on(tmp_path, capsys, text, words):
    bad, good = tmp_path / "bad.json", tmp_path / "good.json"
    bad.write_text(text)
    good.write_text(json.dumps(description(lwe(1088))))
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


def test_no_figure_of_an_error_that_is_no_number():
    assert outside(Instance(1024, 1 << 32, (("kind", "ternary"),), float("nan"))) is not None
