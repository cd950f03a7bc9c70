"""The real lattice estimator: every attack is one call in a process of its own making, with a time limit.

Where it comes from:
- LATTICE_ESTIMATOR: the top folder of a checkout; else the installed package `lattice-estimator`;
- LATTICE_ESTIMATOR_PYTHON: the interpreter that has Sage; else the one that runs this.
"""

import hashlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from ..cost.plan import usable_cores
from ..outputs import write
from ..paths import RESULTS
from .attacks import SHAPE, AttackResult, time_limit
from .instance import Instance, call_of, sage_parameters

START_LIMIT_SECONDS = 120.0
#: Processes at a time; each holds Sage, about 300 MB.
MAX_JOBS = 8


class EstimatorMissing(RuntimeError):
    """The lattice estimator cannot be used here; the message says why and what helps."""


class Worker:
    """A process with the estimator loaded; killed when an attack exceeds its time, started again for the next."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._replies: queue.Queue[str | None] = queue.Queue()
        self.commit = "unknown"
        self.sage = "unknown"

    def start(self) -> None:
        python = os.environ.get("LATTICE_ESTIMATOR_PYTHON", sys.executable)
        script = Path(__file__).with_name("worker.py")
        try:
            self._process = subprocess.Popen(
                [python, str(script)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        except OSError as error:
            raise EstimatorMissing(f"LATTICE_ESTIMATOR_PYTHON={python} cannot be started: {error}") from error
        self._replies = queue.Queue()
        threading.Thread(target=self._read, args=(self._process, self._replies), daemon=True).start()
        greeting = self._reply(START_LIMIT_SECONDS)
        if "ready" not in greeting:
            reason = greeting.get("error", greeting.get("failed", "no reply"))
            self.stop()
            raise EstimatorMissing(
                f"the lattice estimator is not usable with {python}: {reason}. Name its checkout in LATTICE_ESTIMATOR "
                "and an interpreter with Sage in LATTICE_ESTIMATOR_PYTHON; recorded results serve otherwise"
            )
        self.commit, self.sage = greeting["commit"], greeting["sage"]

    @staticmethod
    def _read(process: subprocess.Popen[str], replies: queue.Queue[str | None]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            replies.put(line)
        replies.put(None)

    def _reply(self, limit: float) -> dict:
        try:
            line = self._replies.get(timeout=limit)
        except queue.Empty:
            self.stop()
            return {"failed": f"timeout after {limit:g} s"}
        if line is None:
            code = self._process.wait() if self._process else None
            self.stop()
            return {"failed": f"the process ended with exit code {code}"}
        try:
            return json.loads(line)
        except json.JSONDecodeError:
            self.stop()
            return {"failed": f"the process answered {line.strip()[:80]!r}"}

    def run(self, instance: Instance, model: str, attack: str, limit: float) -> AttackResult:
        if self._process is None:
            self.start()
        assert self._process is not None and self._process.stdin is not None
        job = {"parameters": sage_parameters(instance)} | call_of(attack, model)
        try:
            self._process.stdin.write(json.dumps(job) + "\n")
            self._process.stdin.flush()
        except OSError as error:
            self.stop()
            return AttackResult(model, attack, failed=f"the process is gone: {error}")
        return AttackResult.of(model, attack, self._reply(limit))

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()
            self._process = None

    def __enter__(self) -> "Worker":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def plausible() -> bool:
    """Whether it is worth starting a process: something names or installs the lattice estimator."""
    if os.environ.get("LATTICE_ESTIMATOR") or os.environ.get("LATTICE_ESTIMATOR_PYTHON"):
        return True
    try:
        metadata.distribution("lattice-estimator")
        return True
    except metadata.PackageNotFoundError:
        return False


Job = tuple[Instance, str, str]
"""An instance as the attack sees it, a cost model, an attack."""


def jobs_of(instances: Iterable[Instance], attacks: dict[str, tuple[str, ...]] | None = None) -> list[Job]:
    """The requests, each once; `attacks` replaces those that apply to each instance."""
    return list(
        dict.fromkeys(
            (instance.asked(attack), model, attack)
            for instance in instances
            for model, names in (attacks or instance.attacks()).items()
            for attack in names
        )
    )


def estimate(
    instances: Iterable[Instance],
    limit: float | None = None,
    attacks: dict[str, tuple[str, ...]] | None = None,
    cache: Path | None = RESULTS / "cache" / "security",
    jobs: int | None = None,
) -> dict[Instance, dict]:
    """For each instance {"commit", "sage", "results": [AttackResult]}; raises EstimatorMissing.

    limit: seconds of each attack, instead of those of its kind. attacks: instead of those that apply to each instance.
    """
    instances = list(dict.fromkeys(instances))
    asked = ask(jobs_of(instances, attacks), limit, cache, jobs)
    answers = {job: (result, origin) for job, result, origin in asked}
    found: dict[Instance, dict] = {}
    for instance in instances:
        each = [answers[job] for job in jobs_of([instance], attacks)]
        found[instance] = each[0][1] | {"results": [result for result, _ in each]}
    return found


def ask(
    wanted: list[Job],
    limit: float | None = None,
    cache: Path | None = RESULTS / "cache" / "security",
    jobs: int | None = None,
) -> Iterator[tuple[Job, AttackResult, dict]]:
    """Each job's result with its origin {"commit", "sage"}, in order, as they come; raises EstimatorMissing.

    Attacks run in up to `jobs` processes at a time (the number of cores, at most MAX_JOBS). Figures are kept in `cache`
    by content (commit, instance, attack, model, shape); failures are not, nor anything of a checkout whose commit is
    unknown or whose sources were changed.
    """
    with Worker() as first:
        commit, sage = first.commit, first.sage
        folder = None if cache is None or commit == "unknown" or "+" in commit else cache
        workers = [first, *(Worker() for _ in range(min(jobs or usable_cores(), MAX_JOBS, len(wanted)) - 1))]
        idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for worker in workers:
            idle.put(worker)

        def run(job: Job) -> AttackResult:
            instance, model, attack = job
            path = folder / _cache_name(commit, instance, model, attack) if folder else None
            if path is not None and path.is_file():
                # What was cut off is asked again.
                with suppress(json.JSONDecodeError, KeyError):
                    return AttackResult.of(model, attack, json.loads(path.read_text()))
            worker = idle.get()
            try:
                result = worker.run(instance, model, attack, time_limit(attack, limit))
            except EstimatorMissing as error:  # it was there a moment ago
                result = AttackResult(model, attack, failed=str(error))
            finally:
                idle.put(worker)
            if path is not None and result.failed is None:
                write(path, json.dumps(result.mapping()))
            return result

        pool = ThreadPoolExecutor(len(workers))
        try:
            for job, result in zip(wanted, pool.map(run, wanted)):
                yield job, result, {"commit": commit, "sage": sage}
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.stop()


def _cache_name(commit: str, instance: Instance, model: str, attack: str) -> str:
    content = json.dumps([commit, instance.mapping(), model, SHAPE, attack], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest() + ".json"
