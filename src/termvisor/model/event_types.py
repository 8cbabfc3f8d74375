"""Event types of detections: the built-in ones, and the format of all others.

An event type is two to four lower-case words separated by dots. A rule pack may define its own.
"""

import re
from collections.abc import Mapping

from termvisor.model.ids import RuntimeId

EVENT_TYPES: dict[str, str] = {
    "usage.warning": "An agent reports that little is left of a usage limit: how much, and of which limit.",
    "usage.reached": "An agent reached a usage limit and stopped; with the time at which the limit ends, if known.",
    "session.start": "An agent showed its banner: its version and its model.",
    "session.model": "An agent reported its model.",
    "session.compaction": "An agent summarised its conversation to save context; earlier details may be lost.",
    "session.summary": "A session of an agent ended, with the tokens that it used, as far as known.",
    "session.resume_hint": "An agent showed how to resume its session, with the session's id.",
    "auth.required": "An agent cannot continue before a login.",
    "agent.crashed": "An agent's process ended unexpectedly while its pane stayed; with the reason.",
    "agent.stuck": "An agent is in a working state, but for a while produced no output, screen change or message.",
    "agent.unanswered": "An agent waits for a permission, and for a while no approval request was created for it.",
    "auth.device_code": "An agent shows a login code that must be entered at a web address.",
}
"""The other types of built-in packs are described by their rules."""

ONE_PER_AGENT_TYPES = frozenset({"usage.reached", "session.compaction", "session.summary", "auth.required"})
"""Types that an agent also reports by signals: their texts differ, so there is one key for each agent process."""

_EVENT_TYPE_PATTERN = re.compile(r"[a-z][a-z0-9_]{0,39}(\.[a-z0-9_]{1,40}){1,3}")
_MAX_KEY_CHARS = 200
_VOLATILE_CAPTURES = ("resets_at", "try_again_at")
"""Captures of end times: a repeated text words them differently, so they are not part of the key."""


def is_event_type(text: str) -> bool:
    return _EVENT_TYPE_PATTERN.fullmatch(text) is not None


def build_detection_key(kind: str, subject: str, runtime: RuntimeId | None, captures: Mapping[str, str]) -> str:
    """Return the key that identifies repeated detections; ``subject`` is the agent that it is about, or the rule."""
    if kind in ONE_PER_AGENT_TYPES:
        return kind if runtime is None else f"{kind} runtime:{runtime}"
    stable = " ".join(f"{name}={value}" for name, value in sorted(captures.items()) if name not in _VOLATILE_CAPTURES)
    return f"{kind} {subject} {stable}".strip()[:_MAX_KEY_CHARS]
