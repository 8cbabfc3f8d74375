"""Bytes become marks and lines."""
