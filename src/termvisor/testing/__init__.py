"""Fakes, sample data, private instances and contract tests, for tests of Termvisor and of its extensions."""
