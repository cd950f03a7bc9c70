"""The gadget paper: its tables and figures, with our measurements, and the noise of its samplers."""
