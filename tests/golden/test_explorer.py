"""The explorer: its rows, and the page in a browser."""

from __future__ import annotations

import html
import json
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from browser import Browser
from explored import COMMITTED, ROOT, SWEEP, SYSTEMS, check_whole, data
from pirlab_estimator.cost import UnitCosts
from pirlab_estimator.search import cli, study
from pirlab_estimator.search.bounds import Bounds, Network
from pirlab_estimator.search.choose import download
from pirlab_estimator.search.evaluate import Evaluator, Shape
from pirlab_figures.cli import main
from places import read_csv


@pytest.fixture(scope="module")
def page(sweep, tmp_path_factory) -> Path:
    """The explorer of a sweep, with one of its rows as a request of eight queries, and on two threads, too."""
    prefix = tmp_path_factory.mktemp("explorer") / "explorer"
    records = prefix.parent / "records"
    shutil.copytree(sweep / "records", records)
    one = next(path for path in sorted(records.rglob("*.json")) if json.loads(path.read_text())["status"] == "ok")
    for key, count in (("queries", 8), ("threads", 2)):
        record = json.loads(one.read_text()) | {key: count, "id": f"several {key}", "row": f"several-{key}"}
        one.with_name(f"several-{key}.json").write_text(json.dumps(record))
    options = ["--records", str(records), "--predictions", str(sweep / "predictions.json")]
    options += ["--unpacked", str(prefix.parent)]
    assert main(["explorer", *options, "--sweeps", str(SWEEP), str(COMMITTED), "--out", str(prefix)]) == 0
    return prefix.with_suffix(".html")


def test_rows_are_those_of_records_and_searches(page):
    rows = data(page)["rows"]
    records = [json.loads(path.read_text()) for path in sorted((page.parent / "records").rglob("*.json"))]
    right = {record["id"]: record for record in records if record["status"] == "ok" and record["kind"] == "protocol"}
    measured = {row["id"]: row for row in rows if row["status"] == "measured"}
    assert measured and set(measured) <= set(right), "no row of a record that failed"
    for name, row in measured.items():
        record = right[name]
        sent = [m for m in record["transcript"] if m["direction"] == "upload" and m["phase"] in ("query", "online")]
        assert row["upload"] == pytest.approx(sum(m["payload_bytes"] for m in sent), rel=1e-5)
        assert row["command"].startswith("pirlab run ")
        given = {"--queries": "1", "--threads": "1", "--updates": "0"}
        given |= dict(re.findall(r"(--[a-z-]+) (\d+)", row["command"]))
        wanted = record | record["database"]
        for key in ("records", "record_bits", "queries", "threads", "updates", "repetitions"):
            assert given[f"--{key.replace('_', '-')}"] == str(wanted[key]), key
    found = [line for line in read_csv(SWEEP) if not line["refused"]]
    assert sum(row["status"] == "searched" for row in rows) == len(found)
    served = [line for line in read_csv(COMMITTED) if not line["refused"]]
    shown = {
        (row["parameters"], row["records"], row["record_bits"]): row for row in rows if row["status"] == "predicted"
    }
    for line in served:
        row = shown[f"params/{line['name']}.toml", int(line["records"]), int(line["record_bits"])]
        assert (ROOT / row["parameters"]).is_file() and row["parameters"] in row["command"]
        assert row["upload"] == int(line["upload"])


def test_every_protocol_stands_at_a_dozen_databases_or_the_reason_why_not(page):
    document, lines = data(page), read_csv(COMMITTED)
    shapes, protocols = {(n["records"], n["record_bits"]) for n in lines}, {n["protocol"] for n in lines}
    assert len(shapes) >= 12 and protocols >= SYSTEMS
    for protocol in protocols:
        served = {(n["records"], n["record_bits"]) for n in lines if n["protocol"] == protocol and not n["refused"]}
        why = {(str(r), str(b)): reason for name, r, b, reason in document["refused"] if name == protocol}
        assert served | set(why) == shapes and not served & set(why) and all(why.values()), protocol
        assert len(served) >= 6, protocol


def test_the_page_is_whole(page):
    check_whole(page)


def test_details_are_those_of_the_record(page):
    document = data(page)
    measured = [row for row in document["rows"] if row["status"] == "measured"]
    assert document["show"].endswith(" --show") and any(row["margins"] for row in measured)
    for row in measured:
        record = json.loads((page.parent / row["file"]).read_text())
        assert record["id"] == row["id"]
        timed = [phase for phase in record["phases"] if phase["seconds"]]
        assert [(name, count) for name, *_, count in row["phases"]] == [(p["name"], len(p["seconds"])) for p in timed]
        for phase, (_, *found, _) in zip(timed, row["phases"], strict=True):
            assert found == pytest.approx(np.quantile(phase["seconds"], (0.25, 0.5, 0.75)), rel=1e-5)
        noise = [[stage["stage"], stage["margin"], stage["samples"]] for stage in record["noise"]]
        assert [name for name, *_ in row["margins"]] == [name for name, *_ in noise]
        assert [each for _, *each in row["margins"]] == [pytest.approx(each, rel=1e-5) for _, *each in noise]
        held = {(side, name): size for side, name, size in row["held"]}
        own = {("server", part["name"]): part["bytes"] for part in record["description"]["memory"]["server"]}
        assert own.items() <= held.items() and held["program", "peak"] == record["memory"]["peak_bytes"]
    predicted = [row for row in document["rows"] if row["status"] == "predicted" and row["phases"]]
    assert not any(row["file"] or ("program", "peak") in {(a, b) for a, b, _ in row["held"]} for row in predicted)


def shown(browser: Browser, page: Path, state: str) -> str:
    """The page as a browser shows it after its program ran."""
    browser.open(f"{page.as_uri()}#{state}")
    return browser.run("document.documentElement.outerHTML")


def count(browser: Browser, page: Path, state: str) -> int:
    """How many rows the page says that it shows."""
    (found,) = re.findall(r'id="more"[^>]*>(?:The first \d+ of )?(\d+) rows', shown(browser, page, state))
    return int(found)


@pytest.mark.verify
def test_filters_keep_what_they_say(page, browser):
    rows = data(page)["rows"]
    single = [row for row in rows if row["queries"] == row["threads"] == 1]
    assert len(single) < len(rows), "the page hides requests of several queries, and several threads"
    secure = [r for r in single if (r["security"] or 0) >= 128 and (r["failure"] is None or r["failure"] <= -40)]
    assert len(secure) < len(single), "the page hides sets whose security is unknown"
    assert count(browser, page, "download_all=false") == len(secure)
    short = [r for r in secure if r["record_bits"] <= 8 * 256 and r["records"] >= 2**18 and (r["hint"] or 0) <= 2**20]
    assert 0 < len(short) < len(secure)
    assert count(browser, page, f"download_all=false&most_bytes=256&least_records={2**18}&most_hint=1") == len(short)


@pytest.mark.verify
def test_an_address_opens_a_point_with_its_command(page, browser):
    row = next(row for row in data(page)["rows"] if row["status"] == "measured")
    found = shown(browser, page, f"open={row['id']}&batches=true&parallel=true&least_security=0&most_failure=")
    (detail,) = re.findall(r'<section id="detail"[^>]*>(.*?)</section>', found, re.DOTALL)
    assert f"<code>{html.escape(row['command'], quote=False)}</code>" in detail and row["id"] in detail


@pytest.mark.verify
def test_the_search_that_is_printed_has_the_demands_of_the_page(page, browser):
    typed = "shape=1048576+2048&round_trip=20.5&bandwidth=50&hint_queries=7"
    shown(browser, page, f"{typed}&least_security=130&most_failure=-50&most_server=1.5&most_client=2&most_hint=3")
    what, command = browser.text("#search").split(": ")
    assert what.startswith("The found sets are of a search for 128 bits and a failure of 2^-40. This search answers")
    program, *words = shlex.split(command)
    asked = vars(cli._parsed([*words, "--dry-run"]))
    assert program == "pirlab-search" and asked["protocol"] == "all"
    assert (asked["records"], asked["record_bits"], asked["security"], asked["failure"]) == (1 << 20, 2048, 130, -50)
    assert asked["network"] == Network(0.0205, 6.25e6) and asked["hint_queries"] == 7 and not asked["stateless"]
    most = [asked[f"max_{name}"] for name in ("memory", "storage", "offline")]
    assert most == [1.5 * 2**30, 2 * 2**20, 3 * 2**20]
    assert asked["costs"] == Path("results/reference/calibration-laptop.json")
    shown(browser, page, "shape=1024+2048&stateless=true")
    assert browser.text("#search").startswith(
        "No search was made at this database: only committed sets are known here."
    )
    assert browser.text("#search").count(" --stateless ") == 1
    for impossible in ("least_security=0", "most_failure=", "most_keys=1"):
        shown(browser, page, f"{typed}&{impossible}")
        assert browser.text("#answer") and not browser.text("#search"), impossible


def test_downloading_everything_takes_the_seconds_that_the_search_counts(page):
    file = study.costs(study.read(ROOT / "experiments/search/fronts.toml"))
    units = UnitCosts.load(file)
    found = download(Evaluator(Shape(1 << 20, 2048), units, None), Bounds()).best
    costs = data(page)["costs"][units.name]
    assert ROOT / costs["file"] == file and costs["read_s"] * 2**28 == pytest.approx(found.figures.seconds, rel=1e-12)


@pytest.mark.verify
def test_machines_have_answers_of_their_own(page, browser):
    found: dict[tuple[int, int], set[str]] = {}
    for row in data(page)["rows"]:
        found.setdefault((row["records"], row["record_bits"]), set()).add(row["machine"])
    (records, bits), machines = max(found.items(), key=lambda item: len(item[1]))
    assert len(machines) > 1
    page_shown = shown(browser, page, f"shape={records}+{bits}&least_security=0&most_failure=")
    (said,) = re.findall(r'<div id="answer"[^>]*>(.*?)</div>', page_shown, re.DOTALL)
    assert said.count("Fastest") == len(machines) and all(f"({machine})</p>" in said for machine in machines)
