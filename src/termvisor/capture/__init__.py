"""Panes become deltas and gaps."""
