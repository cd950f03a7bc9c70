"""Right records of rows whose seconds are not kept: `python experiments/right_records.py EXPERIMENT RECORDS TABLE`.

Long rows that ran beside other work prove that records come back right and tell nothing of time. For each record
below the folder RECORDS a line of the CSV file TABLE says what was compared, by which sources and kernel; lines of
other rows stay.
"""

import csv
import sys
from io import StringIO
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "rules"))
from checking import PlanError, read_record
from pirlab_estimator.outputs import OutputError, protected, write
from sweep import ROOT, expand, read_profile

COLUMNS = ("group", "row", "database", "status", "compared", "right", "kernel", "commit", "record")


def line(record: dict[str, Any]) -> dict[str, str]:
    """What a record says of its records, without seconds."""
    values = (
        *(record["group"], record["row"], record["database"]["source"], record["status"]),
        *(record["correct"]["compared"], record["correct"]["right"]),
        *(record["build"]["kernel"], record["build"]["commit"], record["id"]),
    )
    return dict(zip(COLUMNS, map(str, values), strict=True))


def read(table: Path) -> dict[tuple[str, str], dict[str, str]]:
    """The lines of a table by group and row."""
    with table.open(newline="") as file:
        return {(each["group"], each["row"]): each for each in csv.DictReader(file)}


def rows(experiment: str) -> list[tuple[str, str]]:
    """Group and row of all that an experiment asks for, in its order."""
    return [(group.id, row.id) for group in expand(experiment, read_profile("paper")) for row in group.rows]


def main(experiment: str, records: Path, table: Path) -> None:
    """Add the records to the table, in the experiment's order."""
    lines = read(table) if table.exists() else {}
    found = [read_record(path) for path in records.rglob("*.json")]
    lines |= {(record["group"], record["row"]): line(record) for record in found if record["status"] == "ok"}
    unknown = lines.keys() - set(rows(experiment))
    if unknown:
        sys.exit(f"{table}: experiments/{experiment}.toml asks for none of {sorted(unknown)}.")
    text = StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines[place] for place in rows(experiment) if place in lines)
    try:
        with protected(records.rglob("*.json")):
            write(table, text.getvalue())
    except OutputError as error:
        sys.exit(f"{error}.")
    print(f"{table.resolve().relative_to(ROOT)}: {len(lines)} rows, {len(found)} of them from {records}/.")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    try:
        main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
    except PlanError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
