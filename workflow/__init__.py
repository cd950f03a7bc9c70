"""How a sweep runs: experiments expanded to rows, the plan of a profile, the steps of its workflow, and its drivers.

The package is installed as `pirlab_workflow`; Snakemake has a `workflow` of its own in every rule.
"""
