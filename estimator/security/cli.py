"""`pirlab-security`: are these parameters really 128 bits, and how do we know?

pirlab-security check params/simplepir/usenix23.toml
pirlab-security record params/*/*.toml        (needs the real lattice estimator)
pirlab-security confirm params/*/*.toml       (the same, only for what the fast model alone knows)
pirlab-security audit experiments/security/audit.toml --descriptions FILE --out FILE
"""

import argparse
import json
import sys
import tomllib
from pathlib import Path

from ..describe import DescribeError, describe_somewhere, read_descriptions
from ..inputs import MOST_WRITTEN, InputError, read_text
from ..options import TIMEOUT_USES, unused
from ..outputs import beside, check, protected, template, write
from ..paths import ROOT
from ..search.text import count
from ..sets import set_name
from . import attacks, live, recorded
from .assess import SOURCES, best, fast_estimate, lacking, predict_security, undecided, verdict, weakest
from .attacks import (
    BROKEN_BELOW,
    FAST_TOLERANCE,
    HYBRID_LIMIT_SECONDS,
    HYBRIDS,
    MODEL,
    TIMEOUT,
    AttackResult,
    entry_text,
)
from .instance import Instance, unusable

#: The database where none is given.
RECORDS, RECORD_BITS = 1 << 20, 256


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="pirlab-security",
        description=__doc__.split("\n")[0],
        epilog="The lattice estimator is asked live where it is usable: LATTICE_ESTIMATOR names its checkout (or "
        "install lattice-estimator), LATTICE_ESTIMATOR_PYTHON an interpreter that has Sage. Else recorded results "
        "serve, and for what is not recorded our own fast model.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="security of every LWE instance that parameter sets expose")
    check.add_argument("--security", choices=SOURCES, default="auto", help="where figures come from (auto)")
    record = commands.add_parser("record", help="ask the real lattice estimator and add its results to recorded.json")
    confirm = commands.add_parser("confirm", help="record what is not recorded yet, and compare with the fast model")
    for command in (check, record, confirm):
        add = command.add_argument
        add("parameters", nargs="*", type=Path, help="parameter files (TOML)")
        add("--records", type=count, default=RECORDS, help="records of the database (2^20)")
        add("--record-bits", type=count, default=RECORD_BITS, help="bits of a record (256)")
        add("--descriptions", type=Path, nargs="+", metavar="FILE", help="descriptions (JSON), not parameter files")
        add("--timeout", type=float, help=TIMEOUT)
    table = commands.add_parser("audit", help="published sets, sets of params/, curves and largest moduli as JSON")
    table.add_argument("experiment", type=Path, help="experiment of kind `security` (TOML)")
    table.add_argument("--descriptions", type=Path, required=True, help="descriptions (JSON) of the sets of params/")
    table.add_argument("--security", choices=SOURCES, default="auto", help="where figures come from (auto)")
    table.add_argument("--timeout", type=float, help=TIMEOUT)
    table.add_argument("--out", type=Path, required=True, help="the document (JSON); - is standard output")
    options = parser.parse_args(arguments)
    if options.timeout is not None and not options.timeout > 0:
        parser.error(f"--timeout {options.timeout:g}: give seconds above zero")
    # What records asks the lattice estimator in any case.
    if options.command in ("check", "audit") and (problem := unused(options, TIMEOUT_USES)):
        parser.error(problem)
    try:
        if options.command == "audit":
            return _audit(options)
        descriptions, refused = _descriptions(options, parser)
        for problem in refused:
            print(f"pirlab-security: {problem}", file=sys.stderr)
        run = {"check": _check, "record": _record, "confirm": _confirm}[options.command]
        code = run(descriptions, options) if descriptions else 0
        return 2 if refused else code
    except (DescribeError, InputError, live.EstimatorMissing, OSError, ValueError) as error:
        print(f"pirlab-security: {error}", file=sys.stderr)
        return 2


def _descriptions(options: argparse.Namespace, parser: argparse.ArgumentParser) -> tuple[list[dict], list[str]]:
    """The descriptions that can be used, and what is wrong with the others, by file."""
    if not options.descriptions and not options.parameters:
        parser.error("name parameter files, or --descriptions FILE")
    if options.descriptions and options.parameters:
        parser.error("name parameter files or --descriptions FILE, not both")
    if options.descriptions and (options.records, options.record_bits) != (RECORDS, RECORD_BITS):
        parser.error("--records and --record-bits change nothing beside --descriptions, which say them: leave them out")
    found: list[tuple[str, dict]] = []
    refused = []
    for path in options.descriptions or []:
        try:
            found += [(f"{path}: description {i}", d) for i, d in enumerate(read_descriptions(path), 1)]
        except DescribeError as error:
            refused.append(f"{path}: {error}")
        except InputError as error:
            refused.append(str(error))
    if not options.descriptions:
        rows = [
            {"id": str(path), "parameters": str(path), "records": options.records, "record_bits": options.record_bits}
            for path in options.parameters
        ]
        found = [(str(d.get("id")), d) for d in describe_somewhere(rows)]
    problems = [(where, d, unusable(d)) for where, d in found]
    refused += [f"{where}: {problem}" for where, _, problem in problems if problem is not None]
    return [d for _, d, problem in problems if problem is None], refused


def _audit(options: argparse.Namespace) -> int:
    """Writes the document of the audit; the table of published sets is named relative to the repository."""
    from .audit import audit

    experiment = tomllib.loads(read_text(options.experiment, MOST_WRITTEN))
    descriptions = read_descriptions(options.descriptions)
    for number, problem in enumerate(map(unusable, descriptions), 1):
        if problem is not None:
            raise DescribeError(f"{options.descriptions}: description {number}: {problem}")
    published = ROOT / experiment["published"]
    with protected([options.experiment, options.descriptions, published]), beside(options.out):
        check(options.out)
        document = audit(experiment, published, descriptions, options.security, options.timeout)
        write(options.out, json.dumps(document, indent=1) + "\n")
        for row in document["sets"]:
            bits = entry_text(row) + (" bits" if row["bits"] is not None else "")
            print(f"{row['id']}: {bits}, {row['source']} ({row['estimator_commit'] or 'no estimator'})")
    return 0


def _check(descriptions: list[dict], options: argparse.Namespace) -> int:
    """Prints; exit code 1 if a set misses the target or has no figure."""
    all_reached = True
    for description, entries in zip(descriptions, predict_security(descriptions, options.security, options.timeout)):
        print(set_text(description, entries))
        all_reached &= verdict(weakest(entries)) == "reached" and not _undecided(description, entries)
    return 0 if all_reached else 1


def set_text(description: dict, entries: list[dict]) -> str:
    """The security of a set, instance by instance, and of its weakest one."""
    instances = [{"samples": None} | mapping for mapping in description["instances"]]
    return template(Path(__file__).with_name("set.txt.j2")).render(
        vars(attacks),
        name=set_name(description["parameters"]),
        exposed=zip(instances, entries),
        secret=_secret,
        source=_source,
        verdict=_verdict(description, entries),
    )


def _verdict(description: dict, entries: list[dict]) -> str:
    """Whether the target is reached, in words."""
    least = weakest(entries)
    if least is None:
        return "unknown, not every instance has a figure"
    text = next(entry_text(entry) for entry in entries if entry["bits"] == least)
    bits = f"{text} bits" + (" (broken: as low as the estimator goes)" if least < BROKEN_BELOW else "")
    if any(entry["bits"] is None for entry in entries):
        return f"missed, at most {bits}: not every instance has a figure"
    open_attacks = _undecided(description, entries)
    if open_attacks and verdict(least) == "reached":
        return f"unknown, {bits} without {', '.join(open_attacks)}"
    unknown = list(dict.fromkeys(attack for entry in entries for attack in entry["without"]))
    return f"{verdict(least)}, {bits}" + (f" by all other attacks than {', '.join(unknown)}" if unknown else "")


def _undecided(description: dict, entries: list[dict]) -> list[str]:
    """Attacks without whose figure the set is not called secure."""
    pairs = zip(description["instances"], entries)
    return list(dict.fromkeys(attack for m, e in pairs for attack in undecided(e, Instance.of(m))))


def _source(entry: dict) -> str:
    if entry["source"] == "none":
        return f"none: {entry['reason']}"
    if entry["source"] == "fast_only":
        failed = any(failed["reason"].startswith("live: ") for failed in entry["failed_attacks"])
        return f"fast_only, our own model; the lattice estimator {'gave no figure' if failed else 'was not asked'}"
    return f"{entry['source']}, lattice estimator {entry['estimator_commit']}"


def _secret(secret: dict) -> str:
    rest = ", ".join(f"{k} {v}" for k, v in secret.items() if k != "kind")
    return secret["kind"] + (f" ({rest})" if rest else "")


def _uses(descriptions: list[dict]) -> dict[Instance, dict]:
    """The distinct instances, each with the set and instance name it is recorded under."""
    uses: dict[Instance, dict] = {}
    for description in descriptions:
        for mapping in description["instances"]:
            name = f"{set_name(description['parameters'])} {mapping['name']}"
            use = {"name": name, "source": "params", "role": mapping["protects"]}
            uses.setdefault(Instance.of(mapping), use)
    return uses


def _record(descriptions: list[dict], options: argparse.Namespace) -> int:
    """Adds live results, each as it comes. Exit code 1 if an attack failed: it is in the file with its reason."""
    _check_commit()
    uses = _uses(descriptions)
    return 1 if _ask({job: instance for instance in uses for job in live.jobs_of([instance])}, uses, options) else 0


def _ask(wanted: dict[live.Job, Instance], uses: dict[Instance, dict], options: argparse.Namespace) -> int:
    """Records what the estimator answers, and prints it; returns how many attacks failed.

    Hybrids come last, those of small dimensions first, since they take longest.
    """
    ordered = sorted(wanted, key=lambda job: (job[2] in HYBRIDS, job[0].dimension if job[2] in HYBRIDS else 0))
    failures = 0
    for job, result, origin in live.ask(ordered, options.timeout):
        if origin["commit"] == "unknown" or "+" in origin["commit"]:
            raise ValueError(
                f"the estimator's commit is {origin['commit']}; only results of a clean checkout are recorded"
            )
        use = uses[wanted[job]]
        recorded.add(wanted[job], origin | {"results": [result]}, use)
        text = f"{result.log2_rop:.2f}" if result.failed is None else result.failed
        print(f"{use['name']}: {result.attack} under {result.model}: {text}", flush=True)
        failures += result.failed is not None
    return failures


def _confirm(descriptions: list[dict], options: argparse.Namespace) -> int:
    """Asks the real estimator for instances without a recorded minimum, records them, and shows the fast model's error.

    Exit code 1 if an attack failed, or the fast model's minimum is above the real one by more than FAST_TOLERANCE.
    """
    uses = {i: use for i, use in _uses(descriptions).items() if _unconfirmed(i)}
    if not uses:
        print("every instance of these sets is recorded; nothing to confirm")
        return 0
    try:
        _check_commit()
    except live.EstimatorMissing as error:
        waiting = "; ".join(use["name"] for use in uses.values())
        raise live.EstimatorMissing(f"{error}. Known by the fast model only: {waiting}") from error
    wanted: dict[live.Job, Instance] = {}
    for instance in uses:
        known = {(r.model, r.attack): r.log2_rop for r in (recorded.find(instance) or {"results": []})["results"]}
        wanted |= {job: instance for job in live.jobs_of([instance]) if known.get(job[1:]) is None}
    failures = _ask(wanted, uses, options)
    for instance, use in uses.items():
        found = recorded.find(instance)
        fast = {(r.model, r.attack): r for r in fast_estimate([instance])[instance]["results"]}
        for real in found["results"] if found else []:
            own = fast.get((real.model, real.attack))
            if own is not None and real.log2_rop is not None and own.log2_rop is not None:
                print(
                    f"{use['name']}: {real.attack} under {real.model}: {real.log2_rop:.2f}, "
                    f"fast model {own.log2_rop - real.log2_rop:+.3f}"
                )
        for reason in dict.fromkeys(r.failed for r in fast.values() if r.failed is not None):
            print(f"{use['name']}: fast model: {reason}")
        gap = _excess(list(fast.values()), found["results"] if found else [])
        if gap > FAST_TOLERANCE:
            print(f"{use['name']}: the fast model's minimum is too high, by {gap:.2f} bits")
            failures += 1
    return 1 if failures else 0


def _check_commit() -> None:
    """recorded.json holds results of one commit; ValueError where the estimator here is of another."""
    with live.Worker() as worker:
        if worker.commit != recorded.commit():
            raise ValueError(
                f"the lattice estimator here is of commit {worker.commit}; recorded.json holds results of "
                f"{recorded.commit()} only. Check that commit out"
            )


def _excess(fast: list[AttackResult], real: list[AttackResult]) -> float:
    """Bits by which the fast model's minimum under MODEL exceeds the real one; 0 if either has none."""
    own, other = best(fast, MODEL), best(real, MODEL)
    if own is None or other is None or own.log2_rop is None or other.log2_rop is None:
        return 0.0
    return own.log2_rop - other.log2_rop


def _unconfirmed(instance: Instance) -> bool:
    """Whether an attack is missing, or once took too long.

    One that the estimator refuses is as confirmed as can be, and so is a hybrid that had its whole time.
    """
    found = recorded.find(instance)
    if found is None or best(found["results"], MODEL) is None:
        return True
    failed = {r.attack: r.failed or "" for r in found["results"] if r.model == MODEL}
    whole = f"timeout after {HYBRID_LIMIT_SECONDS:g} s"
    return any(
        attack not in failed
        or failed[attack].startswith("not run")
        or (failed[attack].startswith("timeout") and not (attack in HYBRIDS and failed[attack] == whole))
        for attack in lacking(instance, found["results"])
    )
