"""The page that leads to all results: the papers' claims, one figure a paper, and a link to each table and figure."""

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path
from typing import Any

from ..lib.inputs import Inputs
from ..lib.output import write
from ..lib.spec import spec
from ..lib.table import FORMS, Table
from .headline import build

FORM = {".html": "table", ".md": "md", ".csv": "csv", ".tex": "tex", ".svg": "figure", ".pdf": "pdf", ".png": "png"}
"""Files that the page leads to, and what it calls them."""
SPEC = spec("runs/index")
CAPTION = ".caption.rst"


@dataclass(frozen=True)
class Index:
    """The page with its table of claims."""

    claims: Table
    folder: Path
    report: str

    def write(self, prefix: Path) -> list[Path]:
        """Write `prefix`.html, and beside it the claims as headline.csv, .md, .tex, .html and .caption.rst."""
        captions = sorted(self.folder.glob(f"*/*/*{CAPTION}"))
        experiments: dict[str, list[dict[str, Any]]] = {}
        for caption in captions:
            name = caption.parent.relative_to(self.folder).as_posix()
            experiments.setdefault(name, []).append({"title": _title(caption), "links": _links(caption, prefix.parent)})
        figures = [_figure(self.folder / stem, prefix.parent) for stem in SPEC.words["figures"]]
        said = {"table": self.claims, "about": SPEC.words["about"], "report": self.report, "experiments": experiments}
        page = FORMS.get_template("index.html.j2").render(figures=[each for each in figures if each], **said)
        return [write(prefix, ".html", page), *self.claims.write(prefix.with_name("headline"))]


def _title(caption: Path) -> str:
    """What a caption begins with in bold."""
    found = re.match(r"\*\*(.+?)\*\*", caption.read_text(encoding="utf-8"))
    return re.sub(r"\\(.)", r"\1", found[1]) if found else caption.name.removesuffix(CAPTION)


def _links(caption: Path, start: Path) -> dict[str, str]:
    stem = caption.name.removesuffix(CAPTION)
    files = {form: caption.with_name(stem + suffix) for suffix, form in FORM.items()}
    return {form: Path(relpath(path, start)).as_posix() for form, path in files.items() if path.is_file()}


def _figure(stem: Path, start: Path) -> dict[str, str] | None:
    """A figure with its picture in it; None where it was not drawn."""
    image, caption = stem.with_suffix(".png"), stem.with_name(stem.name + CAPTION)
    if not image.is_file() or not caption.is_file():
        return None
    links = {"link": relpath(stem.with_suffix(".svg"), start), "caption": relpath(caption, start)}
    return links | {"title": _title(caption), "image": b64encode(image.read_bytes()).decode()}


def make(inputs: Inputs) -> Index:
    """The page of drawn folders: claims from the last that has their table, links to those of the last."""
    folders: Sequence[Path] = inputs.arguments.figures
    return Index(build(folders, inputs.folder), folders[-1], inputs.arguments.report)
