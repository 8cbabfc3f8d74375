"""Asking the person at the terminal before something is done that they should see first.

Imports nothing that costs time: the fast path of the command line comes through here.
"""

import os

from termvisor.frontends.courier import write


def is_attended() -> bool:
    """Whether somebody sees a question and can answer it."""
    return os.isatty(0) and os.isatty(2)


def given(shown: bytes) -> bool:
    """Show it, ask, and hear the answer. Only a clear yes is one."""
    write(2, shown + b"Go on? [y/N] ")
    answer = os.read(0, 4096).strip().lower()
    if answer in (b"y", b"yes"):
        return True
    write(2, b"Nothing was done.\n")
    return False
