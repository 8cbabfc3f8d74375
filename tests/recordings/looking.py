"""What a look adds to all that was heard."""

from termvisor.model.agent import AgentState
from termvisor.model.ids import SignalId
from termvisor.model.screen import Screen
from termvisor.model.signal import Signal
from termvisor.state.knowledge import tell
from termvisor.state.measure import DEFAULT
from termvisor.state.projection import state_of
from tests.recordings.scene import Play


def with_a_look(play: Play, screen: Screen) -> AgentState:
    """The state right after somebody looked at this screen, whose pane has just moved."""
    seen = play.adapter.look(screen)
    now = max([play.runtime.started_at, *(one.ingested_at for one in play.signals)]) + 1
    look = Signal(
        id=SignalId(len(play.signals) + 1),
        source="screen",
        tier="heuristic",
        agent=play.adapter.name,
        runtime=play.runtime.id,
        event_at=now,
        ingested_at=now,
        dedupe_key="look",
        state=seen.state,
        reason="unknown_screen" if seen.state == "unknown" else None,
        flags=seen.flags,
        moved_at=now,
    )
    return state_of(tell(play.knowledge, look, DEFAULT), play.runtime.id, now, DEFAULT)
