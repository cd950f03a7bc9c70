"""Every command in README and docs is run, planned or parsed here, or its rule says why it is not run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pirlab_estimator.paths import ROOT
from pirlab_estimator.search import cli
from pirlab_workflow.experiments import all_experiments

PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
RULES = tomllib.loads((ROOT / "tests/fixtures/commands.toml").read_text())["rule"]
#: What a line that is a command begins with.
PROGRAMS = r"(make|pirlab[\w-]*|cargo|git|cd impl|python[\d.]*|\.venv/bin/\S+|impl/target/\S+|PATH=\S+|snakemake"
PROGRAMS += "|alias|export|scancel|docker|conda)"
#: Words of prose that begin like a command.
PROSE = re.compile(r"impl/(ring|bfv|pir|bench)\b.*|(impl|pirlab|git) +[a-z]+ *$")


def commands(text: str) -> Iterator[str]:
    """Commands of code blocks, fenced or indented, and those in backquotes that have more words than a name."""
    text = text.replace(r"\`", "`")
    blocks = re.findall(r"^```(?:sh)?\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = "\n".join([*blocks, *re.findall(r"^ {4,8}(\S.*)$", text, re.MULTILINE)]).replace("\\\n", " ").splitlines()
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for line in [*lines, *(" ".join(each.split()) for each in re.findall(r"`([^`]+)`", prose))]:
        line = re.sub(r"(^\$ )|(\s+#.*$)|(\s{3,}\S.*$)", "", line).strip()
        if re.match(rf"{PROGRAMS} \S", line) and not PROSE.fullmatch(line):
            yield line.removeprefix("impl/target/release/")


FOUND = sorted({(page.name, command) for page in PAGES for command in commands(page.read_text(encoding="utf-8"))})


def rule(command: str) -> dict[str, Any] | None:
    return next((each for each in RULES if re.fullmatch(each["match"], command)), None)


def by(how: str) -> list[str]:
    return sorted({command for _, command in FOUND if (rule(command) or {}).get("how") == how})


def alternatives(pattern: str) -> list[str]:
    """A pattern for each choice that `|` offers, within parentheses too."""
    group = re.search(r"\(([^()]*\|[^()]*)\)", pattern)
    if group is None:
        return pattern.split("|")
    return [one for word in group[1].split("|") for one in alternatives(pattern.replace(group[0], word, 1))]


def test_every_command_has_a_rule_and_every_rule_a_command():
    lost = [f"{page}: {command}" for page, command in FOUND if rule(command) is None]
    assert not lost, "say in tests/fixtures/commands.toml what becomes of these:\n" + "\n".join(lost)
    for each in RULES:
        own = [command for _, command in FOUND if rule(command) is each]
        idle = {one for one in alternatives(each["match"]) if not any(re.fullmatch(one, command) for command in own)}
        assert not idle, "no command needs these"
    assert all(("why" in each) == (each["how"] == "named") for each in RULES)
    assert len(by("run")) >= 6 and len(by("plan")) >= 10 and len(by("search")) >= 3


def test_readme_names_the_programs_whose_commands_are_checked_for_their_form_alone():
    def programs(*kinds: str) -> set[str]:
        words = (command.removeprefix("cd impl && ").split()[0] for how in kinds for command in by(how))
        return {word.removeprefix(".venv/bin/") for word in words}

    (said,) = re.findall(
        r"Tests check the form of all commands of (.*?)\. They run", " ".join(PAGES[0].read_text().split())
    )
    assert set(re.findall(r"`([\w-]+)`", said)) == programs("plan", "search", "example")
    assert not programs("run") & programs("plan", "search", "example")


@pytest.fixture(scope="module")
def folder(binary, tmp_path_factory) -> Path:
    """Where commands run: a file of records, and two records to compare."""
    place = tmp_path_factory.mktemp("commands")
    (place / "my.bin").write_bytes(bytes(range(256)) * 256)
    for name in ("params", "impl"):
        (place / name).symlink_to(ROOT / name)
    words = ["run", "params/simplepir/secure-n1088.toml", "--records", "1024", "--record-bits", "512", "--no-probe"]
    for name in ("r.json", "other.json"):
        subprocess.run([binary, *words, "--out", name], cwd=place, check=True, capture_output=True)
    return place


@pytest.mark.slow
@pytest.mark.parametrize("command", by("run"))
def test_it_runs(command, folder, binary):
    words = shlex.split(command)
    if words[0] == "pirlab":
        words[0] = str(binary)
    elif words[0] == "python":
        words[0] = sys.executable
    else:
        words[0] = str(Path(sys.executable).with_name(words[0]))
    # A gibibyte takes a minute; the same command at a smaller database is the same test.
    words = ["2^16" if word == "2^24" else word for word in words]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == rule(command).get("code", 0), done.stdout + done.stderr


@pytest.mark.parametrize("command", by("plan"))
def test_make_accepts_it(command):
    words = shlex.split(command)
    known = {*all_experiments(), *(name.split("/")[0] for name in all_experiments())}
    for word in words[1:]:
        if word.startswith("ONLY=") and not word.startswith("ONLY=filter") and "..." not in word:
            assert set(word.removeprefix("ONLY=").split(",")) <= known, word
        if word.startswith("PROFILE=") and "|" not in word and "..." not in word:
            assert (ROOT / f"config/{word.removeprefix('PROFILE=').lower()}.yaml").is_file() or word.isupper()
    done = subprocess.run(["make", "--dry-run", *words[1:]], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", by("search"))
def test_the_search_accepts_it(command):
    assert cli._parsed(shlex.split(command)[1:]).protocol


@pytest.mark.parametrize("command", by("example"))
def test_cargo_has_it(command):
    (kind, name), *_ = re.findall(r"--(example|bench) (\w+)", command)
    assert list((ROOT / "impl").glob(f"*/{kind}{'s' if kind == 'example' else 'es'}/{name}.rs")), command
