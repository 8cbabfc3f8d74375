"""Retention, index and file maintenance, backup, restore and integrity checks."""
