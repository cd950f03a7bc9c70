"""`python experiments/printed_index.py`: which file of params/ is which printed column of the InsPIRe paper, as the
index in docs/parameters.md holds it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from math import log2
from typing import Any

from pirlab_estimator.security.assess import predict_security, weakest
from pirlab_figures.inspire.table1 import power_text
from pirlab_figures.lib.paper import WITH_LAYOUTS
from pirlab_figures.lib.protocols import protocol_name
from pirlab_figures.lib.units import KIB
from printed_columns import APPLICATIONS, STANDING, Index, Line, entries, gigabytes

#: Table 1's parameters as the index calls them, where it has a sign for them.
SIGNS = {"sigma_chi": "σ", "z_ks": "z", "z_gsw": "z"}


def table(head: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    """In Markdown."""
    head = list(head)
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *lines])


def groups(lines: Iterable[Line], key: Callable[[Line], Any]) -> list[list[Line]]:
    """Lines with one key together, in its order."""
    found = defaultdict(list)
    for line in lines:
        found[key(line)].append(line)
    return [found[each] for each in sorted(found)]


def file(index: Index, line: Line) -> list[str]:
    """A line's file, and its kind with what is not as printed."""
    column, ours, parts = line.column, line.ours, [index.kind(line.name)]
    if column.table not in APPLICATIONS:
        changed = {SIGNS.get(key, key): own for key, (own, _) in index.differences(line.name).items()}
        parts += [f"{key} = {power_text(value)}" for key, value in changed.items()]
    if column.protocol in WITH_LAYOUTS and column.layout.first not in (None, ours.layout.first):
        parts.append(f"N/t = {ours.layout.first}")
    size = ours.described["total_comm"]
    if column.table in APPLICATIONS and column.unequal("total_comm", size):
        parts.append(f"{size / KIB:.1f} KB for {column.values['total_comm'] / KIB:.0f}")
    return [f"`{line.name}`", ", ".join(parts)]


def lattice(index: Index) -> str:
    """Table 1: sets by what they have instead of the printed parameters."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    printed = {column.protocol for column in index.printed("1")}
    for name in dict.fromkeys(line.name for line in index.lines if "d" not in line.column.config):
        protocol = name.split("/")[0]
        texts = {
            f"{SIGNS.get(key, key)} = {power_text(own)} for {power_text(paper)}"
            for key, (own, paper) in index.differences(name).items()
        }
        if protocol in printed:
            found[protocol, ", ".join(sorted(texts)) or "nothing"].append(f"`{name}`")
    lines = [
        (protocol_name(protocol), ", ".join(names) if len(names) < 3 else f"{len(names)} files", text)
        for (protocol, text), names in found.items()
    ]
    return table(("protocol", "files", "not as printed"), lines)


def single(index: Index) -> str:
    """Protocols with one layout of a database."""
    own = groups((line for line in index.lines if line.column.protocol not in WITH_LAYOUTS), lambda line: line.name)
    lines = [(protocol_name(line.column.protocol), index.location(line.name), *file(index, line)) for line, *_ in own]
    return table(("protocol", "columns", "file", "kind"), lines)


def squared(index: Index) -> str:
    """InsPIRe^(2): a line a set."""
    own, lines = [line for line in index.lines if line.column.protocol == "inspire2"], []
    for found in groups(own, lambda line: (line.column.layout.gammas, index.sets[line.name]["rows_factor"])):
        columns, document = [line.column for line in found], index.sets[found[0].name]
        exact = [column for column in columns if column.table == "8"]
        first = ", ".join(str(column.layout.first) for column in exact)
        databases = [", ".join(gigabytes(c for c in columns if c.table == number)) for number in ("8", "2", "3")]
        numbers = (str(document["gamma0"]), entries(exact), str(document["rows_factor"]))
        lines.append((*numbers, *databases, first, *file(index, found[0])))
    head = ("γ0 = γ2", "entry", "f", "GB in Table 8", "in 2", "in 3", "N/t in Table 8", "file", "kind")
    return table(head, lines)


def folded(index: Index) -> str:
    """InsPIRe: a line a database, layout and set."""
    lines = []

    def place(line: Line) -> tuple[Any, ...]:
        layout = line.column.layout
        return line.column.database_bits, layout.first, layout.degree, layout.answers, line.name

    own = [line for line in index.lines if line.column.protocol == "inspire" and line.column.layout.first]
    for found in groups(own, place):
        columns, layout = [line.column for line in found], found[0].column.layout
        exact = entries(column for column in columns if column.table == "9")
        tables = sorted({column.table for column in columns})
        shown = ", ".join(f"9 ({exact})" if number == "9" else number for number in tables)
        numbers = map(str, (layout.first, layout.degree, layout.answers))
        lines.append((*gigabytes(columns), *numbers, shown, *file(index, found[0])))
    return table(("GB", "N/t", "t", "answers", "tables", "file", "kind"), lines)


def packings(index: Index) -> str:
    """Table 5."""
    lines = []
    for column, rows in index.packings():
        ring, texts = ", ".join(column.config[key] for key in ("log2d", "log2q", "log2p")), []
        for row in rows:
            bits = round(sum(log2(prime) for prime in row.settings["primes"]))
            texts.append(f"`{row.id}`" + (f" (q of {bits} bits)" if bits != int(column.config["log2q"]) else ""))
        lines.append((protocol_name(column.protocol), ring, ", ".join(texts) or "none"))
    return table(("packing", "log2 d, q, p", "rows"), lines)


def applications(index: Index) -> str:
    """Tables 6 and 7."""
    lines = []
    for column in (column for column in index.columns if column.table in APPLICATIONS):
        step = column.config.get("step", "enrolment").replace("_", " ")
        files = [file(index, line) for line in index.lines if line.column is column] or [["none", ""]]
        lines += [(column.table, step, column.database, *each) for each in files]
    return table(("table", "step", "database", "file", "kind"), lines)


def others(index: Index, kinds: Sequence[str]) -> list[str]:
    """Sets of some kinds without a column."""
    taken = {line.name for line in index.lines}
    return [name for name in index.sets if name not in taken and index.kind(name) in kinds]


def columnless(index: Index) -> str:
    """Published and repaired sets without a column."""
    names = others(index, STANDING)
    return table(("file", "kind", "what"), [(f"`{n}`", index.kind(n), index.sets[n]["title"]) for n in names])


def bits(index: Index, name: str) -> float:
    """Security of a set, as recorded; zero without a figure."""
    return weakest(predict_security([index.described(name)], "recorded")[0]) or 0


def ours(index: Index) -> str:
    """Sets that no paper has."""
    names = others(index, ("own",))
    return table(("file", "bits", "what"), [(f"`{n}`", f"{bits(index, n):.1f}", index.sets[n]["title"]) for n in names])


SECTIONS = {
    "**Table 1**, lattice parameters:": lattice,
    "**Tables 2 to 4**, protocols with one layout of a database:": single,
    "**Tables 2, 3 and 8**, InsPIRe^(2), γ1 = 1024:": squared,
    "**Tables 2, 3, 4 and 9**, InsPIRe:": folded,
    "**Table 5**, rows of `experiments/inspire/table5.toml`, since a packing is no set of `params/`:": packings,
    "**Tables 6 and 7**, InsPIRe:": applications,
    "**Published or repaired, without a column**:": columnless,
    "**Ours**:": ours,
}


def markdown(index: Index) -> str:
    """The index."""
    return "\n\n".join(f"{head}\n\n{write(index)}" for head, write in SECTIONS.items())


if __name__ == "__main__":
    print(markdown(Index()))
