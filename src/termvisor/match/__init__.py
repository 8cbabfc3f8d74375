"""Which rule ids match this text."""
