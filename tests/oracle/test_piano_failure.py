"""Piano's failures: bounds above exact tails, and which sets reach 2^-40 in which databases."""

from math import log, log2

import pytest
from pirlab_estimator.noise import piano
from scipy.stats import binom, poisson


def bounds(described):
    """log2 of the bounds of a window: no hint holds an entry, and spare hints run out."""
    return {chance.name: float(chance.log2_failure[0]) for chance in piano.chain([described])}


@pytest.mark.parametrize(
    ("log_records", "printed"), [(14, -33.6), (16, -39), (17, -59.4), (18, -39.6), (20, -45), (24, -56), (27, -88)]
)
def test_bounds_of_published_counts_are_above_the_tails(describe, log_records, printed):
    described = describe("piano/published", log_records)
    layout, found = described["layout"], bounds(described)
    window, chunks, backups = layout["window"], layout["chunks"], layout["backups"]
    no_hint = log2(window) + binom.logpmf(0, layout["hints"], 1 / layout["chunk"]) / log(2)
    assert found["hints"] == pytest.approx(no_hint, abs=1e-6) and found["hints"] < -40
    # Entries fall into chunks without replacement, which Poisson's tail exceeds.
    tail = log2(chunks) + poisson.logsf(backups, window / chunks) / log(2)
    assert tail == pytest.approx(printed, abs=0.6), "the reference's counts, as recomputed from its constants"
    assert tail < found["spare_hints"] < tail + 6
    assert (found["spare_hints"] < -40) == (log_records not in (14, 16, 18)), "as docs/piano.md says"


@pytest.mark.parametrize("log_records", range(4, 29, 3))
def test_repaired_counts_reach_the_target_at_every_size(describe, log_records):
    found = bounds(describe("piano/packed", log_records))
    assert max(found.values()) < -41
