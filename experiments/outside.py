"""Rows of the reference runs outside their tolerance, as tests/fixtures/outside.toml names them.

`python experiments/outside.py` prints that file anew: reasons given there stay, those of new rows are empty, which
`tests/test_records.py` refuses until somebody gives them.
"""

import argparse
import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pirlab_estimator.compare import ANSWER_TOLERANCE, compare
from pirlab_estimator.records import InputError, read, read_json

sys.path.insert(0, str(Path(__file__).parent / "rules"))
from sweep import ROOT

NAMED = ROOT / "tests/fixtures/outside.toml"
#: Held to all that is predicted of them, wherever it was measured and on however few keys.
HELD = ("simplepir", "doublepir")
#: Of their standard deviations, on however few keys.
STDDEV_TOLERANCE = 0.10
HEAD = """\
# Rows of the reference runs outside their tolerance, and why. `tests/test_records.py` lets no other row be outside,
# and no row stand here that is within. `.venv/bin/python experiments/outside.py` prints this file anew; give new
# rows their reason.
"""


class Outside(NamedTuple):
    """A quantity of a row, and measured / predicted."""

    run: str
    experiment: str
    group: str
    row: str
    quantity: str
    ratio: float

    @property
    def place(self) -> tuple[str, ...]:
        """What names it."""
        return self[:-1]


def runs(results: Path = ROOT / "results") -> list[Path]:
    """The folders of the reference runs."""
    return sorted(results.glob("reference*"))


def predictions(run: Path) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Of a run, by (experiment, group, row)."""
    found = {}
    for path in (run / "predictions").rglob("*.json"):
        experiment = str(path.relative_to(run / "predictions").with_suffix(""))
        document = read_json(path)
        # The audit of security is one document and predicts no row.
        for line in document if isinstance(document, list) else []:
            group, row = line["id"].split("/", 1)
            found[experiment, group, row] = line
    return found


def outside(run: Path) -> Iterator[Outside]:
    """Quantities of a run's rows outside their tolerance; of SimplePIR and DoublePIR also where nothing is demanded, or
    where nothing was measured."""
    foretold = predictions(run)
    for path in sorted((run / "records").rglob("*.json")):
        record = read(path)
        place = (record["experiment"], record["group"], record["row"])
        if record["status"] != "ok" and place not in foretold:
            continue  # a row that did not fit, and has had another name since
        held = record.get("protocol") in HELD and record["threads"] == 1 and record["status"] == "ok"
        twins = compare(foretold[place], record)
        if held:
            stages = (f"noise stddev {stage['stage']}" for stage in foretold[place]["noise"]["stages"])
            missing = {"seconds answer", "peak memory", *stages} - {twin.quantity for twin in twins}
            yield from (Outside(run.name, *place, quantity, 0.0) for quantity in sorted(missing))
        for twin in twins:
            limit = ANSWER_TOLERANCE if twin.quantity == "seconds answer" else None
            limit = STDDEV_TOLERANCE if twin.quantity.startswith("noise stddev") else limit
            far = held and limit is not None and (twin.ratio is None or abs(twin.ratio - 1) > limit)
            if twin.within is False or far:
                yield Outside(run.name, *place, twin.quantity, twin.ratio or 0.0)


def named() -> dict[tuple[str, ...], str]:
    """The reasons of the rows that are named."""
    entries = tomllib.loads(NAMED.read_text()).get("outside", []) if NAMED.exists() else []
    return {tuple(entry[field] for field in Outside._fields[:-1]): entry["reason"] for entry in entries}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=ROOT / "results", help="where the reference runs are")
    arguments = parser.parse_args()
    try:
        all_found = [found for run in runs(arguments.results) for found in outside(run)]
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    reasons = named()
    print(HEAD, end="")
    for found in all_found:
        print("\n[[outside]]")
        for field, value in zip(Outside._fields, found.place):
            print(f"{field} = {json.dumps(value)}")
        print(f"# measured / predicted {found.ratio:.3g}")
        print(f"reason = {json.dumps(reasons.get(found.place, ''))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
