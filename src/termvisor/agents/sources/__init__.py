"""Read the files, hook spool, servers and processes of agents, and deliver what they contain as records.

Records are redacted and passed on one batch at a time; adapters interpret them. No agent is known by name here.
Start with `source_watcher`.
"""
