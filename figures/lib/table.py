"""Tables: one description, four forms (CSV, Markdown, LaTeX, HTML), and a caption.

The CSV carries raw base units and the record id of each row; the other forms carry the presentation cells.
"""

import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from .data import data
from .marks import EVERY, Mark
from .output import csv_text, rst_escape, write
from .protocols import MACROS, PROTOCOLS

NUMBER = re.compile(r"-?\d+(\.\d+)?")
SHORT = 8
"""Characters of a record's id that tell it from all others on a page."""
TEX_SPECIAL: dict[str, str] = data("lib")["tex"]
TEX_SYMBOL = {mark.symbol: mark.tex for mark in EVERY}
FORMS = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    undefined=StrictUndefined,
    trim_blocks=True,
    block_start_string="[%",
    block_end_string="%]",
    variable_start_string="[[",
    variable_end_string="]]",
    comment_start_string="[#",
    comment_end_string="#]",
)
"""The templates of Markdown, LaTeX and HTML. LaTeX has braces of its own."""


@cache
def tex_escape(text: str) -> str:
    """Plain text as LaTeX; powers such as `2^22` become mathematics."""
    out = []
    for part in re.split(r"(\b2\^-?\d+(?:\.\d+)?)", text):
        power = re.fullmatch(r"2\^(-?\d+(?:\.\d+)?)", part)
        out.append(f"$2^{{{power[1]}}}$" if power else "".join(TEX_SPECIAL.get(c) or _symbol(c) for c in part))
    return "".join(out)


def _symbol(character: str) -> str:
    """A footnote's symbol as mathematics; ASCII characters stay, although `?` is a mark too."""
    tex = None if character.isascii() else TEX_SYMBOL.get(character)
    return f"${tex}$" if tex else character


TEX_SCRIPTS = {tex_escape(protocol.name): protocol.tex for protocol in PROTOCOLS.values() if protocol.tex}
HTML_SCRIPTS = {html.escape(protocol.name): protocol.html for protocol in PROTOCOLS.values() if protocol.html}


@cache
def tex_text(text: str) -> str:
    """Plain text as LaTeX, with a macro for each protocol's name and a sign between the sides of a database."""
    tex = re.sub(r"(\$2\^\{\d+\}\$|\b\d+) x (?=\d)", r"\1 $\\times$ ", tex_escape(text))
    for plain, script in TEX_SCRIPTS.items():
        tex = tex.replace(plain, script)
    for name in MACROS:
        tex = re.sub(rf"\b{name}\b", rf"\\{name}{{}}", tex)
    return tex


@cache
def html_text(text: str) -> str:
    """Plain text as HTML, with powers and the scripts of protocols' names raised or lowered."""
    text = re.sub(r"\b2\^(-?[\d.]*\d)", r"2<sup>\1</sup>", html.escape(text))
    for plain, script in HTML_SCRIPTS.items():
        text = text.replace(plain, script)
    return text


FORMS.filters |= {"escape": html.escape, "repr": repr}
FORMS.filters |= {each.__name__: each for each in (html_text, tex_escape, tex_text)}


@dataclass(frozen=True)
class Cell:
    """A presentation cell: its text, the marks that stand at it, and the value by which it sorts."""

    text: str = ""
    marks: str = ""
    sort: float | None = None

    def markdown(self) -> str:
        """The cell in Markdown, with its pipes escaped."""
        return self.text.replace("|", "\\|") + self.marks

    def tex(self) -> str:
        r"""The cell in LaTeX: a number inside \num, any other text escaped."""
        body = rf"\num{{{self.text}}}" if NUMBER.fullmatch(self.text) else tex_text(self.text)
        marks = ",".join(TEX_SYMBOL.get(c, c) for c in self.marks)
        return body + (f"$^{{{marks}}}$" if marks else "")

    def html(self) -> str:
        """The cell in HTML."""
        marks = f"<sup>{html.escape(self.marks)}</sup>" if self.marks else ""
        return html_text(self.text) + marks


Maker = Callable[[Any], Cell]
"""Makes a cell from what a table's row is made of."""


@dataclass(frozen=True)
class Column:
    """A column: key, header lines (name, unit), whether it is text (left) or number (right), and what makes its cells.

    cell: None where a table makes the column's cells itself.
    """

    key: str
    header: str
    unit: str = ""
    text: bool = False
    cell: Maker | None = None


@dataclass
class Row:
    """Cells by column key, and the ids of the records they are of, with spaces between; a row without a number says why
    in `status` instead, from column `status_from` on."""

    cells: Mapping[str, Cell]
    record_id: str = ""
    status: str | None = None

    def short_ids(self) -> str:
        """The beginnings of its records' ids, as Markdown."""
        return " ".join(f"`{each[:SHORT]}`" for each in self.record_id.split())


def footnotes_of(
    rows: Sequence[Row], known: Iterable[tuple[Mark, str]] = (), meanings: Mapping[str, str] | None = None
) -> list[tuple[Mark, str]]:
    """The footnotes of rows: the known ones, which have figures, then those of all other marks that stand at cells."""
    used = {symbol for row in rows for cell in row.cells.values() for symbol in cell.marks}
    found, meanings = list(known), meanings or {}
    used -= {mark.symbol for mark, _ in found}
    return found + [(mark, meanings.get(mark.key, mark.meaning)) for mark in EVERY if mark.symbol in used]


@dataclass
class Table:
    """A table ready to be written."""

    title: str
    columns: list[Column]
    rows: list[Row]
    data: pd.DataFrame
    footnotes: list[tuple[Mark, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    status_from: str | None = None

    def shown(self, row: Row) -> list[tuple[Column, Cell]]:
        """The cells that a row shows, with their columns: those before its status, if it has one."""
        keys = [column.key for column in self.columns]
        kept = self.columns[: keys.index(self.status_from)] if row.status and self.status_from else self.columns
        return [(column, row.cells.get(column.key, Cell())) for column in kept]

    def hidden(self, row: Row) -> int:
        """The columns in whose place a row's status stands."""
        return len(self.columns) - len(self.shown(row))

    @property
    def has_records(self) -> bool:
        """Whether any row is of a record; Markdown then has a column of them."""
        return any(row.record_id for row in self.rows)

    @property
    def all_notes(self) -> list[str]:
        """Footnotes and notes, a sentence or more each."""
        return [f"{mark.symbol} {text}." for mark, text in self.footnotes] + self.notes

    def first(self, row: Row) -> str:
        """The text of a row's first cell: LaTeX shows it once of several rows that begin alike."""
        return row.cells.get(self.columns[0].key, Cell()).text

    def form(self, suffix: str) -> str:
        """The table in a form that has a template."""
        return FORMS.get_template(f"table{suffix}.j2").render(table=self, macros=MACROS).rstrip() + "\n"

    def markdown(self) -> str:
        """The table in Markdown with its notes."""
        return self.form(".md")

    def tex(self) -> str:
        """A fragment to \\input: needs booktabs; uses siunitx where it is loaded."""
        return self.form(".tex")

    def html(self) -> str:
        """One self-contained page: the table, sortable by a click on a header, without network."""
        return self.form(".html")

    def caption(self) -> str:
        """The caption for the report, as reStructuredText."""
        return "\n\n".join([f"**{rst_escape(self.title)}**", *map(rst_escape, self.all_notes)]) + "\n"

    def write(self, prefix: Path) -> list[Path]:
        """Write `prefix` .csv .md .tex .html .caption.rst and return the paths."""
        forms = {
            ".csv": csv_text(self.data),
            **{suffix: self.form(suffix) for suffix in (".md", ".tex", ".html")},
            ".caption.rst": self.caption(),
        }
        return [write(prefix, suffix, text) for suffix, text in forms.items()]
