"""The Pirouette paper: its tables and figures, with our measurements."""
