"""Serve tools to a model (MCP): JSON-RPC lines of a client in, calls to the daemon out, one process per client.

Invariant: imports almost nothing, decides nothing, and writes only the protocol to stdout. Read `bridge.py` first, then
`session.py`.
"""
