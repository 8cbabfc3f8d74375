"""Fakes, sample data, private instances and contract tests, for testing Termvisor and its extensions."""
