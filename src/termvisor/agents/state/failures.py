"""Agents that are in trouble without saying so: one that ended without a goodbye, one that gets nowhere. Pure."""

from msgspec import Struct

_ON_PURPOSE = frozenset({0, 129, 130, 143})
"""How a shell tells a good end, and one by a lost terminal, by Ctrl-C or by a plain `kill`."""
_SIGNALLED = 128
_BROKEN_OFF = ("", "error")
"""Why a session ended, where its agent did not say it: in the middle of something, or in an error."""


class Ending(Struct, frozen=True, kw_only=True):
    """What is known of the end of an agent's process."""

    reason: str = ""
    """Of its session; empty where it was at something and nobody said why it ended."""
    said_goodbye: bool = False
    """It told how its session goes on, or what it used."""
    exit_code: int | None = None
    """As the shell under it told; None where it did not."""
    was_killed: bool = False
    """The shell said so in words, or the kernel."""


def crash(ending: Ending) -> str:
    """Why it is taken for a crash, for a person; empty where it is none."""
    code = ending.exit_code
    if ending.was_killed and code not in _ON_PURPOSE:
        return "it was killed or crashed"
    if code is not None and code > _SIGNALLED and code not in _ON_PURPOSE:
        return f"it was ended by signal {code - _SIGNALLED}"
    if ending.said_goodbye or code in _ON_PURPOSE:
        return ""
    if code is not None:
        return f"it ended with status {code}"
    if ending.reason not in _BROKEN_OFF:
        return ""
    return "it ended in an error, without a word" if ending.reason else "it ended in the middle of its work"
