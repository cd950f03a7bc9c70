"""Predicted against measured, quantity by quantity. A contradiction is a bug in one of the two."""

from dataclasses import dataclass
from math import sqrt
from statistics import median

import numpy as np
from scipy.special import bdtr, bdtrc, gammainccinv, gammaincinv, ndtr

from .machine import read_bandwidth
from .noise.tails import log2_gaussian_tail

MEMORY_TOLERANCE = 0.10
#: Tolerance of the answer seconds predicted by unit costs of the machine that ran.
ANSWER_TOLERANCE = 0.25
#: A machine whose read bandwidth changed by more than this share counts as another one for seconds.
BANDWIDTH_DRIFT = 0.15
#: Tolerance of the variance, if the formula is an equality and the samples suffice.
VARIANCE_TOLERANCE = 1 / 16
#: The verdict if the sampling error alone is larger than the tolerance.
UNSURE = "too few to tell"
NOTHING = "nothing was measured"
#: Sufficient numbers of independent samples, of keys, and of keys if a key's errors are correlated.
ENOUGH_SAMPLES = 2**14
ENOUGH_KEYS = 20
ENOUGH_KEYS_IN_COMMON = 100
#: Least common share of the variance from which a key's errors count as correlated.
COMMON_PART = 0.05
#: Least number of expected failures for which an observed rate is compared.
ENOUGH_FAILURES = 10
#: Allowed sampling error: quantiles of a measured variance that a Gaussian exceeds by four standard deviations.
SAMPLING_QUANTILE = float(ndtr(-4.0))


@dataclass(frozen=True)
class Comparison:
    """within is None where nothing is demanded. note: what a reader must know of the verdict, e.g. that it rests on few
    samples. unsure: within, but by a sampling error that is larger than the tolerance."""

    quantity: str
    unit: str
    predicted: float
    measured: float
    within: bool | None
    tolerance: str
    note: str = ""
    unsure: bool = False

    @property
    def ratio(self) -> float | None:
        """Measured over predicted; None if nothing is predicted."""
        return self.measured / self.predicted if self.predicted else None

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        if self.within is None:
            return "shown"
        return "DIFFERS" if not self.within else UNSURE if self.unsure else "agrees"


def compare(prediction: dict, record: dict) -> list[Comparison]:
    """All pairs of a prediction record and the record of the same row, of a protocol or of a primitive.

    Payload bytes and the server's tables exact; peak memory within 10 %; noise variance within 1/16 if the formula is
    an equality and never above its bound, sampling error apart; answer seconds within 25 %, other seconds for
    information. Empty if the run has no measurements.
    """
    if record["status"] not in ("ok", "wrong"):
        return []
    if "primitive" in prediction:
        # Inputs of primitives are random.
        noise = _stages(prediction, record["measured"]["noise"], random_data=True)
        return [*noise, *_failures(prediction, record), *_primitive_seconds(prediction, record)]
    return [*_bytes(record), *_memory(prediction, record), *_noise(prediction, record), *_seconds(prediction, record)]


def _unmeasured(quantity: str) -> Comparison:
    """A row without samples, which has neither a spread nor a verdict."""
    return Comparison(quantity, "", 0.0, 0.0, None, NOTHING)


def _bytes(record: dict) -> list[Comparison]:
    described = {(m["phase"], m["name"]): m["payload_bytes"] for m in record["description"]["messages"]}
    sent = {(m["phase"], m["name"]): m["payload_bytes"] for m in record["transcript"]}
    rows = []
    for key in described | sent:
        predicted, measured = described.get(key, 0), sent.get(key, 0)
        rows.append(Comparison(f"payload {key[0]} {key[1]}", "B", predicted, measured, predicted == measured, "exact"))
    return rows


def _memory(prediction: dict, record: dict) -> list[Comparison]:
    """Each table of the server; the process's resident peak, without the mapped file where the database is one."""
    memory = record.get("memory") or {}
    kept = {table["name"]: table["bytes"] for table in memory.get("server", [])}
    described = {table["name"]: table["bytes"] for table in record["description"]["memory"]["server"]} if kept else {}
    rows = []
    for name in described | kept:
        predicted, held = described.get(name, 0), kept.get(name, 0)
        if predicted or held:
            rows.append(Comparison(f"table {name}", "B", predicted, held, predicted == held, "exact"))
    mapped = record["database"]["source"].startswith("mmap:")
    measured = memory.get("peak_anonymous_bytes" if mapped else "peak_bytes")
    if not measured:
        return rows
    predicted = prediction["peak_bytes"]
    within = abs(measured - predicted) <= MEMORY_TOLERANCE * predicted
    return [*rows, Comparison("peak memory", "B", predicted, measured, within, f"{MEMORY_TOLERANCE:.0%}")]


def _noise(prediction: dict, record: dict) -> list[Comparison]:
    """Seeded databases are compared with the variance over random data, constant ones with that over constant data.

    All are compared with the bound.
    """
    kind, _, byte = record["database"]["source"].partition(":")
    measured = {m["stage"]: m | {"variance": m["stddev"] ** 2} for m in record.get("noise") or []}
    return _stages(prediction, measured, kind == "seeded", byte if kind == "constant" else None)


def _failures(prediction: dict, record: dict) -> list[Comparison]:
    """Observed failure rates: predicted with a variance that may be off by 1/16, sampling error apart."""
    stages = {s["stage"]: s for s in prediction["noise"]["stages"]}
    rows = []
    for name, counted in record["measured"].get("failures", {}).items():
        quantity, stage = f"failure rate {name}", stages.get(name)
        if not counted["trials"]:
            rows.append(_unmeasured(quantity))
            continue
        rate = counted["failures"] / counted["trials"]
        if stage is None or stage["log2_failure"] is None:
            rows.append(Comparison(quantity, "", 0.0, rate, False, "stage unknown"))
            continue
        low, high = failure_band(stage, counted["trials"], VARIANCE_TOLERANCE)
        tolerance = f"variance within 1/16 and sampling: {low:.2e} to {high:.2e}"
        few = "" if counted["trials"] * 2 ** stage["log2_failure"] >= ENOUGH_FAILURES else "few failures expected"
        # The sampling error, without the tolerance of the variance.
        fewest, most = failure_band(stage, counted["trials"], 0.0)
        least, largest = (failure_rate(stage, 1 + sign * VARIANCE_TOLERANCE) for sign in (-1, 1))
        unsure, within = fewest < least or most > largest, low <= rate <= high
        rows.append(Comparison(quantity, "", 2 ** stage["log2_failure"], rate, within, tolerance, few, unsure))
    return rows


def failure_rate(stage: dict, factor: float) -> float:
    """The failure rate of a stage's decisions, if the variance is the formula's times `factor`."""
    tails = log2_gaussian_tail(stage["threshold"], [stage["stddev"] * sqrt(f) for f in (1, factor)])
    return min(1.0, 2 ** (stage["log2_failure"] + float(tails[1] - tails[0])))


def failure_band(stage: dict, trials: int, off: float) -> tuple[float, float]:
    """Rates of `trials` decisions of a stage that agree with its prediction, whose variance may be off by a share."""
    # Quantiles of binomial laws, which bound the counts from below and above.
    counts = np.arange(trials)
    fewest = np.count_nonzero(bdtr(counts, trials, failure_rate(stage, 1 - off)) < SAMPLING_QUANTILE)
    most = np.count_nonzero(bdtrc(counts, trials, failure_rate(stage, 1 + off)) > SAMPLING_QUANTILE)
    return float(fewest) / trials, float(most) / trials


def _stages(
    prediction: dict, measured: dict[str, dict], random_data: bool, constant: str | None = None
) -> list[Comparison]:
    """Mean squares with their formulas, stage by stage: within 1/16 of an equality, not above a bound, sampling error
    apart.

    measured: by stage, its variance, samples and keys. constant: the only byte of the data, if that is known.
    """
    stages = {s["stage"]: s for s in prediction["noise"]["stages"]}
    rows = []
    for name, found in measured.items():
        variance, samples, keys = found["variance"], found["samples"], found["keys"]
        quantity, stage = f"noise stddev {name}", stages.get(name)
        if not samples:
            rows.append(_unmeasured(quantity))
            continue
        if stage is None:
            rows.append(Comparison(quantity, "", 0.0, sqrt(variance), False, "stage unknown"))
            continue
        # Predictions for a constant database are exact.
        known = (stage.get("constant_variance") or {}).get(constant)
        expected = stage["variance"] if known is None else known
        equality = stage["kind"] == "equality" and (random_data or known is not None)
        effective = _independent_samples(stage, samples, keys, random_data)
        below, above = _sampling_error(effective)
        needed = ENOUGH_KEYS_IN_COMMON if stage["common_share"] > COMMON_PART else ENOUGH_KEYS
        enough = samples >= ENOUGH_SAMPLES and keys >= needed
        exact = enough and above <= VARIANCE_TOLERANCE
        within, bound = True, stage["stddev_bound"]
        if equality:
            under, over = (0.0, 0.0) if exact else (below, above)
            least, most = 1 - VARIANCE_TOLERANCE - under, 1 + VARIANCE_TOLERANCE + over
            within = least * expected <= variance <= most * expected
            tolerance = "variance within " + ("1/16" if exact else f"1/16 + sampling error -{below:.1%} to {above:.1%}")
            tolerance += ", below the bound" if bound is not None else ""
        else:
            bound = sqrt(expected) if bound is None else bound
            tolerance = f"variance below the bound (sampling error {above:.1%})"
        within = within and (bound is None or variance <= bound**2 * (1 + above))
        # An equality needs a sampling error within its tolerance; a value that far below its bound needs none.
        unsure = above > VARIANCE_TOLERANCE
        if not equality:
            unsure = variance > (1 - below) * (1 + VARIANCE_TOLERANCE) * bound**2
        few = f"few samples: {samples}" if samples < ENOUGH_SAMPLES else f"few keys: {keys}" if keys < needed else ""
        rows.append(Comparison(quantity, "", sqrt(expected), sqrt(variance), within, tolerance, few, unsure))
    return rows


def _sampling_error(independent: float) -> tuple[float, float]:
    """The shares by which a variance of `independent` Gaussian samples may lie below and above the true variance.

    Quantiles of chi-square: on few samples its upper tail is much longer than that of a Gaussian of the same variance.
    """
    half = independent / 2
    below, above = gammaincinv(half, SAMPLING_QUANTILE), gammainccinv(half, SAMPLING_QUANTILE)
    return 1 - float(below) / half, float(above) / half - 1


def _independent_samples(stage: dict, samples: int, keys: int, random_data: bool) -> float:
    """How many independent samples determine the variance as well as the run's own, which share error vectors and data.

    Each key gives `common_samples` samples of the common part of the error. The rest, m decisions on a sum of `terms`
    products of independent data with the same errors, is the quadratic form of a Wishart matrix: it varies like
    1 / (1/m + 1/terms) independent squares. Nothing is known about data that are not random: all decisions of a key may
    have the whole error in common. The mean square of random data deviates from its expectation by their fourth
    moment: a value's square varies by no more than its mean (bits; by 0.8 of it when uniform in a range).
    """
    keys = max(1, keys)
    if not random_data:
        return keys
    shared = 0.0 if stage["terms"] is None else 1 / (keys * stage["terms"])
    data = 0.0 if stage["data_values"] is None else 1 / (2 * stage["data_values"])
    common = stage["common_share"]
    return 1 / (common**2 / (stage["common_samples"] * keys) + (1 - common) ** 2 * (1 / samples + shared) + data)


def _primitive_seconds(prediction: dict, record: dict) -> list[Comparison]:
    """Seconds of one call with described operations, for information: the call does more than the counts describe."""
    rows = []
    for name, described in prediction.get("times", {}).items():
        if samples := record["measured"]["times"].get(name, {}).get("samples"):
            seconds, note = described["seconds"], f"{described['counted']} only"
            elsewhere = _elsewhere(prediction["unit_costs"], record["machine"])
            note += f"; {elsewhere}" if elsewhere else ""
            rows.append(Comparison(f"seconds {name}", "s", seconds, median(samples), None, "for information", note))
    return rows


def _seconds(prediction: dict, record: dict) -> list[Comparison]:
    """Answer seconds within 25 %, by unit costs of the machine that ran; the other phases for information."""
    measured = {p["name"]: median(p["seconds"]) for p in record.get("phases") or [] if p["seconds"]}
    threads = record.get("threads") or 1
    elsewhere = f"predicted for one thread, run on {threads}" if threads > 1 else ""
    elsewhere = elsewhere or _elsewhere(prediction["unit_costs"], record.get("machine") or {})
    rows = []
    for name, predicted in prediction["seconds"].items():
        if name not in measured:
            continue
        within, tolerance, note = None, "for information", ""
        if name == "answer":
            tolerance, note = f"{ANSWER_TOLERANCE:.0%}", elsewhere
            within = None if elsewhere else abs(measured[name] - predicted) <= ANSWER_TOLERANCE * predicted
        rows.append(Comparison(f"seconds {name}", "s", predicted, measured[name], within, tolerance, note))
    return rows


def _elsewhere(unit_costs: dict, machine: dict) -> str:
    """Why the unit costs do not fit the machine as it ran, in which case no tolerance applies; empty if they fit."""
    if unit_costs["machine"] != machine.get("cpu"):
        return f"unit costs of another machine: {unit_costs['machine']}"
    ran, calibrated = read_bandwidth(machine), unit_costs["read_bandwidth"]
    if not ran or not calibrated or abs(ran - calibrated) <= BANDWIDTH_DRIFT * calibrated:
        return ""
    return f"it read {ran / 1e9:.1f} GB/s when it ran, {calibrated / 1e9:.1f} when it was calibrated"
