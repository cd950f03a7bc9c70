"""Runs single attacks of the real lattice estimator. A program of its own, started by live.py with an interpreter
that has Sage (LATTICE_ESTIMATOR_PYTHON), so it uses nothing but the standard library, Sage and the estimator.

Protocol: one JSON line out when ready ({"ready": ...} or {"error": ...}); then for each JSON line in,
{"parameters": "LWE.Parameters(...)", "attack", "model", "shape", "options"}, one JSON line out ({"log2_rop", ...}
or {"failed"}).
"""

import json
import os
import subprocess
import sys
import threading
import time
import types
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib import import_module, metadata
from pathlib import Path


def provide_sage_all():
    """Let `from sage.all import ...` work with the passagemath wheels, which have no sage.all.

    The module is made in memory only, out of sage.all__sagemath_symbolics, with a dummy `line` (plotting).
    """
    try:
        import_module("sage.all")
        return
    except ModuleNotFoundError as error:
        if error.name not in ("sage.all",):
            raise
    symbolics = import_module("sage.all__sagemath_symbolics")
    module = types.ModuleType("sage.all", "the names of sage.all__sagemath_symbolics")
    module.__dict__.update({k: v for k, v in vars(symbolics).items() if not k.startswith("__")})
    module.line = lambda *_args, **_kwargs: None
    sys.modules["sage.all"] = module


def load_estimator(checkout):
    """The real lattice estimator: from the checkout if one is given, else as installed."""
    here = Path(__file__).resolve()
    not_ours = {str(here.parent), str(here.parents[2]), "", "."}
    sys.path[:] = [p for p in sys.path if p not in not_ours]
    if checkout:
        if not (Path(checkout) / "estimator" / "lwe.py").is_file():
            raise ImportError(f"LATTICE_ESTIMATOR={checkout} holds no estimator/lwe.py; name the checkout's top folder")
        sys.path.insert(0, checkout)
    module = import_module("estimator")
    for path in ("LWE.Parameters", "LWE.primal_usvp", "LWE.dual_hybrid", "ND.DiscreteGaussian", "RC.MATZOV"):
        value = module
        for name in path.split("."):
            value = getattr(value, name, None)
        if value is None:
            raise ImportError(
                f"the module `estimator` at {getattr(module, '__file__', '?')} has no {path}: it is not the lattice "
                "estimator (the package of that name on the registry is something unrelated)"
            )
    return module


def estimator_commit(module):
    """The commit of the checkout, with "+changed" if its sources differ from it; or of the installed package."""
    top = Path(module.__file__).resolve().parents[1]
    if (top / ".git").exists():
        git = ["git", "-c", f"safe.directory={top}", "-C", str(top)]
        try:
            commit = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout
            status = [*git, "status", "--porcelain", "--untracked-files=no", "--", "estimator"]
            changed = subprocess.run(status, capture_output=True, text=True, check=True).stdout
            return commit.strip() + ("+changed" if changed.strip() else "")
        except (OSError, subprocess.CalledProcessError):
            return "unknown"
    try:
        direct_url = metadata.distribution("lattice-estimator").read_text("direct_url.json")
        return json.loads(direct_url or "{}").get("vcs_info", {}).get("commit_id", "unknown")
    except metadata.PackageNotFoundError:
        return "unknown"


def sage_version():
    for name in ("sagemath", "sagemath-standard", "passagemath-standard", "passagemath-symbolics"):
        try:
            return f"{name} {metadata.version(name)}, Python {sys.version.split()[0]}"
        except metadata.PackageNotFoundError:
            continue
    try:
        return f"Sage {import_module('sage.version').version}, Python {sys.version.split()[0]}"
    except (ImportError, AttributeError):
        return f"unknown, Python {sys.version.split()[0]}"


def log2_number(value):
    """log2 of a number of Sage, which may be far beyond floating point; None if infinite."""
    from sage.all import RR, oo

    if value == oo:
        return None
    number = RR(value)
    if number.is_infinity():
        return None
    return float(number.log() / RR(2).log())


@contextmanager
def numeric_constants(module):
    """pi, e, exp, log, ... as 53-bit numbers instead of symbols inside the estimator, while the context lasts.

    The smallest Sage cannot decide some symbolic comparisons (they need Maxima). Over 192 figures the two ways
    differed by at most 0.0002 bit.
    """
    from sage.all import RR
    from sage.all import e as euler
    from sage.all import pi as circle

    def log(value, base=None):
        return RR(value).log() if base is None else RR(value).log() / RR(base).log()

    numeric = {"pi": RR(circle), "e": RR(euler), "log": log}
    for name in ("exp", "sqrt", "tanh", "coth"):
        numeric[name] = lambda value, name=name: getattr(RR(value), name)()
    saved = []
    for part in ("lwe_dual", "lwe_guess", "lwe_primal", "reduction", "simulator"):
        part = import_module(f"{module.__name__}.{part}")
        for name, value in numeric.items():
            if hasattr(part, name):
                saved.append((part, name, getattr(part, name)))
                setattr(part, name, value)
    try:
        yield
    finally:
        for part, name, value in saved:
            setattr(part, name, value)


def remember_code_lengths(module):
    """Coded-BKW asks for the same code lengths over and over; with these kept it is ten times as fast, same figures."""
    with suppress(ImportError):
        steps = import_module(f"{module.__name__}.lwe_bkw").CodedBKW
        steps.N = staticmethod(lru_cache(maxsize=1 << 20, typed=True)(steps.N))


def run_attack(module, job):
    """One attack. Any exception is a failure with its reason; infinity is one too.

    An exception leads to a second try with numeric constants; its figure is marked `numeric_patch`, and where it fails
    too, both reasons are reported.
    """
    reply = try_attack(module, job)
    if "exception" not in reply:
        return reply
    try:
        with numeric_constants(module):
            second = try_attack(module, job)
    except ImportError:
        return {"failed": reply["exception"]}
    if "log2_rop" in second:
        return {**second, "numeric_patch": True}
    again = second.get("exception", second.get("failed"))
    return {"failed": f"{reply['exception']}; second try with numeric constants: {again}"}


def try_attack(module, job):
    try:
        parameters = eval(job["parameters"], {"LWE": module.LWE, "ND": module.ND})
        options = dict(job["options"])
        if job["model"]:
            options["red_cost_model"] = getattr(module.RC, job["model"])
        if job["shape"]:
            options["red_shape_model"] = job["shape"]
        cost = getattr(module.LWE, job["attack"])(parameters, **options)
        bits = log2_number(cost["rop"])
        if bits is None:
            return {"failed": "infinity: the attack does not succeed at any cost the estimator looked at"}
        reply = {"log2_rop": round(bits, 4)}
        for key in ("beta", "beta_", "eta", "d", "zeta", "t", "p", "b", "t1", "t2"):
            if cost.get(key) is not None:
                reply[key] = int(cost[key])
        if job["attack"] == "coded_bkw":
            reply["log2_mem"] = round(log2_number(cost["mem"]), 1)
        return reply
    except Exception as error:
        return {"exception": f"{type(error).__name__}: {error}"}


def end_with_parent():
    """End this process soon after its parent ended, even by kill -9 and in the middle of an attack."""
    parent = os.getppid()

    def watch():
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def main():
    end_with_parent()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is printed goes to standard error

    def answer(reply):
        answers.write(json.dumps(reply) + "\n")
        answers.flush()

    try:
        provide_sage_all()
        module = load_estimator(os.environ.get("LATTICE_ESTIMATOR"))
    except Exception as error:
        answer({"error": f"{type(error).__name__}: {error}"})
        return 1
    remember_code_lengths(module)
    answer({"ready": True, "commit": estimator_commit(module), "sage": sage_version()})
    for line in sys.stdin:
        answer(run_attack(module, json.loads(line)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
