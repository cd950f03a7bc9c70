"""The page that leads to all results: the papers' claims, one figure a paper, and a link to each table and figure."""

import re
from base64 import b64encode
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path
from typing import Any

from ..lib.inputs import Inputs
from ..lib.output import write
from ..lib.spec import spec
from ..lib.table import FORMS, Table
from .headline import build

SPEC = spec("runs/index")
CAPTION = ".caption.rst"


@dataclass(frozen=True)
class Index:
    """The page with its table of claims."""

    claims: Table
    folder: Path
    report: str
    explorer: str

    def write(self, prefix: Path) -> list[Path]:
        """Write `prefix`.html, and beside it the claims as headline.csv, .md, .tex, .html and .caption.rst."""
        drawings = {path: self._drawing(path, prefix.parent) for path in sorted(self.folder.glob(f"*/*/*{CAPTION}"))}
        experiments: dict[str, list[dict[str, Any]]] = {}
        for path, drawing in drawings.items():
            experiments.setdefault(path.parent.relative_to(self.folder).as_posix(), []).append(drawing)
        chosen = [self.folder / f"{stem}{CAPTION}" for stem in SPEC.words["figures"]]
        images = {path: path.with_name(path.name.replace(CAPTION, ".png")) for path in chosen if path in drawings}
        figures = [drawings[path] | {"image": b64encode(png.read_bytes()).decode()} for path, png in images.items()]
        said = {"table": self.claims, "about": SPEC.words["about"], "report": self.report, "explorer": self.explorer}
        page = FORMS.get_template("index.html.j2").render(figures=figures, experiments=experiments, **said)
        return [write(prefix, ".html", page), *self.claims.write(prefix.with_name("headline"))]

    def _drawing(self, caption: Path, start: Path) -> dict[str, Any]:
        """The bold beginning of a caption, and links from the folder `start` to the files that the caption is about."""
        found, stem = (
            re.match(r"\*\*(.+?)\*\*", caption.read_text(encoding="utf-8")),
            caption.name.removesuffix(CAPTION),
        )
        files = {form: caption.with_name(stem + suffix) for suffix, form in SPEC.words["forms"].items()}
        links = {form: Path(relpath(path, start)).as_posix() for form, path in files.items() if path.is_file()}
        return {"title": re.sub(r"\\(.)", r"\1", found[1]) if found else stem, "links": links}


def make(inputs: Inputs) -> Index:
    """The page of drawn folders: claims from the last that has their table, links to the files of the last."""
    given = inputs.arguments
    folders: list[Path] = given.figures
    return Index(build(folders, inputs.folder), folders[-1], given.report, given.explorer)
