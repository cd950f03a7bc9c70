"""The Pirouette paper's tables and figures by name: what the command line asks for."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from pirlab_estimator.cost.units import UnitCosts

from . import pirouette_margins, pirouette_phases, pirouette_tables, pirouette_totals
from .errors import InputError
from .inspire_paper import Described
from .loader import load_expected
from .table import Table

FIGURE = "pirouette-figure3"
PHASES = {of.table: of for of in (pirouette_phases.PIROUETTE, pirouette_phases.RESPIRE)}
MEASURED = ("pirouette-table7", FIGURE, *PHASES, "pirouette-margins")
TABLES = (*pirouette_tables.TABLES, *MEASURED, "pirouette-rotations")


def table(
    which: str,
    joined: pd.DataFrame,
    predictions: pd.DataFrame,
    described: Described,
    folder: Path | None,
    costs: Path | None,
) -> Table:
    """One of TABLES from joined records (`loader.join`), predictions, descriptions (`loader.load_descriptions`), the
    folder of the papers' numbers, and the unit costs of the machine (None: this machine's, or the committed ones)."""
    if which in PHASES:
        try:
            return pirouette_phases.table(joined, UnitCosts.load(costs), PHASES[which])
        except (OSError, ValueError) as error:
            raise InputError(costs or "--costs", None, str(error), "Run `make calibrate`") from None
    if which == "pirouette-margins":
        return pirouette_margins.table(joined)
    if which == "pirouette-rotations":
        return pirouette_phases.rotation_table(pirouette_tables.rows(predictions, described))
    if folder is None:
        raise InputError("--expected", None, "the Pirouette paper's tables need its numbers", "Give --expected DIR")
    expected = load_expected(folder)
    if which == "pirouette-table7":
        return pirouette_totals.table(joined, expected)
    if which == FIGURE:
        from . import pirouette_figure3

        return pirouette_figure3.table(joined, expected)
    return pirouette_tables.table(which, joined, predictions, described, expected, folder)


def figure(joined: pd.DataFrame, expected: pd.DataFrame, prefix: Path) -> list[Path]:
    """Writes FIGURE."""
    from . import pirouette_figure3

    if expected.empty:
        raise InputError("--expected", None, "the Pirouette paper's figures need its numbers", "Give --expected DIR")
    return pirouette_figure3.write(joined, expected, prefix)
