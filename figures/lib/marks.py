"""Marks: what a reader must know about a number before trusting it, as a symbol at the row and a footnote below.

The rules are DESIGN's: security or failure below the target, security unknown, stale, streamed or scaled, seeded keys,
uncommitted sources. A mark never hides a number and never stands without its footnote, which carries the figure.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pirlab_estimator.noise import FAILURE_TARGET
from pirlab_estimator.security.attacks import SECURITY_TARGET, bits_text, entry_text

from .data import data
from .protocols import protocol_name, series_name
from .units import has, shape_text

SPREAD_LIMIT = 0.10
WITHOUT = {"bdd_hybrid": "ʰ", "bdd_mitm_hybrid": "ᵐ"}
"""Symbols of attacks that are not always asked for, or do not always end."""
NAMED = 3
ASSUMED = "a bound under the assumptions of docs/noise.md"
"""The remark that tables make on every figure for any database."""
PREDICTED = "predicted"
"""The status of a row that was not measured but predicted, and its mark."""
MISSED = frozenset({"insecure", "failing"})
"""The marks of sets that miss their targets."""
DEFAULT_SECURITY_TARGET = SECURITY_TARGET
DEFAULT_FAILURE_TARGET = round(FAILURE_TARGET)


@dataclass(frozen=True)
class Mark:
    """A symbol, its LaTeX form and what it says."""

    key: str
    symbol: str
    tex: str
    meaning: str


EVERY = [Mark(**each) for each in data("lib")["marks"]]
SYMBOLS = {mark.key: mark.symbol for mark in EVERY}
MEANINGS = {mark.key: mark.meaning for mark in EVERY}


def security_target(row: dict[str, Any]) -> float:
    """The target bits of a row's set."""
    return row["security_target"] if has(row.get("security_target")) else DEFAULT_SECURITY_TARGET


def failure_target(row: dict[str, Any]) -> float:
    """log2 of the failure target of a row's set."""
    return row["failure_target"] if has(row.get("failure_target")) else DEFAULT_FAILURE_TARGET


def insecure(row: dict[str, Any]) -> bool:
    """True if the set's estimated security is known and below its target."""
    return has(row.get("security_bits")) and row["security_bits"] < security_target(row)


def unknown(row: dict[str, Any]) -> bool:
    """True if the security of the row's set is not known; a primitive claims none."""
    return row.get("kind") != "primitive" and not has(row.get("security_bits"))


def unconfirmed(row: dict[str, Any]) -> bool:
    """True if a figure that the set's security rests on is the fast model's alone."""
    return any(entry.get("source") == "fast_only" for entry in row.get("security") or [])


def failing(row: dict[str, Any]) -> bool:
    """True if the failure bound (any database) is known and above its target."""
    return has(row.get("failure_log2")) and row["failure_log2"] > failure_target(row)


def predicted(row: dict[str, Any]) -> bool:
    """True if nothing of the row was measured: its seconds are the cost model's, its sizes the description's."""
    return bool(row.get("status") == PREDICTED)


def of_value(row: dict[str, Any], size: bool) -> str:
    """The symbol at a number of a predicted row."""
    return SYMBOLS["described" if size else PREDICTED] if predicted(row) else ""


RULES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "insecure": insecure,
    "unknown": unknown,
    "unconfirmed": unconfirmed,
    "failing": failing,
    "stale": lambda row: row.get("stale"),
    "streamed": lambda row: row.get("streamed"),
    "seeded": lambda row: row.get("seeded"),
    "dirty": lambda row: row.get("dirty"),
    "spread": lambda row: (
        has(row.get("answer_s")) and row["answer_q3_s"] - row["answer_q1_s"] > SPREAD_LIMIT * row["answer_s"]
    ),
    "predicted": predicted,
}
"""When a row has a mark; all others stand at single cells: a record alone does not decide them."""
MARKS = tuple(mark for mark in EVERY if mark.key in RULES)


def marks_of(row: dict[str, Any]) -> list[str]:
    """Keys of the marks of one joined row (`frame.join`), in the order of `MARKS`."""
    return [key for key, holds in RULES.items() if holds(row)]


def symbols(keys: Iterable[str]) -> str:
    """Symbols of mark keys, e.g. `†§`."""
    return "".join(SYMBOLS[key] for key in keys)


def superscripts(keys: Iterable[str]) -> str:
    """The same in mathtext: fonts of figures lack some of the symbols."""
    raised = " ".join(mark.tex for key in keys for mark in EVERY if mark.key == key)
    return f"$^{{{raised}}}$" if raised else ""


def _figures(key: str, rows: list[dict[str, Any]]) -> str:
    """The figures that a footnote carries: one a parameter set, in order of appearance, or one a date of stale rows."""
    if key == "insecure":
        return _per_set({name: f"{bits_text(bits)} bit" for name, bits in _extreme(rows, "security_bits", min).items()})
    if key in ("unknown", "unconfirmed"):
        return _per_set({(row["protocol"], row["set"]): "" for row in rows})
    if key == "failing":
        return _per_set({name: f"up to 2^{log2:.1f}" for name, log2 in _extreme(rows, "failure_log2", max).items()})
    if key == "stale":
        dates = Counter(row["stale"] for row in rows)
        return "; ".join(f"{count} measured on {date}" for date, count in sorted(dates.items()))
    if key == "spread":
        items = []
        for row in rows:
            share = (row["answer_q3_s"] - row["answer_q1_s"]) / row["answer_s"]
            place = shape_text(row["records"], row["record_bits"])
            items.append(f"{series_name(row['protocol'], row['set'])} at {place}: {100 * share:.0f} %")
        return "; ".join(items)
    return "; ".join(dict.fromkeys(row["error"] for row in rows if row["error"])) if key == PREDICTED else ""


def _extreme(rows: list[dict[str, Any]], key: str, choose: Callable[[float, float], float]) -> dict[Any, float]:
    """The least or largest value of each (protocol, set)."""
    found: dict[Any, float] = {}
    for row in rows:
        name = (row["protocol"], row["set"])
        found[name] = choose(found[name], row[key]) if name in found else row[key]
    return found


def _per_set(figures: dict[tuple[str, str], str]) -> str:
    """Figures by (protocol, set); where more than NAMED sets of a protocol have the same one, only their number."""
    alike: dict[tuple[str, str], list[str]] = {}
    for (protocol, name), figure in figures.items():
        alike.setdefault((protocol, figure), []).append(name)
    parts = []
    for (protocol, figure), names in alike.items():
        if len(names) > NAMED:
            parts.append(f"{len(names)} sets of {protocol_name(protocol)} {figure}".rstrip())
        else:
            parts += [f"{series_name(protocol, name)} {figure}".rstrip() for name in names]
    return "; ".join(parts)


def footnotes(rows: list[dict[str, Any]]) -> list[tuple[Mark, str]]:
    """The footnotes that joined rows need: each mark present, with its meaning and figures."""
    notes = []
    for mark in MARKS:
        hit = [row for row in rows if mark.key in marks_of(row)]
        if not hit:
            continue
        meaning = mark.meaning
        if mark.key == "insecure":
            meaning = f"below {security_target(hit[0]):.0f}-bit security"
        if mark.key == "failing":
            meaning = f"failure bound above 2^{failure_target(hit[0]):.0f}"
        if mark.key == "stale" and any(row.get("borrowed") for row in hit):
            meaning += "; where the parameter file changed too, failure is that of today's file"
        figures = _figures(mark.key, hit)
        notes.append((mark, f"{meaning} ({figures})" if figures else meaning))
    return notes


def mark_notes(rows: list[dict[str, Any]], crossed: str = "") -> list[str]:
    """The footnotes as paragraphs of a caption. crossed: what a figure adds to that of stale rows."""
    return [f"{mark.symbol} {text}{crossed if mark.key == 'stale' else ''}." for mark, text in footnotes(rows)]


def weakest(rows: list[dict[str, Any]]) -> str:
    """The weakest key or ciphertext of the sets that reach their target, and the attacks that lack a figure of any set.

    Empty where no set reaches its target."""
    found: dict[str, tuple[float, str, dict[str, Any]]] = {}
    lacking: set[str] = set()
    for row in rows:
        entries = row.get("security") or []
        lacking.update(*(entry.get("without", ()) for entry in entries))
        if entries and all(entry.get("bits") is not None for entry in entries) and not insecure(row):
            name, entry = series_name(row["protocol"], row["set"]), min(entries, key=lambda entry: float(entry["bits"]))
            found[name] = float(entry["bits"]), name, entry
    if not found:
        return ""
    _, name, entry = min(found.values(), key=lambda each: each[:2])
    known = [str(entry[key]).replace("_", " ") for key in ("instance", "attack", "source") if entry[key]]
    text = (
        "Security is the least over every key and ciphertext an attacker sees and over the attacks that ran; of the "
        f"sets that reach their target, {name} has the least: {entry_text(entry)}{without_symbols(entry)} bits "
        f"({', '.join(known)})."
    )
    return f"{text} {without_text(lacking)}".rstrip()


def without_symbols(entry: dict[str, Any]) -> str:
    """The symbols of the attacks that apply to an instance and have no figure; they follow its least bits."""
    return "".join(symbol for attack, symbol in WITHOUT.items() if attack in entry.get("without", ()))


def without_text(attacks: set[str]) -> str:
    """One sentence: the attacks that apply where their symbol stands and have no figure; empty without any."""
    if not attacks:
        return ""
    named = [f"{WITHOUT.get(attack, '')} {attack.replace('_', ' ')}".strip() for attack in sorted(attacks)]
    return f"Without a figure, since not run or not ended: {', '.join(named)}."


def long_keys(rows: list[dict[str, Any]]) -> str:
    """One sentence: the part of each set's failure bound that comes from keys longer than the bound allows for.

    Empty where no bound leaves any out, or none says anything."""
    largest: dict[tuple[str, str], float] = {}
    for row in rows:
        name, stages = (row["protocol"], row["set"]), row.get("noise_stages")
        for stage in stages if isinstance(stages, list) else []:
            if (part := stage.get("log2_long_key")) is not None and part < 0:
                largest[name] = max(largest.get(name, float("-inf")), part)
    if not largest:
        return ""
    listed = _per_set({name: f"2^{part:.1f}" for name, part in largest.items()})
    return f"Failure bounds count keys that are longer than they allow for, once a key: {listed} of all keys are."


def provenance(rows: list[dict[str, Any]]) -> str:
    """The origin of the measured rows, with a caution if they do not belong together, the weakest of their sets that
    reach the target, and the long keys that failure bounds count; every table and figure of records carries it."""
    rows = [row for row in rows if row["status"] == "ok"]
    if not rows:
        return "No measured record."
    machines = sorted({str(row["cpu"] or "unknown CPU") for row in rows})
    kernels = sorted({str(row["kernel"] or "unknown") for row in rows})
    commits = sorted({str(row["commit"] or "unknown")[:10] for row in rows})
    threads = sorted({int(row["threads"]) for row in rows})
    repetitions = sorted({int(row["repetitions"]) for row in rows if has(row["repetitions"])})
    bandwidths = [row["read_bandwidth"] / 1e9 for row in rows if has(row["read_bandwidth"])]
    text = (
        f"Measured on {' and '.join(machines)}, kernel {'/'.join(kernels)}, {'/'.join(map(str, threads))} "
        f"{'thread' if threads == [1] else 'threads'}, commit {', '.join(commits)}; median of "
        f"{'/'.join(map(str, repetitions)) or 'an unknown number of'} repetitions"
    )
    if bandwidths:
        low, high = f"{min(bandwidths):.1f}", f"{max(bandwidths):.1f}"
        text += f"; probed single-core read bandwidth {low if low == high else f'{low} to {high}'} GB/s"
    text += "."
    if len(machines) > 1:
        text += " CAUTION: times of different machines stand side by side."
    sources = {(row["protocol"], row.get("source_hash")) for row in rows}
    if len(sources) > len({protocol for protocol, _ in sources}):
        text += " CAUTION: rows of a protocol were built from different sources."
    return " ".join(filter(None, (text, weakest(rows), long_keys(rows))))
