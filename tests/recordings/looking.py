"""What a look adds to all that was heard."""

from msgspec.structs import replace

from termvisor.agents.state.published_state import compute_state
from termvisor.agents.state.reducer import apply_fact
from termvisor.agents.tracking import screen_signal
from termvisor.agents.tracking.screen_signal import ClassifiedScreen
from termvisor.model.agent.state import AgentState
from termvisor.model.ids import SignalId
from termvisor.model.terminal.screen import Screen
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.recordings.scene import SceneReplay


def resolve_state_with_screen(replay: SceneReplay, screen: Screen) -> AgentState:
    """The state right after somebody looked at this screen, whose pane has just moved."""
    now = max([replay.runtime.started_at, *(one.ingested_at for one in replay.signals)]) + 1
    look = screen_signal.build_screen_signal(
        replay.runtime, ClassifiedScreen(rows=screen.rows, reading=replay.adapter.classify_screen(screen), at=now), now
    )
    look = replace(look, id=SignalId(len(replay.signals) + 1))
    return compute_state(
        apply_fact(replay.knowledge, look, DEFAULT_THRESHOLDS), replay.runtime.id, now, DEFAULT_THRESHOLDS
    )
