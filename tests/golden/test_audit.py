"""The audit: its table of published sets, largest moduli, document, tables and figure."""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.transforms import Bbox
from pirlab_estimator.paths import ROOT
from pirlab_estimator.records import InputError
from pirlab_estimator.security import audit, cli, limits, recorded
from pirlab_estimator.security.attacks import ATTACKS, BROKEN_BELOW, MODEL, SECURITY_TARGET, bits_text
from pirlab_figures.cli import main
from pirlab_figures.lib import frame as loader
from pirlab_figures.lib import labels
from pirlab_figures.security import curves as audit_plot
from pirlab_figures.security import limits as audit_limits
from pirlab_figures.security import sets as audit_sets
from pirlab_figures.security.document import Audit, claim_text, load_audit, load_references, secret_text, verdict
from places import EXPECTED, read_csv
from stand_in_estimator import lwe

SETS = EXPECTED / "security-sets.csv"
EXPERIMENT = ROOT / "experiments/security/audit.toml"
TERNARY, BINARY, GAUSSIAN = ({"kind": kind} for kind in ("ternary", "binary", "gaussian"))


def described(name: str, dimension: int, kind: str = "repaired") -> dict[str, Any]:
    return {"parameters": {"name": name, "source": {"kind": kind}}, "instances": [lwe(dimension)]}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The committed experiment with two sets of ours: one recorded, one that only the fast model knows."""
    experiment = tomllib.loads(EXPERIMENT.read_text())
    ours = [described("simplepir/usenix23", 1024), described("simplepir/found", 999)]
    ours.append({"id": "sets/piano-x", "error": "key `records`: too many"})
    return audit.audit(experiment, SETS, ours, "auto", 1.0)


@pytest.fixture(scope="module")
def path(document: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("audit") / "audit.json"
    file.write_text(json.dumps(document))
    return file


@pytest.fixture(scope="module")
def loaded(path: Path) -> Audit:
    return load_audit(path)


# The estimator's side.


def test_instances_of_a_printed_table_come_with_their_figures() -> None:
    found = {t: {r["id"]: r["bits"] for r in audit.printed_security(SETS, "Pirouette", t)} for t in "345"}
    assert found["3"]["pirouette-query-1300-q32"] == pytest.approx(129.9, abs=0.1)
    assert found["3"]["pirouette-1300-ksk42"] == pytest.approx(99.9, abs=0.1)
    # A location may name several tables.
    assert found["3"]["pirouette-2048-Q56"] == found["4"]["pirouette-2048-Q56"] == pytest.approx(118.9, abs=0.1)
    assert found["5"]["pirouette-512-Q20"] == pytest.approx(83.1, abs=0.1)
    assert all(r["source"] == "recorded" for t in "345" for r in audit.printed_security(SETS, "Pirouette", t))
    with pytest.raises(audit.AuditError, match="no instance of Pirouette's Table 9"):
        audit.printed_security(SETS, "Pirouette", "9")


def test_the_table_of_published_sets_has_every_recorded_one() -> None:
    rows = {row["id"]: row for row in audit.published_sets(SETS)}
    named = {use["name"]: instance for instance, entry in recorded.entries().items() for use in entry["uses"]}
    published = {name: instance for name, instance in named.items() if "/" not in name}
    assert len(published) == 81 and published.keys() <= rows.keys()
    for name, instance in published.items():
        assert rows[name]["lwe"] == instance, name
    for row in rows.values():
        assert row["paper"] and row["instance"] and row["claimed_bits"] in (None, 110.0, 128.0)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("id,paper", "name,paper", "the columns are"),
        ("printed", "said", "line 2: kind is 'said'; write one of printed"),
        (",binary,,,3.19", ",sparse,,,3.19", "line 2 .*secret 'sparse' is not one of"),
        (",2^32,binary", ",2^x,binary", "line 2 .*modulus"),
    ],
)
def test_a_wrong_table_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    file = tmp_path / "sets.csv"
    file.write_text(SETS.read_text().replace(old, new, 1))
    with pytest.raises(audit.AuditError, match=message):
        audit.published_sets(file)


def test_limits_are_those_of_the_guidelines() -> None:
    """All 14 of their cells, the largest degree excepted: there ours is one less, for want of 0.1 bit."""
    references = load_references(EXPECTED)
    lines = references[references["source"] == "guidelines"]
    assert len(lines) == 14
    for row in lines.to_dict("records"):
        n, printed = int(row["dimension"]), int(row["log2_modulus"])
        family = limits.Family(row["secret"], {"kind": row["secret"]}, row["stddev"])
        own = limits.limit(family, n)["log2_modulus"]
        assert own == (printed - 1 if n == 65536 else printed), row
        there, _ = limits.minima(family, n, [printed])
        assert there[0] > SECURITY_TARGET - 0.1, row


@pytest.mark.parametrize(
    ("secret", "stddev", "expected"),
    [
        (BINARY, 3.19, [12, 25, 52, 105, 213]),
        (TERNARY, 3.2, [13, 26, 53, 106, 214]),
        (GAUSSIAN, 3.2, [15, 28, 55, 108, 216]),
        (GAUSSIAN, 6.4, [17, 30, 57, 110, 218]),
    ],
)
def test_limits_of_small_degrees(secret: dict[str, Any], stddev: float, expected: list[int]) -> None:
    """Against an evaluation of the same formulas by another program (facts on the estimator, section 5)."""
    family = limits.Family(secret["kind"], secret, stddev)
    cells = [limits.limit(family, 1 << k) for k in range(9, 14)]
    assert [cell["log2_modulus"] for cell in cells] == expected
    for cell in cells:
        after, _ = limits.minima(family, cell["dimension"], [cell["log2_modulus"] + 1])
        assert cell["bits"] >= SECURITY_TARGET > after[0] and cell["attack"] in ATTACKS[MODEL]


def test_limits_agree_with_the_lattice_estimators_grid() -> None:
    """No row of the grid above a cell's log2 q reaches the target, none at or below it misses it."""
    rows = [row for row in read_csv(EXPECTED / "security-grid.csv") if row["sigma"] == "3.19"]
    kinds = {"binary": BINARY, "ternary": TERNARY, "gauss": GAUSSIAN}
    compared = 0
    for n, secret in itertools.product((512, 1024, 2048, 600, 742), kinds):
        own = limits.limit(limits.Family(kinds[secret]["kind"], kinds[secret], 3.19), n)["log2_modulus"]
        for row in rows:
            if (int(row["n"]), row["secret"]) == (n, secret):
                assert (float(row["min_log2_rop"]) >= SECURITY_TARGET) == (float(row["log2_q"]) <= own), row
                compared += 1
    assert compared >= 60


def test_figures_name_the_papers_sets_and_their_repairs() -> None:
    kinds = ("published", "reference", "repaired", "own", "searched", "toy")
    rows = audit.own_sets([described(f"x/{kind}", 1000 + i, kind) for i, kind in enumerate(kinds)])
    audit.label_own(rows)
    assert [row["label"] for row in rows] == ["x/published", "x/reference", "x/repaired", "x/own", "", ""]


def test_outside_the_domain_there_is_a_reason_and_no_number() -> None:
    sparse = limits.Family("fixed_weight", {"kind": "fixed_weight", "plus": 256, "minus": 256}, 6.4)
    cell = limits.limit(sparse, 8192)
    assert cell["log2_modulus"] is None and "very sparse secret" in cell["reason"]
    assert "exceeds the dimension" in limits.limit(sparse, 256)["reason"]
    assert limits.limit(sparse, 4096)["log2_modulus"] == 105
    assert "below 128 bits at every log2 q" in limits.limit(limits.Family("binary", BINARY, 3.19), 128)["reason"]
    bits, reasons = limits.minima(limits.Family("gaussian", GAUSSIAN, 3.2), 16384, [14, 430])
    assert np.isnan(bits[0]) and reasons[0] == "too secure to be counted" and bits[1] > 128


def test_weights_may_be_shares_of_the_dimension() -> None:
    share = limits.Family("fixed_weight", {"kind": "fixed_weight", "plus": "n/8", "minus": "n/8"}, 6.4)
    number = limits.Family("fixed_weight", {"kind": "fixed_weight", "plus": 256, "minus": 256}, 6.4)
    assert share.instance(2048, 56) == number.instance(2048, 56)
    assert limits.limit(share, 2048)["log2_modulus"] == limits.limit(number, 2048)["log2_modulus"]


def test_the_document(document: dict[str, Any]) -> None:
    rows = {row["id"]: row for row in document["sets"]}
    assert len(rows) == 83
    known = rows["pirouette-2048-Q56"]
    assert (known["bits"], known["attack"], known["source"]) == (118.8695, "dual_hybrid", "recorded")
    own = rows["simplepir/usenix23 query"]
    assert (own["bits"], own["samples"], own["label"]) == (121.5332, 1 << 14, "")
    found = rows["simplepir/found query"]
    assert (found["source"], found["label"], found["estimator_commit"]) == ("fast_only", "simplepir/found", None)
    assert len(document["limits"]) == 15 * 8
    assert {(c["dimension"], c["secret"]["kind"], c["stddev"]) for c in document["curves"]} >= {
        (1 << k, "gaussian", 6.4) for k in range(9, 17)
    }
    assert all(c["dimension"] >= 512 for c in document["curves"] if c["secret"]["kind"] == "fixed_weight")
    middle = next(c for c in document["through"] if c["dimension"] == 999)
    assert dict(zip(middle["log2_modulus"], middle["bits"]))[32] == pytest.approx(found["bits"], abs=1e-3)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    descriptions, out = tmp_path / "d.jsonl", tmp_path / "deep/audit.json"
    descriptions.write_text(json.dumps(described("simplepir/found", 999)) + "\n")
    small = tmp_path / "audit.toml"
    small.write_text(re.sub(r"^degrees = .*$", 'degrees = ["2^9"]', EXPERIMENT.read_text(), flags=re.MULTILINE))
    command = ["audit", str(small), "--descriptions", str(descriptions), "--out", str(out)]
    assert cli.main(command) == 0
    assert json.loads(out.read_text())["schema"] == audit.SCHEMA
    assert "simplepir/found query: 118.5 bits, fast_only (no estimator)" in capsys.readouterr().out
    assert cli.main([*command[:2], "--descriptions", str(tmp_path / "none"), *command[4:]]) == 2
    assert "none" in capsys.readouterr().err


# The gallery's side.


def test_the_table_of_sets(loaded: Audit) -> None:
    table = audit_sets.build(loaded)
    text = table.markdown()
    line = next(row for row in text.splitlines() if "ring keys (RLWE, RGSW)" in row)
    assert "| 118.9† |" in line and "| missed by 9.1 | 128, not met |" in line and "| recorded |" in line
    line = next(row for row in text.splitlines() if "simplepir/found" in row)
    assert "| 118.5†°ʰᵐ |" in line and "| fast only |" in line and "| 16384 |" in line
    assert "missed by 0.03" in text and "| broken |" in text and "| reached | 128, met |" in text
    assert "coded_bkw under MATZOV: infinity: the attack does not succeed" in text, "the estimator's, said in a note"
    assert "missed its own minimum (reported 209.7784" in text
    assert "Not described, so not in the table: sets/piano-x: key `records`: too many." in text
    assert "Of 17 printed or implemented instances that claim a level, 9 are found below it." in text
    assert len(table.data) == 83 and table.data["verdict"].notna().all()
    assert set(table.data["source"]) == {"recorded", "fast_only"}
    for form in (table.tex(), table.html()):
        assert "Pirouette" in form and "fast only" in form


def test_an_instance_without_a_figure_is_unknown(loaded: Audit) -> None:
    bare = loaded.sets[0] | {"bits": None, "source": "none", "attacks": {}, "core_svp_bits": None}
    reasons = {"usvp": "infinity: no success", "bdd": "live: timeout after 2 s", "dual": "live: TypeError: no hash"}
    failed = [{"attack": attack, "model": MODEL, "reason": reason} for attack, reason in reasons.items()]
    other = Audit(**(vars(loaded) | {"sets": [bare | {"failed_attacks": failed}, loaded.sets[1]]}))
    text = audit_sets.build(other).markdown()
    line = next(row for row in text.splitlines() if "query ciphertexts, n_in" in row)
    assert "| ∞ | timeout |" in line and "| error |" in line and "| unknown? |" in line
    assert "| unknown | 128, unknown |" in line and "TypeError: no hash" in text


def test_words() -> None:
    assert [verdict(bits, 128) for bits in (None, 128.0, 127.97, 121.5, 44.0)] == [
        "unknown",
        "reached",
        "missed by 0.03",
        "missed by 6.5",
        "broken",
    ]
    assert [bits_text(bits, 128) for bits in (None, 127.97, 127.94, 128.0)] == ["unknown", "127.97", "127.9", "128.0"]
    assert claim_text({"claimed_bits": 110.0, "bits": 111.0}) == "110, met"
    assert claim_text({"claimed_bits": None, "bits": 111.0}) == ""
    assert secret_text({"kind": "uniform_range", "low": -7, "high": 7}) == "uniform -7..7"


def test_the_table_of_limits(loaded: Audit) -> None:
    table = audit_limits.build(loaded, load_references(EXPECTED))
    text = table.markdown()
    assert "| ternary | 3.19 | fast model | 13 | 26 | 53 | 106 | 214 | 430 | 868 | 1746 |" in text
    assert "| ternary | 3.19 | guidelines 2024 |  | 26 | 53 | 106 | 214 | 430 | 868 | 1747 |" in text
    assert "| fixed weight 256+256 | 6.4 | fast model | 14 | 27 | 53 | 105 | –* | –* | –* | –* |" in text
    assert "* outside the fast model's domain: very sparse secret" in text
    assert len(table.data[table.data["origin"] == "fast model"]) == 15 * 8
    assert table.data[table.data["log2_modulus"].isna()]["reason"].notna().all()


def boxes(figure: Any) -> list[tuple[Any, list[Bbox], list[Bbox]]]:
    """Per panel: extents of its labels, and of its markers."""
    figure.canvas.draw()
    found = []
    for axes in figure.axes:
        texts = [t for t in axes.texts if t.get_text()]
        points = [axes.transData.transform(line.get_xydata()[0]) for line in axes.lines if line.get_marker() != "None"]
        half = audit_plot.MARKER / 2 * figure.dpi / 72
        markers = [Bbox.from_extents(x - half, y - half, x + half, y + half) for x, y in points]
        found.append((axes, [t.get_window_extent() for t in texts], markers))
    return found


def test_labels_of_the_figure_overlap_nothing(loaded: Audit) -> None:
    figure = audit_plot.draw(loaded)
    drawn = 0
    for axes, texts, markers in boxes(figure):
        inside = axes.get_window_extent()
        for one, other in itertools.combinations(texts, 2):
            assert not labels.overlap(one.extents, other.extents)
        for text in texts:
            assert not any(labels.overlap(text.extents, marker.extents) for marker in markers)
            assert inside.x0 - 1 <= text.x0 and text.x1 <= inside.x1 + 1
            assert inside.y0 - 1 <= text.y0 and text.y1 <= inside.y1 + 1
        assert len(texts) == len(markers)
        drawn += len(texts)
    pyplot.close(figure)
    assert drawn == len(loaded.drawn()) >= 40


def test_names_are_written_as_they_are() -> None:
    assert audit_plot._subscript("InsPIRe_0 (width)") == "InsPIRe$_0$ (width)"
    assert audit_plot._subscript("pirouette_h/2^20") == "pirouette_h/2^20"


def test_curves_are_dashed_where_the_least_block_decides(loaded: Audit) -> None:
    (panel,) = (p for p in audit_plot.panels(loaded)[0] if p.title == "$n = 2^{9}$")
    axes = pyplot.figure().add_subplot()
    audit_plot._panel(axes, panel, loaded.target)
    floor = [line for line in axes.lines if max(line.get_ydata()[1:], default=99) < BROKEN_BELOW]
    whole = [line for line in axes.lines if line not in floor and len(line.get_xdata()) > 9]
    assert floor and {line.get_linestyle() for line in floor} == {"--"}
    assert all(min(line.get_ydata()) >= BROKEN_BELOW for line in whole)


def test_labels_find_room_in_a_crowd() -> None:
    figure, axes = pyplot.subplots(figsize=(4, 3))
    axes.set_xlim(0, 10)
    axes.set_ylim(0, 10)
    crowd = [labels.Label(f"label {i}", 5 + 0.2 * (i % 3), 5 + 0.3 * (i // 3)) for i in range(9)]
    figure.canvas.draw()
    labels.place(axes, crowd, [(x / 10, 5.0) for x in range(101)], 7, 4)
    found = [label.box for label in crowd if label.box is not None]
    assert len(found) == 9
    assert not any(labels.overlap(a.extents, b.extents) for a, b in itertools.combinations(found, 2))
    again = [labels.Label(f"label {i}", 5 + 0.2 * (i % 3), 5 + 0.3 * (i // 3)) for i in range(9)]
    labels.place(axes, again, [(x / 10, 5.0) for x in range(101)], 7, 4)
    assert all(a.box is not None and b.box is not None and a.box.x0 == b.box.x0 for a, b in zip(crowd, again))
    pyplot.close(figure)


def test_every_curve_of_the_experiment_has_a_look(loaded: Audit) -> None:
    for curve in loaded.curves:
        assert audit_plot._look(curve) is not None, curve["secret"]


@pytest.mark.parametrize(
    ("command", "suffixes"),
    [
        (["security-curves"], (".pdf", ".svg", ".png", ".csv", ".caption.rst")),
        (["table", "security-sets"], (".csv", ".md", ".tex", ".html", ".caption.rst")),
        (["table", "security-limits"], (".csv", ".md", ".tex", ".html", ".caption.rst")),
    ],
)
def test_commands_write_their_files(command: list[str], suffixes: tuple[str, ...], path: Path, tmp_path: Path) -> None:
    out = ["--audit", str(path), "--expected", str(EXPECTED), "--out", str(tmp_path / "x")]
    assert main([*command, "--records", str(tmp_path), *out]) == 0
    for suffix in suffixes:
        assert (tmp_path / f"x{suffix}").stat().st_size > 0
    if command == ["security-curves"]:
        data = pd.read_csv(tmp_path / "x.csv")
        assert set(data["what"]) == {"set", "curve"} and "below 128 bits" in (tmp_path / "x.caption.rst").read_text()


@pytest.mark.parametrize(("content", "message"), [("[]", "is not `pirlab/audit/1`"), ("{", "is not JSON")])
def test_what_is_not_an_audit_is_refused(content: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "audit.json"
    file.write_text(content)
    with pytest.raises(InputError, match=message):
        load_audit(file)
    with pytest.raises(InputError, match="no such file"):
        load_audit(tmp_path / "none.json")
    with pytest.raises(InputError, match="Give --audit FILE"):
        load_audit(None)
    with pytest.raises(InputError, match=r"security-limits\.csv"):
        load_references(tmp_path)


def test_the_papers_numbers_are_read_without_the_audits_tables() -> None:
    assert not loader.load_expected(EXPECTED)["paper"].str.contains("security").any()
