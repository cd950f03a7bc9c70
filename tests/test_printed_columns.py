"""Every column of the InsPIRe paper's tables has a set and a row, and each set says which columns are its own."""

import copy
import re

import pytest
from pirlab_workflow import printed_index
from pirlab_workflow.files import ROOT
from pirlab_workflow.printed_columns import STANDING, Index
from published_bytes import configurations

#: Table 1's columns, but for what its authors' code contradicts or any data asks for: p, σ and z.
LATTICE = {"d", "log2_q", "ell_ks", "ell_gsw"}


@pytest.fixture(scope="module")
def index(binary) -> Index:
    return Index()


def claims(location: str) -> list[str]:
    """What a `source.location` says of tables."""
    parts = [part.removeprefix("InsPIRe ") for part in location.split("; ")]
    return [part for part in parts if re.search(r"\bTables? \d", part)]


def faults(index: Index) -> list[str]:
    """Columns without a set or row, and sets that name other tables or databases than those of their columns."""
    found = [f"Table {c.table}, {c.database}: no set for {c.config}" for c in index.missing()]
    for name, document in index.sets.items():
        claimed, kind = claims(document["source"]["location"]), index.kind(name)
        if "Table 1" in claimed:
            claimed.remove("Table 1")
            if kind not in STANDING or index.differences(name).keys() & LATTICE:
                found.append(f"{name} is not of Table 1")
        own = index.location(name)
        if "; ".join(claimed) != own:
            found.append(f"{name}: source.location has {claimed}, its columns are {own or 'none'}")
        if own and kind not in STANDING:
            found.append(f"{name} is of kind {kind} and stands for a column")
    return found


def test_every_column_has_a_set_that_names_it(index):
    """But for content discovery, of which the paper does not say how large a record is."""
    columns = [column for column in index.columns if column.table not in ("6", "7")]
    assert len(columns) == len(configurations()) == 173 and len(index.columns) == 173 + 6
    [lacking] = faults(index)
    assert lacking.startswith("Table 6, 200k records")
    [column] = index.missing()
    assert not column.record_bits


def test_table_1_is_named(index):
    """By sets of each of its protocols; by InsPIRe's only where they have its p."""
    named = {name for name, document in index.sets.items() if "Table 1" in claims(document["source"]["location"])}
    assert {name.split("/")[0] for name in named} == {column.protocol for column in index.printed("1")}
    assert not any(index.differences(name) for name in named if name.startswith("inspire/"))


def test_every_packing_has_a_row(index):
    assert [column.protocol for column, rows in index.packings() if not rows] == ["hintlesspir"]
    assert len(index.packings()) == 4


def test_kinds_are_apart(index):
    """What we made reaches 128 bits and stands for no column; all else is published, or repaired for one reason."""
    own = printed_index.others(index, ("own",))
    assert own and {*map(index.kind, index.sets)} == {*STANDING, "own"}
    assert all(printed_index.bits(index, name) >= 128 for name in own)


def test_the_index_is_as_documented(index):
    """The list in the document, which names each file once or, where it serves several databases, more often."""
    text = printed_index.markdown(index)
    assert text in (ROOT / "docs/parameters.md").read_text(), "python -m pirlab_workflow.printed_index prints it anew"
    assert set(re.findall(r"`(\w+/[^`]+)`", text.replace("`experiments/", ""))) >= index.sets.keys()


@pytest.mark.parametrize(
    "name, old, new",
    [
        ("inspire/1gb-64b-n8192-t32", "Table 9", "Tables 8 and 9"),
        ("inspire/1gb-64b-n8192-t32", "Table 4: 8 GB; ", ""),
        ("inspire/1gb-64b-n8192-t32", "Table 4: 8 GB", "Table 4: 1 GB"),
        ("inspire/1gb-64b-n32768-t8-signed", "derived", "Table 3: 1 GB; derived"),
        ("inspire/ipfs-peer-routing", "Table 6", "Table 1; Table 6"),
        ("simpleypir/usenix24", "Tables 2, 3 and 4", "Tables 2, 3 and 8"),
    ],
)
def test_a_wrong_location_is_seen(index, name, old, new):
    changed = copy.copy(index)
    changed.sets = copy.deepcopy(index.sets)
    source = changed.sets[name]["source"]
    assert old in source["location"]
    source["location"] = source["location"].replace(old, new)
    assert any(name in fault for fault in faults(changed))


@pytest.mark.parametrize("name", ["inspire/1gb-64b-n65536-t4", "inspire2/gamma16-f8", "inspire0/published-unpacked"])
def test_a_column_without_a_row_is_seen(index, name):
    fewer = Index()
    fewer.rows = [ours for ours in index.rows if ours.row["set"] != name]
    assert len(fewer.missing()) > 1


def test_another_layout_is_another_column(index):
    """Twice the rows of one set: its columns are nobody's."""
    changed = Index()
    changed.rows = copy.deepcopy(index.rows)
    for ours in changed.rows:
        if ours.row["set"] == "inspire/1gb-64b-n65536-t4":
            ours.layout = ours.layout.__class__(2 * ours.layout.first, ours.layout.degree, ours.layout.answers)
    assert {column.layout.first for column in changed.missing() if column.layout.first} == {65536}
