"""The DEPIR paper: its comparison with other schemes of one server."""
