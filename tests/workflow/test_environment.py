"""environment.yml, requirements.in, requirements.lock and pyproject.toml say the same."""

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib

import pytest
import yaml


@pytest.fixture(scope="module")
def lock_text(root):
    return (root / "requirements.lock").read_text()


@pytest.fixture(scope="module")
def locked(lock_text):
    return dict(re.findall(r"^([A-Za-z0-9_.-]+)==([^\s\\]+)", lock_text, re.MULTILINE))


@pytest.fixture(scope="module")
def environment(root):
    return yaml.safe_load((root / "environment.yml").read_text())


def required(root):
    lines = (root / "requirements.in").read_text().splitlines()
    return [re.split(r"[<>=~!\[; ]", line)[0] for line in lines if line.strip() and not line.startswith("#")]


def test_every_requirement_is_hashed_and_pinned(lock_text, locked):
    assert len(locked) > 50
    for block in re.split(r"\n(?=[A-Za-z0-9])", lock_text):
        if re.match(r"[A-Za-z0-9]", block):
            assert re.match(r"[A-Za-z0-9_.-]+==\S+ \\\n    --hash=sha256:[0-9a-f]{64}", block), block[:80]


def test_lock_names_no_index_and_no_path(lock_text):
    assert not re.search(r"https?://|--(extra-)?index-url|--find-links|--trusted-host|(^|\s)/\w", lock_text)


def test_lock_covers_what_is_required(root, locked):
    assert set(required(root)) <= set(locked)
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert set(project["dependencies"]) <= set(required(root)), "the package's dependencies are locked"
    assert locked["snakemake"].startswith("9.")


def test_environment_has_the_locked_versions(root, locked, environment):
    conda = [d for d in environment["dependencies"] if isinstance(d, str)]
    (pip,) = [d["pip"] for d in environment["dependencies"] if isinstance(d, dict)]
    pins = dict(d.split("=") for d in conda if re.fullmatch(r"[a-z0-9-]+=[^=]+", d) and not d.startswith("python="))
    pins |= dict(d.split("==") for d in pip if "==" in d)
    assert {name: locked.get(name) for name in pins} == pins
    assert set(required(root)) == set(pins), "nothing required is left out, nothing else pinned"
    assert {"sage", "make", "c-compiler", "git", "pip"} <= set(conda)
    assert environment["name"] == "pirlab" and environment["channels"][0] == "conda-forge"


def test_environment_asks_for_the_minimum_rust_version(root, environment):
    workspace = tomllib.loads((root / "impl" / "Cargo.toml").read_text())["workspace"]
    assert f"rust>={workspace['package']['rust-version']}" in environment["dependencies"]


def test_estimator_commit_is_that_of_the_recorded_results(root, environment):
    (pip,) = [d["pip"] for d in environment["dependencies"] if isinstance(d, dict)]
    (estimator,) = [d for d in pip if d.startswith("lattice-estimator")]
    match = re.fullmatch(r"lattice-estimator @ git\+\S+/malb/lattice-estimator@([0-9a-f]{40})", estimator)
    recorded = json.loads((root / "estimator" / "security" / "recorded.json").read_text())
    assert match and match[1] == recorded["estimator"]["commit"]
    assert {entry["commit"] for entry in recorded["entries"]} == {match[1]}


def test_packages_are_those_on_disk(root):
    """A package that pyproject.toml forgets would be missing from an installation that is not editable."""
    setuptools = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]
    found = set()
    for package, folder in setuptools["package-dir"].items():
        for init in (root / folder).rglob("__init__.py"):
            parts = init.parent.relative_to(root / folder).parts
            found.add(".".join([package, *parts]))
    assert found == set(setuptools["packages"])


def test_our_folder_is_not_importable_as_the_lattice_estimator(root):
    command = [sys.executable, "-c", "import estimator"]
    process = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert process.returncode != 0
    assert "pirlab_estimator" in process.stderr or "No module named 'estimator'" in process.stderr


def test_the_container_has_what_the_readme_asks_for(root):
    workspace = tomllib.loads((root / "impl/Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
    container, readme = (root / "Containerfile").read_text(), (root / "README.md").read_text()
    assert f"--default-toolchain {workspace}.0" in container and f"Rust **{workspace}**" in readme
    (packages,) = re.findall(r"--no-install-recommends ([a-z0-9 -]+)", container)
    assert {"git", "make", "gcc", "libc6-dev", "python3", "python3-venv"} <= set(packages.split())
    assert container.index("USER pirlab") < container.index("make build")
    ignored = [line for line in (root / ".gitignore").read_text().splitlines() if line.startswith("!/results/")]
    kept = [line for line in (root / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert {line.removeprefix("!/").rstrip("/") for line in ignored} == {line.removeprefix("!") for line in kept}


def test_bytecode_is_kept_whatever_the_container_says(root):
    """Else each of a run's many processes compiles its libraries."""
    command = ["make", "--no-print-directory", "--eval=shown: ; @env", "shown"]
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
    shown = subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True, text=True).stdout
    assert "PYTHONUNBUFFERED=1" in shown and "PYTHONDONTWRITEBYTECODE" not in shown


def test_zenodo_says_what_the_citation_says(root):
    zenodo = json.loads((root / ".zenodo.json").read_text())
    cited = yaml.safe_load((root / "CITATION.cff").read_text())
    assert {key: zenodo[key] for key in ("title", "version", "keywords")} == {
        key: cited[key] for key in ("title", "version", "keywords")
    }
    assert zenodo["description"] == " ".join(cited["abstract"].split())
    assert [each["name"] for each in zenodo["creators"]] == [each["name"] for each in cited["authors"]]
    assert zenodo["license"] in cited["license"] and all(each in zenodo["notes"] for each in cited["license"])


def cloned(root, folder):
    """A clone; of an unpacked archive, a repository of its files, with the place for a commit as it was."""
    if (root / ".git").exists():
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", "--depth=1", f"file://{root}", folder], check=True)
        return folder
    git = ["git", f"--git-dir={folder}/.git", "-c", "user.name=test", "-c", "user.email=test@localhost"]
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    subprocess.run([*git, f"--work-tree={root}", "add", "--all"], check=True)
    subprocess.run([*git, f"--work-tree={folder}", "checkout-index", "--all"], cwd=folder, check=True)
    (folder / "impl/build/commit.txt").write_text("$Format:%H$\n")
    subprocess.run([*git, f"--work-tree={folder}", "commit", "--quiet", "--all", "-m", "test"], cwd=folder, check=True)
    return folder


def test_an_archive_knows_its_commit(root, tmp_path):
    """Of a clone, since an archive of changed sources is refused."""
    clone = cloned(root, tmp_path / "clone")
    (clone / ".venv").mkdir()
    make = ["make", "--no-print-directory", "archive"]
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=clone, check=True, capture_output=True, text=True)
    done = subprocess.run(make, cwd=clone, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (archive,) = clone.glob("pirlab-*.tar.gz")
    with tarfile.open(archive) as found:
        (name,) = [each for each in found.getnames() if each.endswith("impl/build/commit.txt")]
        written = found.extractfile(name).read().decode()
    assert commit.stdout.strip() in written and archive.name.startswith(f"pirlab-{commit.stdout[:12]}")
    (clone / "README.md").write_text("changed")
    refused = subprocess.run(make, cwd=clone, capture_output=True, text=True)
    assert refused.returncode == 2 and "uncommitted changes" in refused.stderr
