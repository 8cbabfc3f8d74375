"""Transports that carry commands and bytes to a multiplexer."""
