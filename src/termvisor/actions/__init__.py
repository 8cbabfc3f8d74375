"""The one door out: judge, ask, record, do, verify."""
