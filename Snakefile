# The map of the house.
#
#   experiments/<paper>/<name>.toml x config/<profile>.yaml
#        |                                           experiments/rules/common.smk
#     describe   layout, sizes, memory, instances    experiments/rules/predict.smk   pirlab describe --batch
#        |
#     predict    security, noise, seconds                                            pirlab-predict
#        |
#     measure    one job a group, alone on the       experiments/rules/measure.smk   pirlab run --group
#        |       machine; a record is made once
#      stale     records older than their sources                                    pirlab key --group
#        |
#     figure, table, accuracy                        experiments/rules/present.smk   python -m pirlab_figures
#        |
#     verdict    no row failed, none is wrong
#
# `make reproduce` runs it; config/profiles/ says how it runs here or on a cluster.
from snakemake.utils import min_version

min_version("9.0")


configfile: "config/quick.yaml"


report: "experiments/captions/workflow.rst"


include: "experiments/rules/common.smk"
include: "experiments/rules/predict.smk"
include: "experiments/rules/measure.smk"
include: "experiments/rules/present.smk"


localrules:
    all,
    predictions,
    presented,


rule all:
    input:
        prediction_files(),
        all_markers(),
        presented_files(),
        VERDICT,
    default_target: True


rule predictions:
    input:
        prediction_files(),


rule presented:
    input:
        presented_files(),
