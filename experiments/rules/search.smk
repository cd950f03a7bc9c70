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
from pirlab_estimator.search import sweep_file

RESULTS = config.get("results", "results")
FIGURES = config.get("figures", "figures/out")
ENVIRONMENT = "../../environment.yml"
FOLDER = Path(config.get("sweeps", "experiments/search"))
FILES = {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}
PARTS = {name: list(dict.fromkeys(part.name for part in sweep_file.parts(path))) for name, path in FILES.items()}
TABLES = [name for name, parts in PARTS.items() if parts]
SETS = [name for name, path in FILES.items() if sweep_file.read(path).get("search")]
SOURCES = sorted(str(path) for path in Path("estimator").rglob("*") if path.suffix in (".py", ".toml"))
SOURCES += ["estimator/cost/unit_costs.json", str(pirlab_binary())]
# Published sets, which stand beside what is found; not params/searched/, which `sets` writes.
SOURCES += sorted(str(path) for path in Path("params").glob("*/*.toml") if path.parent.name != "searched")
#: Sweeps with a set that a search finds: these come after the searches.
FOUND = {name for name, path in FILES.items() if any("searched/" in g.get("set", "") for g in sweep_file.read(path).get("grid", []))}
FIGURE_KINDS = (".py", ".toml", ".html", ".mplstyle")
FIGURE_CODE = sorted(str(p) for p in Path("figures").rglob("*") if p.suffix in FIGURE_KINDS and "out" not in p.parts)
RECORDS = sorted(str(path) for path in Path(RESULTS, "records").glob("*/*") if path.is_dir())
#: Tables that are kept: of figures, and what the searches of a file save.
KEPT = ["best.md", "fronts.csv", "grids.csv"]
#: What is drawn of which sweep.
DRAWN = {"fronts": "fronts", "gadgets": "gadgets", "grids": "grids", "sizes": "sizes", "best": "sizes"}


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
        expand(f"{RESULTS}/search/{{sweep}}.csv", sweep=TABLES),
        expand(f"{RESULTS}/search/{{sweep}}.sets", sweep=SETS),
        [f"{FIGURES}/search/{which}.csv" for which, sweep in DRAWN.items() if sweep in TABLES],
        f"{RESULTS}/search/kept.done" if set(DRAWN.values()) <= set(TABLES) else [],


rule part:
    input:
        file=lambda wildcards: str(FILES[wildcards.sweep]),
        sources=SOURCES,
        sets=lambda wildcards: [f"{RESULTS}/search/{each}.sets" for each in SETS if wildcards.sweep in FOUND],
    output:
        touch(f"{RESULTS}/search/{{sweep}}/{{part}}.done"),
    log:
        f"{RESULTS}/logs/search/{{sweep}}/{{part}}.log",
    params:
        results=lambda wildcards, output: Path(output[0]).parents[1],
    conda:
        ENVIRONMENT
    shell:
        "pirlab-search --sweep {input.file} --part {wildcards.part} --results {params.results} > {log} 2>&1"


rule table:
    input:
        file=lambda wildcards: str(FILES[wildcards.sweep]),
        parts=lambda wildcards: expand(f"{RESULTS}/search/{wildcards.sweep}/{{part}}.done", part=PARTS[wildcards.sweep]),
    output:
        f"{RESULTS}/search/{{sweep}}.csv",
    log:
        f"{RESULTS}/logs/search/{{sweep}}/table.log",
    params:
        results=lambda wildcards, output: Path(output[0]).parent,
    conda:
        ENVIRONMENT
    shell:
        "pirlab-search --sweep {input.file} --results {params.results} > {log} 2>&1"


rule sets:
    input:
        file=lambda wildcards: str(FILES[wildcards.sweep]),
        sources=SOURCES,
    output:
        touch(f"{RESULTS}/search/{{sweep}}.sets"),
    log:
        f"{RESULTS}/logs/search/{{sweep}}/sets.log",
    params:
        results=lambda wildcards, output: Path(output[0]).parent,
    conda:
        ENVIRONMENT
    shell:
        "pirlab-search --sweep {input.file} --results {params.results} > {log} 2>&1"


rule figure:
    input:
        code=FIGURE_CODE,
        sweep=lambda wildcards: f"{RESULTS}/search/{DRAWN[wildcards.which]}.csv",
    output:
        f"{FIGURES}/search/{{which}}.csv",
    log:
        f"{RESULTS}/logs/search/figures/{{which}}.log",
    params:
        records=" ".join(RECORDS),
        prefix=f"{FIGURES}/search/{{which}}",
    conda:
        ENVIRONMENT
    shell:
        "python -m pirlab_figures sweep {wildcards.which} --sweep {input.sweep} --records {params.records}"
        " --out {params.prefix} > {log} 2>&1"


rule kept:
    input:
        [f"{FIGURES}/search/{which}.csv" for which in DRAWN],
        expand(f"{RESULTS}/search/{{sweep}}.sets", sweep=SETS),
    output:
        touch(f"{RESULTS}/search/kept.done"),
    log:
        f"{RESULTS}/logs/search/kept.log",
    params:
        tables=[f"{FIGURES}/search/{name}" for name in KEPT],
        saved=expand(f"{RESULTS}/search/{{sweep}}/saved.*", sweep=SETS),
        folder=f"{RESULTS}/searched",
    conda:
        ENVIRONMENT
    shell:
        "(mkdir -p {params.folder} && cp {params.tables} {params.saved} {params.folder}) > {log} 2>&1"
