"""What runs measured, of whatever paper: comparison, predictions against measurements, primitives."""
