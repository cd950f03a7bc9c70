"""`pirlab-predict`: prediction records for descriptions, in one call for any number of them.

pirlab describe --batch < rows.jsonl | pirlab-predict --out predictions.jsonl
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from .cost import UnitCosts, predict_seconds
from .describe import DescribeError, read_descriptions, read_json_lines
from .noise import predict_noise
from .security.assess import SOURCES, predict_security, weakest
from .security.attacks import SECURITY_TARGET
from .security.live import ATTACK_LIMIT_SECONDS, EstimatorMissing

SCHEMA = "pirlab/prediction/1"


def predict(
    descriptions: Sequence[dict],
    *,
    security: str = "auto",
    unit_costs: UnitCosts | None = None,
    timeout: float = ATTACK_LIMIT_SECONDS,
) -> list[dict]:
    """Prediction records, in the order of the descriptions; ValueError names a description that cannot be predicted."""
    for description in descriptions:
        if "error" in description:
            raise ValueError(f"description {description.get('id')}: {description['error']}")
    parts = zip(
        descriptions,
        predict_security(descriptions, security, timeout),
        predict_noise(descriptions),
        predict_seconds(descriptions, unit_costs),
    )
    return [
        {
            "schema": SCHEMA,
            "id": description.get("id"),
            "protocol": description["protocol"],
            "parameters": description["parameters"],
            "shape": description["shape"],
            "security": entries,
            "security_bits": weakest(entries),
            "security_target": SECURITY_TARGET,
            "noise": noise,
            "seconds": seconds,
            "peak_bytes": description["memory"]["peak_bytes"],
        }
        for description, entries, noise, seconds in parts
    ]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="pirlab-predict", description=__doc__.split("\n")[0])
    parser.add_argument("descriptions", nargs="?", type=Path, help="JSON lines or a JSON array (standard input)")
    parser.add_argument("--out", type=Path, help="file to write (standard output)")
    parser.add_argument(
        "--format", choices=["lines", "array"], help="JSON lines, or one JSON array (if --out ends .json)"
    )
    parser.add_argument("--security", choices=SOURCES, default="auto", help="live: the real lattice estimator (auto)")
    parser.add_argument("--timeout", type=float, default=ATTACK_LIMIT_SECONDS, help="seconds an attack")
    parser.add_argument("--costs", type=Path, help="a file of `pirlab calibrate` (results/calibration.json)")
    options = parser.parse_args(arguments)
    try:
        descriptions = read_descriptions(options.descriptions) if options.descriptions else read_json_lines(sys.stdin)
        unit_costs = UnitCosts.load(options.costs)
        records = predict(descriptions, security=options.security, unit_costs=unit_costs, timeout=options.timeout)
    except (DescribeError, EstimatorMissing, OSError, ValueError) as error:
        print(f"pirlab-predict: {error}", file=sys.stderr)
        return 2
    array = options.out is not None and options.out.suffix == ".json" and options.format is None
    if array or options.format == "array":
        text = json.dumps(records, indent=1) + "\n"
    else:
        text = "".join(json.dumps(record) + "\n" for record in records)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        temporary = options.out.with_name(options.out.name + ".tmp")
        temporary.write_text(text)
        temporary.replace(options.out)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
