"""Track agent programs: recognize their processes, read what they report, and derive their states.

In: processes, screens and records of evidence sources. Out: agent states, sessions and signals.
Read `adapters/adapter.py` first, then `tracking/tracker.py`.
"""
