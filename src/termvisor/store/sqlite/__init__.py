"""Sqlite."""
