"""An action becomes a verdict.

In goes a Request (the action, who wants it, where, what was asked of hooks and spent so far), out comes a Verdict with
every reason. Nothing here asks a clock, a file or a program; what is not proven harmless is asked about.
"""
