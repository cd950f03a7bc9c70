"""The thesis of PIRANA over GBFV: its tables, and the crossing of its two protocols."""
