"""A sweep that was killed continues where it was."""

import os
import signal
import subprocess
import time

import pytest
from pirlab_workflow.files import ROOT
from sandbox import ROWS, Sandbox

pytestmark = pytest.mark.slow


def test_killed_sweep_continues(tmp_path, binary):
    box = Sandbox(tmp_path, binary)
    with subprocess.Popen(
        box.driver(),
        cwd=ROOT,
        env=box.environment,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        deadline = time.monotonic() + 300
        while not box.records() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        assert process.poll() is None, "the sweep was killed before its end"
        os.kill(process.pid, signal.SIGKILL)
    before = box.records()
    assert before, "at least one record was finished"
    time.sleep(1)
    left = box.records()
    output = box.reproduce()
    assert f"{ROWS} ok" in output
    after = box.records()
    assert len(after) == ROWS
    assert {name: after[name] for name in left} == left, "finished records are kept as they are"
