"""`pirlab-records`: records of other people, checked before they are taken in.

pirlab-records check FILE...              every record, or the reason why it is refused
pirlab-records merge FILE... --name WHO   checked records of one machine into results/received/WHO.jsonl.gz

A FILE is a record, a packed run (`make reference OUT=DIR`) or a folder of records. Rows that did not run, because they
needed more memory or time than a machine or profile has, are left out. A record is taken in that fits its schema
and its description, was right, whose set resolves to the one that ran, whose machine is whole, and whose sources are
known: committed, and those of a reference run or of the program here, or named by `--sources HASH` by someone who built
that commit.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pirlab_estimator import records
from pirlab_estimator.describe import describe_each
from pirlab_estimator.machine import machine_name
from pirlab_estimator.paths import pirlab_binary
from pirlab_estimator.records import PRIMITIVE, InputError

from .files import ROOT, PlanError, exit_code
from .plan import DONE
from .redraw import PROFILES
from .reference import RECEIVED, Documents, describe, labels, pack, packed, read_packed, records_of

#: Characters of a source hash by which one may be named.
SHORTEST = 12
#: What a machine block has to say; the read bandwidths only where the run probes them.
MACHINE = ("cpu", "cores", "memory_bytes", "os")
UNKNOWN = ("", "unknown")


def read(path: Path) -> Iterator[tuple[str, Any]]:
    """Place and document of every record of a file, packed run or folder."""
    if path.resolve() in {(ROOT / packed(profile)).resolve() for profile in PROFILES}:
        raise PlanError(f"{path} is what other runs are compared with. Pack yours elsewhere: make reference OUT=my-run")
    if path.is_dir():
        files = sorted(path.rglob("*.json"))
        if not files:
            raise InputError(path, None, "holds no record", "Name a folder with records, such as results/records")
        yield from ((str(file), records.read_json(file)) for file in files)
    elif path.suffix == ".gz":
        found = records_of(read_packed(path))
        if not found:
            raise InputError(path, None, "holds no record", "Pack a run with `make reference`")
        yield from ((f"{path}: {place}", document) for place, document in found.items())
    else:
        yield str(path), records.read_json(path)


def ran(document: Any) -> bool:
    """Whether a row ran, or may have: a plan leaves the others out."""
    return not isinstance(document, dict) or document.get("status") not in DONE[1:]


@cache
def known_sources() -> frozenset[str]:
    """Hashes of the sources that the reference runs were measured with."""
    runs = (read_packed(ROOT / packed(profile)) for profile in PROFILES)
    return frozenset(d["build"]["source_hash"] for run in runs for d in records_of(run).values())


@cache
def present_sources() -> dict[str, str]:
    """Hashes of the sources that the program here was built from, by protocol and primitive."""
    found: dict[str, str] = {}
    for key, words in (
        ("protocols", ["list", f"--params-root={ROOT / 'params'}"]),
        ("primitives", ["primitive", "list"]),
    ):
        command = [str(pirlab_binary()), *words, "--json"]
        try:
            listed = subprocess.run(command, capture_output=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError) as error:
            raise PlanError(f"{error}. Run `make build`, or set PIRLAB_BINARY.") from None
        found |= {each["name"]: each["source_hash"] for each in json.loads(listed)[key]}
    return found


def faults(document: Any, sources: Sequence[str] = ()) -> Iterator[str]:
    """The reasons why a record is refused, each with its key; none if it is taken in."""
    broken = [f"{key}: {problem}" for key, problem in records.faults(document)]
    if broken:
        # Nothing else can be said of a record that does not fit its schema.
        yield from broken
        return
    if document["status"] != "ok":
        yield f"status: `{document['status']}`: only rows that ran, and were right, are taken in"
        return
    yield from _build(document, sources)
    yield from _machine(document["machine"], probed=document["schema"] != PRIMITIVE)
    if document["schema"] != PRIMITIVE:
        yield from _compared(document)
        yield from _messages(document)
        yield from _set(document)


def _build(document: Mapping[str, Any], sources: Sequence[str]) -> Iterator[str]:
    build, name = document["build"], document.get("protocol") or document["primitive"]
    if build["dirty"] or build["commit"] in UNKNOWN:
        remark = build.get("commit_remark") or "sources were changed since the commit"
        yield f"build.dirty: uncommitted sources ({remark}). Commit them, build again and measure again"
    if build["profile"] != "release":
        yield f"build.profile: `{build['profile']}`: seconds are of release builds. Build with `make build`"
    own = build["source_hash"]
    named = own in known_sources() or any(own.startswith(each) for each in sources)
    if not named and own != present_sources().get(name):
        yield (
            f"build.source_hash: {own[:SHORTEST]} matches neither a reference run nor this program's {name}. Build "
            f"commit {build['commit'][:SHORTEST]}, compare, and name it: --sources {own[:SHORTEST]}"
        )


def _machine(machine: Mapping[str, Any], probed: bool) -> Iterator[str]:
    for key in MACHINE:
        if machine.get(key) in (None, 0, *UNKNOWN):
            yield f"machine.{key}: is missing, so that nobody knows whose seconds these are"
    if probed and not machine["read_bandwidth"]:
        yield "machine.read_bandwidth: is empty. Measure again without --no-probe"


def _compared(record: Mapping[str, Any]) -> Iterator[str]:
    least, compared = record["repetitions"] * record["queries"], record["correct"]["compared"]
    if compared < least:
        yield (
            f"correct.compared: {compared} records compared, but {record['repetitions']} repetitions of "
            f"{record['queries']} queries answer {least}"
        )
    for place, phase in enumerate(record["phases"]):
        if phase["group"] == "online" and len(phase["seconds"]) != record["repetitions"]:
            yield f"phases.{place}.seconds: {len(phase['seconds'])} samples of {record['repetitions']} repetitions"


def _messages(record: Mapping[str, Any]) -> Iterator[str]:
    """Messages and tables are as long as the record's own description says; `_set` holds that against the program."""
    described = {message["name"]: message["payload_bytes"] for message in record["description"]["messages"]}
    for place, sent in enumerate(record["transcript"]):
        if sent["payload_bytes"] != described.get(sent["name"]):
            yield (
                f"transcript.{place}.payload_bytes: {sent['payload_bytes']} of {sent['name']}, described as "
                f"{described.get(sent['name'])}"
            )
    memory, tables = record["memory"], record["description"]["memory"]
    if memory["described_peak_bytes"] != tables["peak_bytes"]:
        yield f"memory.described_peak_bytes: {memory['described_peak_bytes']}, described as {tables['peak_bytes']}"
    if memory.get("server", tables["server"]) != tables["server"]:
        yield "memory.server: other tables than described"


def _set(record: Mapping[str, Any]) -> Iterator[str]:
    own, shape = record["parameters"], record["database"]
    path = ROOT / own["path"]
    if not path.is_file() or not path.resolve().is_relative_to(ROOT / "params"):
        yield f"parameters.path: {own['path']} is not a set of params/. Send the file too"
        return
    asked = {"id": own["path"], "parameters": str(path), "with": own.get("with", {})}
    asked |= {key: shape[key] for key in ("records", "record_bits")}
    asked |= {key: record[key] for key in ("queries", "updates", "streamed")}
    present = _described(json.dumps(asked, sort_keys=True))
    resolved = present["error"] if "error" in present else present["parameters"]["sha256"]
    if resolved != own["sha256"]:
        yield (
            f"parameters.sha256: {own['sha256'][:SHORTEST]}, but {own['path']} resolves to {resolved[:SHORTEST]}: "
            "the set is another one now. Measure again"
        )
        return
    for key in ("messages", "memory"):
        if record["description"][key] != present[key]:
            yield f"description.{key}: not what `pirlab describe` says of this set and database. Measure again"


@cache
def _described(row: str) -> dict[str, Any]:
    """What the program says of a row today, or why it refuses it."""
    return describe_each([json.loads(row)])[0]


def place(record: Mapping[str, Any]) -> str:
    """The path of a record in a packed run; one that was made by hand is named by its id."""
    parts = [record.get(key) or "" for key in ("experiment", "group", "row")]
    return f"records/{'/'.join(parts)}.json" if all(parts) else f"records/by-hand/{record['id']}.json"


def merged(files: Iterable[tuple[str, Any]], earlier: Documents, sources: Sequence[str]) -> Documents:
    """The documents of checked records and those of an earlier merging; PlanError where they do not go together."""
    found, machines = dict(earlier), set(map(machine_name, earlier.values()))
    ids = {each["id"]: path for path, each in earlier.items()}
    for name, document in files:
        if not ran(document):
            continue
        for fault in faults(document, sources):
            raise PlanError(f"{name}: {fault}.")
        machines.add(machine_name(document))
        if len(machines) > 1:
            said = "; ".join(sorted(machines))
            raise PlanError(
                f"{name}: another machine than the records before it ({said}). Give each a --name of its own."
            )
        path = place(document)
        if ids.setdefault(document["id"], path) != path:
            raise PlanError(f"{name}: the record {document['id']} is there already, as {ids[document['id']]}.")
        if path not in found or found[path]["finished"] <= document["finished"]:
            found[path] = document
    return found


def check(files: Iterable[tuple[str, Any]], sources: Sequence[str]) -> int:
    """Print the reasons for every refused record; 1 if there is one."""
    counts: Counter[bool | None] = Counter()
    for name, document in files:
        if not ran(document):
            counts[None] += 1
            continue
        reasons = list(faults(document, sources))
        counts[not reasons] += 1
        for reason in reasons:
            print(f"{name}: {reason}.")
    print(f"{counts[True]} records are right, {counts[False]} refused; {counts[None]} rows did not run")
    return 1 if counts[False] else 0


def _source(text: str) -> str:
    if len(text) < SHORTEST or set(text) - set("0123456789abcdef"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a hash: give {SHORTEST} or more of its hexadecimal digits")
    return text


def _name(text: str) -> str:
    if not text.replace("-", "").isalnum() or not text.islower():
        raise argparse.ArgumentTypeError(f"{text!r} is not a name: write small letters, digits and -, as in anna-zen4")
    return text


def main(arguments: list[str] | None = None) -> int:
    return exit_code(lambda: _main(arguments))


def _main(arguments: list[str] | None) -> int:
    parser = argparse.ArgumentParser(prog="pirlab-records", description=__doc__.split("\n\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, words in (("check", "say which records are refused, and why"), ("merge", "take checked records in")):
        command = commands.add_parser(name, help=words)
        command.add_argument("files", type=Path, nargs="+", metavar="FILE", help="a record, a packed run or a folder")
        command.add_argument(
            "--sources", type=_source, action="append", default=[], metavar="HASH", help="known sources"
        )
    command.add_argument("--name", type=_name, required=True, help="of person and machine: the file's name")
    command.add_argument("--out", type=Path, default=RECEIVED, metavar="DIR", help="instead of results/received")
    given = parser.parse_args(arguments)
    found = (each for path in given.files for each in read(path.absolute()))
    if given.command == "check":
        return check(found, given.sources)
    os.chdir(ROOT)
    file = packed(given.name, given.out)
    documents = merged(found, read_packed(file) if file.is_file() else {}, given.sources)
    pack(documents, file)
    describe(given.out / "README.md", given.name, labels([*documents.values()]), "Taken in by `pirlab-records merge`.")
    print(f"{len(documents)} records in {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
