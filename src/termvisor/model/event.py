"""Events in the event log: the kinds that the daemon itself emits, and the types of detections.

An event type is two to four lower-case words separated by dots. A rule pack may define its own.
"""

import re

from msgspec import Struct

from termvisor.model.ids import EventId, PaneId

EVENT_KINDS: dict[str, str] = {
    "server_found": "A multiplexer server was found and is now monitored.",
    "server_gone": "A multiplexer server ended, or its socket no longer responds.",
    "pane_appeared": "A pane was seen for the first time.",
    "pane_gone": "A pane no longer exists.",
    "pane_died": "The program in a pane ended while the pane stayed (remain-on-exit); with its status.",
    "pane_respawned": "Another program was started in a pane, which got a new id; `previous` is its old one, now gone.",
    "pane_resized": "A pane changed its size, in columns and rows.",
    "pane_moved": "A pane moved to another session or window.",
    "pane_renamed": "The session or window of a pane has a new name.",
    "epoch_opened": "Capture of a pane started; from now on every byte is stored.",
    "epoch_closed": "Capture of a pane ended, with the reason.",
    "gap_recorded": "Some output of a pane could not be captured, with cause and time.",
    "user_var": "A program set a user variable: its name, kind and value, and whether the nonce proves it.",
    "agent_began": "An agent was recognised in a pane, with its process.",
    "agent_ended": "An agent's process or its pane ended, with the reason.",
    "state_changed": "The state of an agent changed: before and after, the source and its evidence.",
    "agent_drifted": "An agent differs from its recordings: its version, its screens or missing signals are new.",
    "job_changed": "A job changed its state: running, waiting for input, finished or lost, with the evidence.",
    "daemon_started": "The daemon started, with its version.",
    "daemon_stopped": "The daemon stopped normally.",
    "recorder_started": "A recorder process was started.",
    "recorder_lost": "The recorder process ended unexpectedly.",
    "alert": "A problem needs attention, with what to do.",
    "alert_cleared": "The problem of an alert is solved.",
    "config_reloaded": "The daemon applied changed settings, with their names.",
    "rules_reloaded": "The daemon applied changed rules, with the number of active rules.",
}

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
"""Other types in built-in packs are described by their rules."""

ONE_PER_AGENT_TYPES = frozenset({"usage.reached", "session.compaction", "session.summary", "auth.required"})
"""Types that an agent also reports through signals. The texts differ, so each agent process has one key."""

_EVENT_TYPE_PATTERN = re.compile(r"[a-z][a-z0-9_]{0,39}(\.[a-z0-9_]{1,40}){1,3}")

Scalar = str | int | float | bool | None


class Event(Struct, frozen=True, kw_only=True):
    """``id`` increases strictly and serves as the cursor of the event stream."""

    id: EventId = EventId(0)
    at: int
    kind: str
    pane: PaneId | None = None
    data: dict[str, Scalar] = {}


def is_event_type(text: str) -> bool:
    return _EVENT_TYPE_PATTERN.fullmatch(text) is not None
