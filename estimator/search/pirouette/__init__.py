"""The search for the sets of Pirouette and Pirouette^H.

The general search walks a space along its axes and asks the binary for descriptions. Here combinations are thousands of
millions, but their noise and seconds are sums over parts: parts are pruned by dominance alone, then combined as arrays.

- space.py: what is combined, secure only; gadgets.py: gadgets as arrays; frontier.py: dominance;
- seconds.py: operation counts in the units of estimator/cost; judged.py: failure;
- small.py, block.py: the parts; task.py, circuit.py: the search; journal.py: how far it is;
- candidate.py: a set as a parameter file; command.py: the command line.
"""
