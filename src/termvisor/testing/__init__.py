"""Fakes, recordings and contract suites for tests."""
