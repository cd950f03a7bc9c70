# Predict: what the binary says of every row, then security, noise and seconds; one batch an experiment.


rule describe:
    input:
        requests=f"{RESULTS}/requests/{PROFILE}/{{experiment}}.jsonl",
        parameters=PARAMETER_FILES,
        binary=BINARY,
    output:
        f"{RESULTS}/descriptions/{PROFILE}/{{experiment}}.jsonl",
    log:
        f"{LOGS}/describe/{PROFILE}/{{experiment}}.log",
    params:
        command=lambda wildcards: PLAN.describe(wildcards.experiment),
    conda:
        ENVIRONMENT
    shell:
        "{params.command:q} --out {output:q} < {input.requests:q} > {log:q} 2>&1"


# The lattice estimator itself where LATTICE_ESTIMATOR names a checkout, its recorded results otherwise, and the fast
# model for what is not recorded; each line of the prediction says which.
rule predict:
    input:
        descriptions=f"{RESULTS}/descriptions/{PROFILE}/{{experiment}}.jsonl",
        costs=f"{RESULTS}/calibration.json",
        estimator=f"{RESULTS}/requests/estimator.txt",
    output:
        f"{RESULTS}/predictions/{PROFILE}/{{experiment}}.json",
    log:
        f"{LOGS}/predict/{PROFILE}/{{experiment}}.log",
    conda:
        ENVIRONMENT
    shell:
        "pirlab-predict {input.descriptions:q} --security auto --costs {input.costs:q} --format array --out {output:q}"
        " > {log:q} 2>&1"


# Security of the published sets beside that of the sets in params/, and of whole ranges of moduli.
rule audit:
    input:
        experiment="experiments/{experiment}.toml",
        descriptions=f"{RESULTS}/descriptions/{PROFILE}/{{experiment}}.jsonl",
        published=lambda wildcards: PLAN.experiments[wildcards.experiment]["published"],
        estimator=f"{RESULTS}/requests/estimator.txt",
    output:
        f"{RESULTS}/audit/{PROFILE}/{{experiment}}.json",
    log:
        f"{LOGS}/audit/{PROFILE}/{{experiment}}.log",
    conda:
        ENVIRONMENT
    shell:
        "pirlab-security audit {input.experiment} --descriptions {input.descriptions:q} --out {output:q} > {log:q} 2>&1"


# Unit costs of this machine, once; `make calibrate` takes them again.
rule calibrate:
    input:
        binary=ancient(BINARY),
    output:
        f"{RESULTS}/calibration.json",
    log:
        f"{LOGS}/calibrate.log",
    params:
        binary=PLAN.binary,
    conda:
        ENVIRONMENT
    threads: os.cpu_count()
    shell:
        "{params.binary:q} calibrate --out {output:q} > {log:q} 2>&1"
