"""What a set counts as, one of whose instances has no figure."""

import jsonschema
from pirlab_estimator.security import assess, cli
from pirlab_estimator.security.attacks import ATTACKS, entry_text
from stand_in_estimator import SPARSE, description, lwe, written
from validated import load


def test_one_instance_without_a_figure_leaves_the_set_without_one():
    entries = assess.predict_security([description(lwe(), lwe(secret=SPARSE))], "auto")[0]
    assert [e["source"] for e in entries] == ["recorded", "none"]
    assert "very sparse secret" in entries[1]["reason"] and "recorded.json" in entries[1]["reason"]
    assert len(entries[1]["failed_attacks"]) == sum(map(len, ATTACKS.values()))
    unknown, secure, weak = ({"bits": bits} for bits in (None, 130.0, 60.0))
    assert assess.weakest([secure, unknown]) is None and assess.verdict(None) == "unknown"
    assert assess.weakest([secure, unknown, weak]) == 60.0 and assess.weakest([unknown]) is None
    assert assess.weakest(entries[:1]) == entries[0]["bits"] and assess.verdict(121.5) == "missed"
    assert assess.weakest([]) is None


def test_an_instance_beyond_the_largest_blocks_counts_as_what_it_has_at_least(capsys, tmp_path):
    """OnionPIR's small branch has one; another refusal has no such bound."""
    strong = lwe(8192, secret={"kind": "ternary"}, modulus=3261756452117020673, error_stddev=3.2)
    (keys, queries), (alone,), (sparse,) = assess.predict_security(
        [description(lwe(1088), strong), description(strong), description(lwe(secret=SPARSE))], "at_hand"
    )
    schema = load("prediction")
    jsonschema.validate(queries, schema["properties"]["security"]["items"])
    assert (queries["source"], queries["bits"], queries["at_least"], queries["attacks"]) == ("fast_only", 480, True, {})
    assert entry_text(queries) == "at least 480" and "reason" not in queries
    assert assess.weakest([keys, queries]) == keys["bits"] and assess.weakest([alone]) == 480
    assert sparse["bits"] is None and "at_least" not in sparse and entry_text(sparse) == "unknown"
    path = written(tmp_path, strong)
    assert cli.main(["check", "--descriptions", path]) == 0
    said = capsys.readouterr().out
    assert "minimum   at least 480, without a figure for usvp" in said and "reached, at least 480 bits" in said
