"""Compute the pane changes between two listings of one tmux server. Pure."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from termvisor.model.event import Scalar
from termvisor.model.ids import MuxPaneId
from termvisor.model.terminal.pane import PaneFacts


class PaneChange(Struct, frozen=True):
    """A change of one pane, with the ``kind`` and ``data`` of the event to emit."""

    kind: str
    mux_id: MuxPaneId
    data: dict[str, Scalar] = {}


def diff_listings(old: Mapping[MuxPaneId, PaneFacts], new: Mapping[MuxPaneId, PaneFacts]) -> Iterator[PaneChange]:
    """Yield the changes in the order in which their events must be emitted, with closed panes first.

    A respawned pane keeps its place and its tmux id, but is another instance: the old one is gone, a new one appeared.
    """
    respawned = {mux_id for mux_id, facts in new.items() if mux_id in old and is_respawned(old[mux_id], facts)}
    for mux_id in old:
        if mux_id not in new or mux_id in respawned:
            yield PaneChange("pane_gone", mux_id)
    for mux_id, facts in new.items():
        if mux_id not in old or mux_id in respawned:
            yield PaneChange("pane_appeared", mux_id, {"command": facts.command, "session": facts.session_name})
        else:
            yield from _diff_facts(old[mux_id], facts)
        if mux_id in respawned:
            yield PaneChange("pane_respawned", mux_id, {"pid": facts.pid, "command": facts.command})


def is_respawned(old: PaneFacts, new: PaneFacts) -> bool:
    """Return True if another program was started in the pane. A start time of 0 belongs to a process that exited."""
    is_restarted = 0 not in (old.pid_started, new.pid_started) and old.pid_started != new.pid_started
    return not new.dead and (old.pid != new.pid or is_restarted)


def _diff_facts(old: PaneFacts, new: PaneFacts) -> Iterator[PaneChange]:
    if new.dead and not old.dead:
        yield PaneChange("pane_died", new.mux_id, {"status": new.dead_status, "signal": new.dead_signal})
    if (old.width, old.height) != (new.width, new.height):
        yield PaneChange("pane_resized", new.mux_id, {"width": new.width, "height": new.height})
    if (old.session_id, old.window_id) != (new.session_id, new.window_id):
        yield PaneChange("pane_moved", new.mux_id, {"session": new.session_name, "window": new.window_id})
    elif (old.session_name, old.window_name) != (new.session_name, new.window_name):
        yield PaneChange("pane_renamed", new.mux_id, {"session": new.session_name, "window": new.window_name})
