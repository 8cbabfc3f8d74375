"""Requests of agents whose connection ended while the agent may still show its dialog.

A hook runs out of time, a server connection is lost, the daemon restarts: the dialog is still there and is reported
again. If the report shows exactly the same, it claims the request, so that its number and answer stay. Another route
describes the same dialog in other words, and nothing proves that they are about the same: that report replaces the
request, with a new number and without its answer.
Invariant: an answer counts only for the text that was shown with the number.
"""

from collections.abc import Callable

import msgspec
from msgspec import Struct

from termvisor.actions.input_line import strip_decoration
from termvisor.clock import Clock
from termvisor.model.action.approval import MAX_SHOWN_CHARS, Approval, ApprovalOutcome
from termvisor.model.ids import PaneId

# Seconds until an unclaimed request is closed. After a restart, states are known and servers connected by then.
CLAIM_TIMEOUT_S = 60.0
AGENT_GONE = "agent_gone"
_NOT_SEEN = ApprovalOutcome(
    status="elsewhere", why="not_seen", text="the agent's dialog was not seen again; look at its pane"
)
ASKED_AGAIN = ApprovalOutcome(
    status="elsewhere", why="asked_again", text="asked again with another text, under a new number"
)
_CALLER_GONE = ApprovalOutcome(status="elsewhere", why="caller_gone", text="its caller no longer waits")

DIALOG_TOOL = "dialog"
"""What a request shows as its tool if it was read from the agent's dialog."""
FindEnding = Callable[[PaneId], ApprovalOutcome | None]
"""Return how the request of a pane's agent ended, judging by the agent's state; None if it may still wait."""


class UnclaimedRequests:
    def __init__(self, clock: Clock, find_ending: FindEnding):
        self._clock, self._find_ending = clock, find_ending
        self._deadlines: dict[int, tuple[Approval, float]] = {}

    def add(self, approval: Approval) -> None:
        self._deadlines[approval.id] = (approval, self._clock.monotonic() + CLAIM_TIMEOUT_S)

    def has(self, number: int) -> bool:
        return number in self._deadlines

    def has_from_own_channel(self, pane: PaneId) -> bool:
        """Return True if the pane's agent reported one of these requests itself: not by its dialog."""
        return any(one.pane == pane and one.shown.get("tool") != DIALOG_TOOL for one, _ in self._deadlines.values())

    def claim(self, asked: Approval) -> int | None:
        """Return the number of the unclaimed request that shows the same, which is claimed by this one."""
        number = next((one.id for one, _ in self._deadlines.values() if _is_same_text(one, asked)), None)
        if number is not None:
            del self._deadlines[number]
        return number

    def take_replaced(self, asked: Approval) -> list[Approval]:
        """Remove and return the unclaimed requests that are probably about the same dialog as this one."""
        replaced = [
            one for one, _ in self._deadlines.values() if _is_same_agent(one, asked) and _has_shared_command(one, asked)
        ]
        for one in replaced:
            del self._deadlines[one.id]
        return replaced

    def take_ended(self) -> list[tuple[Approval, ApprovalOutcome]]:
        """Remove and return the requests whose agent no longer waits, or whose dialog was not reported in time."""
        now = self._clock.monotonic()
        ended = [
            (approval, ending)
            for approval, deadline in self._deadlines.values()
            if (ending := self.describe_ending(approval) or (_NOT_SEEN if now >= deadline else None))
        ]
        for approval, _ in ended:
            del self._deadlines[approval.id]
        return ended

    def describe_ending(self, approval: Approval) -> ApprovalOutcome | None:
        """Return how the request ended; None if its agent may still wait."""
        return _CALLER_GONE if approval.pane is None else self._find_ending(approval.pane)


class _DialogText(Struct):
    dialog: str = ""


def _is_same_agent(known: Approval, asked: Approval) -> bool:
    return (known.pane, known.kind, known.shown.get("agent")) == (asked.pane, asked.kind, asked.shown.get("agent"))


def _is_same_text(known: Approval, asked: Approval) -> bool:
    """Return True if both show the same, and all of it: what is cut off may differ."""
    is_whole = all(len(value) < MAX_SHOWN_CHARS for value in known.shown.values() if isinstance(value, str))
    is_equal = {**known.shown, "request": ""} == {**asked.shown, "request": ""}
    return _is_same_agent(known, asked) and is_whole and is_equal


def _has_shared_command(known: Approval, asked: Approval) -> bool:
    return _has_command_of(known, asked) or _has_command_of(asked, known)


def _has_command_of(named: Approval, shown: Approval) -> bool:
    """Return True if one request names a command that the other one shows."""
    command = strip_decoration(str(named.shown.get("command", "")))
    return bool(command) and command in strip_decoration(_read_request_text(shown))


def _read_request_text(approval: Approval) -> str:
    command, given = str(approval.shown.get("command", "")), str(approval.shown.get("given", ""))
    try:
        return f"{command}\n{msgspec.json.decode(given, type=_DialogText).dialog}"
    except msgspec.DecodeError:  # a truncated text, or a tool whose input is no object
        return command
