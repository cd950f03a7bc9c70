"""Failures of Piano (Zhou, Park, Shi, Zheng, IEEE S&P 2024): it has no errors, but a window may run out of hints.

A query for a new entry needs a hint whose set holds it, and a spare hint of its chunk. Sets are pseudorandom and
independent, and places of entries are a pseudorandom permutation, so that queries chosen without knowledge of it fall
into chunks at random. Both bounds are unions over a whole window: the client says that a record cannot be had, it never
gives a wrong one.
"""

from collections.abc import Sequence

import numpy as np

from .ring_setting import numbers
from .stage import Chance, words


def chain(descriptions: Sequence[dict]) -> list[Chance]:
    """`hints` and `spare_hints`, each once a window."""
    layouts = [d["layout"] for d in descriptions]
    window, chunk, chunks = numbers(layouts, "window"), numbers(layouts, "chunk"), numbers(layouts, "chunks")
    log2_hints = np.log2(window) + numbers(layouts, "hints") * np.log2(1 - 1 / chunk)
    mean, spares = window / chunks, numbers(layouts, "backups")
    over = np.maximum(spares + 1, mean)
    log2_spares = np.log2(chunks) + (over - mean - over * np.log(over / mean)) / np.log(2)
    # No entry is asked for twice: as many spare hints as a chunk has entries never run out.
    log2_spares = np.where(spares >= np.minimum(window, chunk), -np.inf, np.minimum(log2_spares, 0.0))
    return [
        Chance("hints", **words("piano")["hints"], log2_failure=np.minimum(log2_hints, 0.0), over="windows"),
        Chance("spare_hints", **words("piano")["spare_hints"], log2_failure=log2_spares, over="windows"),
    ]
