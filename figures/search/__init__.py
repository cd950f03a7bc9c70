"""What searches found: sweeps over databases, fronts, gadgets, and found sets measured beside published ones."""
