"""What runs measured, of whatever paper: comparison, predictions beside measurements, primitives."""
