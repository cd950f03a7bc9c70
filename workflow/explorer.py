"""`make explorer`: one HTML file with every row of the packed reference runs and of the searches.

Nothing is measured. Rows are described and predicted as `make redraw` does it.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from .files import ROOT, exit_code
from .present import draw, option
from .redraw import PROFILES, Redrawing
from .reference import RECEIVED, REFERENCE, packed, unpack

#: What searches found, and what committed sets cost (experiments/search/fronts.toml and committed.toml).
SWEEPS = [Path("results/searched/fronts.csv"), Path("results/searched/committed.csv")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("figures/out/explorer"), metavar="PREFIX", help="of the file")
    parser.add_argument("--binary", help="instead of the profile's `binary`")
    parser.add_argument("--profiles", nargs="+", default=PROFILES, help="the packed runs")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as work:
        records, predictions, descriptions = [], [], []
        for file in sorted(RECEIVED.glob("*.jsonl.gz")):
            unpack(file, Path(work, "received", file.name))
            records.append(Path(work, "received", file.name, "records"))
        for profile in arguments.profiles:
            folder = Path(work, profile)
            run = Redrawing(profile, packed(profile, REFERENCE), folder, folder / "figures", binary=arguments.binary)
            records.append(run.own / "records")
            for name in run.experiments():
                if run.plan.judged(name):
                    predictions.append(run.prediction(name))
                    descriptions.append(run.description(name))
        words = ["--records", *records, *option("predictions", predictions), *option("descriptions", descriptions)]
        draw("explorer", *words, *option("sweeps", SWEEPS), "--out", arguments.out)
    print(f"{arguments.out}.html: open it in a browser")
    return 0


if __name__ == "__main__":
    sys.exit(exit_code(main))
