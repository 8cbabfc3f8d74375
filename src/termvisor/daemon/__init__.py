"""The daemon: captures panes, tracks agents, runs actions and workflows, and answers requests on a Unix socket.

In: output from tmux servers and the recorder, agents' files, client requests. Out: stored rows, answers to clients.
Read first: `assembly`, which builds and connects all components.
"""
