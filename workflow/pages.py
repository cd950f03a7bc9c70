"""Pages of docs/ that `make redraw` writes beside the tables: applications, sweeps, machines, and the list of all."""

import statistics
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pirlab_estimator.outputs import write
from pirlab_estimator.sets import set_name
from pirlab_figures.search import sweep_page
from pirlab_figures.search import systems as systems_page
from pirlab_figures.search.applications import page

from .reference import RECEIVED, Documents, read_packed

PAGES = Path("docs/results")
SWEEP = Path("results/searched/applications.csv")
COMMITTED = Path("results/searched/committed.csv")
GRIDS = Path("results/searched/grids.csv")
IMAGES = Path("docs/images/sweeps")
DRAWN = "Drawn by `make redraw` from"
Measured = dict[tuple[str, int, int], tuple[float, str, str]]


def answers(documents: Documents) -> Iterator[tuple[tuple[str, int, int], float, dict[str, Any]]]:
    """Set and database, median seconds of an answer of one query on one thread, and the record, of every right row."""
    for path, record in sorted(documents.items()):
        if path.startswith("records/") and record["kind"] == "protocol" and record["status"] == "ok":
            seconds = next(phase["seconds"] for phase in record["phases"] if phase["name"] == "answer")
            if record["queries"] == 1 and record["threads"] == 1:
                database = record["database"]
                where = (set_name(record["parameters"]), database["records"], database["record_bits"])
                yield where, statistics.median(seconds), record


def systems(runs: Mapping[str, Documents]) -> str:
    """The page of all systems. Each machine has a table of its own."""
    measured: dict[str, dict[tuple[str, int, int], tuple[float, str]]] = {}
    for documents in runs.values():
        for where, seconds, record in answers(documents):
            machine = f"{record['machine']['cpu']}, {record['build']['kernel']}"
            measured.setdefault(machine, {})[where] = (seconds, record["id"])
    head = [
        "# All systems over seventeen databases",
        f"{DRAWN} [committed.csv](../../results/searched/committed.csv), which "
        "[committed.toml](../../experiments/search/committed.toml) asks for, and from the "
        "[reference runs](../../results/reference/).",
        "Of each protocol the committed set that is fastest from question to record (100 Mbit/s, 50 ms, a hundredth of "
        "the hint) of those that reach 128 bits and a failure of 2^-40. A cell is empty where no committed set serves.",
    ]
    return "\n\n".join([*head, systems_page.page(COMMITTED, measured)]) + "\n"


def applications(runs: Mapping[str, Documents]) -> str:
    """The page of applications, with measured answers of the runs; the machine of each is named."""
    measured: Measured = {}
    for documents in runs.values():
        for where, seconds, record in answers(documents):
            measured[where] = (seconds, record["machine"]["cpu"], record["id"])
    head = [
        "# Applications: what fits, and what it costs",
        f"{DRAWN} [applications.csv](../../results/searched/applications.csv), which "
        "[applications.toml](../../experiments/search/applications.toml) asks for: databases, changes, networks.",
        "Of each protocol the committed set that answers fastest of those that reach 128 bits and a failure of 2^-40, "
        "the fastest protocol first. `pirlab-search --protocol all` searches further for one database.",
    ]
    return "\n\n".join([*head, page(SWEEP, measured).markdown()])


def sweeps() -> str:
    """The page of every protocol's sweep over its bases and moduli."""
    head = [
        "# Every protocol's sweep over gadget bases and moduli",
        f"{DRAWN} [grids.csv](../../results/searched/grids.csv), which "
        "[grids.toml](../../experiments/search/grids.toml) asks for: the best set that the search finds for a "
        "database, with other values of the keys named here. Nothing is measured ([search.md](../search.md#sweeps)).",
        "A table has for each key and database the value that answers fastest of those that reach 128 bits and a "
        "failure of 2^-40, and in brackets the least and the greatest that reach both. Moduli, and tables with a "
        "modulus or a base, are written as their bits; what is no number is written as its place in the list of "
        "grids.toml. In a figure hollow points miss a target; dashed lines are the targets.",
    ]
    return "\n\n".join([*head, sweep_page.page(GRIDS, "../images/sweeps")])


def draw_sweeps(folder: Path = IMAGES) -> None:
    """Write the figures of the page of sweeps."""
    for name, image in sweep_page.images(GRIDS):
        write(folder / f"{name}.png", image)


def machines(runs: Mapping[str, Documents]) -> str:
    """Rows that several machines measured, a column a machine: times of different machines never share a column."""
    found: dict[tuple[str, int, int], dict[str, tuple[float, str]]] = {}
    for documents in runs.values():
        for where, seconds, record in answers(documents):
            machine = record["machine"]
            name = f"{machine['cpu']}, {machine['cores']} cores, {record['build']['kernel']}"
            found.setdefault(where, {})[name] = (seconds, record["id"])
    several = {where: of for where, of in found.items() if len(of) > 1}
    names = sorted({name for of in several.values() for name in of})
    runs_of = "the [reference runs](../../results/reference/) and the runs of other people in results/received"
    lines = ["# Machines beside each other", "", f"{DRAWN} {runs_of}."]
    lines += [
        "Median milliseconds of an answer on one thread, of sets and databases that more than one machine ran, each",
        f"with its record's id. A column is one machine. {systems_page.COMMAND}",
        "",
    ]
    if not several:
        return "\n".join([*lines, "So far one machine ran all of them."]) + "\n"
    lines += [f"| set | records | bits of a record | {' | '.join(names)} |", "|---|---:|---:|" + "---:|" * len(names)]
    for (name, records, bits), of in sorted(several.items()):
        cells = [f"{1000 * of[each][0]:.3g} `{of[each][1]}`" if each in of else "" for each in names]
        lines.append(f"| {name} | {records} | {bits} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def claims_of(profile: str) -> Path:
    """The papers' claims beside what a profile's tables say, as CSV."""
    return PAGES / f"headline-{profile}.csv"


def received() -> dict[str, Documents]:
    """The runs that other people sent, by name."""
    return {path.name.removesuffix(".jsonl.gz"): read_packed(path) for path in sorted(RECEIVED.glob("*.jsonl.gz"))}


def write_all(runs: Mapping[str, Documents], folder: Path = PAGES) -> None:
    """Write the pages of these runs and of the received ones."""
    write(folder / "applications.md", applications(runs))
    write(folder / "systems.md", systems(runs))
    write(folder / "machines.md", machines({**runs, **received()}))
    write(folder / "sweeps.md", sweeps())
    write(folder / "README.md", index(folder))


def index(folder: Path) -> str:
    """The list of pages, by their first lines: what most readers look for first, the others by name."""
    lines = ["# Results", "", f"{DRAWN} the [reference runs](../../results/reference/), whose records are named."]
    lines += ["`make explorer` shows all of it on one page, to filter and compare.", ""]
    lines += ["| page | shows |", "|---|---|"]
    first = ("headline", "systems", "comparison")
    for path in sorted(folder.glob("*.md"), key=lambda page: (page.stem not in first, page.stem)):
        if path.name != "README.md":
            title = next(line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("# "))
            lines.append(f"| [{path.stem}]({path.name}) | {title.removeprefix('# ')} |")
    return "\n".join(lines) + "\n"
