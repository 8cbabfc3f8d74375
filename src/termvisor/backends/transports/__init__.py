"""How commands reach a multiplexer."""
