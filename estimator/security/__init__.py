"""Security of LWE and RLWE instances: by the real lattice estimator, live or recorded, else by our own fast model.

- live.py starts worker.py, in an interpreter that has Sage, and calls attack by attack;
- recorded.py looks up recorded.json, results of one pinned commit;
- fast/ evaluates the same attacks' formulas itself, compiled, for whole sweeps;
- assess.py makes the `security` part of prediction records; cli.py is `pirlab-security`.
"""
