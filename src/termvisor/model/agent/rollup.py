"""Summarize many agents: the most important state, and counts by state and agent."""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from termvisor.model.agent.attention import find_need
from termvisor.model.agent.state import PRECEDENCE, AgentState, StateName, select_top_state


class AgentRollup(Struct, frozen=True, kw_only=True):
    """``by_state`` and ``by_agent`` hold only what occurs, states by precedence and agents by name."""

    top: StateName
    total: int
    waiting: int
    running: int
    needs_action: int
    by_state: dict[StateName, int]
    by_agent: dict[str, int]


def summarize_states(states: Sequence[AgentState]) -> AgentRollup:
    """Summarize the states of panes that have an agent."""
    managed = [state for state in states if state.presence == "managed"]
    by_state = Counter(state.value for state in managed)
    by_agent = Counter(state.agent for state in managed)
    needs = [need for state in managed if (need := find_need(state)) is not None]
    return AgentRollup(
        top=select_top_state(by_state),
        total=len(managed),
        waiting=by_state["waiting_approval"] + by_state["waiting_input"],
        running=by_state["running"],
        needs_action=sum(one.is_action for one in needs),
        by_state={name: by_state[name] for name in PRECEDENCE if by_state[name]},
        by_agent=dict(sorted(by_agent.items())),
    )
