"""Evaluate the policy: decide whether an action is allowed, requires approval or is denied.

In: a `PolicyRequest` (action, caller, pane, hook answers, rate limit state). Out: a `Verdict` with every reason. Pure:
uses no clock, file or process. An action not known to be harmless requires approval. Read `evaluator.py` first.
"""
