"""`pirlab-predict`: prediction records for descriptions, in one call for any number of them.

pirlab describe --batch < rows.jsonl | pirlab-predict --out predictions.jsonl

Descriptions of protocols and of primitives (`pirlab primitive describe`), also mixed.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from .cost import UnitCosts, predict_seconds
from .cost.primitive import described_times
from .describe import DescribeError, read_descriptions, read_json_lines
from .inputs import InputError
from .noise import predict_noise
from .noise.primitive import primitive_noise
from .options import TIMEOUT_USES, unused
from .outputs import STANDARD, check, protected, write
from .security import primitive
from .security.assess import SOURCES, predict_security, weakest
from .security.attacks import CIPHER_BITS, SECURITY_TARGET, TIMEOUT
from .security.live import EstimatorMissing

SCHEMA = "pirlab/prediction/1"
DESCRIBED = "pirlab/description/1"
DESCRIBED_PRIMITIVE = "pirlab/primitive-description/1"
#: Seconds of a primitive, whose repetitions are not parted into phases.
BUDGET = ("repetition", "total")


def predict(
    descriptions: Sequence[dict],
    *,
    security: str = "auto",
    unit_costs: UnitCosts | None = None,
    timeout: float | None = None,
) -> list[dict]:
    """Prediction records, in the order of the descriptions; ValueError names a description that cannot be predicted."""
    for description in descriptions:
        if "error" in description:
            raise ValueError(f"description {description.get('id')}: {description['error']}")
    units = unit_costs or UnitCosts.load()
    exposed = [{"instances": primitive.instances(d)} if _is_primitive(d) else d for d in descriptions]
    some = any(d["instances"] for d in exposed)
    entries = predict_security(exposed, security, timeout) if some else [[] for _ in exposed]
    protocols = [d for d in descriptions if not _is_primitive(d)]
    # A primitive describes its seconds on the machine of the committed unit costs.
    slowness = units.slowness()
    noise, seconds = iter(predict_noise(protocols)), iter(predict_seconds(protocols, units))
    return [
        _record(d, secured, primitive_noise(d), dict.fromkeys(BUDGET, slowness * d["predicted_seconds"]), units)
        if _is_primitive(d)
        else _record(d, secured, next(noise), next(seconds), units)
        for d, secured in zip(descriptions, entries)
    ]


def _is_primitive(description: dict) -> bool:
    return description.get("schema") == DESCRIBED_PRIMITIVE


def _record(description: dict, entries: list[dict], noise: dict, seconds: dict, unit_costs: UnitCosts) -> dict:
    """A prediction record, with the security `entries` of the exposed instances, which a primitive may lack.

    Seconds of a primitive are the plan's budget for one repetition; its times are those of a timed call's counted
    operations.
    """
    of_primitive = _is_primitive(description)
    about = ("primitive", "settings") if of_primitive else ("protocol", "parameters", "shape")
    bits = {"security_bits": weakest(entries) if entries else CIPHER_BITS, "security_target": SECURITY_TARGET}
    return {
        "schema": SCHEMA,
        "id": description.get("id"),
        **{key: description[key] for key in about},
        "security": entries,
        **(bits if entries or not of_primitive else {}),
        "noise": noise,
        "seconds": seconds,
        **({"times": described_times(description, unit_costs)} if of_primitive else {}),
        "unit_costs": unit_costs.origin(),
        "peak_bytes": (description if of_primitive else description["memory"])["peak_bytes"],
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="pirlab-predict", description=__doc__.split("\n")[0])
    parser.add_argument("descriptions", nargs="?", type=Path, help="JSON lines or a JSON array (standard input)")
    parser.add_argument("--out", type=Path, default=STANDARD, help="file to write (-, standard output)")
    parser.add_argument(
        "--format", choices=["lines", "array"], help="JSON lines, or one JSON array (if --out ends .json)"
    )
    parser.add_argument("--security", choices=SOURCES, default="auto", help="live: the real lattice estimator (auto)")
    parser.add_argument("--timeout", type=float, help=TIMEOUT)
    parser.add_argument("--costs", type=Path, help="a file of `pirlab calibrate` (results/calibration.json)")
    options = parser.parse_args(arguments)
    if options.timeout is not None and not options.timeout > 0:
        return _refuse(f"--timeout {options.timeout:g} leaves an attack no time; give seconds above 0")
    if problem := unused(options, TIMEOUT_USES):
        return _refuse(f"{problem}.")
    try:
        with protected([options.descriptions, options.costs]):
            check(options.out)
            descriptions = _read(options.descriptions)
            unit_costs = UnitCosts.load(options.costs)
            records = predict(descriptions, security=options.security, unit_costs=unit_costs, timeout=options.timeout)
            array = options.out.suffix == ".json" and options.format is None
            if array or options.format == "array":
                text = json.dumps(records, indent=1) + "\n"
            else:
                text = "".join(json.dumps(record) + "\n" for record in records)
            write(options.out, text)
    except OSError as error:
        where = error.filename or options.costs or options.descriptions or "standard input"
        return _refuse(f"{where}: {error.strerror or error}. Check the path and its permissions.")
    except (DescribeError, EstimatorMissing, InputError, ValueError) as error:
        return _refuse(str(error))
    return 0


def _read(path: Path | None) -> list[dict]:
    """The descriptions in a file or on standard input; DescribeError if empty, or if a line is not an object."""
    name = path or "standard input"
    try:
        descriptions = read_descriptions(path) if path else read_json_lines(sys.stdin)
    except UnicodeDecodeError as error:
        raise DescribeError(
            f"{name} is not UTF-8 text ({error}). Give what `pirlab describe --batch` writes."
        ) from None
    except DescribeError as error:
        raise DescribeError(f"{name}: {error}. Give what `pirlab describe --batch` writes.") from None
    if not descriptions:
        raise DescribeError(
            f"{name} holds no description. Write one a line with `pirlab describe --batch < rows.jsonl`; if that "
            "wrote nothing, its own message says why."
        )
    for number, description in enumerate(descriptions, 1):
        known = isinstance(description, dict) and (
            "error" in description or description.get("schema") in (DESCRIBED, DESCRIBED_PRIMITIVE)
        )
        if not known:
            raise DescribeError(
                f"{name}: entry {number} is not a `{DESCRIBED}`. Give what `pirlab describe --batch` writes."
            )
    return descriptions


def _refuse(message: str) -> int:
    print(f"pirlab-predict: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    raise SystemExit(main())
