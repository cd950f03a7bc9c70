# Present: tables and figures of an experiment's records, beside the predictions and the papers' numbers. One job draws all
# of an experiment, because each would spend most of its time on loading libraries.


for NAME in filter(PLAN.judged, PLAN.experiments):

    rule:
        name:
            rule_name("accuracy", NAME)
        input:
            FIGURE_CODE,
            markers(NAME),
            str(PLAN.prediction(NAME)),
            f"{RESULTS}/stale.json",
            settings=SETTINGS,
        output:
            [f"{FIGURES}/{NAME}/accuracy.{end}" for end in sorted({*ENDS["table"], *ENDS["figure"]})],
            [shown(NAME, kind, f"{FIGURES}/{NAME}/accuracy.{end}") for kind, end in SHOWN.items()],
        log:
            f"{LOGS}/accuracy/{NAME}.log",
        params:
            name=NAME,
        conda:
            ENVIRONMENT
        shell:
            "python -m pirlab_workflow.present accuracy {params.name} --profile {input.settings:q} > {log:q} 2>&1"


for NAME in PLAN.experiments:

    rule:
        name:
            rule_name("draw", NAME)
        input:
            drawn_from(NAME),
            settings=SETTINGS,
            accuracy=accuracy_tables() if PLAN.judged(NAME) else [],
        output:
            drawn(NAME),
            [shown(NAME, kind, f"{FIGURES}/{NAME}/{stem}.{SHOWN[kind]}") for stem, kind in stems(NAME).items()],
        log:
            f"{LOGS}/draw/{NAME}.log",
        params:
            name=NAME,
        conda:
            ENVIRONMENT
        shell:
            "python -m pirlab_workflow.present experiment {params.name} --profile {input.settings:q}"
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
