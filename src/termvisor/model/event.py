"""Events of the event log. Every kind that the daemon emits itself is declared here."""

from msgspec import Struct

from termvisor.model.ids import EventId, PaneId

EVENT_KINDS: dict[str, str] = {
    "server_found": "A multiplexer server was found and is now monitored.",
    "server_gone": "A multiplexer server ended, or its socket no longer responds.",
    "pane_appeared": "A pane was seen for the first time.",
    "pane_gone": "A pane no longer exists.",
    "pane_died": "The program in a pane ended while the pane stayed (remain-on-exit); with its status.",
    "pane_respawned": "Another program was started in an existing pane.",
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
    "daemon_started": "The daemon started, with its version.",
    "daemon_stopped": "The daemon stopped normally.",
    "recorder_started": "A recorder process was started.",
    "recorder_lost": "The recorder process ended unexpectedly.",
    "alert": "A problem needs attention, with what to do.",
    "alert_cleared": "The problem of an alert is solved.",
    "config_reloaded": "The daemon applied changed settings, with their names.",
    "rules_reloaded": "The daemon applied changed rules, with the number of active rules.",
}

Scalar = str | int | float | bool | None


class Event(Struct, frozen=True, kw_only=True):
    """``id`` rises strictly and is the cursor of the event stream."""

    id: EventId = EventId(0)
    at: int
    kind: str
    pane: PaneId | None = None
    data: dict[str, Scalar] = {}
