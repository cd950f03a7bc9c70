"""params/best.json: for each protocol and database the committed set that reaches 128 bits and a failure of 2^-40 and
answers fastest, from question to record. `pirlab run PROTOCOL` reads it.

python -m pirlab_estimator.search.best
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from ..cost import DEFAULTS, UnitCosts, predict_seconds
from ..describe import describe_each
from ..outputs import OutputError, write
from ..paths import ROOT
from ..security.assess import predict_security, weakest
from ..security.attacks import CIPHER_BITS, SECURITY_TARGET
from .bounds import Bounds, Objective
from .evaluate import Figures, Shape, failures, joined

FILE = ROOT / "params/best.json"
#: Databases: every second power of two of records, with bits to 32 KiB a record, up to 256 GiB.
RECORDS = [1 << log2 for log2 in range(8, 31, 2)]
RECORD_BITS = [1, 64, 512, 2048, 32768, 262144]
MOST_BITS = 1 << 41
COLUMNS = ("protocol", "records", "record_bits", "set", "bits", "log2_failure", "seconds")
Row = tuple[str, int, int, str, float, float, float]


def shapes() -> list[Shape]:
    """All databases of the file."""
    return [Shape(*each) for each in product(RECORDS, RECORD_BITS) if each[0] * each[1] <= MOST_BITS]


def rows(wanted: Iterable[Shape]) -> Iterator[Row]:
    """The best set of each protocol that has one at each of these databases."""
    names = sorted(path.relative_to(ROOT / "params").with_suffix("").as_posix() for path in FILE.parent.rglob("*.toml"))
    sets = [{"id": name, "parameters": str(ROOT / f"params/{name}.toml")} for name in names]
    for shape in wanted:
        yield from fastest(sets, shape)


def fastest(sets: Iterable[Mapping[str, Any]], shape: Shape) -> list[Row]:
    """Of these sets the best of each protocol that has one at a database."""
    objective = Objective("seconds", shape)
    described = [each for each in describe_each([{**asked, **vars(shape)} for asked in sets]) if "error" not in each]
    best: dict[str, tuple[float, Row]] = {}
    for description, figures in zip(described, _figures(described)):
        score, protocol = objective(figures), description["protocol"]
        reached = (figures.bits or 0.0) >= SECURITY_TARGET and figures.log2_failure <= Bounds().failure
        if reached and (protocol not in best or score < best[protocol][0]):
            about = (protocol, shape.records, shape.record_bits, description["id"])
            bits, log2 = round(figures.bits or 0.0, 1), round(figures.log2_failure, 1)
            best[protocol] = score, (*about, bits, log2, float(f"{score:.3g}"))
    return [row for _, (_, row) in sorted(best.items())]


def _figures(descriptions: list[dict[str, Any]]) -> Iterator[Figures]:
    """Figures with the recorded security where there is one, else the fast model's."""
    unit_costs = UnitCosts.load(DEFAULTS)
    secured = predict_security(descriptions, "at_hand")
    each = zip(descriptions, predict_seconds(descriptions, unit_costs), secured, failures(descriptions), strict=True)
    for description, seconds, security, failure in each:
        bits = weakest(security) if security else CIPHER_BITS
        yield joined(description, seconds, bits, failure)


def text(found: Iterable[Row]) -> str:
    """The file, a row a line."""
    lines = ",\n".join(json.dumps(row) for row in found)
    return f'{{"schema": "pirlab/best/1",\n"columns": {json.dumps(COLUMNS)},\n"rows": [\n{lines}\n]}}\n'


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", type=Path, default=FILE, help="instead of params/best.json")
    try:
        write(parser.parse_args().out, text(rows(shapes())))
    except OutputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
