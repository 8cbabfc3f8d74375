"""Periodic maintenance: retention, sealing of raw segments, database snapshots and memory trimming."""
