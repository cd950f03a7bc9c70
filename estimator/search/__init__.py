"""Search of parameter sets: for a protocol and a database shape, which sets are secure, fail rarely and cost least.

- spaces/*.toml list the sets of each protocol as data; space_file.py reads them, rings.py makes the values
  that are computed (moduli, secrets and errors, bases of gadgets);
- evaluate.py describes sets with `pirlab describe --batch` and predicts security, failure and cost, and remembers;
- walk.py goes through a space and leaves out what cannot be on the front; front.py is dominance;
- bounds.py holds budgets and objectives, account.py says why the rest failed, sensitivity.py what small changes do;
- choose.py ranks protocols; files.py writes parameter files; cli.py is `pirlab-search`.

docs/search.md shows how a space is written.
"""
