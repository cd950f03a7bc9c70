"""Seconds of a primitive's timed calls, as far as its description counts operations.

Not to be mixed up with the seconds of a repetition, by which the plan budgets: these take in keys, inputs and the
measurement of errors, which no record times.
"""

from collections.abc import Iterator

from .units import UnitCosts


def described_times(description: dict, units: UnitCosts) -> dict[str, dict]:
    """Of one call of each time whose operations are counted: its seconds, and which operations these are.

    The rest of the call takes at least as long again: this is a lower limit, not an estimate of the whole.
    """
    found: dict[str, dict] = {}
    for time, operation, count, words in _counted(description):
        entry = found.setdefault(time, {"seconds": 0.0, "counted": ""})
        entry["seconds"] += float(units.total(operation, count))
        entry["counted"] += f"{' and ' if entry['counted'] else ''}{words}"
    return found


def _counted(description: dict) -> Iterator[tuple[str, str, float, str]]:
    """(time, operation, count, in words) of the operations of one call; none of a call without them."""
    settings, counts = description["settings"], description.get("counts", {})
    match description["primitive"]:
        case "rotation" if counts.get("rotations"):
            transforms = settings["together"] * (counts["forward_ntts"] + counts["inverse_ntts"])
            yield "operation", _transform(settings), transforms, "transforms"
            yield "operation", "key_bytes", counts["expanded_key_bytes"], "reading the key"
        case "selector-tree":
            yield "operation", _transform(settings), counts["forward_ntts"] + counts["inverse_ntts"], "transforms"
        case "failure" if counts.get("trial_ntts"):
            yield "trial", _transform(settings), counts["trial_ntts"], "transforms"
        case "decompose" if settings.get("method") == "vectorised":
            yield "decompose", "digits", counts["digits"], "digits of the deterministic kernels"
        case "packing" if counts.get("table_bytes"):
            yield "online", "table_bytes", counts["table_bytes"], "reading the table"


def _transform(settings: dict) -> str:
    return f"ntt_{settings['n']}_{max(settings['prime_bits'])}"
