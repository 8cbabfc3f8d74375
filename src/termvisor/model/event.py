"""An Event is a stored fact about the fleet. Every kind is declared here, once."""

from msgspec import Struct

from termvisor.model.ids import EventId, PaneId

EVENT_KINDS: dict[str, str] = {
    "server_found": "A multiplexer server was found and is being watched.",
    "server_gone": "A multiplexer server ended, or its socket no longer answers.",
    "pane_appeared": "A pane was seen for the first time.",
    "pane_gone": "A pane no longer exists.",
    "pane_died": "The program in a pane ended while the pane stayed (remain-on-exit); with its status.",
    "pane_respawned": "Another program was started in an existing pane.",
    "pane_resized": "A pane has another size, in columns and rows.",
    "pane_moved": "A pane now stands in another session or window.",
    "pane_renamed": "The session or window of a pane has a new name.",
    "epoch_opened": "Listening to a pane began; from here on every byte is kept.",
    "epoch_closed": "Listening to a pane ended, with the reason.",
    "gap_recorded": "Some output of a pane could not be captured, with cause and time.",
    "user_var": "A program set a user variable for us: its name, kind and value, and whether our nonce proves it.",
    "agent_began": "An agent was recognised in a pane, with its process.",
    "agent_ended": "An agent's process ended, or its pane did, with the reason.",
    "state_changed": "An agent does something else now: before and after, the source that says so, and its evidence.",
    "agent_drifted": "An agent is no longer as it was recorded: its version, its screens or its silence are new to us.",
    "daemon_started": "The daemon started, with its version.",
    "daemon_stopped": "The daemon stopped in good order.",
    "recorder_started": "A recorder process was started.",
    "recorder_lost": "The recorder process ended unexpectedly.",
    "alert": "Something needs a person: what, and what to do.",
    "alert_cleared": "What needed a person is in order again.",
    "config_reloaded": "The daemon took over changed settings, with their names.",
    "rules_reloaded": "The daemon took up changed rules, with how many are in force now.",
}

Scalar = str | int | float | bool | None


class Event(Struct, frozen=True, kw_only=True):
    """``id`` rises strictly and is the cursor of the event stream."""

    id: EventId = EventId(0)
    at: int
    kind: str
    pane: PaneId | None = None
    data: dict[str, Scalar] = {}
