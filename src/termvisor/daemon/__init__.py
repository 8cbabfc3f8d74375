"""The daemon: captures panes, tracks agents, runs actions and workflows, and answers requests on a Unix socket.

In: tmux servers, the recorder, agents' files and clients. Out: rows in the store, and answers to clients.
Read first: `assembly`, which builds and connects all components.
"""
