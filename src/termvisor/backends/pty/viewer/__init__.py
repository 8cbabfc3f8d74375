"""The program behind `visor attach` for own terminals: shows one of them in a person's terminal and passes on keys.

In: the state of the screen (from the daemon), then the raw log; keys. Out: keys and the size, directly to the PTY host.
It works on while no daemon runs. Read session.py first.
"""
