"""`make search`: the sweeps of experiments/search/, run by Snakemake (rules/search.smk)."""

import argparse
import os
import sys
from pathlib import Path

from .files import ROOT, exit_code, write_json
from .folders import environment, plain_places

OPTIONS = "--snakefile workflow/rules/search.smk --workflow-profile config/profiles/local --quiet rules"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", default="results", help="folder of what is found")
    parser.add_argument("--figures", default="figures/out", help="folder of tables and figures")
    os.chdir(ROOT)
    places = plain_places(vars(parser.parse_args()))
    settings = Path(places["results"]) / "requests" / "search.json"
    write_json(settings, places)
    command = [sys.executable, "-m", "snakemake", *OPTIONS.split(), "--configfile", str(settings)]
    os.execve(sys.executable, command, environment())


if __name__ == "__main__":
    sys.exit(exit_code(main))
