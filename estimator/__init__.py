"""Pirlab's predictions: security, noise, failure probability and seconds, computed from descriptions.

The package is installed as `pirlab_estimator`. The name `estimator` belongs to the real lattice estimator.
"""

if __name__ == "estimator":
    raise ImportError(
        "this folder is pirlab_estimator, not the lattice estimator; take it off the Python path "
        "(the real one is a checkout named by LATTICE_ESTIMATOR, see estimator/security)"
    )
