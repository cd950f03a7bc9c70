"""The words of tables and figures: the `specs.toml` of a folder has titles, columns and notes, which become a `Table`.

A column of a spec is the name of a shared one (lib/specs.toml) or has these keys:

    key, header, unit, text   as `Column`
    of                        the key of its values in a row, where it is not the column's own
    digits, scale, missing    of a number: three digits, the size of the unit and nothing, unless they say otherwise
    format                    how Python formats a value, in the scale of the column
    as                        seconds, or a rate as a power of two (`WRITTEN`)
    plain, spaced             the value as it is, or as it is with spaces for underscores (text is plain anyway)

Cells that are made of more than one value have a maker, which the table's module gives. `csv` lists the columns of the
data. A note or title may name words in braces that the module fills in; a note without text is left out. A spec has
what the spec `like` of its folder has, where it does not say otherwise itself.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from .cells import MAKERS, numbers, shown, spaced
from .data import data
from .marks import ASSUMED, Mark
from .output import caption_text
from .table import Cell, Column, Maker, Row, Table, footnotes_of
from .units import SCALES, human_seconds, power_text

WRITTEN: dict[str, Callable[[float], str]] = {"seconds": human_seconds, "power": power_text}


@dataclass(frozen=True)
class Spec:
    """An entry of a specs.toml."""

    title: str
    columns: list[Column] = field(default_factory=list)
    csv: str = ""
    notes: Sequence[str] = ()
    status_from: str | None = None
    words: dict[str, Any] = field(default_factory=dict)
    """All else that the entry says; its notes may name these as well."""

    def row(self, entry: Any, record_id: str = "", status: str | None = None) -> Row:
        """A row whose cells the columns make of an entry."""
        return Row({c.key: c.cell(entry) for c in self.columns if c.cell is not None}, record_id, status)

    def cells(self, values: Any, mark: str = "", other: Mapping[str, str] | None = None) -> dict[str, Cell]:
        """The cells of values, without the columns of `MAKERS`, whose cells need a whole row. mark: what stands at each
        cell that has text, except where `other` has another mark of the cell's column."""
        made = {c.key: c.cell(values) for c in self.columns if c.cell is not None and c.key not in MAKERS}
        marks = other or {}
        return {key: replace(cell, marks=marks.get(key, mark)) if cell.text else cell for key, cell in made.items()}

    def said(self, words: Mapping[str, Any]) -> list[str]:
        """The notes with their words filled in; a list in place of a note stands for several notes."""
        found: list[str] = []
        words = {**self.words, "assumed": ASSUMED, **words}
        for note in self.notes:
            word = words.get(note.strip("{}"))
            found += word if isinstance(word, list) else [note.format(**words)]
        return [note for note in found if note]

    def table(
        self,
        rows: list[Row],
        lines: pd.DataFrame | Sequence[Mapping[str, Any]],
        footnotes: Iterable[tuple[Mark, str]] = (),
        meanings: Mapping[str, str] | None = None,
        **words: Any,
    ) -> Table:
        """The table. lines: the lines of its CSV, or the whole CSV. footnotes: those with figures; the others follow
        from the marks at cells. meanings: what marks mean in this table, by key."""
        frame = lines if isinstance(lines, pd.DataFrame) else pd.DataFrame(lines, columns=self.keys)
        columns = [replace(column, header=column.header.format(**words)) for column in self.columns]
        title, notes = self.title.format(**words), self.said(words)
        return Table(title, columns, rows, frame, footnotes_of(rows, footnotes, meanings), notes, self.status_from)

    @property
    def keys(self) -> list[str]:
        """The columns of the CSV."""
        return self.csv.split()

    def caption(self, **words: Any) -> str:
        """The caption of a figure."""
        return caption_text(self.title.format(**words), *self.said(words))

    def wider(self, place: str, columns: Sequence[Column]) -> "Spec":
        """The same spec with more columns, which follow the column `place`."""
        at = [column.key for column in self.columns].index(place) + 1
        return replace(self, columns=[*self.columns[:at], *columns, *self.columns[at:]])


def spec(place: str, **makers: Maker) -> Spec:
    """The entry `folder/name`, with the makers of its columns by key."""
    folder, name = place.split("/")
    entry = dict(data(folder)[name])
    entry = data(folder).get(entry.pop("like", ""), {}) | entry
    columns = [_column(each, makers) for each in entry.pop("columns", ())]
    known = {key: entry.pop(key) for key in ("csv", "notes", "status_from") if key in entry}
    return Spec(entry.pop("title", ""), columns, words=entry, **known)


def _column(entry: str | dict[str, Any], makers: Mapping[str, Maker]) -> Column:
    if isinstance(entry, str):
        entry, makers = dict(data("lib")["columns"][entry]), {**MAKERS, **makers}
    head = {name: entry[name] for name in ("key", "header", "unit", "text") if name in entry}
    return Column(**head, cell=makers.get(entry["key"]) or _maker(entry))


def _maker(entry: Mapping[str, Any]) -> Maker:
    """The maker of the cells of a column that shows one value of a row."""
    key, missing = entry.get("of", entry["key"]), entry.get("missing", "")
    if "format" in entry:
        write = entry["format"].format
        return shown(key, (lambda value: write(value / entry["scale"])) if "scale" in entry else write, missing)
    if "as" in entry:
        return shown(key, WRITTEN[entry["as"]], missing)
    if entry.get("spaced"):
        return spaced(key)
    if entry.get("text") or entry.get("plain"):
        return lambda row: Cell("" if row.get(key) is None else str(row[key]))
    scale = entry.get("scale", SCALES.get(entry.get("unit", ""), 1))
    return numbers(key, scale, entry.get("digits", 3), missing)
