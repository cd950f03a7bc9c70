"""The search for the sets of Pirouette and Pirouette^H: parts as arrays, pruned by dominance before they are combined.

The general search walks one space after descriptions of the binary; here thousands of millions of combinations differ
in the noise of parts that add up, so that parts are judged alone. space.py: what is combined, secure only; gadgets.py:
gadgets as arrays; seconds.py: counts in the units of estimator/cost; circuit.py: the search; candidate.py: a set as
a description and as a parameter file; command.py: `python -m pirlab_estimator.search.pirouette`.
"""
