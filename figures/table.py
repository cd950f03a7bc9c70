"""Tables: one description, four forms (CSV, Markdown, LaTeX, HTML), and a caption.

The CSV carries raw base units and the record id of each row; the other forms carry the presentation cells.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from .marks import CELL_MARKS, MARKS, Mark
from .output import rst_escape, write_text

NUMBER = re.compile(r"-?\d+(\.\d+)?")
TEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "—": "---",
    "µ": r"\textmu{}",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "→": r"$\rightarrow$",
    "·": r"$\cdot$",
    "ℓ": r"$\ell$",
    "∞": r"$\infty$",
    "γ": r"$\gamma$",
    "²": "$^2$",
    "₁": "$_1$",
    "₂": "$_2$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}
TEX_SYMBOL = {mark.symbol: mark.tex for mark in (*MARKS, *CELL_MARKS)}
TEX_MACROS = (
    "SimplePIR",
    "DoublePIR",
    "Pirouette",
    "Respire",
    "Spiral",
    "YPIR",
    "SimpleYPIR",
    "InsPIRe",
    "InspiRING",
    "KSPIR",
    "HintlessPIR",
)
TEX_SCRIPTS = {r"InsPIRe\_0": "InsPIRe$_0$", r"InsPIRe\textasciicircum{}(2)": "InsPIRe$^{(2)}$"}
SORT_SCRIPT = """
document.querySelectorAll('th').forEach((th, i) => th.onclick = () => {
  const body = th.closest('table').tBodies[0], dir = th.dir = th.dir === 1 ? -1 : 1;
  const key = row => { const c = row.cells[i], n = parseFloat(c.dataset.sort); return isNaN(n) ? c.innerText : n; };
  [...body.rows].sort((a, b) => { const x = key(a), y = key(b);
    return dir * (typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y))); })
    .forEach(row => body.append(row));
});
"""
STYLE_SHEET = (
    "body{font:14px/1.4 system-ui,sans-serif;margin:2em}table{border-collapse:collapse}"
    "th,td{padding:.25em .7em;text-align:right;white-space:nowrap}th{cursor:pointer;border-bottom:1px solid;"
    "vertical-align:bottom}tr:nth-child(even){background:#f4f4f4}.l{text-align:left}.status{color:#a00;font-style:italic;"
    "white-space:normal;text-align:left;max-width:34em}p.note{max-width:70em;margin:.3em 0}"
)


def tex_escape(text: str) -> str:
    """Plain text as LaTeX; powers such as `2^22` become mathematics."""
    parts = re.split(r"(\b2\^-?\d+(?:\.\d+)?)", text)
    out = []
    for part in parts:
        power = re.fullmatch(r"2\^(-?\d+(?:\.\d+)?)", part)
        out.append(f"$2^{{{power[1]}}}$" if power else "".join(TEX_SPECIAL.get(c) or _symbol(c) for c in part))
    return "".join(out)


def html_text(text: str) -> str:
    """Plain text as HTML, powers and scripts of protocols' names raised or lowered."""
    text = re.sub(r"\b2\^(-?[\d.]*\d)", r"2<sup>\1</sup>", html.escape(text))
    return text.replace("InsPIRe_0", "InsPIRe<sub>0</sub>").replace("InsPIRe^(2)", "InsPIRe<sup>(2)</sup>")


def _symbol(character: str) -> str:
    """A footnote symbol inside running text, any other character (also `?`, a mark and a plain one) as it is."""
    tex = None if character.isascii() else TEX_SYMBOL.get(character)
    return f"${tex}$" if tex else character


@dataclass(frozen=True)
class Column:
    """A column: CSV-like key, header lines (name, unit), and whether it is text (left) or number (right)."""

    key: str
    header: str
    unit: str = ""
    text: bool = False


@dataclass(frozen=True)
class Cell:
    """A presentation cell: text, the marks standing at it, the value it sorts by."""

    text: str = ""
    marks: str = ""
    sort: float | None = None

    def markdown(self) -> str:
        """For Markdown: the pipe escaped, the caret kept."""
        return self.text.replace("|", "\\|") + self.marks

    def tex(self) -> str:
        r"""For LaTeX: numbers inside \num, protocol names as macros, the rest escaped."""
        body = rf"\num{{{self.text}}}" if NUMBER.fullmatch(self.text) else _macros(tex_escape(self.text))
        marks = ",".join(TEX_SYMBOL.get(c, c) for c in self.marks)
        return body + (f"$^{{{marks}}}$" if marks else "")

    def html(self) -> str:
        """For HTML."""
        marks = f"<sup>{html.escape(self.marks)}</sup>" if self.marks else ""
        return html_text(self.text) + marks


def _macros(tex: str) -> str:
    tex = re.sub(r"(\$2\^\{\d+\}\$|\b\d+) x (?=\d)", r"\1 $\\times$ ", tex)
    for plain, script in TEX_SCRIPTS.items():
        tex = tex.replace(plain, script)
    for name in TEX_MACROS:
        tex = re.sub(rf"\b{name}\b", rf"\\{name}{{}}", tex)
    return tex


@dataclass
class Row:
    """Cells by column key; a row without a number says why in `status` instead, from column `status_from` on."""

    cells: dict[str, Cell]
    record_id: str = ""
    status: str | None = None


@dataclass
class Table:
    """A table ready to be written."""

    title: str
    columns: list[Column]
    rows: list[Row]
    data: pd.DataFrame
    footnotes: list[tuple[Mark, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    label: str = "pirlab"
    status_from: str | None = None

    def _split(self) -> int:
        """Number of leading columns a row with a status still fills."""
        keys = [c.key for c in self.columns]
        return keys.index(self.status_from) if self.status_from else len(keys)

    def markdown(self) -> str:
        """The table in Markdown with its notes."""
        heads = [f"{c.header} ({c.unit})" if c.unit else c.header for c in self.columns]
        lines = [f"**{self.title}**", "", "| " + " | ".join(heads) + " |"]
        lines.append("|" + "|".join(":---" if c.text else "---:" for c in self.columns) + "|")
        for row in self.rows:
            cells = [row.cells.get(c.key, Cell()).markdown() for c in self.columns]
            if row.status:
                keep = self._split()
                cells = cells[:keep] + [f"*{row.status}*".replace("|", "\\|")] + [""] * (len(cells) - keep - 1)
            lines.append("| " + " | ".join(cells) + " |")
        lines += [""] + [f"{mark.symbol} {text}.  " for mark, text in self.footnotes]
        return "\n".join(lines + [f"{note}  " for note in self.notes]).rstrip() + "\n"

    def tex(self) -> str:
        """A fragment to \\input: needs booktabs; uses siunitx where it is loaded."""
        align = "".join("l" if c.text else "r" for c in self.columns)
        lines = [
            "% Generated by pirlab_figures. Needs booktabs; numbers use siunitx's \\num when siunitx is loaded.",
            r"\providecommand{\num}[1]{#1}",
            *[rf"\providecommand{{\{name}}}{{\textsf{{{name}}}}}" for name in TEX_MACROS],
            rf"\begin{{tabular}}{{@{{}}{align}@{{}}}}",
            r"\toprule",
            " & ".join(tex_escape(c.header) for c in self.columns) + r" \\",
        ]
        if any(c.unit for c in self.columns):
            lines.append(" & ".join(tex_escape(c.unit) for c in self.columns) + r" \\")
        lines.append(r"\midrule")
        previous = None
        for row in self.rows:
            first = row.cells.get(self.columns[0].key, Cell())
            if previous is not None and first.text != previous:
                lines.append(r"\addlinespace")
            cells = [row.cells.get(c.key, Cell()).tex() for c in self.columns]
            if first.text == previous:
                cells[0] = ""
            previous = first.text
            if row.status:
                keep = self._split()
                span = len(cells) - keep
                reason = rf"\multicolumn{{{span}}}{{l@{{}}}}{{\emph{{{tex_escape(row.status)}}}}}"
                cells = [*cells[:keep], reason]
            lines.append(" & ".join(cells) + r" \\")
        lines += [r"\bottomrule", r"\end{tabular}"]
        for mark, text in self.footnotes:
            lines.append(rf"\par\smallskip\footnotesize $^{{{mark.tex}}}$ {_macros(tex_escape(text))}.")
        for note in self.notes:
            lines.append(rf"\par\smallskip\footnotesize {_macros(tex_escape(note))}")
        return "\n".join(lines) + "\n"

    def html(self) -> str:
        """One self-contained page: the table, sortable by a click on a header, without network."""
        heads = "".join(
            f"<th{' class=l' if c.text else ''}>{html.escape(c.header)}"
            + (f"<br><small>{html.escape(c.unit)}</small>" if c.unit else "")
            + "</th>"
            for c in self.columns
        )
        body = []
        for row in self.rows:
            keep = self._split() if row.status else len(self.columns)
            cells = []
            for column in self.columns[:keep]:
                cell = row.cells.get(column.key, Cell())
                sort = "" if cell.sort is None else f' data-sort="{cell.sort!r}"'
                cells.append(f"<td{' class=l' if column.text else ''}{sort}>{cell.html()}</td>")
            if row.status:
                span = len(self.columns) - keep
                cells.append(f'<td class=status colspan="{span}">{html.escape(row.status)}</td>')
            title = f' title="record {html.escape(row.record_id)}"' if row.record_id else ""
            body.append(f"<tr{title}>{''.join(cells)}</tr>")
        notes = [f"{mark.symbol} {text}." for mark, text in self.footnotes] + self.notes
        return (
            f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{html.escape(self.title)}</title>\n'
            f"<style>{STYLE_SHEET}</style>\n<h1>{html_text(self.title)}</h1>\n"
            f"<table><thead><tr>{heads}</tr></thead><tbody>\n"
            + "\n".join(body)
            + "\n</tbody></table>\n"
            + "\n".join(f"<p class=note>{html_text(note)}</p>" for note in notes)
            + f"\n<script>{SORT_SCRIPT}</script></html>\n"
        )

    def caption(self) -> str:
        """The caption for the report, as reStructuredText."""
        notes = [f"{mark.symbol} {text}." for mark, text in self.footnotes] + self.notes
        return "\n\n".join([f"**{rst_escape(self.title)}**", *map(rst_escape, notes)]) + "\n"

    def write(self, prefix: Path) -> list[Path]:
        """Writes `prefix` .csv .md .tex .html .caption.rst and returns the paths."""
        forms = {
            ".csv": self.data.to_csv(index=False, lineterminator="\n"),
            ".md": self.markdown(),
            ".tex": self.tex(),
            ".html": self.html(),
            ".caption.rst": self.caption(),
        }
        return [write_text(prefix, suffix, text) for suffix, text in forms.items()]
