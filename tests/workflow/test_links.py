"""Links of all pages lead to files and headings that exist."""

import re
from functools import cache
from pathlib import Path

import pytest
from pirlab_workflow.files import ROOT
from pirlab_workflow.papers import anchor

FOLDERS = ("", "docs", "docs/results", "docs/artifact", "results/searched", "results/reference", "experiments/expected")
PAGES = sorted(page for folder in FOLDERS for page in (ROOT / folder).glob("*.md"))
LINK = re.compile(r"\]\(([^)\s]+)\)")


@cache
def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found: dict[str, int] = {}
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#+ +(.+?)\s*$", text, re.MULTILINE):
        slug = anchor(LINK.sub("]", heading))
        found[slug] = found.get(slug, -1) + 1
    return {slug if i == 0 else f"{slug}-{i}" for slug, count in found.items() for i in range(count + 1)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    broken = []
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path) if path else page
        known = target.exists()
        if not known or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            broken.append(link)
    assert not broken


def test_a_heading_has_githubs_anchor():
    assert "marks-in-figures-and-tables" in anchors(ROOT / "docs/architecture.md")
    assert anchor("`a/b-c`, d, profile e") == "ab-c-d-profile-e"
