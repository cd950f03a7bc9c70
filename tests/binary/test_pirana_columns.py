"""PIRANA with a ciphertext a column: longer slots in the same ring, and where they fail rarely enough."""

import pytest
from pirlab_estimator import cost, predict
from pirlab_estimator.describe import describe

LONG, SHORT = "pirana/bfv-n4096-24", "pirana/bfv-n4096"
LONG_RECORDS = 8 * 20480
#: (records, bits): the databases of docs/pirana.md, and columns up to where records of 20 KB leave 2^-40.
HELD = [
    (1 << 8, LONG_RECORDS),
    (1 << 12, LONG_RECORDS),
    (1 << 18, 2048),
    (1 << 14, LONG_RECORDS),
    (1 << 16, LONG_RECORDS),
]
#: A column more.
MISSED = ((1 << 16) + 4096, LONG_RECORDS)


@pytest.fixture(scope="module")
def predictions(binary, root):
    """The description and the prediction of each set at each database."""
    rows = [
        {"id": f"{name} {records} {bits}", "parameters": str(root / f"params/{name}.toml")}
        | {"records": records, "record_bits": bits}
        for name in (LONG, SHORT)
        for records, bits in [*HELD, MISSED]
    ]
    described = describe(rows)
    predicted = predict.predict(described, security="recorded", unit_costs=cost.UnitCosts.load(cost.DEFAULTS))
    return {each["id"]: (each, found) for each, found in zip(described, predicted, strict=True)}


def failure(prediction):
    return next(stage["log2_failure_bound"] for stage in prediction["noise"]["stages"] if stage["stage"] == "answer")


@pytest.mark.parametrize("shape", HELD)
def test_columns_of_their_own_hold_longer_slots(predictions, shape):
    (long, found), (short, other) = (predictions[f"{name} {shape[0]} {shape[1]}"] for name in (LONG, SHORT))
    assert long["layout"]["codeword_weight"] == 1 and found["security_bits"] >= 128 and failure(found) <= -40
    assert long["layout"]["stored_bytes"] < 0.75 * short["layout"]["stored_bytes"]
    assert found["seconds"]["answer"] < 0.85 * other["seconds"]["answer"]


def test_they_fail_where_a_record_has_too_many_columns(predictions):
    """The short slots, whose columns are products, still hold there."""
    found, other = (predictions[f"{name} {MISSED[0]} {MISSED[1]}"][1] for name in (LONG, SHORT))
    assert failure(found) > -40 >= failure(other)
