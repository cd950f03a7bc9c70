"""Descriptions, predictions and payloads are those of the goldens (see fixtures/golden.py)."""

import json
import subprocess

import golden
import pytest
from tier import VERIFY


@pytest.fixture(scope="module")
def described(binary) -> list[dict]:
    return golden.descriptions()


def _compare(name: str, now: list[dict]) -> None:
    before = {document["id"]: document for document in golden.read(name)}
    found = {document["id"]: golden.rounded(document) for document in now}
    lines = [f"{key}{line}" for key in before for line in golden.differences(before[key], found.get(key, "nothing"))]
    lines += [f"{key}: is new" for key in found if key not in before]
    shown = "\n".join(lines[:20])
    assert not lines, f"{len(lines)} differences; where they are meant, run tests/fixtures/golden.py:\n{shown}"


def test_descriptions_are_unchanged(described):
    _compare("descriptions", described)


def test_predictions_are_unchanged(described):
    _compare("predictions", golden.predictions(described))


@pytest.fixture(scope="module")
def slower(binary) -> list[str]:
    """The kernel paths of this machine but the fastest."""
    check = subprocess.run([binary, "check", "--json", "--no-probe"], capture_output=True, text=True, check=False)
    kernels = json.loads(check.stdout)["kernels"]
    return [kernel["name"] for kernel in kernels if kernel["available"] and not kernel["chosen"]]


@pytest.mark.parametrize("name", golden.EXCHANGES)
def test_payloads_are_unchanged(binary, tmp_path, name, slower):
    """On the fastest kernel path with two threads, and on every slower one; of large sets these in `make verify`."""
    runs = [("auto", 2)]
    if VERIFY or name not in golden.LARGE:
        runs += [(kernel, 1) for kernel in slower]
    digests = {run: golden.payloads(binary, tmp_path, name, *run) for run in runs}
    assert set(digests.values()) == {golden.read_digests("payloads")[name]}, digests


def test_every_protocol_has_an_exchange(binary):
    listed = subprocess.run([binary, "list", "--json"], capture_output=True, text=True, check=True).stdout
    protocols = [protocol["name"] for protocol in json.loads(listed)["protocols"]]
    assert [name.split("/")[0] for name in golden.EXCHANGES] == protocols
