"""What a look adds to all that was heard."""

from msgspec.structs import replace

from termvisor.agents.state.published_state import state_of
from termvisor.agents.state.reducer import tell
from termvisor.agents.tracking import screen_signal as glance
from termvisor.agents.tracking.screen_signal import Glance
from termvisor.model.agent.state import AgentState
from termvisor.model.ids import SignalId
from termvisor.model.terminal.screen import Screen
from tests.declared import DEFAULT
from tests.recordings.scene import Play


def with_a_look(play: Play, screen: Screen) -> AgentState:
    """The state right after somebody looked at this screen, whose pane has just moved."""
    now = max([play.runtime.started_at, *(one.ingested_at for one in play.signals)]) + 1
    look = glance.signal(play.runtime, Glance(rows=screen.rows, seen=play.adapter.look(screen), at=now), now)
    look = replace(look, id=SignalId(len(play.signals) + 1))
    return state_of(tell(play.knowledge, look, DEFAULT), play.runtime.id, now, DEFAULT)
