"""Security of parameter sets: by instance and attack, and the audit of published sets."""
