"""Agents described by one TOML file each, without code: built-in files are here, a user's in `<config>/agents`.

`agent_description.py`, beside this folder, has the keys of a file; `adapter.py` builds the adapter and `keyboard.py`
types to the agent.
"""
