"""Every table and figure by name: the function that makes it, and which of `Inputs` it is made of.

The functions are named, not imported: a table is then drawn without loading what other papers and figures need. Words
are `folder.module:function`, attributes of `Inputs`, and constants that begin with an equals sign.
"""

from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from .lib.inputs import Inputs


class Drawn(Protocol):
    """A table or a figure."""

    def write(self, prefix: Path) -> list[Path]:
        """Write its files, whose names begin with the prefix."""


BESIDE = "measured expected contradictions"
"""What tables need that show printed numbers next to ours."""
TABLES = {
    "figure4": "pirouette.figure4_table:make inputs",
    "comparison": "runs.comparison:make inputs",
    "found": "search.found:build joined",
    "inspire-batch": "inspire.batch:build joined",
    "security": "security.instances:make inputs",
    "inspire-table1": "inspire.table1:build measured expected contradictions",
    **{f"inspire-table{n}": f"inspire.tables:build {BESIDE} ={n}" for n in "234"},
    **{f"inspire-table{n}": f"inspire.applications:build {BESIDE} ={n}" for n in "67"},
    **{f"inspire-table{n}": f"inspire.tables:build {BESIDE} ={n}" for n in "89"},
    **{f"pirouette-table{n}": f"pirouette.parameters:make inputs ={n}" for n in "345"},
    "pirouette-table6": "pirouette.keys:make inputs",
    "pirouette-table7": "pirouette.table7:table joined expected",
    "pirouette-figure3": "pirouette.figure3:table joined expected",
    "pirouette-phases": "pirouette.phases:make inputs =pirouette-phases",
    "respire-phases": "pirouette.phases:make inputs =respire-phases",
    "pirouette-margins": "pirouette.margins:table joined",
    "pirouette-rotations": "pirouette.rotations:make inputs",
    "primitives": "runs.primitives:table primitives",
    "failure": "pirouette.failure:table primitives",
    "gadget-noise": "gadget.noise:table primitives",
    "gadget-claims": "gadget.claims:table primitives expected folder",
    "inspire-table5": "inspire.packing:table primitives expected contradictions",
    "gadget-table1": "gadget.operations:table primitives folder",
    **{f"gadget-table{n}": f"gadget.scalar:whole primitives expected ={n}" for n in "24"},
    **{f"gadget-table{n}": f"gadget.scalar:parts primitives expected ={n}" for n in "35"},
    "gadget-table6": "gadget.vector:table primitives expected",
    "security-sets": "security.sets:make inputs",
    "security-limits": "security.limits:make inputs",
    "audit": "security.audit:make inputs",
}
FIGURES = {
    "figure4": ("pirouette.figure4_plot:make inputs", "Pirouette's Figure 4: .pdf .svg .png .csv .caption.rst"),
    "pirouette-figure3": ("pirouette.figure3:drawing joined expected", "Pirouette's Figure 3: what phase 0 is made of"),
    "gadget-figure1": ("gadget.figure1:drawing primitives", "the gadget paper's Figure 1: norms of digits"),
    "gadget-noise": ("gadget.noise_plot:drawing primitives", "noise of products and chains under each decomposition"),
    "failure": ("pirouette.failure_plot:drawing primitives", "observed against predicted failure rates of decisions"),
    "primitives": ("runs.primitives_plot:drawing primitives", "what primitives measured over what was predicted"),
    "security-curves": ("security.curves:make inputs", "security against log2 q, with the papers' sets"),
    "inspire-figure1": (f"inspire.figure1:drawing {BESIDE}", "the InsPIRe paper's Figure 1: its points and ours"),
    "inspire-figure2": (f"inspire.breakdown:drawing {BESIDE} =2", "the InsPIRe paper's Figure 2: its points and ours"),
    "inspire-figure3": (f"inspire.breakdown:drawing {BESIDE} =3", "the InsPIRe paper's Figure 3: its points and ours"),
    "accuracy": ("runs.accuracy_plot:accuracy joined", "predicted against measured: a figure and a table"),
}
"""Figures with what `--help` says of them."""
SWEEPS = {
    "fronts": "search.fronts:drawing sweep",
    "gadgets": "search.gadgets:drawing sweep",
    "grids": "search.grids:grids sweep",
    "sizes": "search.sizes:drawing sweep folders",
    "best": "search.best:build sweep",
}
"""Tables and figures of a sweep's CSV."""


def find(place: str) -> Any:
    """The function `folder.module:function`."""
    module, name = place.split(":")
    return getattr(import_module(f".{module}", __package__), name)


def make(words: str, inputs: Inputs) -> Drawn:
    """Make what the words of an entry name."""
    place, *names = words.split()
    found: Drawn = find(place)(*(name[1:] if name.startswith("=") else getattr(inputs, name) for name in names))
    return found
