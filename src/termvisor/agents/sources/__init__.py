"""What agents leave on this machine is read here and handed on as records; no agent is known by name.

Processes come from the kernel, word from files, lines and the hooks' spool. What any of it means is the adapters' to
say.
"""
