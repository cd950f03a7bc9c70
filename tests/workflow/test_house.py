"""The structure of the code: no circular imports between files, no protocol that imports another or lacks its tests."""

import re
from pathlib import Path

import imports
import pytest
from pirlab_estimator.paths import ROOT

PACKAGES = {"estimator": "pirlab_estimator", "figures": "pirlab_figures", "workflow": "pirlab_workflow"}
PROTOCOLS = "impl/pir/src/protocol"


def graphs() -> dict[str, imports.Graph]:
    """The imports of each crate and package, by its folder."""
    crates = {str(path.relative_to(ROOT)): imports.rust_graph(path) for path in sorted(ROOT.glob("impl/*/src"))}
    assert len(crates) >= 5
    return crates | {name: imports.python_graph(ROOT / name, package) for name, package in PACKAGES.items()}


def test_no_circle_of_files():
    """Circular imports of the whole repository, by paths from its top folder."""
    assert not [f"{top}/{file}" for top, graph in graphs().items() for file in imports.circle(graph)]


def test_no_protocol_imports_another():
    graph = imports.rust_graph(ROOT / PROTOCOLS.removesuffix("/protocol"))
    names = {file.split("/")[1].removesuffix(".rs") for file in graph if file.startswith("protocol/")} - {"mod"}
    assert len(names) >= 8
    assert not list(imports.arrows(graph, [f"protocol/{name}" for name in names]))


def test_every_protocol_of_the_registry_has_a_line_of_conformance():
    """The line tests a whole protocol at every shape, and with bad messages."""

    def found(pattern: str, path: Path) -> set[str]:
        return set(re.findall(pattern, imports.NO_CODE.sub(" ", path.read_text(encoding="utf-8")), re.MULTILINE))

    registered = found(r"\bentry::<(\w+)>", ROOT / "impl/pir/src/registry.rs")
    assert len(registered) >= 21
    tests = [found(r"^conformance!\(\s*\w+:\s*(\w+)", path) for path in (ROOT / PROTOCOLS).rglob("*.rs")]
    assert registered == set().union(*tests)


RUST = {
    "lib.rs": "mod a; pub mod b; pub use b::deep::Thing; mod macros; #[cfg(test)] mod tests;",
    "a.rs": "use crate::{b::{self as other, deep::{Deep as D, Unused}}};\nfn a() { other::f(1) } // crate::macros::m",
    "b/mod.rs": "mod deep; mod low;\npub use deep::{Deep, Unused};\npub(crate) use low::f;\nstruct Face;",
    "b/deep.rs": "pub struct Deep; pub struct Unused; pub struct Thing;\n#[cfg(test)]\nmod tests { use crate::a::a; }",
    "b/low.rs": "pub fn f<'a>(x: &'a str) { let _ = '\"'; }",
    "macros.rs": '/* crate::a::a */ const QUOTE: &str = "crate::a";',
    "tests.rs": "use crate::a::a;",
}
PYTHON = {
    "__init__.py": "from .low import low",
    "high.py": "from . import low\nfrom .sub import deep",
    "low.py": "def low(): ...",
    "sub/__init__.py": "from .inner import deep\n__all__ = ['deep']",
    "sub/inner.py": "def deep(): ...",
}


def tree(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_imports_of_rust_lead_to_the_file_that_defines_a_name(tmp_path):
    graph = imports.rust_graph(tree(tmp_path, RUST))
    assert graph == {
        "lib.rs": set(),
        "a.rs": {"b/deep.rs", "b/low.rs"},
        "b/mod.rs": set(),
        "b/deep.rs": set(),
        "b/low.rs": set(),
        "macros.rs": set(),
    }


@pytest.mark.parametrize(
    ("file", "more", "others"),
    [
        ("b/deep.rs", "use crate::a::a;", "a.rs"),
        ("b/deep.rs", "fn g() { crate::a::a() }", "a.rs"),
        ("b/deep.rs", "type A = super::super::a::A;", "a.rs"),
        ("b/low.rs", "use super::super::{a::*, b}; fn g() { a() }", "a.rs"),
        ("b/low.rs", "use crate::a::{self}; fn g() { a::a() }", "a.rs"),
        ("b/low.rs", "use crate::a; fn g() { by_macro!(g) }", "a.rs"),
        ("macros.rs", "use crate::Thing; pub fn m() {} ", ""),
        ("b/deep.rs", "use super::Face; use super::low::f;", ""),
    ],
)
def test_a_new_circle_in_rust_is_seen(tmp_path, file, more, others):
    source = tree(tmp_path, RUST)
    (source / file).write_text(RUST[file] + "\n" + more)
    assert set(imports.circle(imports.rust_graph(source))) == ({file, others} if others else set())


@pytest.mark.parametrize(
    ("file", "more", "others"),
    [
        ("low.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .high import High", "high.py"),
        ("sub/inner.py", "def f():\n    from ..high import High", "high.py"),
        ("sub/inner.py", "import own.high", "high.py"),
        ("sub/inner.py", "from .. import low", ""),
        ("low.py", "from .sub import deep", ""),
    ],
)
def test_a_new_circle_in_python_is_seen(tmp_path, file, more, others):
    folder = tree(tmp_path, PYTHON)
    assert imports.python_graph(folder, "own")["high.py"] == {"low.py", "sub/inner.py"}
    (folder / file).write_text(PYTHON[file] + "\n" + more)
    assert set(imports.circle(imports.python_graph(folder, "own"))) == ({file, others} if others else set())


def test_an_arrow_between_protocols_is_seen():
    graph = {"p/one/mod.rs": {"p/one/low.rs", "core.rs", "p/two.rs"}, "p/two.rs": {"core.rs"}, "p/mod.rs": {"p/two.rs"}}
    assert list(imports.arrows(graph, ["p/one", "p/two"])) == [("p/one/mod.rs", "p/two.rs")]
