"""Find rule matches in captured text.

In: redacted lines or screen rows, and the rules of the packs. Out: matches with their captures. Read ``scanner`` first.
"""
