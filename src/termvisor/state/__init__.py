"""Signals become states."""
