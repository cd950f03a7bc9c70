"""Bytes of every message of the InsPIRe family's published sets, by the papers' formulas, at the tables' shapes."""

import json
import subprocess
import tomllib
from collections import Counter

import pytest
import sweep

EXPERIMENTS = ("inspire/comparison", "inspire/table8", "inspire/table9")
CIPHERTEXT = 2048 * (28 + 20) // 8


def formulas(protocol: str, layout: dict) -> dict[str, int]:
    """Bytes by message. Moduli of 56 bits, of InsPIRe^(2) of 53; answers of 28 bits a mask coefficient, 20 a body's."""
    key = 3 * 2048 * 56 // 8
    rows = layout["rows"]
    match protocol:
        case "ypir" | "inspire0":
            answer = CIPHERTEXT if protocol == "ypir" else layout["answer_ciphertexts"] * CIPHERTEXT
            return {
                "keys": (11 if protocol == "ypir" else 2) * key,
                "query": 4 * layout["columns"] + 8 * rows,
                "answer": layout["copies"] * answer,
            }
        case "simpleypir":
            return {"keys": 11 * key, "query": 7 * rows, "answer": layout["elements_per_item"] * CIPHERTEXT}
        case "inspire2":
            gamma0, _, gamma2 = layout["gammas"]
            bodies = -(-(7 * gamma0 // 4) // gamma2)
            return {
                "keys": 2 * 3 * 2048 * 53 // 8,
                "query": (rows + layout["degree"]) * 53 // 8,
                "answer": 4 * (7168 + 2560) + bodies * (7168 + 5 * gamma2 // 2),
            }
        case "inspire":
            answer = layout["answer_ciphertexts"] * CIPHERTEXT
            return {"keys": 2 * key, "point": 6 * 2048 * 7, "query": 7 * rows, "answer": answer}
    raise ValueError(protocol)


def is_published(path: str) -> bool:
    """Whether a set's messages are the papers' own: also InsPIRe's with 65537 for 65535, all digits, whole bodies."""
    document = tomllib.loads((sweep.ROOT / path).read_text())
    whole = document["protocol"] == "inspire" and document["body"] == "full" and "dropped" not in document["packing"]
    return document["source"]["kind"] == "published" or whole


def test_messages_have_the_published_bytes(binary):
    rows = [
        (f"{name}/{group.id}/{row.id}", row.request(group.options))
        for name in EXPERIMENTS
        for group in sweep.expand(name, sweep.read_profile("paper"))
        for row in group.rows
        if is_published(row.parameters)
    ]
    asked = "".join(json.dumps({"id": name} | request) + "\n" for name, request in rows)
    done = subprocess.run(
        [binary, "describe", "--batch"], input=asked, capture_output=True, text=True, check=True, cwd=sweep.ROOT
    )
    described = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(described) == len(rows)
    held = Counter()
    for line in described:
        bytes_of = {m["name"]: m["payload_bytes"] for m in line["messages"] if m["phase"] in ("query", "answer")}
        assert bytes_of == formulas(line["protocol"], line["layout"]), line["id"]
        held[line["protocol"]] += 1
    assert held.keys() == {"ypir", "simpleypir", "inspire0", "inspire2", "inspire"}
    assert held["inspire2"] >= 35 and held["inspire"] >= 48, "as many as Tables 8 and 9 have columns"


def test_another_layout_has_other_bytes():
    layout = {"rows": 32768, "columns": 32768, "copies": 1, "answer_ciphertexts": 3}
    published = {"keys": 86016, "query": 384 << 10, "answer": 36 << 10}
    assert formulas("inspire0", layout) == published
    assert formulas("inspire0", layout | {"rows": 65536})["query"] == 640 << 10
    with pytest.raises(ValueError):
        formulas("kspir", layout)
