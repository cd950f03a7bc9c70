# Sweeps of `make search`: experiments/search/*.toml to results/search/, params/searched/ and figures/out/search/.
#
#     part    a protocol or a grid of a file, every database of it   pirlab-search --sweep FILE --part NAME
#     table   all records of a file as CSV                           pirlab-search --sweep FILE
#     sets    the searches of a file, into params/searched/          pirlab-search --sweep FILE
#     figure  fronts, gadgets, sizes with measured points; best sets beside published ones
#     kept    the small ones of these tables, into results/searched/, which is committed
#
# docs/slurm.md runs it on a cluster.
from pathlib import Path

from pirlab_estimator.paths import pirlab_binary
from pirlab_estimator.search import study
from pirlab_workflow.files import figure_code
from pirlab_workflow.folders import plain_places

PLACES = plain_places({"results": "results", "figures": "figures/out"} | config)
RESULTS = PLACES["results"]
SEARCH = f"{RESULTS}/search"
FIGURES = PLACES["figures"]
ENVIRONMENT = "../../environment.yml"
FOLDER = Path(config.get("sweeps", "experiments/search"))
FILES = {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}
PARTS = {name: list(dict.fromkeys(part.name for part in study.parts(path))) for name, path in FILES.items()}
TABLES = [name for name, parts in PARTS.items() if parts]
SEARCHES = {name: study.read(path).get("search", []) for name, path in FILES.items()}
SETS = [name for name, searches in SEARCHES.items() if searches]
#: Those that say what they save beside a given set.
SAVED = [name for name in SETS if any("no-worse-than" in search for search in SEARCHES[name])]
SOURCES = [path for path in Path("estimator").rglob("*") if path.suffix in (".py", ".toml")]
SOURCES += [Path("estimator/cost/unit_costs.json"), pirlab_binary()]
# Published sets stand beside what is found; params/searched/ is what `sets` writes.
SOURCES += [path for path in Path("params").glob("*/*.toml") if path.parent.name != "searched"]
SOURCES = sorted(map(str, SOURCES))
GRIDS = {name: study.read(path).get("grid", []) for name, path in FILES.items()}
#: Sweeps with a set that a search finds: these come after the searches.
FOUND = {name for name, grids in GRIDS.items() if any("searched/" in grid.get("set", "") for grid in grids)}
#: The unit costs of each sweep.
COSTS = {name: str(study.costs(study.read(path))) for name, path in FILES.items()}
FIGURE_CODE = figure_code()
RECORDS = sorted(str(path) for path in Path(RESULTS, "records").glob("*/*") if path.is_dir())
#: Tables that are kept: of figures, and what the searches of a file save.
KEPT = ["best.md", "fronts.csv"]
#: Sweeps of committed sets, whose tables are kept as they are.
AT_HAND = ["applications", "committed"]
#: What is drawn of which sweep.
DRAWN = {"fronts": "fronts", "gadgets": "gadgets", "grids": "grids", "sizes": "sizes", "best": "sizes"}
#: Sweeps with a small table beside their records, a line a value: it is what is drawn, and kept.
ALONG = [name for name, grids in GRIDS.items() if any("protocol" in grid for grid in grids)]


def table_of(name):
    """What is drawn of a sweep."""
    return f"{SEARCH}/{name}/{name}.csv" if name in ALONG else f"{SEARCH}/{name}.csv"


wildcard_constraints:
    sweep="[a-z0-9-]+",
    part="[a-z0-9_-]+",
    which="fronts|gadgets|grids|sizes|best",


localrules:
    all,
    table,
    figure,
    kept,


rule all:
    input:
        expand(f"{SEARCH}/{{sweep}}.csv", sweep=TABLES),
        expand(f"{SEARCH}/{{sweep}}.sets", sweep=SETS),
        [f"{FIGURES}/search/{which}.csv" for which, sweep in DRAWN.items() if sweep in TABLES],
        f"{SEARCH}/kept.done" if set(DRAWN.values()) <= set(TABLES) else [],


rule part:
    input:
        file=lambda wildcards: str(FILES[wildcards.sweep]),
        costs=lambda wildcards: COSTS[wildcards.sweep],
        sources=SOURCES,
        sets=lambda wildcards: [f"{SEARCH}/{each}.sets" for each in SETS if wildcards.sweep in FOUND],
    output:
        touch(f"{SEARCH}/{{sweep}}/{{part}}.done"),
    log:
        f"{RESULTS}/logs/search/{{sweep}}/{{part}}.log",
    params:
        results=lambda wildcards, output: Path(output[0]).parents[1],
    conda:
        ENVIRONMENT
    shell:
        "pirlab-search --sweep {input.file:q} --part {wildcards.part} --results {params.results:q} > {log:q} 2>&1"


rule table:
    input:
        file=lambda wildcards: str(FILES[wildcards.sweep]),
        parts=lambda wildcards: expand(f"{SEARCH}/{wildcards.sweep}/{{part}}.done", part=PARTS[wildcards.sweep]),
    output:
        f"{SEARCH}/{{sweep}}.csv",
    log:
        f"{RESULTS}/logs/search/{{sweep}}/table.log",
    params:
        results=lambda wildcards, output: Path(output[0]).parent,
    conda:
        ENVIRONMENT
    shell:
        "pirlab-search --sweep {input.file:q} --results {params.results:q} > {log:q} 2>&1"


use rule table as sets with:
    input:
        file=lambda wildcards: str(FILES[wildcards.sweep]),
        costs=lambda wildcards: COSTS[wildcards.sweep],
        sources=SOURCES,
    output:
        touch(f"{SEARCH}/{{sweep}}.sets"),
    log:
        f"{RESULTS}/logs/search/{{sweep}}/sets.log",


rule figure:
    input:
        code=FIGURE_CODE,
        sweep=lambda wildcards: f"{SEARCH}/{DRAWN[wildcards.which]}.csv",
    output:
        f"{FIGURES}/search/{{which}}.csv",
    log:
        f"{RESULTS}/logs/search/figures/{{which}}.log",
    params:
        records=RECORDS,
        prefix=f"{FIGURES}/search/{{which}}",
        sweep=lambda wildcards: table_of(DRAWN[wildcards.which]),
    conda:
        ENVIRONMENT
    shell:
        "python -m pirlab_figures sweep {wildcards.which} --sweep {params.sweep:q} --records {params.records:q}"
        " --out {params.prefix:q} > {log:q} 2>&1"


rule kept:
    input:
        [f"{FIGURES}/search/{which}.csv" for which in DRAWN],
        [f"{SEARCH}/{name}.csv" for name in [*AT_HAND, *ALONG]],
        expand(f"{SEARCH}/{{sweep}}.sets", sweep=SETS),
    output:
        touch(f"{SEARCH}/kept.done"),
    log:
        f"{RESULTS}/logs/search/kept.log",
    params:
        tables=[f"{FIGURES}/search/{name}" for name in KEPT] + [table_of(name) for name in [*AT_HAND, *ALONG]],
        saved=expand(f"{SEARCH}/{{sweep}}/saved.{{form}}", sweep=SAVED, form=("csv", "md")),
        folder=f"{RESULTS}/searched",
    conda:
        ENVIRONMENT
    shell:
        "(mkdir -p {params.folder:q} && cp {params.tables:q} {params.saved:q} {params.folder:q}) > {log:q} 2>&1"
