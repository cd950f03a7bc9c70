# Present: tables and figures of an experiment's records, beside the predictions and the papers' numbers. One job draws
# all experiments of a folder, because each would spend most of its time on loading libraries.


for FOLDER, NAMES in by_folder(PLAN.compared()).items():

    rule:
        name:
            f"accuracy_{FOLDER}"
        input:
            FIGURE_CODE,
            markers(*NAMES),
            [str(PLAN.prediction(name)) for name in NAMES],
            f"{RESULTS}/stale.json",
            settings=SETTINGS,
        output:
            [f"{FIGURES}/{name}/accuracy.{end}" for name in NAMES for end in sorted({*ENDS["table"], *ENDS["figure"]})],
            [shown(name, kind, f"{FIGURES}/{name}/accuracy.{end}") for name in NAMES for kind, end in SHOWN.items()],
        log:
            f"{LOGS}/accuracy/{FOLDER}.log",
        params:
            names=NAMES,
        conda:
            ENVIRONMENT
        shell:
            "python -m pirlab_workflow.present accuracy {params.names} --profile {input.settings:q} > {log:q} 2>&1"


for FOLDER, NAMES in by_folder(PLAN.experiments).items():

    rule:
        name:
            f"draw_{FOLDER}"
        input:
            list(dict.fromkeys(file for name in NAMES for file in drawn_from(name))),
            settings=SETTINGS,
            accuracy=accuracy_tables() if any(map(PLAN.judged, NAMES)) else [],
        output:
            [file for name in NAMES for file in drawn(name)],
            [
                shown(name, kind, f"{FIGURES}/{name}/{stem}.{SHOWN[kind]}")
                for name in NAMES
                for stem, kind in stems(name).items()
            ],
        log:
            f"{LOGS}/draw/{FOLDER}.log",
        params:
            names=NAMES,
        conda:
            ENVIRONMENT
        shell:
            "python -m pirlab_workflow.present experiment {params.names} --profile {input.settings:q}"
            " --accuracy {input.accuracy:q} > {log:q} 2>&1"


# The page of all rows, to filter and compare. `make explorer` makes such a page of all packed runs.
rule explorer:
    input:
        FIGURE_CODE,
        markers(),
        [str(file(name)) for name in filter(PLAN.judged, PLAN.experiments) for file in (PLAN.prediction, PLAN.description)],
        f"{RESULTS}/stale.json",
        settings=SETTINGS,
        costs=[f"{RESULTS}/calibration.json"] if any(map(PLAN.judged, PLAN.experiments)) else [],
    output:
        f"{FIGURES}/explorer-run.html",
    log:
        f"{LOGS}/explorer.log",
    conda:
        ENVIRONMENT
    shell:
        "python -m pirlab_workflow.explorer --run {input.settings:q} > {log:q} 2>&1"


# The page that leads to all of these, with the papers' claims.
rule index:
    input:
        code=FIGURE_CODE,
        papers=PAPERS,
        presented=drawn_files(),
    output:
        multiext(f"{FIGURES}/headline", ".csv", ".md", ".tex", ".html"),
        page=f"{FIGURES}/index.html",
    log:
        f"{LOGS}/index.log",
    params:
        folder=lambda wildcards, output: Path(output.page).parent,
        prefix=lambda wildcards, output: Path(output.page).with_suffix(""),
    conda:
        ENVIRONMENT
    shell:
        "python -m pirlab_figures index --figures {params.folder:q} --expected experiments/expected"
        " --report report.html --explorer explorer-run.html --out {params.prefix:q} > {log:q} 2>&1"
