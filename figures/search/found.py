"""Found sets against the published ones that they should undercut: both run in one group, so times are comparable.

A found set dominates when it sends no more, answers no later and is better by a tenth in at least one of the three.
Later is what the spread of both shows: its first quartile is above the published set's third.
"""

from itertools import groupby
from typing import Any

import pandas as pd
from pirlab_estimator.search.saved import WORTH

from ..lib.cells import quartiles
from ..lib.frame import dicts, status_text
from ..lib.marks import footnotes, provenance
from ..lib.spec import spec
from ..lib.table import Cell, Table
from ..lib.units import has

FOUND, PUBLISHED = "-found", "-published"


def _predicted(row: dict[str, Any]) -> float | None:
    return row["seconds"].get("answer") if isinstance(row["seconds"], dict) else None


def compared(found: dict[str, Any], published: dict[str, Any]) -> dict[str, Any]:
    """Shares saved, and whether the found set dominates, from two joined records of one group."""
    if found["status"] != "ok" or published["status"] != "ok":
        return {"verdict": "not both measured"}
    saved = {
        name: 1 - found[column] / published[column]
        for name, column in (("upload", "upload_bytes"), ("download", "download_bytes"), ("answer", "answer_s"))
    }
    more = [name for name in ("upload", "download") if saved[name] < 0]
    if found["answer_q1_s"] > published["answer_q3_s"]:
        more.append("answer")
    if more:
        verdict = "; ".join(f"{name} {-100 * saved[name]:.1f} % more" for name in more)
    elif round(max(saved.values()), 9) < WORTH:
        verdict = f"saves less than {100 * WORTH:.0f} %"
    else:
        verdict = "dominates"
    own, other = _predicted(found), _predicted(published)
    promised = 1 - own / other if own is not None and other else None
    return {f"saved_{name}": share for name, share in saved.items()} | {
        "saved_predicted_answer": promised,
        "verdict": verdict,
    }


def _percent(share: Any) -> str:
    return f"{100 * share:.0f} %" if has(share) else "–"


def _saved(row: dict[str, Any]) -> Cell:
    if not row.get("verdict"):
        return Cell()
    shares = [_percent(row.get(f"saved_{name}")) for name in ("upload", "download", "answer")]
    return Cell(f"{', '.join(shares)} ({_percent(row.get('saved_predicted_answer'))})")


SPEC = spec("search/found", quartiles=lambda row: Cell(quartiles(row).text), saved=_saved)


def build(joined: pd.DataFrame) -> Table:
    """The table from joined records whose rows end in -published and -found; a pair stands together."""
    source = [r for r in dicts(joined) if str(r["row"]).endswith((FOUND, PUBLISHED))]

    def pair(row: dict[str, Any]) -> tuple[float, int, str]:
        size = row["records"] * row["record_bits"]
        return size, row["record_bits"], str(row["row"]).removesuffix(FOUND).removesuffix(PUBLISHED)

    source.sort(key=lambda row: (pair(row), str(row["row"]).endswith(FOUND)))
    rows, data = [], []
    for (_, _, name), both in groupby(source, key=pair):
        members = list(both)
        if len(members) == 2:
            members[1] = members[1] | compared(members[1], members[0])
        for row in members:
            role = "found" if str(row["row"]).endswith(FOUND) else "published"
            row |= {"record_id": row["id"], "pair": name, "role": role, "predicted_answer_s": _predicted(row)}
            rows.append(SPEC.row(row, row["id"], status_text(row)))
            data.append(row)
    won = sum(each.get("verdict") == "dominates" for each in data)
    pairs = sum(each["role"] == "found" for each in data)
    said = {"won": won, "pairs": pairs, "worth": f"{100 * WORTH:.0f} %", "provenance": provenance(source)}
    return SPEC.table(rows, data, footnotes(source), **said)
