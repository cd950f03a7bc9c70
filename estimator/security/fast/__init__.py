"""A model of the lattice estimator of our own, compiled and for arrays of instances; the figures of status fast_only.

It evaluates published formulas (facts with sources stand at each function) and searches exactly where the lattice
estimator searches locally. Attacks: unique SVP, BDD, the MATZOV dual hybrid and the plain dual, under MATZOV and ADPS16
with the geometric series assumption; secrets binary, ternary, of fixed weight, Gaussian, or uniform in a range.

- reduction.py: quality and cost of BKZ and sieving; primal.py, dual_hybrid.py, dual.py: one attack (family) each;
- domain.py: which instances the model speaks about; model.py: instances and arrays in, figures out;
- compiled.py: numba, with its store of machine code.
"""
