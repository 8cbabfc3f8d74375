"""Run workflows durably: every step is journaled, so that a run resumes after a crash without repeating actions.

In: detections and requests. Out: actions for the gate, and stored runs. Read ``workflow`` and ``context`` first, then
``engine.engine``.
"""
