"""Load, compile and reload detection rules and redaction patterns for the running daemon."""
