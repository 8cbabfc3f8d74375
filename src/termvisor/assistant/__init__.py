"""The mind behind the hash sign."""
