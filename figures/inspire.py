"""The InsPIRe paper's tables and figures by name: what the command line asks for."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from . import (
    inspire_applications,
    inspire_notes,
    inspire_paper,
    inspire_table1,
    inspire_tables,
    loader,
)
from .errors import InputError
from .inspire_paper import Described
from .table import Table

TABLES = tuple(f"inspire-table{number}" for number in (1, 2, 3, 4, 6, 7, 8, 9))
SOURCE_TABLES = {"inspire-figure1": ("2", "4"), "inspire-figure2": ("8",), "inspire-figure3": ("9",)}
"""The tables whose numbers a figure draws, and with them their contradictions."""
FIGURES = tuple(SOURCE_TABLES)


def _folder(folder: Path | None) -> Path:
    if folder is None:
        raise InputError("--expected", None, "the InsPIRe paper's tables need its numbers", "Give --expected DIR")
    return folder


def table(
    which: str,
    joined: pd.DataFrame,
    predictions: pd.DataFrame,
    described: Described,
    folder: Path | None,
) -> Table:
    """One of TABLES from joined records (`loader.join`), predictions, descriptions (`loader.load_descriptions`) and the
    folder of the papers' numbers."""
    expected = loader.load_expected(_folder(folder))
    contradictions, number = inspire_notes.load(folder), which.removeprefix("inspire-table")
    rows = inspire_paper.rows(joined, predictions, described)
    if number == "1":
        return inspire_table1.build(rows, expected, contradictions)
    make = inspire_applications.build if number in inspire_applications.TITLES else inspire_tables.build
    return make(rows, expected, contradictions, number)


def figure(
    which: str,
    joined: pd.DataFrame,
    predictions: pd.DataFrame,
    described: Described,
    folder: Path | None,
    prefix: Path,
) -> list[Path]:
    """Writes one of FIGURES."""
    from . import inspire_breakdown, inspire_figure1

    expected = loader.load_expected(_folder(folder))
    contradictions = inspire_notes.load(folder)
    notes = [note for number in SOURCE_TABLES[which] for note in inspire_notes.notes(contradictions, number)]
    notes = list(dict.fromkeys(notes))
    rows = inspire_paper.rows(joined, predictions, described)
    if which == "inspire-figure1":
        return inspire_figure1.write(inspire_figure1.build(rows, expected), rows, notes, prefix)
    return inspire_breakdown.write(inspire_breakdown.build(rows, expected, which), rows, which, notes, prefix)
