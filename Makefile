# Everything Pirlab does, with all set-up. Nothing is installed outside this folder (cargo's registry cache apart).
.DEFAULT_GOAL := help
SHELL := /bin/sh
PROFILE ?= quick
RESULTS ?= results
FIGURES ?= figures/out
export PROFILE RESULTS FIGURES ONLY OUT
export FOLDER := $(CURDIR)
# Programs put caches and temporary files in this folder, because the home folder may not be writable.
export XDG_CACHE_HOME := $(FOLDER)/.cache
export MPLCONFIGDIR := $(FOLDER)/.cache/matplotlib
export PIP_CACHE_DIR := $(FOLDER)/.cache/pip
export TMPDIR := $(FOLDER)/.cache/tmp
export PATH := $(PATH):$(HOME)/.cargo/bin
# Containers often set this; without its bytecode each of a run's many Python processes compiles its libraries for seconds.
unexport PYTHONDONTWRITEBYTECODE
# Cargo keeps its packages in the home folder, or here where that cannot be written.
ifndef CARGO_HOME
export CARGO_HOME := $(shell test -w "$$HOME/.cargo" || { test ! -e "$$HOME/.cargo" && test -w "$$HOME"; } && \
  echo "$$HOME/.cargo" || echo "$$PWD/.cache/cargo")
endif
# Recipes read these from the environment, in quotes, so that any letter may stand in them but the one that make expands.
$(foreach name,PROFILE RESULTS FIGURES ONLY OUT,$(if $(findstring $$,$(value $(name))),\
  $(error $(name) has a dollar sign, which make would replace: give another name)))
$(if $(filter-out 1,$(FRESH)),$(error FRESH=$(FRESH) means nothing: give FRESH=1 to measure again, or leave it out))

PYTHON := $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
  $$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV := .venv/bin
BINARY := impl/target/release/pirlab
# The library that our transforms are tested against and compared with needs a newer Rust than we do.
TFHE := $(shell v=$$(rustc --version 2>/dev/null | cut -d. -f2); test "$${v:-0}" -ge 91 && echo '--features pirlab-ring/tfhe-ntt')
DRIVER = exec $(VENV)/python -m pirlab_workflow.reproduce --with-parent \
  --profile="$$PROFILE" --results="$$RESULTS" --figures="$$FIGURES" $(if $(FRESH),--fresh) $(if $(ONLY),--only="$$ONLY")

.PHONY: help tools setup build reproduce plan calibrate search confirm bench reference redraw explorer archive formats check test compiled-tests rust-tests python-tests verify clean

help:
	@echo 'make reproduce   figures, tables and report of the papers; PROFILE=tiny|quick|laptop|paper (quick)'
	@echo '                 FRESH=1 measures again what is stale or was skipped; ONLY=pirouette/figure4,... narrows it'
	@echo 'make plan        what `make reproduce` would measure, its seconds, memory and disk, and what it would skip'
	@echo 'make check       formats, lints and types; formulas against oracles, refusals, every protocol at two shapes'
	@echo 'make test        that, and every other test at the sizes for each change, on all cores'
	@echo 'make verify      every test in full, and every bench body once; before a reference run'
	@echo 'make build       the Python environment in .venv/ and the binary $(BINARY)'
	@echo 'make confirm     security known by the fast model only is computed by the lattice estimator, and recorded'
	@echo 'make search      the sweeps of experiments/search/: best sets, fronts, gadgets, into results/search/ and'
	@echo '                 figures/out/search/; sets no worse than published ones, into params/searched/'
	@echo 'make calibrate   measures the unit costs of this machine again'
	@echo 'make bench       every Criterion bench, one after the other; ONLY=filter'
	@echo 'make reference   packs the present run into results/reference/PROFILE.jsonl.gz; OUT=my-run into my-run/'
	@echo 'make redraw      draws the tables of all packed runs, and docs/results/; PROFILE=laptop or ONLY=inspire/table9,... narrow it'
	@echo 'make explorer    all rows of the packed runs on one page, to filter and compare: figures/out/explorer.html'
	@echo 'make archive     the present commit as pirlab-COMMIT.tar.gz, whose records name that commit (for Zenodo)'
	@echo 'make clean       removes what was built and drawn; records stay'

tools:
	@mkdir -p -- "$$TMPDIR"
	@missing() { echo "$$1 is missing. $$2" >&2; exit 2; }; \
	command -v git >/dev/null || missing git 'Install it with your package manager (Debian: apt install git).'; \
	command -v cc >/dev/null || command -v gcc >/dev/null || command -v clang >/dev/null || \
	  missing 'A C compiler (cc)' 'Install one with your package manager (Debian: apt install gcc libc6-dev; macOS: xcode-select --install).'; \
	command -v cargo >/dev/null || missing "Rust's cargo" 'Install rustup (rustup.rs) and run: rustup default stable.'; \
	cargo --version >/dev/null 2>&1 || missing 'A Rust toolchain' 'Run: rustup default stable.'; \
	test -n '$(PYTHON)' || missing 'Python 3.11 or newer, with its venv module,' \
	  'Install it with your package manager (Debian: apt install python3 python3-venv).'

# Redone only when the lock or the project's own metadata change.
.venv/installed: requirements.lock pyproject.toml | tools
	$(PYTHON) -m venv --clear .venv
	$(VENV)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements.lock
	$(VENV)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

setup: .venv/installed

build: tools setup
	cd impl && cargo build --release --locked

reproduce: build
	@$(DRIVER)

plan: build
	@$(DRIVER) --plan

calibrate: build
	@$(DRIVER) --calibrate

search: build
	exec $(VENV)/python -m pirlab_workflow.sweep --results="$$RESULTS" --figures="$$FIGURES"

confirm: build
	$(VENV)/pirlab-security confirm $$(find params -name '*.toml' | LC_ALL=C sort)

bench: tools
	cd impl && GLIBC_TUNABLES=glibc.malloc.mmap_threshold=1048576:glibc.malloc.trim_threshold=4194304 cargo bench --workspace --locked $(TFHE) --bench '*' -- $(if $(ONLY),"$$ONLY")

reference: build
	$(VENV)/python -m pirlab_workflow.reference --profile="$$PROFILE" --results="$$RESULTS" $(if $(ONLY),--only="$$ONLY") $(if $(OUT),--out="$$OUT")

explorer: build
	$(VENV)/python -m pirlab_workflow.explorer --figures="$$FIGURES"

redraw: build
	$(VENV)/python -m pirlab_workflow.redraw $(if $(filter-out file,$(origin PROFILE)),--profile="$$PROFILE") $(if $(ONLY),--only="$$ONLY")

# git writes the commit into impl/build/commit.txt (.gitattributes), so that builds of the archive know it.
archive: COMMIT = $(shell git rev-parse --short=12 HEAD)
archive: tools
	@test -z "$$(git status --porcelain)" || { echo 'There are uncommitted changes, and an archive is of a commit: commit them.' >&2; exit 2; }
	git archive --prefix=pirlab-$(COMMIT)/ --output=pirlab-$(COMMIT).tar.gz HEAD
	@echo 'pirlab-$(COMMIT).tar.gz'

# The program that cargo's and pytest's tests run: the release just built. The `make` that they call is not a job of this one.
TESTED = MAKEFLAGS= PIRLAB_BINARY="$$FOLDER/$(BINARY)"
# A file's tests share fixtures, so that a worker takes whole files, those with slow tests first (tests/conftest.py).
PYTEST = $(TESTED) $(VENV)/python -m pytest --numprocesses logical --dist loadfile --no-loadscope-reorder
# The library that our transforms are tested against takes minutes to compile: `make verify` asks for it.
ORACLE = $(if $(PIRLAB_VERIFY),$(TFHE))
# `make test` shares what it compiles with the release; `make verify` has the checks of a debug build.
OPTIMISED = $(if $(PIRLAB_VERIFY),,--release)

formats: tools setup
	@cargo fmt --version >/dev/null 2>&1 || { echo 'rustfmt is missing. Run: rustup component add rustfmt' >&2; exit 2; }
	@cargo clippy --version >/dev/null 2>&1 || { echo 'clippy is missing. Run: rustup component add clippy' >&2; exit 2; }
	cd impl && cargo fmt --all --check
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	$(VENV)/mypy
	cd impl && cargo clippy $(OPTIMISED) --workspace --all-targets --locked $(ORACLE) -- -D warnings

# With `--workspace` cargo chooses the features that the program was built with, and does not compile it again.
check: build formats
	cd impl && $(TESTED) cargo test --release --package pirlab-pir --lib --locked -- conforms_at_two_shapes
	cd impl && $(TESTED) cargo test --release --workspace --test bad_input --locked
	$(PYTEST) tests/oracle --ignore-glob='*search*'

# Two jobs at a time (`make --jobs=2 test`) keep two cores busy to the end, as `.ci/run` does.
test: $(if $(PIRLAB_VERIFY),build) formats rust-tests python-tests

# The program is compiled together with the tests of this level, which is faster than one after the other.
CARGO_TEST = cd impl && $(TESTED) cargo test $(OPTIMISED) --workspace --lib --bins --tests --locked $(ORACLE)
compiled-tests: tools
	$(CARGO_TEST) --no-run

rust-tests: compiled-tests
	$(CARGO_TEST)

python-tests: setup compiled-tests
	$(PYTEST)

# Also as the tests of other builds run the program, and as users build `ring`, without the oracle.
verify:
	PIRLAB_VERIFY=1 $(MAKE) test TESTED=
	cd impl && cargo clippy --package pirlab-ring --all-targets --locked -- -D warnings
	cd impl && cargo test --workspace --benches --examples --locked $(TFHE)

clean:
	rm -rf .venv .snakemake .cache figures/out .pytest_cache .mypy_cache .ruff_cache pirlab.egg-info
	test ! -d impl/target || rm -rf impl/target
