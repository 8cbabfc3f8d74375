"""Read the files, hook spool, servers and processes of agents, and deliver what they contain as records.

Records are redacted and passed on one batch at a time; adapters interpret them. Nothing here depends on the agent.
Start with `source_watcher`.
"""
