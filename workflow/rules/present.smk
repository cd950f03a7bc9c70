# Present: tables and figures of an experiment's records, beside the predictions and the papers' numbers.


rule figure:
    input:
        unpack(drawn),
    output:
        multiext(f"{FIGURES}/{{experiment}}/{{name}}", ".pdf", ".png", ".csv"),
        svg=report(
            f"{FIGURES}/{{experiment}}/{{name}}.svg",
            caption="../captions/generated.rst",
            category="{experiment}",
            labels={"what": "{name}", "form": "figure"},
        ),
    log:
        f"{LOGS}/figure/{{experiment}}/{{name}}.log",
    params:
        words=drawing,
        prefix=f"{FIGURES}/{{experiment}}/{{name}}",
    conda:
        ENVIRONMENT
    shell:
        "python -m pirlab_figures {params.words} > {log} 2>&1"


use rule figure as table with:
    output:
        multiext(f"{FIGURES}/{{experiment}}/table-{{name}}", ".csv", ".md", ".tex"),
        html=report(
            f"{FIGURES}/{{experiment}}/table-{{name}}.html",
            caption="../captions/generated.rst",
            category="{experiment}",
            labels={"what": "{name}", "form": "table"},
        ),
    log:
        f"{LOGS}/table/{{experiment}}/{{name}}.log",
    params:
        words=drawing,
        prefix=f"{FIGURES}/{{experiment}}/table-{{name}}",


# Every predicted quantity beside its measured twin. Of the experiment alone: the predictions of those shown with it have
# the same sets and shapes, but one query where this one may have eight.
rule accuracy:
    input:
        code=FIGURE_CODE,
        measured=lambda wildcards: markers(wildcards.experiment),
        prediction=f"{RESULTS}/predictions/{PROFILE}/{{experiment}}.json",
        stale=f"{RESULTS}/stale.json",
    output:
        multiext(f"{FIGURES}/{{experiment}}/accuracy", ".csv", ".md", ".tex", ".pdf", ".png"),
        html=report(
            f"{FIGURES}/{{experiment}}/accuracy.html",
            caption="../captions/generated.rst",
            category="{experiment}",
            labels={"what": "predicted and measured", "form": "table"},
        ),
        svg=report(
            f"{FIGURES}/{{experiment}}/accuracy.svg",
            caption="../captions/generated.rst",
            category="{experiment}",
            labels={"what": "predicted and measured", "form": "figure"},
        ),
    log:
        f"{LOGS}/accuracy/{{experiment}}.log",
    params:
        records=f"{RESULTS}/records/{{experiment}}",
        prefix=f"{FIGURES}/{{experiment}}/accuracy",
    conda:
        ENVIRONMENT
    shell:
        "python -m pirlab_figures accuracy --records {params.records} --predictions {input.prediction}"
        " --stale {input.stale} --out {params.prefix} > {log} 2>&1"


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
        "python -m pirlab_figures index --figures {params.folder} --expected experiments/expected"
        " --report report.html --out {params.prefix} > {log} 2>&1"
