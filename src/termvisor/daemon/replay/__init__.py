"""Replay recorded output: order it (`timeline`), draw it in a private tmux and redact the frames (`renderer`)."""
