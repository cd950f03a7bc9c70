"""`pirlab-security`: are these parameters really 128 bits, and how do we know?

pirlab-security check params/simplepir/usenix23.toml
pirlab-security record params/*/*.toml        (needs the real lattice estimator)
pirlab-security confirm params/*/*.toml       (the same, only for what the fast model alone knows)
pirlab-security audit experiments/security/audit.toml --descriptions FILE --out FILE
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from pathlib import Path

from ..describe import DescribeError, describe_each, read_descriptions
from ..outputs import beside, check, protected, write
from ..paths import ROOT
from . import live, recorded
from .assess import SOURCES, best, fast_estimate, predict_security, verdict, weakest
from .attacks import (
    ATTACKS,
    BROKEN_BELOW,
    CORE_SVP_MODEL,
    FAST_TOLERANCE,
    MODEL,
    SECURITY_TARGET,
    SHAPE,
    AttackResult,
    bits_text,
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
        command.add_argument("parameters", nargs="*", type=Path, help="parameter files (TOML)")
        command.add_argument("--records", type=int, default=RECORDS, help="records of the database (2^20)")
        command.add_argument("--record-bits", type=int, default=RECORD_BITS, help="bits of a record (256)")
        command.add_argument(
            "--descriptions",
            type=Path,
            nargs="+",
            metavar="FILE",
            help="descriptions (JSON), not parameter files",
        )
        command.add_argument("--timeout", type=float, default=live.ATTACK_LIMIT_SECONDS, help="seconds an attack")
    table = commands.add_parser("audit", help="published sets, sets of params/, curves and largest moduli as JSON")
    table.add_argument("experiment", type=Path, help="experiment of kind `security` (TOML)")
    table.add_argument("--descriptions", type=Path, required=True, help="descriptions (JSON) of the sets of params/")
    table.add_argument("--security", choices=SOURCES, default="auto", help="where figures come from (auto)")
    table.add_argument("--timeout", type=float, default=live.ATTACK_LIMIT_SECONDS, help="seconds an attack")
    table.add_argument("--out", type=Path, required=True, help="the document (JSON); - is standard output")
    options = parser.parse_args(arguments)
    if not options.timeout > 0:
        parser.error(f"--timeout {options.timeout:g}: give seconds above zero")
    try:
        if options.command == "audit":
            return _audit(options)
        descriptions, refused = _descriptions(options, parser)
        for problem in refused:
            print(f"pirlab-security: {problem}", file=sys.stderr)
        run = {"check": _check, "record": _record, "confirm": _confirm}[options.command]
        code = run(descriptions, options) if descriptions else 0
        return 2 if refused else code
    except (DescribeError, live.EstimatorMissing, OSError, ValueError) as error:
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
        except (DescribeError, OSError, UnicodeDecodeError) as error:
            refused.append(f"{path}: {error}")
    if not options.descriptions:
        rows = [
            {"id": str(path), "parameters": str(path), "records": options.records, "record_bits": options.record_bits}
            for path in options.parameters
        ]
        found = [(str(d.get("id")), d) for d in describe_each(rows)]
    problems = [(where, d, unusable(d)) for where, d in found]
    refused += [f"{where}: {problem}" for where, _, problem in problems if problem is not None]
    return [d for _, d, problem in problems if problem is None], refused


def _audit(options: argparse.Namespace) -> int:
    """Writes the document of the audit; the table of published sets is named relative to the repository."""
    from .audit import audit

    experiment = tomllib.loads(options.experiment.read_text(encoding="utf-8"))
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
            bits = "unknown" if row["bits"] is None else f"{row['bits']:.1f} bits"
            print(f"{row['id']}: {bits}, {row['source']} ({row['estimator_commit'] or 'no estimator'})")
    return 0


def _check(descriptions: list[dict], options: argparse.Namespace) -> int:
    """Prints; exit code 1 if a set misses the target or has no figure."""
    all_reached = True
    for description, entries in zip(descriptions, predict_security(descriptions, options.security, options.timeout)):
        print("\n".join(set_lines(description, entries)) + "\n")
        all_reached &= verdict(weakest(entries)) == "reached" and not _lacking(entries)
    return 0 if all_reached else 1


def set_lines(description: dict, entries: list[dict]) -> list[str]:
    """What is known of a set, instance by instance."""
    lines = [f"{description['parameters']['name']}   (log2 of ring operations under {MODEL}, shape {SHAPE})"]
    for mapping, entry in zip(description["instances"], entries):
        lines += [
            f"  {mapping['name']}: n = {mapping['dimension']}, q = {mapping['modulus']}, "
            f"secret {_secret(mapping['secret'])}, error stddev {mapping['error_stddev']:g}, "
            f"{mapping['samples']} samples",
            f"    protects  {mapping['protects']}",
        ]
        if entry["attacks"]:
            bits = ", ".join(f"{name} {figure:.1f}" for name, figure in entry["attacks"].items())
            core = (
                "" if entry["core_svp_bits"] is None else f"; core-SVP ({CORE_SVP_MODEL}) {entry['core_svp_bits']:.1f}"
            )
            lines.append(f"    attacks   {bits}{core}")
        for failed in entry["failed_attacks"]:
            lines.append(f"    failed    {failed['attack']} under {failed['model']}: {failed['reason']}")
        if entry["bits"] is not None:
            lines.append(f"    minimum   {bits_text(entry['bits'])} ({entry['attack']})")
        if entry["source"] == "none":
            lines.append(f"    source    none: {entry['reason']}")
        else:
            lines.append(f"    source    {_source(entry)}")
        lines += [f"    remark    {remark}" for remark in entry.get("remarks", [])]
        lines.append(f"    in Sage   {entry['call']}")
    least = weakest(entries)
    if least is None:
        return [*lines, f"  target of {SECURITY_TARGET} bits: unknown, not every instance has a figure"]
    broken = " (broken: as low as the estimator goes)" if least < BROKEN_BELOW else ""
    bits = f"{bits_text(least)} bits{broken}"
    lacking = _lacking(entries)
    if lacking and verdict(least) == "reached":
        return [*lines, f"  target of {SECURITY_TARGET} bits: unknown, {bits} without {', '.join(lacking)}"]
    return [*lines, f"  target of {SECURITY_TARGET} bits: {verdict(least)}, {bits}"]


def _lacking(entries: list[dict]) -> list[str]:
    """Attacks of which an instance has no figure, though it has of others."""
    return [attack for attack in ATTACKS[MODEL] if any(e["attacks"] and attack not in e["attacks"] for e in entries)]


def _source(entry: dict) -> str:
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
            name = f"{description['parameters']['name']} {mapping['name']}"
            use = {"name": name, "source": "params", "role": mapping["protects"]}
            uses.setdefault(Instance.of(mapping), use)
    return uses


def _record(descriptions: list[dict], options: argparse.Namespace) -> int:
    """Adds live results. Exit code 1 if an attack failed: it is in the file with its reason."""
    uses = _uses(descriptions)
    _check_commit()
    failures = 0
    for instance, answer in live.estimate(uses, options.timeout).items():
        failures += _add(instance, answer, uses[instance])
    return 1 if failures else 0


def _add(instance: Instance, answer: dict, use: dict) -> int:
    """Records an answer and prints it; returns how many attacks failed."""
    if answer["commit"] == "unknown" or "+" in answer["commit"]:
        raise ValueError(f"the estimator's commit is {answer['commit']}; only results of a clean checkout are recorded")
    recorded.add(instance, answer, use)
    failed = [r for r in answer["results"] if r.failed is not None]
    print(f"{use['name']}: {len(answer['results']) - len(failed)} figures recorded, {len(failed)} failed")
    for result in failed:
        print(f"  {result.attack} under {result.model}: {result.failed}")
    return len(failed)


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
    failures = 0
    for instance, answer in live.estimate(uses, options.timeout).items():
        failures += _add(instance, answer, uses[instance])
        fast = {(r.model, r.attack): r for r in fast_estimate([instance])[instance]["results"]}
        for real in answer["results"]:
            own = fast[real.model, real.attack]
            if real.log2_rop is not None and own.log2_rop is not None:
                print(
                    f"  {real.attack} under {real.model}: {real.log2_rop:.2f}, "
                    f"fast model {own.log2_rop - real.log2_rop:+.3f}"
                )
        for reason in dict.fromkeys(r.failed for r in fast.values() if r.failed is not None):
            print(f"  fast model: {reason}")
        gap = _excess(list(fast.values()), answer["results"])
        if gap > FAST_TOLERANCE:
            print(f"  the fast model's minimum is too high, by {gap:.2f} bits")
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
    """Whether an attack is missing, or once took too long; one that the estimator refuses is as confirmed as can be."""
    found = recorded.find(instance)
    if found is None or best(found["results"], MODEL) is None:
        return True
    return any(r.model == MODEL and (r.failed or "").startswith("timeout") for r in found["results"])


if __name__ == "__main__":
    raise SystemExit(main())
