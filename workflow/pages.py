"""Pages of docs/ that `make redraw` writes beside the tables: applications, sweeps, machines, and the list of all."""

from collections.abc import Mapping
from pathlib import Path

from pirlab_estimator.cost import UnitCosts
from pirlab_estimator.outputs import write
from pirlab_estimator.search import study
from pirlab_estimator.search.evaluate import Shape
from pirlab_figures.search import sweep_page
from pirlab_figures.search import systems as systems_page
from pirlab_figures.search.applications import page
from pirlab_figures.search.measured import Measured, measured

from .files import ROOT
from .reference import Documents, received

PAGES = Path("docs/results")
SWEEP = Path("results/searched/applications.csv")
COMMITTED = Path("results/searched/committed.csv")
GRIDS = Path("results/searched/grids.csv")
IMAGES = Path("docs/images/sweeps")
DRAWN = "Drawn by `make redraw` from"


def swept(name: str) -> str:
    """The committed table of a sweep and the commands that make it, as Markdown."""
    table, asked = f"[{name}.csv](../../results/searched/{name}.csv)", f"experiments/search/{name}.toml"
    made = f"`make search`, or `pirlab-search --sweep {asked}` alone,"
    return f"{table}, which {made} makes of [{name}.toml](../../{asked})"


def costs_of(name: str) -> str:
    """The unit costs of a sweep and their machine, as Markdown."""
    file = study.costs(study.read(Path(f"experiments/search/{name}.toml")))
    return f"the [unit costs](../../{file.relative_to(ROOT)}) of this machine: {UnitCosts.load(file).name}"


def systems(runs: Mapping[str, Documents]) -> str:
    """The page of all systems. Each machine has a table of its own."""
    head = [
        "# All systems over seventeen databases",
        f"{DRAWN} {swept('committed')}, and from the [reference runs](../../results/reference/).",
        "Predictions are of each protocol's committed set that is fastest from question to record (100 Mbit/s, 50 ms, "
        "a hundredth of the hint) of those that reach 128 bits and a failure of 2^-40. A cell is empty where no set "
        "serves, or where none was measured.",
    ]
    return "\n\n".join([*head, systems_page.page(COMMITTED, measured(runs.values()), costs_of("committed"))]) + "\n"


def applications(runs: Mapping[str, Documents]) -> str:
    """The page of applications, with measured answers of the runs."""
    head = [
        "# Applications: what fits, and what it costs",
        f"{DRAWN} {swept('applications')}, and from the [reference runs](../../results/reference/).",
        "Of each protocol the committed set that answers fastest of those that reach 128 bits and a failure of 2^-40, "
        f"the fastest protocol first, by {costs_of('applications')}. `pirlab-search --protocol all` searches further "
        "for one database.",
    ]
    return "\n\n".join([*head, page(SWEEP, measured(runs.values()))])


def sweeps() -> str:
    """The page of every protocol's sweep over its bases and moduli."""
    head = [
        "# Every protocol's sweep over gadget bases and moduli",
        f"{DRAWN} {swept('grids')}: the best set that the search finds for a database, with other values of the keys "
        "named here. Nothing is measured ([search.md](../search.md#sweeps)). Seconds are predicted by "
        f"{costs_of('grids')}.",
        "A table has for each key and database the value that answers fastest of those that reach 128 bits and a "
        "failure of 2^-40, and in brackets the least and the greatest that reach both. Moduli, and tables with a "
        "modulus or a base, are written as their bits; a value that is not a number, as its place in the list of "
        "grids.toml. In a figure hollow points miss a target; dashed lines are the targets.",
    ]
    return "\n\n".join([*head, sweep_page.page(GRIDS, "../images/sweeps")])


def draw_sweeps() -> None:
    """Write the figures of the page of sweeps."""
    for name, image in sweep_page.images(GRIDS):
        write(IMAGES / f"{name}.png", image)


def machines(runs: Mapping[str, Documents]) -> str:
    """Rows that several machines measured, a column a machine: times of different machines never share a column."""
    found: dict[tuple[str, Shape, bool], dict[str, Measured]] = {}
    for each in measured(runs.values()):
        if each.queries == 1:
            found.setdefault((each.name, each.shape, each.streamed), {})[each.machine] = each
    several = {where: of for where, of in found.items() if len(of) > 1}
    names = sorted({name for of in several.values() for name in of})
    runs_of = "the [reference runs](../../results/reference/) and the runs of other people in results/received"
    lines = ["# Machines beside each other", "", f"{DRAWN} {runs_of}."]
    lines += [
        "Median milliseconds of an answer on one thread, of sets and databases that more than one machine ran, each",
        f"with its records' ids. A column is one machine. {systems_page.COMMAND}",
        "",
    ]
    if not several:
        return "\n".join([*lines, "So far one machine ran all of them."]) + "\n"
    lines += [f"| set | records | bits of a record | {' | '.join(names)} |", "|---|---:|---:|" + "---:|" * len(names)]
    for (name, shape, _), of in sorted(several.items(), key=str):
        cells = [_cell(of[each]) if each in of else "" for each in names]
        lines.append(f"| {name} | {shape.records} | {shape.record_bits} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(known: Measured) -> str:
    return " ".join([f"{1000 * known.seconds:.3g}{known.marks()}", *(f"`{each}`" for each in known.ids)])


def claims_of(profile: str) -> Path:
    """The papers' claims beside what a profile's tables say, as CSV."""
    return PAGES / f"headline-{profile}.csv"


def write_all(runs: Mapping[str, Documents], folder: Path = PAGES) -> None:
    """Write the pages of these runs and of the received ones."""
    write(folder / "applications.md", applications(runs))
    write(folder / "systems.md", systems(runs))
    write(folder / "machines.md", machines({**runs, **received(runs)}))
    write(folder / "sweeps.md", sweeps())
    write(folder / "README.md", index(folder))


def index(folder: Path) -> str:
    """The list of pages, by their first lines: what most readers look for first, the others by name."""
    lines = ["# Results", "", f"{DRAWN} the [reference runs](../../results/reference/), and from searches."]
    lines += ["`make explorer` shows all of it on one page, to filter and compare.", ""]
    lines += ["| page | shows |", "|---|---|"]
    first = ("headline", "systems", "comparison")
    for path in sorted(folder.glob("*.md"), key=lambda page: (page.stem not in first, page.stem)):
        if path.name != "README.md":
            title = next(line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("# "))
            lines.append(f"| [{path.stem}]({path.name}) | {title.removeprefix('# ')} |")
    return "\n".join(lines) + "\n"
