"""Error and failure probability of SimplePIR (Henzinger, Hong, Corrigan-Gibbs, Meiklejohn, Vaikuntanathan,
"One Server for the Price of Two", USENIX Security 2023) and of FrodoPIR, whose matrix has other dimensions.

An answer is D' (A s + e + Delta u) with D' the centred database of `rows` x `columns` entries. After the client
takes off D' A s, row r carries Delta D'[r, u] + <D'[r], e>. It is rounded correctly iff |<D'[r], e>| < Delta / 2,
Delta = floor(q / p).
- Random data: the variance is stddev^2 * (columns that hold data) * E[D'^2], exactly, and <D'[r], e> is nearly
  Gaussian. Its mean over the rows is what a run measures; the failure is that of a record in a full row.
- Any data: |D'| <= entry_offset, and Gaussian or ternary errors are subgaussian with their own variance, so
  <D'[r], e> is subgaussian with variance columns * stddev^2 * entry_offset^2 at most; that is the paper's
  correctness theorem, stated here with the actual number of columns.
A record is `entries_per_record` such decisions.
"""

from collections.abc import Callable, Sequence

import numpy as np

from .error import Noise
from .moments import Moments, constant_second_moment, packed_moments, record_digit_count, record_moments
from .stage import CONSTANTS, Decision, Stage, by_class, stages


def entry_moments(description: dict) -> tuple[tuple[Moments, int], ...]:
    """(moments of D', how many entries of a record have them) for uniformly random records."""
    layout, bits = description["layout"], description["shape"]["record_bits"]
    if layout["entries_per_record"] == 1:
        # Where there is but one entry, records may not fill it; of several, the last hardly counts.
        filled = min(layout["records_per_entry"], description["shape"]["records"])
        return ((packed_moments(layout["records_per_entry"] * bits, filled * bits), 1),)
    expected = record_digit_count(bits, layout["plain_modulus"])
    if expected != layout["entries_per_record"]:
        raise ValueError(
            f"layout.entries_per_record is {layout['entries_per_record']}, but a record of {bits} bits takes "
            f"{expected} digits in base {layout['plain_modulus']}; the digit moments would not fit"
        )
    return record_moments(bits, layout["plain_modulus"])


def constant_square(description: dict, ones: bool) -> float:
    """Mean of D'^2 over the entries of a record, where all bits of the database are zeros or ones."""
    layout, bits = description["layout"], description["shape"]["record_bits"]
    if layout["entries_per_record"] > 1:
        return constant_second_moment(bits, layout["plain_modulus"], ones)
    filled = min(layout["records_per_entry"], description["shape"]["records"]) * bits
    value = (1 << filled) - 1 if ones else 0
    return float((value - (1 << (layout["records_per_entry"] * bits - 1))) ** 2)


def rows_fill(layout: dict) -> float:
    """Columns that hold data, averaged over the rows of the answer. Padding is centred zero and adds no error."""
    return layout["entries"] / layout["rows"]


def records_fill(layout: dict) -> float:
    """The same averaged over records: of `columns` records side by side, only the last such row is not full."""
    cells = layout["entries"] // layout["entries_per_record"]
    full, rest = divmod(cells, layout["columns"])
    return (full * layout["columns"] ** 2 + rest**2) / cells


def first_layer(chain: str, name: str, descriptions: Sequence[dict], measured_fill: Callable[[dict], float]) -> Stage:
    """The product of the database with the (first) query.

    measured_fill: of a layout, columns that hold data, averaged over the decisions that a run measures.
    """
    layouts = [d["layout"] for d in descriptions]
    moments = [entry_moments(d) for d in descriptions]
    errors = [d["instances"][0]["error_stddev"] ** 2 for d in descriptions]
    full = np.array([min(o["columns"], o["entries"] // o["entries_per_record"]) for o in layouts], dtype=float)
    variances = [[f * e * m.square for m, _ in each] for f, e, each in zip(full, errors, moments)]
    counts = [[count for _, count in each] for each in moments]
    squares = [sum(m.square * count for m, count in each) for each in moments]
    decisions = [sum(count) for count in counts]
    constant = {
        data: [constant_square(d, ones) * n / s for d, n, s in zip(descriptions, decisions, squares)]
        for data, ones in CONSTANTS.items()
    }
    means = [sum(m.mean**2 * count for m, count in each) for each in moments]
    return stages(chain)(
        name,
        digits=[_entries(layout) for layout in layouts],
        noise=Noise(by_class(variances)),
        bound=Noise(np.array([o["columns"] * e * o["entry_offset"] ** 2 for o, e in zip(layouts, errors)]), "bound"),
        decision=Decision(
            threshold=[o["scale"] / 2 for o in layouts],
            union={"entries of a record": [o["entries_per_record"] for o in layouts]},
            counts=by_class(counts),
        ),
        fill=np.array([measured_fill(o) for o in layouts]) / full,
        common_share=np.divide(means, squares),
        terms=[o["entries"] / o["rows"] for o in layouts],
        data_values=[o["entries"] for o in layouts],
        constant=constant,
    )


def _entries(layout: dict) -> str:
    if layout["entries_per_record"] == 1:
        return f"entries uniform in [-{layout['entry_offset']}, {layout['entry_offset']})"
    return f"base-{layout['plain_modulus']} digits of a record, less {layout['entry_offset']}"


def chain(descriptions: Sequence[dict]) -> list[Stage]:
    """One stage, `answer`, which a run measures on all rows of the answer."""
    return [first_layer("simplepir", "answer", descriptions, rows_fill)]
