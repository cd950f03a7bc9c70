"""Every table and figure by name, and the function that makes it of `Inputs`.

The functions are named, not imported: a table is then drawn without loading what other papers and figures need.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Protocol

from .lib.inputs import Inputs


class Drawn(Protocol):
    """A table or a figure."""

    def write(self, prefix: Path) -> list[Path]:
        """Write its files, whose names begin with the prefix."""


TABLES = {
    "figure4": "pirouette.figure4_table:make",
    "comparison": "runs.comparison:make",
    "found": "search.found:make",
    "inspire-batch": "inspire.batch:make",
    "security": "security.instances:make",
    "inspire-table1": "inspire.table1:make",
    **{f"inspire-table{number}": f"inspire.tables:make:{number}" for number in "234"},
    **{f"inspire-table{number}": f"inspire.applications:make:{number}" for number in "67"},
    **{f"inspire-table{number}": f"inspire.tables:make:{number}" for number in "89"},
    **{f"pirouette-table{number}": f"pirouette.parameters:make:{number}" for number in "345"},
    "pirouette-table6": "pirouette.keys:make",
    "pirouette-table7": "pirouette.table7:make",
    "pirouette-figure3": "pirouette.figure3:make_table",
    "pirouette-phases": "pirouette.phases:make:pirouette-phases",
    "respire-phases": "pirouette.phases:make:respire-phases",
    "pirouette-margins": "pirouette.margins:make",
    "pirouette-rotations": "pirouette.rotations:make",
    "primitives": "runs.primitives:make",
    "failure": "pirouette.failure:make",
    "gadget-noise": "gadget.noise:make",
    "gadget-claims": "gadget.claims:make",
    "inspire-table5": "inspire.packing:make",
    "gadget-table1": "gadget.operations:make",
    **{f"gadget-table{number}": f"gadget.scalar:make_whole:{number}" for number in "24"},
    **{f"gadget-table{number}": f"gadget.scalar:make_parts:{number}" for number in "35"},
    "gadget-table6": "gadget.vector:make",
    "security-sets": "security.sets:make",
    "security-limits": "security.limits:make",
    "audit": "security.audit:make",
}
FIGURES = {
    "figure4": ("pirouette.figure4_plot:make", "Pirouette's Figure 4: .pdf .svg .png .csv .caption.rst"),
    "pirouette-figure3": ("pirouette.figure3:make", "Pirouette's Figure 3: what phase 0 is made of"),
    "gadget-figure1": ("gadget.figure1:make", "the gadget paper's Figure 1: norms of digits"),
    "gadget-noise": ("gadget.noise_plot:make", "noise of products and chains under each decomposition"),
    "failure": ("pirouette.failure_plot:make", "observed against predicted failure rates of decisions"),
    "primitives": ("runs.primitives_plot:make", "what primitives measured over what was predicted"),
    "security-curves": ("security.curves:make", "security against log2 q, with the papers' sets"),
    "inspire-figure1": ("inspire.figure1:make", "the InsPIRe paper's Figure 1: its points and ours"),
    **{
        f"inspire-figure{number}": (
            f"inspire.breakdown:make:{number}",
            f"the InsPIRe paper's Figure {number}: its points and ours",
        )
        for number in "23"
    },
    "accuracy": ("runs.accuracy_plot:make", "predicted against measured: a figure and a table"),
}
"""Figures with what `--help` says of them."""
SWEEPS = {name: f"search.{name}:make" for name in ("fronts", "gadgets", "grids", "sizes", "best")}
"""Tables and figures of a sweep's CSV."""


def find(place: str) -> Callable[[Inputs], Drawn]:
    """The function at a place `folder.module:function`, given what follows a second colon."""
    module, name, *given = place.split(":")
    return partial(getattr(import_module(f".{module}", __package__), name), *given)
