"""The DEPIR paper's Table 4: every printed line, ours below it; what is fetched before is shared."""

import pytest
from pirlab_figures.depir import table4


def message(name, size, served, phase="query"):
    return {"name": name, "phase": phase, "payload_bytes": size, "queries_served": served, "direction": "upload"}


def row(protocol, records, record_bits, **more):
    return {
        "id": protocol,
        "set": f"{protocol}/published",
        "protocol": protocol,
        "records": records,
        "record_bits": record_bits,
        "queries": 2,
        "status": "ok",
        "security_bits": 130.0,
        "failure_log2": -45.0,
        "description": {"layout": {}},
        "phases": [],
        "transcript": [],
        "threads": 1,
        "cpu": "a processor",
        "kernel": "scalar",
        "commit": "0123456789",
        "repetitions": 3,
        "read_bandwidth": None,
    } | more


FRODO = row(
    "frodopir",
    1 << 16,
    8192,
    transcript=[
        message("hint", 500 * 1024, None, "offline"),
        message("query", 2 * 4096, 2),
        message("answer", 2 * 1024, 2),
        message("hint_delta", 99, None, "update"),
    ],
    phases=[
        {"name": "precompute", "seconds": [0.2, 0.4, 0.3]},
        {"name": "answer", "seconds": [0.02]},
        {"name": "encode", "seconds": [9.0]},
    ],
)
PIANO = row(
    "piano",
    1 << 20,
    64,
    transcript=[message("database", 1000, 10, "offline"), message("query", 64, 2)],
    description={"layout": {"window": 10}},
    phases=[{"name": "read_database", "seconds": [1.0]}, {"name": "query", "seconds": [0.04]}],
)


def test_what_is_fetched_before_is_shared_over_the_queries_that_it_serves():
    assert table4.amortised_bytes(FRODO, 500) == 1024 + 4096 + 1024
    assert table4.amortised_bytes(PIANO, None) == 100 + 32
    assert table4.amortised_bytes(row("piano", 8, 8), None) is None


@pytest.mark.parametrize("rows", [[], [FRODO, PIANO]])
def test_every_printed_line_stands_there(expected, rows):
    data = table4.table(rows, expected).data
    printed = data[data["source"] == "paper"]
    assert list(printed["comm"] / 1024) == pytest.approx([8.9, 271, 9.1, 68.9, 192])
    assert list(printed["quoted"]) == pytest.approx([32.3, 0.192, 40, 0.0145, 24.9])
    assert len(data) == 5 + len(rows)


def test_a_query_of_ours_is_its_parts(expected):
    data = table4.table([FRODO, PIANO], expected).data.set_index("source")
    frodo, piano = data.loc["FrodoPIR published"], data.loc["Piano published"]
    assert (frodo["precompute"], frodo["answer"], frodo["total"]) == pytest.approx((0.15, 0.01, 0.16))
    assert frodo["comm_ratio"] == pytest.approx(6 / 271)
    assert (piano["read_database"], piano["query"], piano["total"]) == pytest.approx((0.1, 0.02, 0.12))
    assert piano["queries"] == 10
