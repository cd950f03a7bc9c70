"""Errors of SimpleYPIR (YPIR+SP, Menon and Wu, USENIX Security 2024): a product over the ring, CDKS, modulus switch.

As YPIR's second layer with a database of centred entries modulo p: N sigma^2 E[D^2], (d^2 - 1)/3 key switches, and
the switch.
"""

from collections.abc import Sequence

import numpy as np

from . import lattice
from .ring_setting import Answers, Keys, Rings, numbers
from .stage import Decision, Stage, stages


def entries_of_a_record(description: dict) -> int:
    """Entries that a record lies in at most: it may begin anywhere within one."""
    layout, bits = description["layout"], description["shape"]["record_bits"]
    return min(layout["columns"], (bits + layout["entry_bits"] - 2) // layout["entry_bits"] + 1)


def filled_nodes(description: dict) -> float:
    """The share of the tree's noise that a run sees, over all columns: columns that hold nothing have masks of zero.

    Node v of level k joins the columns v modulo n / 2^k, so it adds no noise if v is at or beyond the used columns.
    """
    layout, n = description["layout"], description["instances"][0]["dimension"]
    used = layout["records_per_item"] * description["shape"]["record_bits"] / layout["entry_bits"]
    levels = np.arange(1, round(np.log2(n)) + 1)
    weights = 4.0 ** (levels[-1] - levels)
    shares = []
    for element in range(layout["elements_per_item"]):
        columns = min(max(used - element * n, 0.0), n)
        shares.append(np.sum(weights * np.minimum(1.0, columns * 2.0**levels / n)) / np.sum(weights))
    return float(np.mean(shares))


def chain(descriptions: Sequence[dict]) -> list[Stage]:
    """`first_product`, `packing`, and `answer`, which decides."""
    layouts = [d["layout"] for d in descriptions]
    rings = Rings.of(descriptions)
    keys = Keys.of(layouts, "packing", rings.modulus)
    rows, p, answers = numbers(layouts, "items"), numbers(layouts, "plain_modulus"), Answers.of(layouts)
    product, product_bound = rings.product(rows, p)
    packing, packing_bound = rings.cdks(keys, product), rings.cdks(keys, product_bound)
    switched_bound, key = answers.switched_bound(rings, lambda under: under.cdks(keys, product_bound))
    tree = answers.share(rings, rings.cdks(keys), packing)
    empty = 1 - np.array([filled_nodes(d) for d in descriptions])
    stage = stages("simpleypir")
    return [
        stage("first_product", product, product_bound, digits="centred residues modulo p"),
        stage("packing", packing, packing_bound, digits=keys.words),
        stage(
            "answer",
            answers.switched(rings, packing),
            switched_bound,
            decision=Decision(
                answers.threshold(p),
                {"entries of a record": np.array([entries_of_a_record(d) for d in descriptions])},
                key=key,
            ),
            fill=1 - tree * empty,
            common_share=lattice.mean_in_common(keys.gadget) * tree,
        ),
    ]
