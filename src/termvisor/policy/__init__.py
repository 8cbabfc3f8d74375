"""Evaluate the policy: may an action be executed, does it require approval, or is it denied?

In: a `PolicyRequest` (action, caller, pane, hook answers, rate limit state). Out: a `Verdict` with every reason. Pure:
no clock, file or process is used; what cannot be shown to be harmless requires approval. Read `evaluator.py` first.
"""
