"""The explorer: one HTML file with every row of the packed runs and of the searches (`make explorer`), or of one run.

Nothing is measured. Rows of packed runs are described and predicted as `make redraw` does it.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .files import ROOT, exit_code
from .folders import plain
from .plan import Plan
from .present import draw, option
from .redraw import PROFILES, Redrawing
from .reference import RECEIVED, packed, read_packed, received, write_files

#: What searches found, and what committed sets cost (experiments/search/fronts.toml and committed.toml).
SWEEPS = [Path("results/searched/fronts.csv"), Path("results/searched/committed.csv")]


def draw_run(plan: Plan) -> None:
    """Draw the page of a run, beside its report."""
    judged = [name for name in plan.experiments if plan.judged(name)]
    words = ["--records", *(plan.results / "records" / name for name in plan.experiments)]
    words += option("predictions", map(plan.prediction, judged))
    words += option("descriptions", map(plan.description, judged))
    words += option("costs", [plan.calibration] if judged else [])
    draw("explorer", *words, "--stale", plan.results / "stale.json", "--out", plan.figures / "explorer-run")


def draw_packed(prefix: Path, profiles: Sequence[str], binary: str | None) -> None:
    """Draw the page of the packed runs of these profiles, of all received runs and of the searches."""
    with tempfile.TemporaryDirectory() as work:
        # Under the name of its file, by which the page says where a record is.
        unpacked = Path(work, "unpacked")
        runs = {profile: read_packed(packed(profile)) for profile in profiles}
        files = {packed(profile): documents for profile, documents in runs.items()}
        files |= {packed(name, RECEIVED): documents for name, documents in received(runs).items()}
        predictions, descriptions = [], []
        for file, documents in files.items():
            write_files(documents, unpacked / file)
        for profile in runs:
            own = unpacked / packed(profile)
            run = Redrawing(profile, own, Path(work, profile), Path(work, "figures"), binary=binary)
            for name in filter(run.plan.judged, run.experiments()):
                predictions.append(run.prediction(name))
                descriptions.append(run.description(name))
        words = ["--records", *(unpacked / file / "records" for file in files), "--unpacked", unpacked]
        words += option("predictions", predictions) + option("descriptions", descriptions)
        draw("explorer", *words, *option("sweeps", SWEEPS), "--out", prefix)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figures", default="figures/out", metavar="DIR", help="of explorer.html")
    parser.add_argument("--binary", help="instead of the profile's `binary`")
    parser.add_argument("--profiles", nargs="+", default=PROFILES, help="the packed runs")
    parser.add_argument("--run", type=Path, metavar="FILE", help="the page of a run instead: its profile as JSON")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    if arguments.run:
        draw_run(Plan(json.loads(arguments.run.read_text())))
    else:
        figures = Path(plain("figures", arguments.figures))
        draw_packed(figures / "explorer", arguments.profiles, arguments.binary)
        print(f"{figures}/explorer.html: open it in a browser")
    return 0


if __name__ == "__main__":
    sys.exit(exit_code(main))
