"""Error and failure probability of SimplePIR (Henzinger, Hong, Corrigan-Gibbs, Meiklejohn, Vaikuntanathan,
"One Server for the Price of Two", USENIX Security 2023).

An answer is D' (A s + e + Delta u) with D' the centred database of `rows` x `columns` entries. After the client
takes off D' A s, row r carries Delta D'[r, u] + <D'[r], e>. It is rounded correctly iff |<D'[r], e>| < Delta / 2,
Delta = floor(q / p).
- Random data: the variance is stddev^2 * (columns that hold data) * E[D'^2], exactly, and <D'[r], e> is nearly
  Gaussian. Its mean over the rows is what a run measures; the failure is that of a record in a full row.
- Any data: |D'| <= entry_offset, so <D'[r], e> is subgaussian with variance columns * stddev^2 * entry_offset^2
  at most; that is the paper's correctness theorem, stated here with the actual number of columns.
A record is `entries_per_record` such decisions.
"""

from __future__ import annotations

from collections.abc import Sequence

from .moments import Moments, packed_moments, record_digit_count, record_moments
from .stage import StageInputs, evaluate_stage

THEOREM = (
    "SimplePIR, correctness theorem: |<D'[r], e>| < Delta/2; variance columns stddev^2 E[D'^2] (random data), "
    "at most columns stddev^2 entry_offset^2 (any data); union over the entries of a record"
)


def entry_moments(description: dict) -> tuple[tuple[Moments, int], ...]:
    """(moments of D', how many entries of a record have them) for uniformly random records."""
    layout, bits = description["layout"], description["shape"]["record_bits"]
    if layout["entries_per_record"] == 1:
        return ((packed_moments(layout["records_per_entry"] * bits), 1),)
    expected = record_digit_count(bits, layout["plain_modulus"])
    if expected != layout["entries_per_record"]:
        raise ValueError(
            f"layout.entries_per_record is {layout['entries_per_record']}, but a record of {bits} bits takes "
            f"{expected} digits in base {layout['plain_modulus']}; the digit moments would not fit"
        )
    return record_moments(bits, layout["plain_modulus"])


def rows_fill(layout: dict) -> float:
    """Columns that hold data, averaged over the rows of the answer. Padding is centred zero and adds no error."""
    return layout["entries"] / layout["rows"]


def records_fill(layout: dict) -> float:
    """The same averaged over records: of `columns` records side by side, only the last such row is not full."""
    cells = layout["entries"] // layout["entries_per_record"]
    full, rest = divmod(cells, layout["columns"])
    return (full * layout["columns"] ** 2 + rest**2) / cells


def first_layer(description: dict, measured_fill: float) -> StageInputs:
    """The product of the database with the (first) query.

    measured_fill: columns that hold data, averaged over the decisions that a run measures.
    """
    layout = description["layout"]
    variance = description["instances"][0]["error_stddev"] ** 2
    full = min(layout["columns"], layout["entries"] // layout["entries_per_record"])
    moments = entry_moments(description)
    squares = sum(m.square * count for m, count in moments)
    return StageInputs(
        random_variances=[(full * variance * m.square, count) for m, count in moments],
        bound_variance=layout["columns"] * variance * layout["entry_offset"] ** 2,
        threshold=layout["scale"] / 2,
        fill=measured_fill / full,
        common_share=sum(m.mean**2 * count for m, count in moments) / squares,
    )


def stages(descriptions: Sequence[dict]) -> list[list[dict]]:
    """The noise stages of each description: `answer`. A run measures it on all rows of the answer."""
    inputs = [first_layer(d, rows_fill(d["layout"])) for d in descriptions]
    return [[stage] for stage in evaluate_stage("answer", THEOREM, inputs)]
