"""Player."""
