"""Agents that are in trouble without saying so: one that ended without a goodbye, one that gets nowhere. Pure."""

from msgspec import Struct

_NORMAL_EXIT_CODES = frozenset({0, 129, 130, 143})
"""How a shell tells a good end, and one by a lost terminal, by Ctrl-C or by a plain `kill`."""
_SIGNAL_EXIT_BASE = 128
_ABRUPT_END_REASONS = ("", "error")
"""Why a session ended, where its agent did not say it: in the middle of something, or in an error."""


class ExitEvidence(Struct, frozen=True, kw_only=True):
    """What is known of the end of an agent's process."""

    reason: str = ""
    """Of its session; empty where it was at something and nobody said why it ended."""
    has_reported_end: bool = False
    """It told how its session goes on, or what it used."""
    exit_code: int | None = None
    """As the shell under it told; None where it did not."""
    was_killed: bool = False
    """The shell said so in words, or the kernel."""


def describe_crash(exit_evidence: ExitEvidence) -> str:
    """Why it is taken for a crash, for a person; empty where it is none."""
    code = exit_evidence.exit_code
    if exit_evidence.was_killed and code not in _NORMAL_EXIT_CODES:
        return "it was killed or crashed"
    if code is not None and code > _SIGNAL_EXIT_BASE and code not in _NORMAL_EXIT_CODES:
        return f"it was ended by signal {code - _SIGNAL_EXIT_BASE}"
    if exit_evidence.has_reported_end or code in _NORMAL_EXIT_CODES:
        return ""
    if code is not None:
        return f"it ended with status {code}"
    if exit_evidence.reason not in _ABRUPT_END_REASONS:
        return ""
    return "it ended in an error, without a word" if exit_evidence.reason else "it ended in the middle of its work"
