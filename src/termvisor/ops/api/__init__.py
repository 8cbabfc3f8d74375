"""Declare, look up and call operations.

In: a command line or a JSON-RPC call. Out: text, JSON envelopes or a stream of them, and an exit status.
Read `operation.py` first, then `dispatch.py`.
"""
