"""How figures/ is built: folders apart, protocols in one file, and a function behind every name."""

import io
import re
import subprocess
import tokenize
from pathlib import Path

import imports
import pytest
from pirlab_estimator.paths import ROOT
from pirlab_figures.drawings import FIGURES, SWEEPS, TABLES, find
from pirlab_figures.lib.inputs import Inputs
from pirlab_figures.lib.protocols import PROTOCOLS

HOUSE = ROOT / "figures"
FIGURE_FILES = sorted(path for path in HOUSE.rglob("*.py") if "out" not in path.parts)
#: Papers that are called like a protocol: their names stand in names of tables and experiments, and once alone.
PAPERS = ("depir", "inspire", "pirouette")


@pytest.fixture(scope="module")
def graph() -> imports.Graph:
    return imports.python_graph(HOUSE, "pirlab_figures")


def module(path: Path) -> str:
    """`lib.table` of figures/lib/table.py."""
    return ".".join(path.relative_to(HOUSE).with_suffix("").parts)


@pytest.mark.parametrize("path", FIGURE_FILES, ids=module)
def test_folders_import_themselves_and_the_library(path, graph):
    folder = path.relative_to(HOUSE).parts[0]
    if path.parent != HOUSE:
        found = graph[path.relative_to(HOUSE).as_posix()]
        assert {name.partition("/")[0] for name in found} <= {folder, "lib"}


@pytest.mark.parametrize("path", FIGURE_FILES, ids=module)
def test_protocols_are_named_in_one_file(path):
    ids = "|".join(map(re.escape, PROTOCOLS))
    alone = re.compile(rf"(?<![\w/-])(?:{ids})(?!\.?\w|[/-])")
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        found = alone.findall(token.string) if token.type in (tokenize.STRING, tokenize.COMMENT) else []
        constant = re.fullmatch(r"PAPER = \"(\w+)\"", token.line.strip())
        assert not found or (constant and constant[1] in PAPERS), f"{token.line.strip()} in line {token.start[0]}"


def test_every_protocol_of_the_registry_is_listed(binary):
    text = subprocess.run([binary, "list"], capture_output=True, text=True, check=True).stdout
    registry = re.findall(r"^  (\w+)", text.partition("Parameter sets")[0], re.M)
    assert len(registry) >= 10 and set(registry) <= set(PROTOCOLS)


@pytest.mark.parametrize("place", [*TABLES.values(), *(place for place, _ in FIGURES.values()), *SWEEPS.values()])
def test_every_name_has_a_function(place):
    function, *names = place.split()
    assert callable(find(function))
    assert all(hasattr(Inputs, name) for name in names if not name.startswith("="))
