"""Transports: how commands, streams and files reach a target. The contract is `backends/transport.py`."""
