"""Execute actions on panes and agents: policy, approval, audit log, execution, verification.

In: an action, its caller and preconditions. Out: an outcome, and entries in the audit log. Read ``gate`` first.
"""
