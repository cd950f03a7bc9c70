# Present: tables and figures of an experiment's records, beside the predictions and the papers' numbers, and a verdict.
FIGURE_KINDS = (".py", ".toml", ".html", ".mplstyle")
FIGURE_CODE = sorted(str(p) for p in Path("figures").rglob("*") if p.suffix in FIGURE_KINDS and "out" not in p.parts)
PAPERS = sorted(str(path) for path in Path("experiments/expected").glob("*.csv"))


rule figure:
    input:
        code=FIGURE_CODE,
        measured=markers_of,
        prediction=predictions_of,
        descriptions=descriptions_of,
        audit=audit_of,
        stale=f"{RESULTS}/stale.json",
        papers=PAPERS,
    output:
        pdf=f"{FIGURES}/{{experiment}}/{{name}}.pdf",
        svg=report(
            f"{FIGURES}/{{experiment}}/{{name}}.svg",
            caption="../captions/generated.rst",
            category="{experiment}",
            labels={"what": "{name}", "form": "figure"},
        ),
        png=f"{FIGURES}/{{experiment}}/{{name}}.png",
        data=f"{FIGURES}/{{experiment}}/{{name}}.csv",
    log:
        f"{LOGS}/figure/{{experiment}}/{{name}}.log",
    params:
        records=record_folders,
        audit=audit_words,
        descriptions=description_words,
        prefix=f"{FIGURES}/{{experiment}}/{{name}}",
    conda:
        ENVIRONMENT
    shell:
        "python -m pirlab_figures {wildcards.name} --records {params.records} --predictions {input.prediction}"
        " --stale {input.stale} --expected experiments/expected {params.audit} {params.descriptions}"
        " --out {params.prefix} > {log} 2>&1"


rule table:
    input:
        code=FIGURE_CODE,
        measured=markers_of,
        prediction=predictions_of,
        descriptions=descriptions_of,
        audit=audit_of,
        costs=costs_of,
        stale=f"{RESULTS}/stale.json",
        papers=PAPERS,
    output:
        html=report(
            f"{FIGURES}/{{experiment}}/table-{{name}}.html",
            caption="../captions/generated.rst",
            category="{experiment}",
            labels={"what": "{name}", "form": "table"},
        ),
        csv=f"{FIGURES}/{{experiment}}/table-{{name}}.csv",
        md=f"{FIGURES}/{{experiment}}/table-{{name}}.md",
        tex=f"{FIGURES}/{{experiment}}/table-{{name}}.tex",
    log:
        f"{LOGS}/table/{{experiment}}/{{name}}.log",
    params:
        records=record_folders,
        audit=audit_words,
        costs=costs_words,
        descriptions=description_words,
        prefix=f"{FIGURES}/{{experiment}}/table-{{name}}",
    conda:
        ENVIRONMENT
    shell:
        "python -m pirlab_figures table {wildcards.name} --records {params.records} --predictions {input.prediction}"
        " --stale {input.stale} --expected experiments/expected {params.audit} {params.costs} {params.descriptions}"
        " --out {params.prefix} > {log} 2>&1"


# Every predicted quantity beside its measured twin. Of the experiment alone: the predictions of those shown with it have
# the same sets and shapes, but one query where this one may have eight.
rule accuracy:
    input:
        code=FIGURE_CODE,
        measured=own_markers,
        prediction=f"{RESULTS}/predictions/{PROFILE}/{{experiment}}.json",
        stale=f"{RESULTS}/stale.json",
    output:
        csv=f"{FIGURES}/{{experiment}}/accuracy.csv",
        md=f"{FIGURES}/{{experiment}}/accuracy.md",
        tex=f"{FIGURES}/{{experiment}}/accuracy.tex",
        pdf=f"{FIGURES}/{{experiment}}/accuracy.pdf",
        png=f"{FIGURES}/{{experiment}}/accuracy.png",
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


rule verdict:
    input:
        presented=presented_files(),
        settings=SETTINGS,
        measured=all_markers(),
    output:
        VERDICT,
    log:
        f"{LOGS}/verdict/{PROFILE}.log",
    conda:
        ENVIRONMENT
    shell:
        "python experiments/rules/steps.py verdict --profile {input.settings} --out {output} > {log} 2>&1"
