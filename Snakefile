# The map of the house.
#
#   experiments/<paper>/<name>.toml x config/<profile>.yaml
#        |                                           workflow/plan.py
#     describe   layout, sizes, memory, instances    workflow/rules/predict.smk     pirlab describe --batch
#        |
#     predict    security, noise, seconds                                           pirlab-predict
#        |
#     measure    one job a group, alone on the       workflow/rules/measure.smk     pirlab run --group
#        |       machine; a record is made once
#      stale     records older than their sources                                   pirlab key --group
#        |
#     figure, table, accuracy                        workflow/rules/present.smk     python -m pirlab_figures
#        |
#     verdict    no row failed, none is wrong        workflow/rules/measure.smk
#
# `make reproduce` runs it; config/profiles/ says how it runs here or on a cluster.
from snakemake.utils import min_version

min_version("9.0")


configfile: "config/quick.yaml"


report: "workflow/captions/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/predict.smk"
include: "workflow/rules/measure.smk"
include: "workflow/rules/present.smk"


localrules:
    all,
    predictions,
    presented,


rule all:
    input:
        prediction_files(),
        markers(),
        presented_files(),
        VERDICT,
    default_target: True


rule predictions:
    input:
        prediction_files(),


rule presented:
    input:
        presented_files(),
