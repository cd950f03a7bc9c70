"""The InsPIRe paper: its tables and figures, with our measurements."""
