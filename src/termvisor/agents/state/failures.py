"""Decide from the exit of an agent process whether the agent crashed. Pure."""

from msgspec import Struct

_NORMAL_EXIT_CODES = frozenset({0, 129, 130, 143})
"""Exit statuses of a normal end, a lost terminal (SIGHUP), Ctrl-C (SIGINT) and a plain `kill` (SIGTERM)."""
_SIGNAL_EXIT_BASE = 128
_ABRUPT_END_REASONS = ("", "error")
"""End reasons derived for a session whose agent reported none: during work, or in an error."""


class ExitEvidence(Struct, frozen=True, kw_only=True):
    """What is known about the exit of an agent process."""

    reason: str = ""
    """The end reason of its session; empty if it ended during work and no reason was reported."""
    has_reported_end: bool = False
    """It printed how to resume its session, or its usage."""
    exit_code: int | None = None
    """As reported by its shell; None if the shell did not."""
    was_killed: bool = False
    """A detection in the output says so: killed, crashed or out of memory."""


def describe_crash(exit_evidence: ExitEvidence) -> str:
    """Return why the exit counts as a crash, as text for the user; empty if it does not."""
    code = exit_evidence.exit_code
    if exit_evidence.was_killed and code not in _NORMAL_EXIT_CODES:
        return "it was killed or crashed"
    if code is not None and code > _SIGNAL_EXIT_BASE and code not in _NORMAL_EXIT_CODES:
        return f"it was terminated by signal {code - _SIGNAL_EXIT_BASE}"
    if exit_evidence.has_reported_end or code in _NORMAL_EXIT_CODES:
        return ""
    if code is not None:
        return f"it exited with status {code}"
    if exit_evidence.reason not in _ABRUPT_END_REASONS:
        return ""
    return "it exited in an error state" if exit_evidence.reason else "it exited while it was working"
