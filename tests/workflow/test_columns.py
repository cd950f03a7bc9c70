"""Which rows stand for which columns of the InsPIRe paper's tables: each column has a row, and each row its layout."""

import tomllib
from functools import cache
from math import log2
from typing import Any

import pytest
from pirlab_estimator.describe import describe
from pirlab_estimator.security.assess import predict_security, weakest
from pirlab_estimator.sets import AS_PUBLISHED, every_set
from pirlab_figures.lib import frame as loader
from pirlab_figures.lib import paper as inspire_paper
from pirlab_figures.lib.paper import EXACT_TABLES, ORDER, WITH_LAYOUTS, Printed
from pirlab_workflow.experiments import all_experiments, expand, load_experiment, read_profile
from pirlab_workflow.files import ROOT

#: Kinds of sets that stand for a column; sets of our own, and found ones, stand beside them.
STANDING = (*AS_PUBLISHED, "repaired")
Place = tuple[str, int, int]


def own(protocols: tuple[str, ...] = ORDER) -> dict[tuple[str, str], Printed]:
    """The columns that experiments reproduce, by protocol and id: those of protocols that are here."""
    expected = loader.load_expected(ROOT / "experiments/expected")
    files = {file for name in all_experiments() for file in load_experiment(name).get("reproduces", [])}
    tables = [file[13:].removesuffix(".csv") for file in sorted(files) if file.startswith("inspire-table")]
    found = [column for table in tables for column in inspire_paper.printed(expected, table)]
    assert len(found) == len({(column.protocol, column.id) for column in found}), "an id is of one column"
    return {(column.protocol, column.id): column for column in found if column.protocol in protocols}


def held() -> inspire_paper.Declared:
    """The columns that rows of the paper's protocols stand for."""
    return {place: ids for place, ids in inspire_paper.declared().items() if place[0].split("/")[0] in ORDER}


@cache
def described() -> dict[Place, dict[str, Any]]:
    """What the binary says of each row that stands for columns."""
    places = [*held()]
    keys = ("parameters", "records", "record_bits")
    sets = [every_set()[place[0]] for place in places]
    asked = [dict(zip(keys, (str(ROOT / f"params/{name}.toml"), *place[1:]))) for (name, _), place in zip(sets, places)]
    lines = describe([{"id": str(i), "with": sets[i][1]} | row for i, row in enumerate(asked)])
    return dict(zip(places, lines, strict=True))


def standing(place: Place) -> bool:
    """Whether a row's set is one of the paper's, with secrets as papers draw them, not of fixed weight."""
    drawn = all(each["secret"]["kind"] != "fixed_weight" for each in described()[place]["instances"])
    return drawn and described()[place]["parameters"]["source"]["kind"] in STANDING


def same(printed: int | None, here: int | None, spare: float = 0.0) -> bool:
    """Whether a number is the printed one, or as much more as a smaller plaintext modulus asks for."""
    return printed is None or (here is not None and printed <= here <= printed * (1 + spare))


def fault(column: Printed, line: dict[str, Any]) -> str | None:
    """What a described row lacks to stand for a column. Modulo 65535 a polynomial holds 63 records of 64 bytes where
    2^16 holds 64, and a record of 32 KB takes nine."""
    shape, layout = line["shape"], line["layout"]
    if shape["records"] * shape["record_bits"] != column.database_bits and column.record_bits:
        return "another database"
    if column.table in EXACT_TABLES and shape["record_bits"] != column.record_bits:
        return "records of another size"
    if column.protocol not in WITH_LAYOUTS:
        return None
    printed, gammas = column.layout, tuple(layout.get("gammas", ())) or None
    answers = layout.get("answer_ciphertexts", layout.get("elements_per_item"))
    right = same(printed.first, layout["rows"], 1 / 16) and same(
        printed.degree, layout.get("points", layout.get("cell_columns"))
    )
    right &= same(printed.answers, answers, 1 / 8) and printed.gammas in (None, gammas)
    return None if right else f"another layout: {layout}"


def test_every_column_has_a_row():
    """But for content discovery, where the paper names no size of records and 100 bytes stand in."""
    printed, rows = own(), held()
    assert len(printed) == 197
    lacking = {
        key
        for key in printed
        if not any(key == (p[0].split("/")[0], id) for p in rows if standing(p) for id in rows[p])
    }
    assert lacking == {("inspire", "6/content_discovery")}
    assert "6/content_discovery" in rows["inspire/ipfs-one-point", 200_000, 800]


def test_every_row_has_the_layout_of_its_columns(binary):
    printed, wrong = own(), []
    for place, ids in held().items():
        line = described()[place]
        for id in ids:
            column = printed.get((line["protocol"], id))
            problem = fault(column, line) if column else "no such column"
            wrong += [f"{place}, {id}: {problem}"] if problem else []
    assert not wrong, "\n".join(wrong)


def test_another_layout_is_seen(binary):
    place = ("inspire/repaired with folding.points=4, folding.rows=65536", 2**24, 512)
    column, line = own()["inspire", "9/1GB/64B/65536"], described()[place]
    assert fault(column, line) is None
    for change in ({"rows": 2 * line["layout"]["rows"]}, {"points": 8}, {"answer_ciphertexts": 2}):
        assert "another layout" in (fault(column, line | {"layout": line["layout"] | change}) or "")
    assert fault(column, line | {"shape": {"records": 2**25, "record_bits": 512}}) == "another database"
    assert fault(column, line | {"shape": {"records": 2**33, "record_bits": 1}}) == "records of another size"


def test_an_experiment_lists_the_columns_of_its_rows(tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own/test.toml").write_text("""
        shapes = [{ records = "2^4", record_bits = 8, columns = ["2/1GB"] }]
        series = [
          { id = "a", parameters = "x/a" },
          { id = "b", parameters = "x/b", shapes = [
            { records = 5, record_bits = 8, columns = ["2/1GB", "3/1GB/1"] }, { records = "2^4", record_bits = 8 },
          ] },
        ]
    """)
    assert inspire_paper.declared(tmp_path) == {("x/a", 16, 8): {"2/1GB"}, ("x/b", 5, 8): {"2/1GB", "3/1GB/1"}}


def test_every_packing_has_a_row():
    """Table 5, whose packings are not sets of params/."""
    [group] = expand("inspire/table5", read_profile("paper"))
    expected = inspire_paper.printed(loader.load_expected(ROOT / "experiments/expected"), "5")

    def packs(column: Printed, settings: dict[str, Any]) -> bool:
        here = {"log2d": settings["n"], "log2p": settings["plain_modulus"], "z": settings["base"]}
        alike = all(float(column.config[k].removeprefix("2^")) == log2(here[k]) for k in here if k in column.config)
        plain = settings["family"] == "unsigned" and settings["gamma"] == settings["n"]
        method = settings["method"].split("-")[0] == column.protocol.lower()
        more = settings.keys() & {"dropped", "clients"}
        return alike and plain and not more and method and settings["ciphertexts"] == column.records

    lacking = [
        column.protocol for column in expected if not any(packs(column, row.asked["settings"]) for row in group.rows)
    ]
    assert len(expected) == 4 and lacking == ["hintlesspir"]


@pytest.mark.parametrize("protocol", ORDER)
def test_sets_of_our_own_reach_128_bits(binary, protocol):
    """All other sets are published, or repaired for one reason."""
    sets = {path: tomllib.loads(path.read_text()) for path in sorted((ROOT / "params" / protocol).glob("*.toml"))}
    kinds = {path: document["source"]["kind"] for path, document in sets.items()}
    assert {*kinds.values()} <= {*STANDING, "own"}
    ours = [path for path, kind in kinds.items() if kind == "own"]
    shape = (
        {"records": 2**15, "record_bits": 2**15} if protocol == "simpleypir" else {"records": 2**18, "record_bits": 512}
    )
    lines = describe([{"id": path.stem, "parameters": str(path)} | shape for path in ours])
    assert ours and all((weakest(each) or 0) >= 128 for each in predict_security(lines, "recorded"))
