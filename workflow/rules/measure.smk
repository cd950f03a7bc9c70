# Measure: one job a group, alone on the machine. Every input is ancient: a record is made once and made again only
# when it is missing; `make reproduce FRESH=1` asks for the stale ones again first (results/fresh.json).


rule measure:
    input:
        binary=ancient(BINARY),
        settings=ancient(SETTINGS),
        parameters=ancient(lambda wildcards: PLAN.parameters(wildcards.experiment)),
        # A profile with `minutes` shares them among all its rows.
        predictions=ancient(prediction_files()),
    output:
        f"{RESULTS}/measured/{{experiment}}/{{group}}.json",
    log:
        f"{LOGS}/measure/{{experiment}}/{{group}}.log",
    conda:
        ENVIRONMENT
    threads: os.cpu_count()
    resources:
        runtime=predicted_minutes,
        mem_mb=predicted_mib,
    shell:
        "exec python -m pirlab_workflow.steps measure --profile {input.settings:q}"
        " --experiment {wildcards.experiment} --group {wildcards.group:q} > {log:q} 2>&1"


rule stale:
    input:
        binary=BINARY,
        settings=SETTINGS,
        measured=markers(),
        experiments=EXPERIMENT_FILES,
        parameters=PARAMETER_FILES,
    output:
        f"{RESULTS}/stale.json",
    log:
        f"{LOGS}/stale.log",
    conda:
        ENVIRONMENT
    shell:
        "python -m pirlab_workflow.steps stale --profile {input.settings:q} --out {output:q} > {log:q} 2>&1"


rule verdict:
    input:
        presented=presented_files(),
        settings=SETTINGS,
        measured=markers(),
    output:
        VERDICT,
    log:
        f"{LOGS}/verdict/{PROFILE}.log",
    conda:
        ENVIRONMENT
    shell:
        "python -m pirlab_workflow.steps verdict --profile {input.settings:q} --out {output:q} > {log:q} 2>&1"
