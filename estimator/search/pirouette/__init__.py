"""The search for the sets of Pirouette and Pirouette^H.

The general search walks a space along its axes and asks the binary for descriptions. Here combinations are thousands of
millions, but their noise and seconds are sums over parts: parts are pruned by dominance alone, then combined as arrays.

- space.py: what is asked, and what is combined, secure only; gadgets.py: gadgets as arrays;
- candidate.py: a set as a parameter file; work.py: what the binary says of sets that differ in a part;
- small.py, block.py: the parts; circuit.py: the search, and how far it is; command.py: the command line.
"""
