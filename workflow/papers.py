"""The pages of docs/results/ that show drawn tables: one a paper, with its figures and the records behind both."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from pirlab_estimator.outputs import write
from pirlab_figures.lib.protocols import PAPERS

from .reference import Documents, labels, records_of

#: Titles of the pages, by the folder of the experiments whose tables they show.
TITLES = {"comparison": "All protocols beside each other", "security": "The audit of security"}
TITLES |= {entry.get("folder", paper): entry["tables"] for paper, entry in PAPERS.items()}
IMAGES = Path("docs/images/results")
#: Bytes of a figure as SVG.
LARGEST = 1_000_000
#: Drawings that experiments have and that no page shows.
UNSHOWN = ("table-primitives", "primitives", "accuracy")
Drawn = dict[tuple[str, str], tuple[str, Path]]
"""Profile and file by experiment, without its folder, and name: tables as Markdown, figures as PNG."""


def drawn(paper: str, figures: Mapping[str, Path]) -> Drawn:
    """The tables and figures of a paper, each from the longest run that draws it."""
    found: Drawn = {}
    for profile, folder in figures.items():
        paths = sorted([*(folder / paper).rglob("table-*.md"), *(folder / paper).rglob("*.png")])
        found |= {(path.parent.name, path.stem): (profile, path) for path in paths if path.stem not in UNSHOWN}
    return found


def heading(experiment: str, title: str, profile: str) -> str:
    """The heading of a drawing."""
    return f"`{experiment}`, {title}, profile {profile}"


def anchor(heading: str) -> str:
    """As GitHub makes it of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def page(paper: str, figures: Mapping[str, Path], runs: Mapping[str, Documents]) -> str:
    """The page of a paper."""
    found = drawn(paper, figures)
    profiles = [profile for profile in figures if profile in {of for of, _ in found.values()}]
    said = {profile: labels([*records_of(runs[profile]).values()]) for profile in profiles}
    rows = ("processor", "memory", "date", "commit")
    lines = [f"# {TITLES[paper]}", "", "Drawn by `make redraw` from the [reference runs](../../results/reference/)."]
    measured = [line for profile in profiles for line in _measured_of(paper, profile, runs[profile])]
    own = "Each measured row's record is named [below](#records); a table's last column has the beginning of its id."
    lines += [own if measured else "What it counts of measured rows is of the records that the other pages here name."]
    lines += ["", f"| run | {' | '.join(rows)} |"]
    lines += ["|" + "---|" * (len(rows) + 1)]
    lines += [f"| {each} | {' | '.join(said[each][row] for row in rows)} |" for each in profiles]
    for (name, stem), (profile, path) in sorted(found.items()):
        is_table = path.suffix == ".md"
        title = stem.removeprefix("table-") if is_table else f"figure {stem}"
        lines += ["", f"## {heading(f'{paper}/{name}', title, profile)}", ""]
        lines += [path.read_text().rstrip()] if is_table else _figure(path)
    if measured:
        lines += ["", "## Records", ""]
        lines += ["Of each experiment and group the rows that were measured, each with the id of its record."]
        lines += measured
    return "\n".join(lines) + "\n"


def _figure(path: Path) -> list[str]:
    """A figure with its caption, as an image that leads to its SVG."""
    first, *others = path.with_suffix(".caption.rst").read_text().rstrip().split("\n\n")
    target = f"../images/results/{path.stem}"
    image = f"![{path.stem}]({target}.png)"
    lines = [f"[{image}]({target}.svg)" if _vector(path) else image, "", first, ""]
    lines += ["<details><summary>Machine, security, marks</summary>", "", "\n\n".join(others), "", "</details>"]
    return lines


def _vector(image: Path) -> list[Path]:
    """The SVG of a PNG, unless it is too large for a repository."""
    path = image.with_suffix(".svg")
    return [path] if path.is_file() and path.stat().st_size <= LARGEST else []


def _measured_of(paper: str, profile: str, documents: Documents) -> Iterator[str]:
    """The rows that a run measured of the experiments of a paper."""
    for name in sorted({path.split("/")[2] for path in records_of(documents, f"{paper}/")}):
        yield from ["", *_measured(f"{paper}/{name}", profile, documents)]


def _measured(experiment: str, profile: str, documents: Documents) -> list[str]:
    """The rows of an experiment that a run measured, a line a group."""
    groups: dict[str, list[str]] = {}
    for path, record in records_of(documents, f"{experiment}/").items():
        if record["status"] == "ok":
            groups.setdefault(Path(path).parent.name, []).append(f"{Path(path).stem} `{record['id']}`")
    lines = [f"### `{experiment}`, profile {profile}", ""]
    lines += [f"`make reproduce PROFILE={profile} ONLY={experiment}` measures and draws it again.", ""]
    return lines + [f"- {group}: {', '.join(rows)}" for group, rows in groups.items()]


def write_all(figures: Mapping[str, Path], runs: Mapping[str, Documents], folder: Path) -> None:
    """Write the pages of all papers, and the images that they show in place of earlier ones."""
    for paper in TITLES:
        write(folder / f"{paper}.md", page(paper, figures, runs).encode())
    shown = [path for paper in TITLES for _, path in drawn(paper, figures).values() if path.suffix == ".png"]
    kept = {each.name: each for path in shown for each in [path, *_vector(path)]}
    for name, path in kept.items():
        write(IMAGES / name, path.read_bytes())
    for path in IMAGES.iterdir():
        if path.name not in kept:
            path.unlink()
