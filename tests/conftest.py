"""Shared by all tests: where things lie, and the binary, without which tests fail rather than skip."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pirlab_estimator.paths import ROOT, pirlab_binary
from pirlab_estimator.search.evaluate import Evaluator
from pirlab_figures.lib import frame as loader
from pirlab_figures.lib import paper as inspire_paper
from pirlab_workflow import experiments
from pirlab_workflow.experiments import Group, expand, read_profile

sys.path.insert(0, str(ROOT / "tests/fixtures"))

import browser as window
import small_experiment
import stand_in_estimator
import synthetic
from places import EXPECTED
from tier import VERIFY

ESTIMATOR = ("LATTICE_ESTIMATOR", "LATTICE_ESTIMATOR_PYTHON")
# Without a mark `real` a test has no estimator, which would work for hours; workers inherit the name that is kept.
for name in ESTIMATOR:
    if name in os.environ:
        os.environ[f"REAL_{name}"] = os.environ.pop(name)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests marked `verify` are for `make verify` only. Files with slow tests come first: workers take whole files in
    this order, and end with short ones."""
    if not VERIFY:
        left = [item for item in items if item.get_closest_marker("verify")]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def binary() -> Path:
    """The pirlab binary (PIRLAB_BINARY names another one)."""
    path = pirlab_binary()
    if not path.is_file():
        pytest.fail(f"{path} is missing; run `make build`", pytrace=False)
    return path


@pytest.fixture(scope="session")
def describe(root, binary) -> Callable[..., dict[str, Any]]:
    """The description of a set of params/ at a power of two of records, of 256 bytes by default, with more options."""

    def described(name: str, log_records: int, *more: str, record_bits: int = 2048) -> dict[str, Any]:
        command = [binary, "describe", root / f"params/{name}.toml", "--records", f"2^{log_records}"]
        command += ["--record-bits", str(record_bits), "--json", *more]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)

    return described


@pytest.fixture
def measure(binary, tmp_path) -> Callable[..., dict[str, Any]]:
    """The record of a run of a parameter file with these options, without a probe of bandwidth."""

    def measured(parameters: Path, *options: str) -> dict[str, Any]:
        command = [binary, "run", parameters, *options, "--no-probe", "--out", tmp_path / "record.json"]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        return json.loads((tmp_path / "record.json").read_text())

    return measured


@pytest.fixture(scope="session")
def schemas(binary, tmp_path_factory) -> Path:
    """The JSON schemas that the binary writes of its own types."""
    folder = tmp_path_factory.mktemp("schemas")
    subprocess.run([binary, "schema", "--all", "--out", folder], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def expected() -> pd.DataFrame:
    """The papers' printed numbers."""
    return loader.load_expected(EXPECTED)


@pytest.fixture(scope="session")
def sweep(tmp_path_factory) -> Path:
    """A folder with the records and predictions of a synthetic sweep."""
    folder = tmp_path_factory.mktemp("sweep")
    synthetic.write(folder, synthetic.sweep())
    return folder


@pytest.fixture(scope="session")
def contradictions() -> pd.DataFrame:
    """Where the InsPIRe paper contradicts itself."""
    return inspire_paper.load_contradictions(EXPECTED)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """A window of Chromium."""
    opened = window.Browser(tmp_path_factory.mktemp("browser"))
    yield opened
    opened.close()


@pytest.fixture
def browser(chromium):
    """A window in which no page complains, or asks for more than itself."""
    chromium.complaints, chromium.requests = [], []
    chromium.resize(1280, 900)
    yield chromium
    assert not chromium.complaints
    assert all(address.startswith("file:") for address in chromium.requests), chromium.requests


@pytest.fixture(autouse=True)
def real_estimator(monkeypatch, request):
    """Tests marked `real` have the lattice estimator that the environment named."""
    if "real" in request.keywords:
        for name in ESTIMATOR:
            if value := os.environ.get(f"REAL_{name}"):
                monkeypatch.setenv(name, value)


def _remember(patch: pytest.MonkeyPatch, cache: Path) -> Path:
    """Searches keep what they tried in this folder."""
    patch.setattr(Evaluator.__init__, "__defaults__", (cache,))
    return cache


@pytest.fixture
def own_cache(tmp_path, monkeypatch, binary) -> Path:
    """A memory of its own for the searches of a test."""
    return _remember(monkeypatch, tmp_path / "cache")


@pytest.fixture(scope="module")
def shared_cache(tmp_path_factory, binary) -> Iterator[Path]:
    """One memory for the searches of a file's tests, many of which ask for the same sets."""
    with pytest.MonkeyPatch.context() as patch:
        yield _remember(patch, tmp_path_factory.mktemp("searches"))


@pytest.fixture
def expanded(monkeypatch):
    """The groups, in profile `tiny`, of a small experiment of these series, whose rows all have these keys."""

    def groups(series: str, **row) -> list[Group]:
        small_experiment.check(small_experiment.document(series, **row))
        monkeypatch.setattr(experiments, "load_experiment", lambda name: small_experiment.document(series, **row))
        return expand("x/y", read_profile("tiny"))

    return groups


@pytest.fixture
def stand_in(tmp_path, monkeypatch) -> Path:
    """A checkout of a lattice estimator that misbehaves, with just enough of Sage."""
    return stand_in_estimator.build(tmp_path, monkeypatch)
