"""The Pirouette paper's Table 6, keys: the paper's formula at the set's parameters, and the bytes that travel.

The formula counts both halves of every ciphertext. Of all keys together the paper prints a total, in Table 7.
"""

from collections.abc import Mapping, Sequence
from math import log2
from typing import Any

import pandas as pd

from ..lib.cells import series
from ..lib.frame import dicts
from ..lib.inputs import Inputs
from ..lib.paper import printed_rows
from ..lib.protocols import IDS
from ..lib.spec import spec
from ..lib.table import Row, Table
from ..lib.units import total
from .parameters import Document, Read, instance
from .sets import OURS, PAPER, rows

KEYS: dict[str, tuple[str, Read]] = {
    "blind_rotation_key": ("4 n ℓ N log2 Q", lambda d: 4 * _rotated_bits(d) * _row_bits(d, "rotation")),
    "key_switching_key": ("N ℓ (n + 1) log2 Q", lambda d: _switching_bits(d)),
    "squaring_key": ("2 N ℓ log2 Q", lambda d: 2 * _row_bits(d, "squaring")),
    "automorphism_keys": (
        "log2 N · 2 N ℓ log2 Q",
        lambda d: log2(d["layout"]["ring_degree"]) * 2 * _row_bits(d, "automorphism"),
    ),
    "ring_switching_key": ("2 N ℓ log2 Q", lambda d: 2 * _row_bits(d, "response", of="response")),
}
"""Keys by the name of their message: the paper's formula and its bits; n is 3 n / 2 where steps take two key bits."""
ALL = "all_keys"
SPEC = spec("pirouette/keys", series=series)


def _row_bits(description: Document, gadget: str, of: str = "ring") -> float:
    """Bits of one half of a gadget's rows. of: the instance whose modulus they have."""
    layout, found = description["layout"], instance(description, of)
    assert found is not None
    return float(layout["ring_degree"] * layout[f"{gadget}_gadget"]["digits"] * found["log2_modulus"])


def _rotated_bits(description: Document) -> float:
    """RGSW ciphertexts of the blind-rotation key."""
    layout = description["layout"]
    return float(layout["lwe_dimension"]) * (1.5 if layout["bits_per_step"] == 2 else 1.0)


def _switching_bits(description: Document) -> float | None:
    key = instance(description, "key_switching")
    if key is None:
        return None
    rows = description["layout"]["ring_degree"] * description["layout"]["switching_gadget"]["digits"]
    return float(rows * (key["dimension"] + 1) * key["log2_modulus"])


def make(inputs: Inputs) -> Table:
    """Table 6."""
    return keys(rows(inputs.predictions, inputs.described), inputs.joined, inputs.expected)


def _paper_totals(expected: pd.DataFrame) -> dict[str, float]:
    """Bytes of all keys by our name of the protocol: one number a protocol, the same for every database."""
    rows = [row for row in printed_rows(expected, PAPER, "7") if row["metric"] == "offline_comm"]
    return {IDS[row["protocol"]]: float(row["bytes"]) for row in rows if IDS.get(row["protocol"]) in OURS}


def keys(found: Sequence[Mapping[str, Any]], joined: pd.DataFrame, expected: pd.DataFrame) -> Table:
    """Table 6."""
    totals = _paper_totals(expected)
    measured = {
        (row["sha256"], row["records"], row["record_bits"]): {m["name"]: m["payload_bytes"] for m in row["transcript"]}
        for row in dicts(joined)
    }
    lines: list[Row] = []
    data: list[dict[str, Any]] = []
    seen = set()
    for row in found:
        if row["set"] in seen:
            continue
        seen.add(row["set"])
        sent = {m["name"]: m["payload_bytes"] for m in row["description"]["messages"] if m["phase"] == "offline"}
        got = measured.get((row["sha256"], row["records"], row["record_bits"]), {})
        own = []
        for name, (formula, bits) in KEYS.items():
            if (full := bits(row["description"])) is not None:
                numbers = {"both": full / 8, "described": sent.get(name), "measured": got.get(name), "paper": None}
                own.append({"set": row["set"], "key": name, "formula": formula} | numbers)
        sums = {key: total(line[key] for line in own) for key in ("both", "described", "measured")}
        own.append({"set": row["set"], "key": ALL, "formula": "sum"} | sums | {"paper": totals.get(row["protocol"])})
        lines += [SPEC.row({**row, **line}) for line in own]
        data += own
    return SPEC.table(lines, data)
