"""What searches found: sweeps over databases, fronts, gadgets, and found sets measured against published ones."""
