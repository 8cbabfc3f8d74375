"""The types of events that rules and agents give: those that the product knows, and the shape of all others.

An event type is two to four plain words with points between them. A pack may bring its own.
"""

import re
from collections.abc import Mapping

from termvisor.model.ids import RuntimeId

EVENT_TYPES: dict[str, str] = {
    "usage.warning": "An agent says that little is left of a usage limit: how much, and of which limit.",
    "usage.reached": "An agent reached a usage limit and does not go on; with the time at which that ends, if told.",
    "session.start": "An agent showed its banner: its version and its model.",
    "session.model": "An agent said which model answers.",
    "session.compaction": "An agent summarised its conversation to make room; what it read before, it may have lost.",
    "session.summary": "A session of an agent ended, with the tokens that it used, as far as they were told.",
    "session.resume_hint": "An agent said how its session can be taken up again, with the session's id.",
    "auth.required": "An agent cannot go on before somebody logs in.",
    "agent.crashed": "An agent's process ended without a goodbye, and its pane is still there; with the reason.",
    "agent.stuck": "An agent is said to work, and for a while nothing new was printed, shown or said.",
    "agent.unanswered": "An agent waits for a permission, and for a while nobody was asked about it.",
    "auth.device_code": "An agent shows a code that somebody must enter at an address to log it in.",
}
"""Those of packs that come with the product beside these are described by their rules."""

ONE_PER_AGENT_TYPES = frozenset({"usage.reached", "session.compaction", "session.summary", "auth.required"})
"""What an agent also says itself: however it is worded, it is one thing of that agent."""

_EVENT_TYPE_PATTERN = re.compile(r"[a-z][a-z0-9_]{0,39}(\.[a-z0-9_]{1,40}){1,3}")
_MAX_KEY_CHARS = 200
_VOLATILE_CAPTURES = ("resets_at", "try_again_at")
"""Captures that say when something ends: told anew, they are worded otherwise, and it is still the same."""


def is_event_type(text: str) -> bool:
    return _EVENT_TYPE_PATTERN.fullmatch(text) is not None


def build_detection_key(kind: str, subject: str, runtime: RuntimeId | None, captures: Mapping[str, str]) -> str:
    """By which the same thing is known again; ``whose`` is the agent that it is about, or the rule."""
    if kind in ONE_PER_AGENT_TYPES:
        return kind if runtime is None else f"{kind} runtime:{runtime}"
    told = " ".join(f"{name}={value}" for name, value in sorted(captures.items()) if name not in _VOLATILE_CAPTURES)
    return f"{kind} {subject} {told}".strip()[:_MAX_KEY_CHARS]
